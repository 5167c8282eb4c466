// A ranking: map, table and detail, which show the same launch.

import { detail, sentenceList } from "./detail";
import type { Ranking, Result, Sentence } from "./documents";
import { h } from "./dom";
import { grouped, launchName } from "./format";
import { heat } from "./heat";
import { launchTable } from "./table";

/** Where the sentences about a launch come from. */
export interface Explainer {
  explain(result: Result): Promise<Sentence[] | null>;
  /** What is said where there are none. */
  otherwise: string;
}

/** How many launches there are, of what. */
function summary(ranking: Ranking): HTMLElement {
  const { kernel, device, model, summary: counts } = ranking;
  const params = Object.entries(kernel.params).map(([name, value]) => `${name} = ${value}`).join(", ");
  const left = counts.candidates - counts.feasible;
  return h(
    "div",
    { class: "summary" },
    h(
      "p",
      {},
      h("strong", {}, kernel.name),
      ` over ${kernel.domain.join(" x ")}${params ? ` (${params})` : ""} on `,
      h("strong", {}, device.name),
      `: ${grouped(counts.candidates)} launches${left > 0 ? `, of which ${grouped(left)} cannot run or not be counted` : ""}.`,
      ranking.results.length < counts.feasible && ` Shown are the best ${grouped(ranking.results.length)}.`,
    ),
    h("p", { class: "faint" }, `Model ${model.id}, ${model.addressing} addressing, ${model.caches} caches${model.clock ? `, clock ${model.clock}` : ""}, curves ${model.curves}.`),
    ...ranking.warnings.map((w) => h("p", { class: "warning" }, `Warning: ${w.message}`)),
  );
}

/** The launches that have no result, with their reasons: what hatching shows, in words. */
function rejected(ranking: Ranking): HTMLElement | null {
  const reasons = new Map<string, number>();
  for (const { reason } of ranking.infeasible) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  if (reasons.size === 0) return null;
  const most = [...reasons].sort((a, b) => b[1] - a[1]);
  const list = h("ul", {}, ...most.slice(0, 20).map(([reason, count]) => h("li", {}, `${grouped(count)} ${count === 1 ? "launch" : "launches"}: ${reason}`)));
  const left = ranking.summary.candidates - ranking.summary.feasible - ranking.infeasible.length;
  const more = (most.length > 20 || left > 0) && h("p", { class: "faint" }, `There are more; wavecast rank --format json lists all.`);
  return h("section", { class: "panel" }, h("h2", {}, "Launches that cannot run"), list, more);
}

/** The view of a ranking. `shown` is told which launch is shown, beginning with the one of the name `named`, else the
 * best. */
export function rankingView(
  ranking: Ranking,
  explainer: Explainer,
  shown: (rank: number) => void = () => {},
  named: string | null = null,
): HTMLElement {
  const first = ranking.results.find((r) => launchName(r.config) === named) ?? ranking.results[0];
  if (!first) return h("div", {}, summary(ranking), h("p", {}, "No launch can run."), rejected(ranking));
  const aside = h("aside", { class: "panel aside", "aria-label": "Selected launch", "aria-live": "polite" });
  let current: Result | null = null;
  const choose = (result: Result) => {
    if (result === current) return;
    current = result;
    map.select(result);
    table.select(result);
    const put = (words: HTMLElement) => aside.replaceChildren(detail(ranking, result, words));
    put(sentenceList(null, "…"));
    void explainer.explain(result).then((sentences) => {
      if (current === result) put(sentenceList(sentences, explainer.otherwise));
    });
    shown(result.rank);
  };
  const map = heat(ranking, choose);
  const table = launchTable(ranking, choose);
  const element = h(
    "div",
    {},
    summary(ranking),
    h("div", { class: "columns" }, map.element, aside, h("div", { class: "below" }, table.element, rejected(ranking))),
  );
  choose(first);
  return element;
}
