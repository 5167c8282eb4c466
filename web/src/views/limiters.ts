// What the time of a launch consists of: a bar for each resource by itself, and the sum below them.

import type { Result, Terms } from "./documents";
import { h, s } from "./dom";
import { savers } from "./picture";
import { seconds } from "./format";

interface Part {
  key: keyof Terms;
  name: string;
  colour: string;
}

/** Those that work side by side: the longest counts. */
const RESOURCES: Part[] = [
  { key: "fp", name: "Floating point", colour: "c-fp" },
  { key: "l1", name: "L1 pipe", colour: "c-l1" },
  { key: "l2", name: "L2 bandwidth", colour: "c-l2" },
  { key: "dram", name: "DRAM bandwidth", colour: "c-dram" },
  { key: "latency", name: "Latency", colour: "c-other" },
  { key: "waits", name: "Waits for loads", colour: "c-other" },
  { key: "issue", name: "Issue", colour: "c-other" },
  { key: "fetch", name: "Fetching instructions", colour: "c-other" },
  { key: "tlb", name: "Address translation", colour: "c-other" },
  { key: "dispatch", name: "Dispatch", colour: "c-other" },
];

/** What is added to the longest. */
const ADDED: Part[] = [
  { key: "tail", name: "tail", colour: "c-tail" },
  { key: "combination", name: "others close by", colour: "c-combination" },
  { key: "launch", name: "launch", colour: "c-launch" },
];

function bar(parts: { width: number; colour: string; title: string }[]): HTMLElement {
  const made = h("div", { class: "bar", "aria-hidden": "true" });
  for (const { width, colour, title } of parts) {
    if (width > 0) made.append(h("span", { class: colour, style: `width:${(100 * width).toFixed(2)}%`, title }));
  }
  return made;
}

/** The same as a drawing, to be taken along. */
function drawing(result: Result, widest: number, longest: Part): SVGSVGElement {
  const [left, right, high] = [130, 90, 20];
  const across = 300;
  const rows: [string, number, { value: number; colour: string }[]][] = RESOURCES.map((part) => {
    const value = result.time_terms_s[part.key];
    return [part.name, value, [{ value, colour: part.colour }]];
  });
  rows.push(["Time", result.time_s, [longest, ...ADDED].map(({ key, colour }) => ({ value: result.time_terms_s[key], colour }))]);
  const picture = s("svg", { viewBox: `0 0 ${left + across + right} ${high * rows.length + 8}`, class: "plot" });
  rows.forEach(([name, total, parts], i) => {
    const y = 4 + high * i;
    picture.append(s("text", { x: left - 6, y: y + 13, class: "tick end" }, name));
    let x = left;
    for (const { value, colour } of parts) {
      const width = (across * value) / widest;
      picture.append(s("rect", { x, y: y + 2, width, height: high - 6, class: colour.replace("c-", "f-") }));
      x += width;
    }
    picture.append(s("text", { x: Math.min(x + 5, left + across + 5), y: y + 13, class: "tick" }, seconds(total)));
  });
  return picture;
}

/** The stacked bars of a launch, as a table that a screen reader reads out. */
export function limiters(result: Result): HTMLElement {
  const terms = result.time_terms_s;
  const [low, high] = result.confidence.time_interval_s ?? [result.time_s, result.time_s];
  const widest = Math.max(result.time_s, high, ...RESOURCES.map(({ key }) => terms[key]));
  const body = h("tbody");
  const longest = RESOURCES.reduce((a, b) => (terms[b.key] > terms[a.key] ? b : a));
  for (const part of RESOURCES) {
    const value = terms[part.key];
    const title = `${part.name}: ${seconds(value)}`;
    body.append(
      h(
        "tr",
        { class: part === longest ? "longest" : null },
        h("th", { scope: "row" }, part.name),
        h("td", { class: "number", "data-n": value, "data-of": "time" }, seconds(value)),
        h("td", { class: "picture" }, bar([{ width: value / widest, colour: part.colour, title }])),
      ),
    );
  }
  const stack = [longest, ...ADDED].map(({ key, name, colour }) => ({
    width: terms[key] / widest,
    colour,
    title: `${name}: ${seconds(terms[key])}`,
  }));
  const sum = bar(stack);
  if (result.confidence.time_interval_s) {
    const [from, to] = [(100 * low) / widest, (100 * high) / widest];
    sum.append(h("i", { class: "whisker", style: `left:${from.toFixed(2)}%;width:${(to - from).toFixed(2)}%` }));
  }
  body.append(
    h(
      "tr",
      { class: "sum" },
      h("th", { scope: "row" }, "Time"),
      h("td", { class: "number", "data-n": result.time_s, "data-of": "time" }, seconds(result.time_s)),
      h("td", { class: "picture" }, sum),
    ),
  );
  const made = [longest, ...ADDED].filter(({ key }) => terms[key] > 0);
  const level = result.confidence.level;
  return h(
    "section",
    { "aria-label": "What limits it" },
    h("div", { class: "titled" }, h("h3", {}, "What limits it"), savers("limiters", () => drawing(result, widest, longest))),
    h("table", { class: "limiters" }, h("caption", { class: "hidden" }, "Time of each resource by itself, and of the launch"), body),
    h(
      "p",
      { class: "legend" },
      "Time = ",
      ...made.flatMap(({ key, name, colour }, i) => [
        i > 0 && "+ ",
        h("span", { class: "key" }, h("span", { class: `swatch ${colour}` }), `${name} ${seconds(terms[key])}`),
      ]),
    ),
    result.confidence.time_interval_s &&
      h("p", { class: "faint" }, `${level === null ? "Most" : `${Math.round(100 * level)} %`} of such launches take ${seconds(low)} to ${seconds(high)} (the line over the bar).`),
  );
}
