// Two predictions beside each other: which is faster, and how long each part of their times takes.

import type { Difference, DifferenceSide } from "./documents";
import { h } from "./dom";
import { percent, rate, seconds, shape } from "./format";

/** Colours of parts that are levels of the memory or arithmetic. */
const OWN = ["fp", "l1", "l2", "dram"];

function side(name: string, of: DifferenceSide): HTMLElement {
  const fold = of.fold.some((n) => n !== 1) ? `, fold ${shape(of.fold)}` : "";
  const variant = of.variant ? ` (${of.variant})` : "";
  return h("p", {}, h("strong", {}, name), ` ${of.kernel}${variant}, block ${shape(of.block)}${fold}, on ${of.device}: `,
    h("strong", {}, seconds(of.time_s)), `, ${rate(of.rate_per_s, of.unit)}, limited by ${of.limiter}`);
}

/** Longest bars, in rem. */
const WIDEST = 8;

export function difference(of: Difference): HTMLElement {
  const most = Math.max(...of.terms.flatMap((t) => [t.a_s, t.b_s]), 1e-300);
  const timed = (value: number, term: string) =>
    h("td", {}, h("span", {
      class: `inbar c-${OWN.includes(term) ? term : "other"}`,
      style: `width:${((WIDEST * value) / most).toFixed(2)}rem`,
      "aria-hidden": "true",
    }), seconds(value));
  const share = (value: number | null) => (value === null || Math.abs(value) < 0.0005 ? "–" : percent(value));
  return h("section", { class: "panel", "aria-label": "What makes the difference" },
    side("A", of.a), side("B", of.b), h("p", {}, of.verdict),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Parts of the times" },
      h("table", { class: "small" }, h("caption", { class: "hidden" }, "Parts of the times of both"),
        h("thead", {}, h("tr", {}, ...["time", "A", "B", "of the difference"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...of.terms.map((t) =>
          h("tr", {}, h("th", { scope: "row" }, t.term), timed(t.a_s, t.term), timed(t.b_s, t.term), h("td", {}, share(t.share))))))));
}
