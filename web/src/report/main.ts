// The report: a page that the command line writes with its data inside.

import "../style/base.css";
import type { Other } from "../views/beside";
import { comparison } from "../views/compare";
import { detail } from "../views/detail";
import { difference } from "../views/difference";
import type { Difference, Explained, Explanation, Head, Report, Result, Sweep } from "../views/documents";
import { button, h } from "../views/dom";
import { documentTable } from "../views/plain";
import { rankingView } from "../views/ranking";
import { series } from "../views/series";
import { save } from "../views/take";
import { themeButton } from "../views/theme";

function ranking(of: Explained, all: Explained[]): HTMLElement {
  const others = all.flatMap((other, i): Other[] =>
    other === of ? [] : [{
      key: `ranking:${i}`,
      group: "Rankings",
      name: `${other.ranking.kernel.name} on ${other.ranking.device.name}`,
      get: () => Promise.resolve(other.ranking),
    }]);
  return rankingView(of.ranking, {
    explain: ({ rank }) => {
      const sentences = of.sentences[rank - 1];
      return Promise.resolve(sentences ? { sentences, details: of.details[rank - 1] } : null);
    },
    otherwise: `The report explains the best ${of.sentences.length} launches; for this one ask wavecast explain.`,
  }, { others: () => others });
}

/** What a document is about. */
function about({ kernel, device, model }: Head): HTMLElement {
  return h("div", { class: "summary" },
    h("p", {}, h("strong", {}, kernel.name), ` over ${kernel.domain.join(" x ")} on `, h("strong", {}, device.name), "."),
    h("p", { class: "faint" }, `Model ${model.id}, ${model.addressing} addressing, ${model.caches} caches, curves ${model.curves}.`));
}

function explanation(of: Explanation): HTMLElement {
  const near = [...of.neighbours.near];
  const { best } = of.neighbours;
  if (best && !near.some((n) => JSON.stringify(n) === JSON.stringify(best))) near.unshift(best);
  return h("div", {}, about(of),
    h("div", { class: "panel" }, detail(of, of.result, { sentences: of.sentences, details: of, neighbours: near }, "Nothing can be said of it.")));
}

/** Predictions: all about one launch each, and what differs between the first two. */
function predictions(all: (Head & { result: Result })[]): HTMLElement[] {
  const [a, b] = all;
  const both = a && b ? [h("section", { class: "panel", "aria-label": "Compare" }, h("h2", {}, "The first two beside each other"),
    comparison({ head: a, result: a.result }, { head: b, result: b.result }))] : [];
  return [...all.map((of) => h("div", {}, about(of),
    h("div", { class: "panel" }, detail(of, of.result, { sentences: null }, "wavecast explain says more.")))), ...both];
}

function views(report: Report): HTMLElement[] {
  const documents = report.documents ?? [];
  switch (report.view) {
    case "explanation":
      return (documents as Explanation[]).map(explanation);
    case "prediction":
      return predictions(documents as (Head & { result: Result })[]);
    case "sweep":
      return (documents as Sweep[]).map((of) => h("div", {}, about(of), h("div", { class: "panel" }, series(of))));
    case "difference":
      return (documents as Difference[]).map(difference);
    default:
      return [];
  }
}

/** Everything that is not a ranking. */
function documents(report: Report): HTMLElement {
  const json = JSON.stringify(report.documents?.length === 1 ? report.documents[0] : report.documents, null, 2);
  const name = (report.title ?? "result").replace(/[^\w.-]+/g, "-");
  return h("div", {},
    ...views(report),
    // The command line draws them on white.
    ...(report.pictures ?? []).map((picture) => h("div", { class: "panel" },
      h("img", { class: "drawn", alt: `Picture of: ${report.title ?? ""}; the table below has its numbers`, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}` }),
      h("p", { class: "below-table" }, button("Save as SVG", {}, () => save(`${name}.svg`, "image/svg+xml", picture))))),
    report.table ? documentTable(report.table, name) : null,
    h("p", { class: "below-table" }, button("Save as JSON", {}, () => save(`${name}.json`, "application/json", `${json}\n`))));
}

function start(): void {
  const data = document.getElementById("data")?.textContent ?? "";
  const report = JSON.parse(data) as Report;
  const main = h("main");
  const header = h("header", {}, h("h1", {}, document.title), themeButton());
  const rankings = report.rankings ?? [];
  const show = (index: number) => {
    const chosen = rankings[index];
    if (chosen) main.replaceChildren(ranking(chosen, rankings));
  };
  if (rankings.length > 1) {
    const select = h("select", { id: "kernel" });
    const several = new Set(rankings.map((r) => r.ranking.device.id)).size > 1;
    rankings.forEach(({ ranking: { kernel, device } }, i) =>
      select.append(h("option", { value: i }, several ? `${kernel.name} on ${device.id}` : kernel.name)));
    select.addEventListener("change", () => show(select.selectedIndex));
    header.append(h("label", {}, "Kernel ", select));
  }
  const first = (rankings[0]?.ranking ?? report.documents?.[0]) as Partial<Head> | undefined;
  const tool = first?.tool;
  document.body.replaceChildren(header, main, h("footer", {}, tool ? `${tool.name} ${tool.version}` : ""));
  if (report.view === "ranking") show(0);
  else main.replaceChildren(documents(report));
}

start();
