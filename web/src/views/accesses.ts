// What each instruction of a thread costs, and the bytes that it moves at each level.

import type { Access } from "./documents";
import { h } from "./dom";
import { bytes, digits } from "./format";

/** Rows that are shown at once. */
const SHOWN = 60;

export function accesses(all: Access[], unit: string): HTMLElement {
  const most = Math.max(...all.map((a) => a.cycles), 1e-12);
  const head = ["", "access", "L1 cycles", "sectors", "used", "L2 B", "DRAM B"];
  const says = ["", "", `cycles of the L1 pipe per ${unit}`, "sectors of a request", "bytes asked for over bytes moved",
    `bytes per ${unit} between L1 and L2 that only it moves`, `bytes per ${unit} between L2 and DRAM that only it moves`];
  const byCost = all.slice().sort((a, b) => b.cycles - a.cycles || a.position - b.position);
  const row = (a: Access) => h("tr", {},
    h("td", { class: "left" }, a.kind),
    h("th", { scope: "row", class: "left" }, h("code", {}, a.at)),
    h("td", { "data-n": a.cycles, "data-of": "l1" }, h("span", { class: "inbar c-l1", style: `width:${(4 * a.cycles / most).toFixed(2)}rem`, "aria-hidden": "true" }), digits(a.cycles)),
    h("td", {}, a.sectors_per_request === null ? "" : digits(a.sectors_per_request)),
    h("td", {}, a.efficiency === null ? "" : `${(100 * a.efficiency).toFixed(0)} %`),
    h("td", { "data-n": a.alone?.l2_bytes ?? null, "data-of": "l2" }, a.alone ? bytes(a.alone.l2_bytes) : ""),
    h("td", { "data-n": a.alone?.dram_bytes ?? null, "data-of": "dram" }, a.alone ? bytes(a.alone.dram_bytes) : ""));
  return h("section", { "aria-label": "Accesses" }, h("h3", {}, `Accesses, per ${unit}`),
    h("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Table of accesses" },
      h("table", { class: "data accesses" }, h("caption", { class: "hidden" }, "What each access of a thread costs, the costliest first"),
        h("thead", {}, h("tr", {}, ...head.map((name, i) => h("th", { scope: "col", class: i < 2 ? "left" : null, title: says[i] || null }, name || h("span", { class: "hidden" }, "kind"))))),
        h("tbody", {}, ...byCost.slice(0, SHOWN).map(row)))),
    all.length > SHOWN && h("p", { class: "faint" }, `The costliest ${SHOWN} of ${all.length}.`),
    h("p", { class: "faint" }, "L2 B and DRAM B: what would not be moved without the access; what several share counts for none."));
}
