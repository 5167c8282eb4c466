// A series over something that varies: the best launch at each of its values.

import type { Sweep } from "../views/documents";
import { button, h } from "../views/dom";
import { series } from "../views/series";
import { type DeviceNumbers, SLIDERS, times } from "./device";

export interface WhatIf {
  element: HTMLElement;
  /** What can vary, with usual values of it. */
  offers(params: Record<string, number>, device: DeviceNumbers | null): void;
  show(sweeps: Sweep[], command: string): void;
  say(text: string): void;
  /** What is asked for now. */
  set(vary: string | null): void;
}

/** Values around a number, from a quarter of it to twice of it. */
function around(value: number): string {
  if (value < 8) return `1..${Math.max(8, 2 * value)}`;
  const step = Math.max(1, Math.round(value / 4));
  return `${step}..${8 * step} step ${step}`;
}

/** `ask` hears what is to vary, as `NAME=VALUES`; null for nothing. */
export function whatIf(ask: (vary: string | null) => void): WhatIf {
  const select = h("select", { "aria-label": "What varies" });
  const values = h("input", { type: "text", "aria-label": "Its values", size: 28 });
  const place = h("div", {});
  const command = h("code", { class: "swept", hidden: true });
  let usual: Record<string, string> = {};
  select.addEventListener("change", () => {
    values.value = usual[select.value] ?? "";
  });
  const plot = () => ask(select.value ? `${select.value}=${values.value}` : null);
  values.addEventListener("keydown", (event) => {
    if (event.key === "Enter") plot();
  });
  const clear = () => {
    place.replaceChildren();
    command.hidden = true;
  };
  return {
    element: h("section", { class: "panel", "aria-label": "A series" }, h("h2", {}, "What if it varied?"),
      h("p", { class: "choices" }, h("label", {}, "Plot the best rate over ", select), h("label", {}, " from ", values),
        button("Plot", {}, plot), button("No plot", {}, () => { clear(); ask(null); })),
      place, command),
    offers(params, device) {
      usual = {};
      for (const [name, value] of Object.entries(params)) usual[name] = around(value);
      for (const { path } of SLIDERS) {
        const value = device?.numbers[path];
        if (value) usual[path] = [0.25, 0.5, 0.75, 1, 1.5, 2, 4].map((factor) => times(value, factor)).join(",");
      }
      const before = select.value;
      if ([...select.options].map((o) => o.value).join() !== Object.keys(usual).join()) {
        select.replaceChildren(...Object.keys(usual).map((name) => h("option", { value: name }, SLIDERS.find((s) => s.path === name)?.name ?? name)));
        if (before in usual) select.value = before;
        else values.value = usual[select.value] ?? "";
      }
    },
    show(sweeps, text) {
      place.replaceChildren(...sweeps.map(series));
      command.textContent = text;
      command.hidden = false;
    },
    say(text) {
      place.replaceChildren(h("p", { class: "warning", role: "alert" }, text));
      command.hidden = true;
    },
    set(vary) {
      const [name, ...rest] = (vary ?? "").split("=");
      if (!vary || !name) return clear();
      if (![...select.options].some((o) => o.value === name)) select.append(h("option", { value: name }, name));
      select.value = name;
      values.value = rest.join("=");
    },
  };
}
