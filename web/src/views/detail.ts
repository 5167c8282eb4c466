// All about one launch.

import { accesses } from "./accesses";
import type { Details, Head, Neighbour, Result, Sentence } from "./documents";
import { h } from "./dom";
import { bytes, digits, launchName, percent, rate, seconds, shape } from "./format";
import { limiters } from "./limiters";
import { litSentences } from "./lit";
import { memory } from "./memory";
import { staircase } from "./staircase";

/** What is said of a launch beside its numbers. */
export interface Said {
  sentences: Sentence[] | null;
  details?: Details | null;
  neighbours?: Neighbour[];
}

/** The facts of a launch, each with its name. */
function facts(result: Result): [string, string, number?][] {
  const { config, occupancy } = result;
  return [
    ["Grid", `${shape(config.grid)} blocks`],
    ["Occupancy", `${percent(occupancy.fraction)}: ${occupancy.blocks_per_sm} blocks per SM, limited by ${occupancy.limited_by}`],
    ["Waves", `${digits(occupancy.waves)} of ${occupancy.wave_blocks} blocks`],
    ["Registers", config.registers === null ? "not given" : String(config.registers)],
    ["Shared memory", `${config.shared_bytes} B`],
  ];
}

/** Launches that are one step away. */
function neighbourTable(all: Neighbour[], unit: string): HTMLElement {
  const signed = (n: number) => (bytes(n) === "0" ? "0" : `${n > 0 ? "+" : "\u2212"}${bytes(Math.abs(n))}`);
  const row = (n: Neighbour) => h("tr", {}, h("th", { scope: "row", class: "left" }, launchName(n)),
    h("td", {}, rate(n.rate_per_s, unit)), h("td", {}, `${digits(n.relative)} x`), h("td", { class: "left" }, n.limiter),
    h("td", {}, signed(n.change.l2_load_bytes)), h("td", {}, signed(n.change.dram_load_bytes)));
  return h("section", { "aria-label": "Other launches" }, h("h3", {}, "One step away"),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of launches one step away" },
      h("table", { class: "data" }, h("caption", { class: "hidden" }, "Launches that are one step away, the fastest first"),
        h("thead", {}, h("tr", {}, ...["launch", "rate", "as fast", "limiter", "L2 B", "DRAM B"].map((name) => h("th", { scope: "col", class: /^l/.test(name) ? "left" : null }, name)))),
        h("tbody", {}, ...all.map(row)))));
}

/** The panel of a launch. `otherwise` stands where there are no sentences. */
export function detail(head: Head, result: Result, said: Said, otherwise: string, ...more: (Node | null)[]): HTMLElement {
  const unit = head.kernel.unit;
  const list = h("dl", { class: "facts" });
  for (const [name, text] of facts(result)) list.append(h("dt", {}, name), h("dd", {}, text));
  const unsure = [...result.warnings.map((w) => w.message), ...result.confidence.because];
  const words = h("section", { "aria-label": "In words" }, h("h3", {}, "In words"));
  const { details, neighbours } = said;
  const element = h(
    "div",
    { class: "detail" },
    h("h2", { tabindex: -1 }, launchName(result.config)),
    h(
      "p",
      { class: "headline" },
      h("strong", { "data-n": result.rate_per_s, "data-of": "time" }, rate(result.rate_per_s, unit)),
      ` · ${seconds(result.time_s)}`,
      result.rank === undefined ? null : ` · rank ${result.rank}, tie group ${result.tie_group}`,
    ),
    ...more,
    limiters(result),
    words,
    memory(result, unit, details?.levels),
    h("section", { "aria-label": "Facts" }, h("h3", {}, "Launch"), list),
    details ? staircase(result, details.staircase) : null,
    details && details.accesses.length > 0 ? accesses(details.accesses, unit) : null,
    neighbours && neighbours.length > 0 ? neighbourTable(neighbours, unit) : null,
    unsure.length > 0 && h("p", { class: "faint" }, `Less sure because: ${unsure.join("; ")}.`),
  );
  words.append(said.sentences?.length ? litSentences(said.sentences, () => element) : h("p", { class: "faint" }, otherwise));
  return element;
}
