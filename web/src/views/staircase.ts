// The staircases of occupancy: how many warps an SM holds, over the registers of a thread and the shared memory of a block.

import type { Result, Staircase, Step } from "./documents";
import { h, s } from "./dom";
import { percent } from "./format";
import { frame, pictureSection } from "./picture";

function stairs(of: Staircase, steps: Step[], at: number | null, name: string, from: number): SVGSVGElement {
  const most = steps.at(-1)?.up_to ?? 1;
  const share = (blocks: number) => (100 * blocks * of.warps_per_block) / of.max_warps;
  const plot = frame(330, 190, { low: from, high: most, name }, { low: 0, high: 100, name: "occupancy, %" });
  let [path, left] = ["", from];
  for (const { up_to, blocks_per_sm } of steps) {
    const y = plot.y(share(blocks_per_sm));
    path += `${path ? "L" : "M"}${plot.x(left)} ${y}L${plot.x(up_to)} ${y}`;
    left = up_to;
  }
  plot.drawing.append(s("path", { d: path, class: "stair" }));
  const here = at === null ? undefined : steps.find((step) => at <= step.up_to);
  if (here && at !== null) {
    plot.drawing.append(s("circle", { cx: plot.x(Math.max(at, from)), cy: plot.y(share(here.blocks_per_sm)), r: 5, class: "here" }));
  }
  return plot.drawing;
}

/** What the next step would be, in words. */
function said(of: Staircase, steps: Step[], at: number, what: string): string {
  const index = steps.findIndex((step) => at <= step.up_to);
  const [here, up, down] = [steps[index], steps[index - 1], steps[index + 1]];
  if (!here) return "";
  const share = (step: Step) => percent((step.blocks_per_sm * of.warps_per_block) / of.max_warps);
  const parts = [`${here.blocks_per_sm} blocks (${share(here)}) up to ${here.up_to} ${what}`];
  if (up) parts.push(`${up.blocks_per_sm} (${share(up)}) with ${up.up_to} or fewer`);
  if (down) parts.push(down.blocks_per_sm === 0 ? `none with ${here.up_to + 1}` : `${down.blocks_per_sm} (${share(down)}) with ${here.up_to + 1}`);
  return `${parts.join(", ")}.`;
}

function list(of: Staircase, steps: Step[], what: string): HTMLElement {
  return h("table", { class: "hidden" }, h("caption", {}, `Occupancy over ${what}`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, `up to ${what}`), h("th", { scope: "col" }, "blocks of an SM"), h("th", { scope: "col" }, "occupancy"))),
    h("tbody", {}, ...steps.map((step) => h("tr", {}, h("td", {}, String(step.up_to)), h("td", {}, String(step.blocks_per_sm)),
      h("td", {}, percent((step.blocks_per_sm * of.warps_per_block) / of.max_warps))))));
}

export function staircase(result: Result, of: Staircase): HTMLElement {
  const { registers, shared_bytes } = result.config;
  const parts: [string, Step[], number | null, number, string][] = [
    ["registers of a thread", of.registers, registers, 1, "registers"],
    ["shared memory of a block, B", of.shared_bytes, shared_bytes, 0, "bytes"],
  ];
  return h("div", { class: "sides" }, ...parts.map(([name, steps, at, from, what]) => {
    const drawing = stairs(of, steps, at, name, from);
    return pictureSection(`Occupancy over ${name.replace(", B", "")}`, `occupancy over ${what}`, () => drawing, drawing,
      at === null ? null : h("p", { class: "faint" }, said(of, steps, at, what)), list(of, steps, what));
  }));
}
