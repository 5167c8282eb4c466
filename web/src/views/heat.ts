// The heat map: rate over x and y of the block. It is a table of buttons, so that keyboard and screen reader have it
// without a second form.

import { css, inkOn, ofShare } from "./colour";
import type { Ranking, Result } from "./documents";
import { button, h, s } from "./dom";
import { grouped, launchName, percent, rate } from "./format";
import { savers } from "./picture";
import { ALL, type Cell, type Facet, facets, facetValue, grid } from "./grid";

export interface Heat {
  element: HTMLElement;
  /** Marks a launch, and shows the map that it is in. */
  select(result: Result): void;
}

const KEYS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The heat map of a ranking; `choose` is told which launch was clicked. */
export function heat(ranking: Ranking, choose: (result: Result) => void): Heat {
  const chosen: Partial<Record<Facet["key"], string>> = {};
  const all = facets(ranking);
  const best = ranking.results[0]?.rate_per_s ?? 0;
  const unit = ranking.kernel.unit;
  // A cell without a result may have launches that are too slow to be here.
  const isCut = ranking.results.length < ranking.summary.feasible;
  const left = isCut ? `, or not among the best ${grouped(ranking.results.length)}` : "";
  const place = h("div", { class: "scroll heat-place" });
  let selected: Result | null = null;
  let buttons = new Map<string, HTMLButtonElement>();

  function describe(cell: Cell): string {
    const shared = cell.count > 1 ? `, best of ${cell.count} launches` : "";
    if (cell.best) {
      const { config, rate_per_s, rank, limiter } = cell.best;
      const part = best > 0 ? percent(rate_per_s / best) : percent(0);
      return `${part} of the best: ${launchName(config)}, ${rate(rate_per_s, unit)}, rank ${rank}, limited by ${limiter}${shared}`;
    }
    return cell.rejected ? `${launchName(cell.rejected.config)}: cannot run: ${cell.rejected.reason}${left}` : "no launch";
  }

  function drawn(cell: Cell): HTMLElement {
    const says = describe(cell);
    if (!cell.best) return h("span", { class: "cell hatched", title: says, role: "img", "aria-label": says }, "");
    const result = cell.best;
    const share = best > 0 ? result.rate_per_s / best : 0;
    const colour = ofShare(share);
    const made = button(percent(share).replace(" %", ""), {
      class: `cell${result.tie_group === 1 ? " tied" : ""}`,
      style: `background:${css(colour)};color:${inkOn(colour)}`,
      title: says,
      "aria-label": says,
      "aria-pressed": result === selected ? "true" : "false",
      tabindex: -1,
    }, () => choose(result));
    made.dataset.rank = String(result.rank);
    return made;
  }

  function draw(): void {
    const { columns, rows, cell } = grid(ranking, chosen);
    buttons = new Map();
    const head = h("tr", {}, h("th", { class: "corner", scope: "col" }, "y \\ x"));
    for (const column of columns) head.append(h("th", { scope: "col" }, column.label));
    const body = h("tbody");
    rows.forEach((row, y) => {
      const line = h("tr", {}, h("th", { scope: "row" }, row.label));
      columns.forEach((_, x) => {
        const found = cell(x, y);
        const made = found ? drawn(found) : null;
        if (made instanceof HTMLButtonElement) buttons.set(`${x},${y}`, made);
        line.append(h("td", {}, made));
      });
      body.append(line);
    });
    const caption = h("caption", { class: "hidden" }, `Rate in percent of the best over x (columns) and y (rows) of the block`);
    const table = h("table", { class: "heat" }, caption, h("thead", {}, head), body);
    table.addEventListener("keydown", (event) => move(event, columns.length, rows.length));
    place.replaceChildren(table);
    reachable();
  }

  /** The map as a drawing, to be taken along. */
  function drawing(): SVGSVGElement {
    const { columns, rows, cell } = grid(ranking, chosen);
    const [wide, high, left, top] = [34, 26, 46, 46];
    const [width, height] = [left + wide * columns.length + 12, top + high * rows.length + 12];
    const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot" });
    const word = (x: number, y: number, kind: string, text: string) => picture.append(s("text", { x, y, class: kind }, text));
    word(6, 16, "axis", `${ranking.kernel.name} on ${ranking.device.name}: % of ${rate(best, unit)}; y down, x across`);
    columns.forEach((column, x) => word(left + wide * (x + 0.5), top - 6, "tick middle", column.label));
    rows.forEach((row, y) => {
      word(left - 6, top + high * (y + 0.5) + 4, "tick end", row.label);
      columns.forEach((_, x) => {
        const found = cell(x, y);
        if (!found) return;
        const [at, down] = [left + wide * x, top + high * y];
        if (!found.best) {
          picture.append(s("path", { d: `M${at + 2} ${down + high - 3}L${at + wide - 3} ${down + 2}`, class: "stair" }));
          return;
        }
        const share = best > 0 ? found.best.rate_per_s / best : 0;
        const colour = ofShare(share);
        picture.append(
          s("rect", { x: at, y: down, width: wide - 2, height: high - 2, style: `fill:${css(colour)};stroke:${found.best.tie_group === 1 ? "#d1242f" : "none"};stroke-width:2` }),
          s("text", { x: at + wide / 2 - 1, y: down + high / 2 + 3, style: `fill:${inkOn(colour)};text-anchor:middle;font-size:11px` }, percent(share).replace(" %", "")),
        );
      });
    });
    return picture;
  }

  /** One cell is in the order of the tab key: the selected one, else the first. */
  function reachable(): void {
    const pressed = [...buttons.values()].find((b) => b.getAttribute("aria-pressed") === "true");
    const first = pressed ?? buttons.values().next().value;
    for (const b of buttons.values()) b.tabIndex = b === first ? 0 : -1;
  }

  /** Goes to the next cell with a launch in the direction of an arrow key. */
  function move(event: KeyboardEvent, width: number, height: number): void {
    const step = KEYS[event.key];
    const from = [...buttons].find(([, b]) => b === event.target)?.[0];
    if (!step || !from) return;
    event.preventDefault();
    let [x, y] = from.split(",").map(Number) as [number, number];
    for (;;) {
      [x, y] = [x + step[0], y + step[1]];
      if (x < 0 || y < 0 || x >= width || y >= height) return;
      const next = buttons.get(`${x},${y}`);
      if (!next) continue;
      for (const b of buttons.values()) b.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
      return;
    }
  }

  const bars = all.map((facet) => {
    const values = h("div", { class: "tabs", role: "group", "aria-label": facet.label });
    for (const value of [ALL, ...facet.values]) {
      const tab = button(value === ALL ? "best" : value, { "aria-pressed": value === ALL ? "true" : "false" }, () => {
        pick(facet.key, value);
        draw();
      });
      tab.dataset.value = value;
      values.append(tab);
    }
    return { key: facet.key, values, element: h("div", { class: "facet" }, h("span", { class: "label" }, facet.label), values) };
  });

  function pick(key: Facet["key"], value: string): void {
    chosen[key] = value;
    const bar = bars.find((b) => b.key === key);
    for (const tab of bar?.values.querySelectorAll("button") ?? []) {
      tab.setAttribute("aria-pressed", tab.dataset.value === value ? "true" : "false");
    }
  }

  function select(result: Result): void {
    selected = result;
    const isShown = () => [...buttons.values()].some((b) => b.dataset.rank === String(result.rank));
    if (!isShown()) {
      // Another launch of its cell is shown: choose its own values, as many as that takes.
      for (const { key } of all) {
        if ((chosen[key] ?? ALL) !== facetValue(key, result.config)) pick(key, facetValue(key, result.config));
      }
      draw();
    }
    for (const b of buttons.values()) {
      b.setAttribute("aria-pressed", b.dataset.rank === String(result.rank) ? "true" : "false");
    }
    reachable();
  }

  const ramp = Array.from({ length: 11 }, (_, i) => css(ofShare(i / 10))).join(",");
  const keys = h(
    "p",
    { class: "legend" },
    h("span", { class: "key" }, h("span", { class: "ramp", style: `background:linear-gradient(90deg,${ramp})` }), "0 to 100 % of the best rate"),
    h("span", { class: "key" }, h("span", { class: "swatch tied-swatch" }), "ties with the best"),
    ranking.infeasible.length > 0 && h("span", { class: "key" }, h("span", { class: "swatch hatched" }), `cannot run${left}`),
  );
  draw();
  const element = h(
    "section",
    { class: "panel", "aria-label": "Heat map" },
    h("div", { class: "titled" }, h("h2", {}, "Rate over x and y of the block"), savers(`map of ${ranking.kernel.name} on ${ranking.device.id}`, drawing)),
    ...bars.map((b) => b.element),
    place,
    keys,
  );
  return { element, select };
}
