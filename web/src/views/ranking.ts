// A ranking: map, table and detail, which show the same launch.

import { beside, type Kept, type Other } from "./beside";
import { detail, type Said } from "./detail";
import type { Ranking, Result } from "./documents";
import { h, unpressed } from "./dom";
import { grouped, launchName } from "./format";
import { heat } from "./heat";
import { type Roofline, roofline } from "./roofline";
import { launchTable } from "./table";

/** Where what is said of a launch comes from. */
export interface Explainer {
  explain(result: Result): Promise<Said | null>;
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

/** A part that is made when the browser has time for it: what stands further up is seen before. */
function later(make: () => HTMLElement): HTMLElement {
  const place = h("div", {});
  const idle = window.requestIdleCallback ?? ((act: () => void) => setTimeout(act, 50));
  idle(() => place.append(make()), { timeout: 400 });
  return place;
}

/** What a view of a ranking is told at first, and what it tells. */
export interface Showing {
  /** Hears which launch is shown. */
  shown?: (result: Result) => void;
  /** The name of the launch that is shown at first; the best otherwise. */
  named?: string | null;
  /** What can stand beside it. */
  others?: () => Other[];
  /** What stands beside it at first, and who hears when that changes. */
  with?: string;
  /** What was kept to be compared. */
  kept?: Kept;
  compared?: (key: string) => void;
}

/** The view of a ranking. */
export function rankingView(ranking: Ranking, explainer: Explainer, showing: Showing = {}): HTMLElement {
  const first = ranking.results.find((r) => launchName(r.config) === showing.named) ?? ranking.results[0];
  if (!first) return h("div", {}, summary(ranking), h("p", {}, "No launch can run."), rejected(ranking));
  const aside = h("aside", { class: "panel aside", "aria-label": "Selected launch", "aria-live": "polite" });
  let current: Result | null = null;
  const choose = (result: Result) => {
    if (result === current) return;
    current = result;
    map.select(result);
    table.select(result);
    roof?.select(result);
    compared.select(result);
    const put = (said: Said, otherwise: string) => aside.replaceChildren(detail(ranking, result, said, otherwise));
    put({ sentences: null }, "\u2026");
    void explainer.explain(result).then(async (said) => {
      await unpressed();
      if (current === result) put(said ?? { sentences: null }, explainer.otherwise);
    });
    showing.shown?.(result);
  };
  const map = heat(ranking, choose);
  const table = launchTable(ranking, choose);
  let roof: Roofline | null = null;
  const drawRoof = () => {
    roof = roofline(ranking, choose);
    if (current) roof.select(current);
    return roof.element;
  };
  const compared = beside(ranking, showing.others ?? (() => []), showing.kept ?? { side: null }, showing.compared ?? (() => {}), showing.with);
  const element = h(
    "div",
    {},
    summary(ranking),
    h("div", { class: "columns" }, map.element, aside,
      h("div", { class: "below" }, table.element, h("div", { class: "panel" }, later(drawRoof)), compared.element, rejected(ranking))),
  );
  choose(first);
  return element;
}
