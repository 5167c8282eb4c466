// Two launches beside each other, of one ranking or of two: what differs is marked.

import type { Head, Result } from "./documents";
import { h } from "./dom";
import { bytes, digits, launchName, percent, rate, seconds } from "./format";
import { limiters } from "./limiters";
import { memory } from "./memory";

export interface Side {
  head: Head;
  result: Result;
}

interface Row {
  name: string;
  value: (side: Side) => number | string;
  text?: (value: number, side: Side) => string;
}

/** Numbers that differ by less than this part of the larger are the same to whoever reads them. */
const SEEN = 0.005;

const ROWS: Row[] = [
  { name: "Kernel", value: (s) => s.head.kernel.name },
  { name: "Device", value: (s) => s.head.device.name },
  { name: "Launch", value: (s) => launchName(s.result.config) },
  { name: "Rate", value: (s) => s.result.rate_per_s, text: (n, s) => rate(n, s.head.kernel.unit) },
  { name: "Time", value: (s) => s.result.time_s, text: seconds },
  { name: "Limiter", value: (s) => s.result.limiter },
  ...(["fp", "l1", "l2", "dram", "latency", "issue", "tail"] as const).map((key): Row => ({
    name: `Time of ${{ fp: "floating point", l1: "L1", l2: "L2", dram: "DRAM", latency: "latency", issue: "issue", tail: "the tail" }[key]}`,
    value: (s) => s.result.time_terms_s[key],
    text: seconds,
  })),
  { name: "L1 cycles", value: (s) => s.result.volumes.l1.wavefront_cycles, text: digits },
  { name: "L2 loads, B", value: (s) => s.result.volumes.l2.load.total, text: bytes },
  { name: "L2 stores, B", value: (s) => s.result.volumes.l2.store.total, text: bytes },
  { name: "DRAM loads, B", value: (s) => s.result.volumes.dram.load.total, text: bytes },
  { name: "DRAM stores, B", value: (s) => s.result.volumes.dram.store.total, text: bytes },
  { name: "Occupancy", value: (s) => s.result.occupancy.fraction, text: percent },
  { name: "Blocks of an SM", value: (s) => s.result.occupancy.blocks_per_sm, text: String },
  { name: "Waves", value: (s) => s.result.occupancy.waves, text: digits },
  { name: "Registers", value: (s) => s.result.config.registers ?? "not given", text: String },
  { name: "Shared memory, B", value: (s) => s.result.config.shared_bytes, text: String },
];

/** Whether somebody who looks would see a difference. */
export function differs(a: number | string, b: number | string): boolean {
  if (typeof a === "string" || typeof b === "string") return a !== b;
  return Math.abs(a - b) > SEEN * Math.max(Math.abs(a), Math.abs(b));
}

/** The comparison. */
export function comparison(a: Side, b: Side): HTMLElement {
  const sides = [a, b];
  const title = (side: Side) => `${side.head.kernel.name}, ${side.head.device.id}, ${launchName(side.result.config)}`;
  const rows = ROWS.map((row) => {
    const values = sides.map(row.value);
    const [left, right] = values as [number | string, number | string];
    const isDifferent = differs(left, right);
    const ratio = typeof left === "number" && typeof right === "number" && left > 0 && right > 0 ? `${digits(right / left)} x` : "";
    const cell = (i: number) => {
      const value = values[i] as number | string;
      const text = typeof value === "string" ? value : (row.text ?? String)(value, sides[i] as Side);
      return h("td", {}, isDifferent ? h("mark", {}, text) : text);
    };
    return h("tr", { class: isDifferent ? "different" : null }, h("th", { scope: "row", class: "left" }, row.name), cell(0), cell(1), h("td", {}, isDifferent ? ratio : "same"));
  });
  const faster = a.head.kernel.unit === b.head.kernel.unit && a.result.rate_per_s > 0
    ? h("p", {}, `The second is ${digits(b.result.rate_per_s / a.result.rate_per_s)} times as fast as the first by rate.`) : null;
  return h("div", {},
    faster,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of differences" },
      h("table", { class: "data differences" }, h("caption", { class: "hidden" }, "Both launches; what differs is marked"),
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, h("span", { class: "hidden" }, "what")), ...["first", "second", "second / first"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...rows))),
    h("div", { class: "sides" }, ...sides.map((side, i) => h("section", { "aria-label": i === 0 ? "First" : "Second" },
      h("h3", {}, title(side)), limiters(side.result), memory(side.result, side.head.kernel.unit)))));
}
