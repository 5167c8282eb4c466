// A series: the rate over something that varies, a line for each launch, variant, or value of a second thing.

import { limiterClass } from "./colour";
import type { Sweep } from "./documents";
import { h, s } from "./dom";
import { bytes, launchName, percent, rate } from "./format";
import { frame, pictureSection, short } from "./picture";

interface Line {
  name: string;
  points: { at: number | string; of: Sweep["points"][number] }[];
}

function shown(value: unknown): string {
  return Array.isArray(value) ? value.join("x") : String(value);
}

/** Points of each value of what varies second and, unless the best of each point is meant, of each launch. */
function lines(sweep: Sweep): Line[] {
  const [axis, second] = [sweep.vary[0]?.name ?? "", sweep.vary[1]?.name];
  const found = new Map<string, Line>();
  const isOfLaunch = !sweep.best && !["block", "fold"].includes(sweep.vary[0]?.kind ?? "");
  for (const of of sweep.points) {
    const parts = [second ? `${second} = ${shown(of.values[second])}` : "", isOfLaunch && of.config ? launchName(of.config) : ""];
    const name = parts.filter(Boolean).join(", ");
    const line = found.get(name) ?? { name, points: [] };
    found.set(name, line);
    line.points.push({ at: shown(of.values[axis]), of });
  }
  return [...found.values()];
}

/** A value such as `40 MiB` or `1.41 GHz` by its number, where all have one unit. */
function number(text: string | number): number {
  return Number(/^-?[\d.]+(e[+-]?\d+)?/i.exec(String(text))?.[0] ?? Number.NaN);
}

/** Colours of lines, in their order. */
const COLOURS = ["dram", "l1", "fp", "other", "l2", "capacity"];
/** Lines that are drawn. */
const MOST = 12;

export function series(sweep: Sweep): HTMLElement {
  const unit = sweep.kernel.unit;
  const name = sweep.vary[0]?.name ?? "";
  const all = lines(sweep);
  const drawn = all.slice(0, MOST);
  const values = [...new Set(drawn.flatMap((line) => line.points.map((p) => p.at)))];
  const units = new Set(values.map((v) => String(v).replace(/^-?[\d.]+(e[+-]?\d+)?\s*/i, "")));
  const numbers = values.map(number);
  const isNumber = units.size === 1 && numbers.every(Number.isFinite) && numbers.length > 1;
  const place = (at: number | string) => (isNumber ? number(at) : values.indexOf(at));
  const rates = drawn.flatMap((line) => line.points.flatMap((p) => (p.of.result ? [p.of.result.rate_per_s] : [])));
  if (rates.length === 0) return h("p", { class: "warning" }, "None of the points has a result.");
  const places = values.map(place);
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const isLog = isNumber && low > 0 && high / low > 20;
  const plot = frame(640, 320,
    { low: isNumber ? low : low - 0.5, high: isNumber ? high : high + 0.5, isLog, name: `${name}${isNumber && [...units][0] ? `, ${[...units][0]}` : ""}`,
      text: isNumber ? short : (at) => String(values[at] ?? "") },
    { low: 0, high: Math.max(...rates) * 1.05, name: `${unit}/s` });
  drawn.forEach((line, i) => {
    const colour = COLOURS[i % COLOURS.length] as string;
    let [path, before] = ["", false];
    for (const { at, of } of line.points) {
      if (!of.result) { before = false; continue; }
      const [x, y] = [plot.x(place(at)), plot.y(of.result.rate_per_s)];
      path += `${before ? "L" : "M"}${x} ${y}`;
      before = true;
      plot.drawing.append(s("circle", { cx: x, cy: y, r: 3.5, class: `f-${colour}` },
        s("title", {}, `${name} = ${at}: ${rate(of.result.rate_per_s, unit)}, ${launchName(of.result.config)}, limited by ${of.result.limiter}`)));
    }
    plot.drawing.append(s("path", { d: path, class: `series s-${colour}` }));
  });
  const rows = all.flatMap((line) => line.points.map(({ at, of }) => h("tr", {},
    all.length > 1 && h("th", { scope: "row", class: "left" }, line.name),
    h("td", {}, String(at)),
    of.result ? h("td", {}, rate(of.result.rate_per_s, unit)) : h("td", {}, "none"),
    h("td", { class: "left" }, of.result ? launchName(of.result.config) : (of.error?.message ?? of.error?.reason ?? "no launch can run")),
    h("td", { class: "left" }, of.result && h("span", { class: `chip ${limiterClass(of.result.limiter)}` }, of.result.limiter)),
    h("td", {}, of.result ? bytes(of.result.volumes.l2.load.total) : ""),
    h("td", {}, of.result ? bytes(of.result.volumes.dram.load.total) : ""),
    h("td", {}, of.result ? percent(of.result.occupancy.fraction) : ""))));
  const head = [name, "rate", "launch", "limiter", "L2 B", "DRAM B", "occ."];
  return h("div", {},
    pictureSection(`${sweep.best ? "Best rate" : "Rate"} over ${name}`, `${sweep.kernel.name} over ${name}`, () => plot.drawing,
      h("div", { class: "picture-scroll", tabindex: 0, role: "region", "aria-label": "Picture; its numbers are in the table below" }, plot.drawing),
      drawn.length > 1 && h("p", { class: "legend" }, ...drawn.map((line, i) =>
        h("span", { class: "key" }, h("span", { class: `swatch c-${COLOURS[i % COLOURS.length]}` }), line.name))),
      all.length > MOST && h("p", { class: "faint" }, `The first ${MOST} of ${all.length} lines; the table has all.`)),
    h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Table of the series" },
      h("table", { class: "data" }, h("caption", { class: "hidden" }, `The series over ${name}`),
        h("thead", {}, h("tr", {}, all.length > 1 && h("th", { scope: "col", class: "left" }, "line"), ...head.map((text, i) => h("th", { scope: "col", class: i === 2 || i === 3 ? "left" : null }, text)))),
        h("tbody", {}, ...rows))));
}
