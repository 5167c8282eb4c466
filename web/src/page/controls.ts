// What a person chooses: kernel, device, and what is changed of both.

import { button, h } from "../views/dom";
import { type DeviceNumbers, type DeviceSummary, SLIDERS, times } from "./device";
import type { State } from "./state";

export interface Controls {
  element: HTMLElement;
  /** The devices that there are. */
  devices(all: DeviceSummary[], chosen: string): void;
  /** Shows the device's numbers with what is changed of them. */
  device(state: State, device: DeviceNumbers | null): void;
  /** Shows the parameters of the kernel. */
  params(params: Record<string, number>, changed: Record<string, number>): void;
}

interface Told {
  kernel(name: string): void;
  /** A device that is known, or null for one of one's own. */
  device(id: string | null): void;
  factor(path: string, factor: number): void;
  param(name: string, value: number | null): void;
}

/** What stands in the list for a device of one's own. */
const OWN = "own";
/** Steps of a slider for each factor of two, and factors of two on either side of the value. */
const [STEPS, DOUBLES] = [4, 2];

export function controls(kernels: string[], state: State, told: Told): Controls {
  const kernel = h("select", { id: "kernel" });
  for (const name of kernels) kernel.append(h("option", { value: name, selected: name === state.kernel }, name));
  kernel.addEventListener("change", () => told.kernel(kernel.value));
  const device = h("select", { id: "device" }, h("option", { value: state.device }, state.device));
  device.addEventListener("change", () => told.device(device.value === OWN ? null : device.value));

  const sliders = SLIDERS.map(({ path, name }) => {
    // Steps of a quarter of a power of two, so that the device's own value is one of them.
    const input = h("input", { type: "range", id: `x-${path}`, min: -STEPS * DOUBLES, max: STEPS * DOUBLES, step: 1, value: 0, list: "own" });
    const output = h("output", { for: `x-${path}` });
    input.addEventListener("input", () => told.factor(path, 2 ** (Number(input.value) / STEPS)));
    return { path, input, output, element: h("div", { class: "slider" }, h("label", { for: `x-${path}` }, name), input, output) };
  });
  const own = h("datalist", { id: "own" }, h("option", { value: 0 }));
  const as = button("As it is in truth", {}, () => { for (const { path } of SLIDERS) told.factor(path, 1); });
  const params = h("div", { class: "params" });
  let names = "";

  function param(name: string, value: number): HTMLElement {
    const input = h("input", { type: "number", value, step: 1, "data-name": name, "aria-label": name });
    input.addEventListener("change", () => told.param(name, input.value === "" ? null : Number(input.value)));
    const [low, high] = value > 0 ? [Math.max(1, Math.round(value / 4)), 4 * value] : [value - 64, value + 64];
    const slider = h("input", { type: "range", min: low, max: high, step: Math.max(1, Math.round(value / 64)), value, "data-name": name, "aria-label": `${name}, slider` });
    slider.addEventListener("input", () => told.param(name, Number(slider.value)));
    return h("div", { class: "param" }, h("span", { "aria-hidden": "true" }, name), input, slider);
  }

  return {
    element: h(
      "div",
      { class: "controls" },
      h("div", { class: "choices" }, h("label", {}, "Kernel ", kernel), h("label", {}, "Device ", device)),
      h("details", { class: "panel" }, h("summary", {}, "What if the device were different?"), own, ...sliders.map((s) => s.element), as),
      params,
    ),
    devices(all, chosen) {
      device.replaceChildren(
        ...all.map(({ id, name }) => h("option", { value: id }, `${name} (${id})`)),
        h("option", { value: OWN }, "one of your own \u2026"),
      );
      device.value = chosen;
    },
    device(now, of) {
      kernel.value = now.kernel;
      device.value = now.deviceText === null ? now.device : OWN;
      for (const { path, input, output } of sliders) {
        const value = of?.numbers[path];
        const factor = now.factors[path] ?? 1;
        input.value = String(Math.round(STEPS * Math.log2(factor)));
        input.disabled = value === undefined;
        const text = value === undefined ? "" : times(value, factor);
        output.textContent = factor === 1 ? text : `${text} (${value} in truth)`;
        input.setAttribute("aria-valuetext", output.textContent);
      }
    },
    params(all, changed) {
      const shown = Object.keys(all).join(" ");
      if (shown !== names) {
        names = shown;
        params.replaceChildren(...Object.entries(all).map(([name, value]) => param(name, value)));
      }
      for (const input of params.querySelectorAll("input")) {
        const name = input.dataset.name ?? "";
        if (document.activeElement !== input) input.value = String(all[name] ?? "");
        input.classList.toggle("changed", name in changed);
      }
    },
  };
}
