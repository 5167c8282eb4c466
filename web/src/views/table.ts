// The launches as a table that is sorted by a click on a column: the accessible form of the map.

import { limiterClass } from "./colour";
import type { Ranking, Result } from "./documents";
import { button, h } from "./dom";
import { bytes, digits, grouped, launchName, percent, seconds, shape } from "./format";
import { takeAlong } from "./take";

interface Column {
  name: string;
  says?: string;
  text: (r: Result) => string;
  by: (r: Result) => number | string;
  left?: boolean;
}

/** Rows that are drawn at a time. */
const STEP = 50;

function columns(ranking: Ranking): Column[] {
  const folds = ranking.results.some((r) => r.config.fold.some((n) => n !== 1));
  const variants = ranking.results.some((r) => r.config.variant !== null);
  const size = (of: number[]) => of.reduce((all, n) => all * n, 1);
  const all: (Column | false)[] = [
    { name: "#", says: "rank", text: (r) => String(r.rank), by: (r) => r.rank },
    variants && { name: "variant", text: (r) => r.config.variant ?? "", by: (r) => r.config.variant ?? "", left: true },
    { name: "block", text: (r) => shape(r.config.block), by: (r) => size(r.config.block) * 2 ** 20 + r.config.block[0], left: true },
    folds && { name: "fold", text: (r) => shape(r.config.fold), by: (r) => size(r.config.fold) * 2 ** 20 + r.config.fold[0], left: true },
    { name: `G${ranking.kernel.unit}/s`, says: "rate", text: (r) => digits(r.rate_per_s / 1e9), by: (r) => -r.rate_per_s },
    { name: "time", text: (r) => seconds(r.time_s), by: (r) => r.time_s },
    { name: "tie", says: "tie group", text: (r) => String(r.tie_group), by: (r) => r.tie_group },
    { name: "limiter", text: (r) => r.limiter, by: (r) => r.limiter, left: true },
    { name: "L2 B", says: "bytes from L2 for each work item", text: (r) => bytes(r.volumes.l2.load.total), by: (r) => r.volumes.l2.load.total },
    { name: "DRAM B", says: "bytes from memory for each work item", text: (r) => bytes(r.volumes.dram.load.total), by: (r) => r.volumes.dram.load.total },
    { name: "occ.", says: "occupancy", text: (r) => percent(r.occupancy.fraction), by: (r) => -r.occupancy.fraction },
  ];
  return all.filter((c) => c !== false);
}

export interface LaunchTable {
  element: HTMLElement;
  /** Marks a launch. */
  select(result: Result): void;
}

/** The table of a ranking; `choose` is told which launch was clicked. */
export function launchTable(ranking: Ranking, choose: (result: Result) => void): LaunchTable {
  const all = columns(ranking);
  let [sorted, order, up, shown] = [ranking.results, all[0] as Column, true, STEP];
  let selected: Result | null = null;
  const body = h("tbody");
  const more = button("", { class: "more" }, () => {
    shown += 4 * STEP;
    draw();
  });
  const heads = all.map((column) => {
    const sort = button(column.name, { title: column.says ? `sort by ${column.says}` : `sort by ${column.name}` }, () => {
      up = order === column ? !up : true;
      order = column;
      sorted = [...ranking.results].sort((a, b) => {
        const [x, y] = [column.by(a), column.by(b)];
        return (x < y ? -1 : x > y ? 1 : a.rank - b.rank) * (up ? 1 : -1);
      });
      draw();
    });
    return h("th", { scope: "col", class: column.left ? "left" : null }, sort);
  });

  function row(result: Result): HTMLTableRowElement {
    const line = h("tr", { "aria-current": result === selected ? "true" : null });
    line.dataset.rank = String(result.rank);
    all.forEach((column, i) => {
      const text = column.text(result);
      const inside =
        i === 0 ? button(text, { "aria-label": `rank ${text}: show ${launchName(result.config)}` }, () => choose(result))
        : column.name === "limiter" ? h("span", { class: `chip ${limiterClass(text)}` }, text)
        : text;
      line.append(h("td", { class: column.left ? "left" : null }, inside));
    });
    line.addEventListener("click", (event) => {
      if (!(event.target instanceof HTMLButtonElement)) choose(result);
    });
    return line;
  }

  function draw(): void {
    body.replaceChildren(...sorted.slice(0, shown).map(row));
    heads.forEach((head, i) => {
      if (all[i] === order) head.setAttribute("aria-sort", up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    more.hidden = shown >= sorted.length;
    more.textContent = `Show more of ${grouped(sorted.length)}`;
  }

  draw();
  const table = h(
    "table",
    { class: "launches" },
    h("caption", { class: "hidden" }, "Launches that can run; buttons in the head sort"),
    h("thead", {}, h("tr", {}, ...heads)),
    body,
  );
  const element = h(
    "section",
    { class: "panel", "aria-label": "Launches" },
    h("h2", {}, "Launches"),
    h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Table of launches" }, table),
    h("div", { class: "below-table" }, more, ...takeAlong(ranking)),
  );
  return {
    element,
    select(result) {
      selected = result;
      for (const line of body.rows) {
        if (line.dataset.rank === String(result.rank)) line.setAttribute("aria-current", "true");
        else line.removeAttribute("aria-current");
      }
    },
  };
}
