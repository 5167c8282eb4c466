// The roofline, for each level of the memory: how many work items a second each level lets through over work items per
// byte that a launch moves there. Every launch is a point of each level; the lines are what the levels can do.

import type { Ranking, Result } from "./documents";
import { h, s } from "./dom";
import { launchName, rate } from "./format";
import { frame, pictureSection, PLOT, prefixed, short } from "./picture";

interface Level {
  key: "l1" | "l2" | "dram";
  name: string;
}

const LEVELS: Level[] = [
  { key: "l1", name: "L1" },
  { key: "l2", name: "L2" },
  { key: "dram", name: "DRAM" },
];

/** Bytes of a work item at a level. */
function moved({ volumes }: Result, level: Level["key"]): number {
  if (level === "l1") return volumes.l1.load_bytes + volumes.l1.store_bytes;
  return volumes[level].load.total + volumes[level].store.total;
}

interface Roof {
  level: Level;
  points: { result: Result; across: number }[];
  /** Bytes a second. */
  bandwidth: number;
}

/** Levels with their points and what they can do: the most that any launch gets through. */
function roofs(ranking: Ranking): Roof[] {
  return LEVELS.flatMap((level) => {
    const points = ranking.results.flatMap((result) => {
      const bytes = moved(result, level.key);
      return bytes > 1e-9 ? [{ result, across: 1 / bytes }] : [];
    });
    const limits = points.map(({ result, across }) => (result.limits_per_s[level.key] ?? 0) / across);
    const bandwidth = Math.max(0, ...limits.filter(Number.isFinite));
    return points.length > 0 && bandwidth > 0 ? [{ level, points, bandwidth }] : [];
  });
}

/** Points that are drawn; more of them would lie on top of each other. */
const MOST = 600;

export interface Roofline {
  element: HTMLElement;
  select(result: Result): void;
}

export function roofline(ranking: Ranking, choose: (result: Result) => void): Roofline {
  const all = roofs(ranking);
  const [width, height] = [560, 340];
  const unit = ranking.kernel.unit;
  const rates = ranking.results.map((r) => r.rate_per_s).filter((r) => r > 0);
  if (all.length === 0 || rates.length === 0) return { element: h("section", { hidden: true }), select: () => {} };
  const shown = all.map((roof) => ({ ...roof, points: roof.points.slice(0, MOST) }));
  const across = shown.flatMap((roof) => roof.points.map((p) => p.across));
  const [low, high] = [Math.min(...across) / 1.5, Math.max(...across) * 1.5];
  const compute = ranking.results[0]?.limits_per_s.fp ?? 0;
  const top = Math.max(...rates) * 3;
  const plot = frame(width, height,
    { low, high, isLog: true, name: `${unit} per byte moved at the level` },
    { low: Math.min(...rates) / 1.5, high: top, isLog: true, name: `${unit}/s` });
  const inside = (value: number) => Math.max(plot.y(Math.min(value, top)), PLOT.top);
  const rings = new Map<Result, SVGCircleElement[]>();
  // They come last, above the points.
  const labels: SVGTextElement[] = [];
  for (const { level, points, bandwidth } of shown) {
    // From the lower end, or where the line comes into the picture, to where it leaves at the top.
    const until = Math.min(high, top / bandwidth);
    const from = Math.max(low, Math.min(...rates) / 1.5 / bandwidth);
    if (until > from) {
      plot.drawing.append(s("line", { x1: plot.x(from), y1: plot.y(from * bandwidth), x2: plot.x(until), y2: inside(until * bandwidth), class: `roof s-${level.key}` },
        s("title", {}, `${level.name}: ${prefixed(bandwidth, "B/s")}`)));
      labels.push(s("text", { x: Math.min(plot.x(until) - 4, width - 80), y: inside(until * bandwidth) + 14, class: "tick end over" }, `${level.name} ${prefixed(bandwidth, "B/s")}`));
    }
    for (const { result, across } of points) {
      const dot = s("circle", { cx: plot.x(across), cy: plot.y(result.rate_per_s), r: 3, class: `dot f-${level.key}` },
        s("title", {}, `${launchName(result.config)}: ${rate(result.rate_per_s, unit)}, ${short(across)} ${unit}/B of ${level.name}`));
      dot.addEventListener("click", () => choose(result));
      plot.drawing.append(dot);
      rings.set(result, [...(rings.get(result) ?? []), dot]);
    }
  }
  if (compute > 0 && compute < top) {
    plot.drawing.append(s("line", { x1: PLOT.left, x2: width - PLOT.right, y1: plot.y(compute), y2: plot.y(compute), class: "roof s-fp" }));
    labels.push(s("text", { x: PLOT.left + 6, y: plot.y(compute) - 5, class: "tick over" }, `floating point ${prefixed(compute, `${unit}/s`)}`));
  }
  plot.drawing.append(...labels);
  const rows = all.map(({ level, bandwidth, points }) => {
    const spread = points.map((p) => p.across);
    return h("tr", {}, h("th", { scope: "row" }, level.name), h("td", {}, prefixed(bandwidth, "B/s")),
      h("td", {}, `${short(Math.min(...spread))} to ${short(Math.max(...spread))}`));
  });
  const chosen = h("p", { class: "faint", role: "status" });
  const element = pictureSection(
    "Roofline", `roofline of ${ranking.kernel.name} on ${ranking.device.id}`, () => plot.drawing,
    h("div", { class: "picture-scroll", tabindex: 0, role: "region", "aria-label": "Picture; its numbers are in the table below" }, plot.drawing),
    h("p", { class: "legend" }, ...all.map(({ level }) => h("span", { class: "key" }, h("span", { class: `swatch c-${level.key}` }), level.name))),
    chosen,
    h("table", { class: "small" }, h("caption", { class: "hidden" }, "Levels of the roofline"),
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "level"), h("th", { scope: "col" }, "bandwidth"), h("th", { scope: "col" }, `${unit} per byte`))),
      h("tbody", {}, ...rows)),
  );
  let before: SVGCircleElement[] = [];
  return {
    element,
    select(result) {
      for (const dot of before) { dot.classList.remove("chosen"); dot.setAttribute("r", "3"); }
      before = rings.get(result) ?? [];
      for (const dot of before) { dot.classList.add("chosen"); dot.setAttribute("r", "6"); dot.parentNode?.append(dot); }
      const parts = all.map(({ level, bandwidth }) => {
        const reach = (result.rate_per_s * moved(result, level.key)) / bandwidth;
        return `${(100 * reach).toFixed(0)} % of ${level.name}`;
      });
      chosen.textContent = `${launchName(result.config)} uses ${parts.join(", ")}.`;
    },
  };
}

