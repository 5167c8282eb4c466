// All about one launch.

import type { Head, Result, Sentence } from "./documents";
import { h } from "./dom";
import { digits, launchName, percent, rate, seconds, shape } from "./format";
import { limiters } from "./limiters";
import { memory } from "./memory";

/** The facts of a launch, each with its name. */
function facts(result: Result): [string, string][] {
  const { config, occupancy } = result;
  return [
    ["Grid", `${shape(config.grid)} blocks`],
    ["Occupancy", `${percent(occupancy.fraction)}: ${occupancy.blocks_per_sm} blocks per SM, limited by ${occupancy.limited_by}`],
    ["Waves", `${digits(occupancy.waves)} of ${occupancy.wave_blocks} blocks`],
    ["Registers", config.registers === null ? "not given" : String(config.registers)],
    ["Shared memory", `${config.shared_bytes} B`],
  ];
}

/** The sentences, or what is said while there are none. */
export function sentenceList(sentences: Sentence[] | null, otherwise: string): HTMLElement {
  const list = sentences?.length
    ? h("ul", { class: "sentences" }, ...sentences.map(({ code, text }) => h("li", { "data-code": code }, text)))
    : h("p", { class: "faint" }, otherwise);
  return h("section", { "aria-label": "In words" }, h("h3", {}, "In words"), list);
}

/** The panel of a launch. */
export function detail(head: Head, result: Result, words: HTMLElement): HTMLElement {
  const unit = head.kernel.unit;
  const list = h("dl", { class: "facts" });
  for (const [name, text] of facts(result)) list.append(h("dt", {}, name), h("dd", {}, text));
  const unsure = [...result.warnings.map((w) => w.message), ...result.confidence.because];
  return h(
    "div",
    { class: "detail" },
    h("h2", { tabindex: -1 }, launchName(result.config)),
    h(
      "p",
      { class: "headline" },
      h("strong", {}, rate(result.rate_per_s, unit)),
      ` · ${seconds(result.time_s)} · rank ${result.rank}, tie group ${result.tie_group}`,
    ),
    limiters(result),
    words,
    memory(result, unit),
    h("section", { "aria-label": "Facts" }, h("h3", {}, "Launch"), list),
    unsure.length > 0 && h("p", { class: "faint" }, `Less sure because: ${unsure.join("; ")}.`),
  );
}
