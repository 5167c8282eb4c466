// What a person chooses: kernel, device, and what is changed of both.

import { h } from "../views/dom";
import { type DeviceSummary, SLIDERS, times } from "./device";
import type { State } from "./state";

export interface Controls {
  element: HTMLElement;
  /** Shows the device's numbers with what is changed of them. */
  device(state: State, device: DeviceSummary): void;
  /** Shows the parameters of the kernel. */
  params(params: Record<string, number>, changed: Record<string, number>): void;
}

interface Told {
  kernel(name: string): void;
  device(id: string): void;
  factor(path: string, factor: number): void;
  param(name: string, value: number | null): void;
}

export function controls(kernels: string[], devices: DeviceSummary[], state: State, told: Told): Controls {
  const kernel = h("select", { id: "kernel" });
  for (const name of kernels) kernel.append(h("option", { value: name, selected: name === state.kernel }, name));
  kernel.addEventListener("change", () => told.kernel(kernel.value));
  const device = h("select", { id: "device" });
  for (const { id, name } of devices) device.append(h("option", { value: id, selected: id === state.device }, `${name} (${id})`));
  device.addEventListener("change", () => told.device(device.value));

  const sliders = SLIDERS.map(({ path, name }) => {
    // Steps of a quarter of a power of two, so that the device's own value is one of them.
    const input = h("input", { type: "range", id: `x-${path}`, min: -8, max: 8, step: 1, value: 0, list: "own" });
    const output = h("output", { for: `x-${path}` });
    input.addEventListener("input", () => told.factor(path, 2 ** (Number(input.value) / 4)));
    return { path, input, output, element: h("div", { class: "slider" }, h("label", { for: `x-${path}` }, name), input, output) };
  });
  const own = h("datalist", { id: "own" }, h("option", { value: 0 }));
  const params = h("div", { class: "params" });
  let names = "";

  return {
    element: h(
      "div",
      { class: "controls" },
      h("div", { class: "choices" }, h("label", {}, "Kernel ", kernel), h("label", {}, "Device ", device)),
      h("details", { class: "panel" }, h("summary", {}, "What if the device were different?"), own, ...sliders.map((s) => s.element)),
      params,
    ),
    device(now, of) {
      device.value = of.id;
      for (const { path, input, output } of sliders) {
        const value = of.numbers[path];
        const factor = now.factors[path] ?? 1;
        input.value = String(Math.round(4 * Math.log2(factor)));
        const text = value === undefined ? "" : times(value, factor);
        output.textContent = factor === 1 ? text : `${text} (${value} in truth)`;
        input.setAttribute("aria-valuetext", output.textContent);
      }
    },
    params(all, changed) {
      const shown = Object.keys(all).join(" ");
      if (shown !== names) {
        names = shown;
        params.replaceChildren(
          ...Object.entries(all).map(([name, value]) => {
            const input = h("input", { type: "number", value, step: 1, "data-name": name });
            input.addEventListener("change", () => told.param(name, input.value === "" ? null : Number(input.value)));
            return h("label", {}, `${name} `, input);
          }),
        );
      }
      for (const input of params.querySelectorAll("input")) {
        const name = input.dataset.name ?? "";
        if (document.activeElement !== input) input.value = String(all[name] ?? "");
        input.classList.toggle("changed", name in changed);
      }
    },
  };
}
