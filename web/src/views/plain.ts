// A table of a document that has no view of its own: sorted by a click on a column, and taken along as CSV.

import { button, h } from "./dom";
import { cell, save } from "./take";

/** Rows that are drawn at a time. */
const STEP = 100;

interface Plain {
  /** Names, and whether they are flush on the right. */
  columns: [string, boolean][];
  rows: string[][];
}

/** Numbers by their size, texts by the alphabet, nothing last. */
function compare(a: string, b: string): number {
  if (a === "" || b === "") return Number(a === "") - Number(b === "");
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
}

export function documentTable({ columns, rows }: Plain, name: string): HTMLElement {
  let [order, up, shown] = [-1, true, STEP];
  const body = h("tbody");
  const heads = columns.map(([text, right], i) =>
    h("th", { scope: "col", class: right ? null : "left" }, button(text || "\u00a0", { title: `sort by ${text}` }, () => {
      up = order === i ? !up : true;
      order = i;
      draw();
    })));
  const more = button("", { class: "more" }, () => {
    shown += 10 * STEP;
    draw();
  });
  function draw(): void {
    const sorted = order < 0 ? rows : [...rows].sort((a, b) => compare(a[order] ?? "", b[order] ?? "") * (up ? 1 : -1));
    body.replaceChildren(...sorted.slice(0, shown).map((row) =>
      h("tr", {}, ...row.map((text, i) => h("td", { class: columns[i]?.[1] ? null : "left" }, text)))));
    heads.forEach((head, i) => {
      if (i === order) head.setAttribute("aria-sort", up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    more.hidden = shown >= rows.length;
    more.textContent = `Show more of ${rows.length}`;
  }
  draw();
  const text = () => [columns.map(([head]) => cell(head)), ...rows.map((row) => row.map(cell))].map((row) => `${row.join(",")}\n`).join("");
  return h("section", { class: "panel", "aria-label": "Table" }, h("h2", {}, "Table"),
    h("div", { class: "scroll taller", tabindex: 0, role: "region", "aria-label": "Table of the result" },
      h("table", { class: "data" }, h("caption", { class: "hidden" }, "The result; buttons in the head sort"),
        h("thead", {}, h("tr", {}, ...heads)), body)),
    h("div", { class: "below-table" }, more, button("Save as CSV", {}, () => save(`${name}.csv`, "text/csv", text()))));
}
