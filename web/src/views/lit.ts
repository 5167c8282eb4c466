// Sentences whose numbers light up where they stand in the pictures. What a number is of is told by its unit and by
// what the sentence is about; an element of a picture says its value as `data-n` and its level as `data-of`.

import type { Sentence } from "./documents";
import { h } from "./dom";

const PREFIX: Record<string, number> = { T: 1e12, G: 1e9, M: 1e6, k: 1e3, "": 1 };
const TIME: Record<string, number> = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 };
/** A number with at least one digit behind the point, or a percentage, with its unit. */
const NUMBER = /(\d+(?:\.\d+)?)(?: ?(ms|µs|ns|s\b|%|B\/[A-Za-z]+|[TGMk]?[A-Z]\w*\/s))?/g;

function scale(unit: string | undefined): number {
  if (!unit) return 1;
  if (unit in TIME) return TIME[unit] as number;
  if (unit === "%") return 0.01;
  if (unit.startsWith("B/")) return 1;
  return PREFIX[/^[TGMk](?=[A-Z])/.exec(unit)?.[0] ?? ""] ?? 1;
}

/** The levels that a sentence is about, by its code. */
function about(code: string): string[] {
  if (code.startsWith("l1")) return ["l1"];
  if (code.startsWith("l2")) return ["l2"];
  if (/^(dram|layer|halo|fill)/.test(code)) return ["dram"];
  if (code === "alone") return ["dram", "l2"];
  return ["time"];
}

function matches(element: HTMLElement | SVGElement, text: string, unit: string | undefined, code: string): boolean {
  const { n, of } = element.dataset;
  if (n === undefined || (of !== undefined && !about(code).includes(of))) return false;
  const decimals = text.split(".")[1]?.length ?? 0;
  return (Number(n) / scale(unit)).toFixed(decimals) === text && Number(n) !== 0;
}

/** The sentence; `root` is where the pictures stand when somebody points at a number. */
function sentence({ code, text }: Sentence, root: () => HTMLElement): HTMLElement {
  const item = h("li", { "data-code": code });
  let [at, used] = [0, 0];
  for (const found of text.matchAll(NUMBER)) {
    const [whole, digits, unit] = found as unknown as [string, string, string | undefined];
    // Shapes of blocks and names of fields have numbers that stand nowhere.
    const before = text[found.index - 1] ?? " ";
    if (/[\w.\[]/.test(before) || (!unit && !digits.includes("."))) continue;
    const mark = h("button", { type: "button", class: "figure" }, whole);
    const places = () => [...root().querySelectorAll<HTMLElement | SVGElement>("[data-n]")].filter((e) => matches(e, digits, unit, code));
    if (places().length === 0) continue;
    item.append(text.slice(at, found.index));
    at = found.index + whole.length;
    used += 1;
    const light = (on: boolean) => {
      for (const place of root().querySelectorAll(".lit")) place.classList.remove("lit");
      if (on) for (const place of places()) place.classList.add("lit");
    };
    mark.addEventListener("pointerenter", () => light(true));
    mark.addEventListener("pointerleave", () => light(false));
    mark.addEventListener("focus", () => light(true));
    mark.addEventListener("blur", () => light(false));
    mark.addEventListener("click", () => {
      light(true);
      places()[0]?.scrollIntoView({ block: "nearest", behavior: "smooth" });
    });
    item.append(mark);
  }
  item.append(text.slice(at));
  if (used === 0) item.textContent = text;
  return item;
}

export function litSentences(sentences: Sentence[], root: () => HTMLElement): HTMLElement {
  return h("ul", { class: "sentences" }, ...sentences.map((s) => sentence(s, root)));
}
