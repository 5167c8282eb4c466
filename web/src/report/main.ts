// The report: a page that `wavecast rank -o x.html` writes with its data inside.

import "../style/base.css";
import type { Explained, Report } from "../views/documents";
import { h } from "../views/dom";
import { rankingView } from "../views/ranking";
import { themeButton } from "../views/theme";

function view({ ranking, sentences }: Explained): HTMLElement {
  return rankingView(ranking, {
    explain: (result) => Promise.resolve(sentences[result.rank - 1] ?? null),
    otherwise: `The report explains the best ${sentences.length} launches; for this one ask wavecast explain.`,
  });
}

function start(): void {
  const data = document.getElementById("data")?.textContent ?? "";
  const report = JSON.parse(data) as Report;
  const main = h("main");
  const header = h("header", {}, h("h1", {}, document.title), themeButton());
  const show = (index: number) => {
    const chosen = report.rankings[index];
    if (chosen) main.replaceChildren(view(chosen));
  };
  if (report.rankings.length > 1) {
    const select = h("select", { id: "kernel" });
    report.rankings.forEach(({ ranking }, i) => select.append(h("option", { value: i }, ranking.kernel.name)));
    select.addEventListener("change", () => show(select.selectedIndex));
    header.append(h("label", {}, "Kernel ", select));
  }
  const tool = report.rankings[0]?.ranking.tool;
  document.body.replaceChildren(header, main, h("footer", {}, tool ? `${tool.name} ${tool.version}` : ""));
  show(0);
}

start();
