// The memory chart: bytes of one work item on the arrows between registers, L1, L2 and DRAM. An arrow is as wide as
// it carries bytes, and split into what must move and what moves because a cache lost it.

import type { MemoryLevel, Result } from "./documents";
import { h, s } from "./dom";
import { bytes } from "./format";
import { savers } from "./picture";

interface Strip {
  name: string;
  value: number;
  colour: string;
}

interface Boundary {
  loads: Strip[];
  /** What an earlier block left behind and need not be loaded again. */
  saved: number;
  stores: Strip[];
}

const LEVELS = ["Registers", "L1", "L2", "DRAM"];
/** What sentences call the boundary below each. */
const OF = ["l1", "l2", "dram"];
const [WIDTH, BOX] = [360, 34];
/** Between two boxes, at least, and what a line of text beside the arrows takes there. */
const [GAP, LINE] = [84, 15];
/** Where the arrows of loads and of stores stand, and the widest of them. */
const [LOADS, STORES, WIDEST] = [66, 172, 84];

/** What the loads of a level are made of, as an explanation says it. */
function parts(levels: MemoryLevel[], level: string, otherwise: Strip[]): Strip[] {
  const loads = levels.find((of) => of.level === level)?.loads;
  if (!loads) return otherwise;
  return [
    { name: "compulsory", value: loads.unavoidable, colour: "p-compulsory" },
    { name: "reuse lost, x", value: loads.lost_x, colour: "p-reuse" },
    { name: "reuse lost, y", value: loads.lost_y, colour: "p-reuse" },
    { name: "reuse lost, z", value: loads.lost_z, colour: "p-reuse" },
    { name: "capacity", value: loads.lost_within, colour: "p-capacity" },
    { name: "fill", value: loads.fill, colour: "p-fill" },
  ];
}

function boundaries({ volumes: { l1, l2, dram } }: Result, levels: MemoryLevel[]): Boundary[] {
  const saved = dram.load.reuse_x + dram.load.reuse_y + dram.load.reuse_z + dram.load.reuse_launch;
  return [
    {
      loads: [{ name: "asked for", value: l1.load_bytes, colour: "p-plain" }],
      saved: 0,
      stores: [{ name: "stores", value: l1.store_bytes, colour: "p-store" }],
    },
    {
      loads: parts(levels, "l2", [
        { name: "compulsory", value: l2.load.compulsory, colour: "p-compulsory" },
        { name: "capacity", value: l2.load.capacity, colour: "p-capacity" },
      ]),
      saved: 0,
      stores: [{ name: "stores", value: l2.store.total, colour: "p-store" }],
    },
    {
      loads: parts(levels, "dram", [
        { name: "compulsory", value: dram.load.compulsory - saved, colour: "p-compulsory" },
        { name: "capacity", value: dram.load.capacity, colour: "p-capacity" },
        { name: "fill", value: dram.load.partial_store_fill, colour: "p-fill" },
      ]),
      saved,
      stores: [
        { name: "stores", value: dram.store.compulsory, colour: "p-store" },
        { name: "written again", value: dram.store.redundant, colour: "p-capacity" },
      ],
    },
  ];
}

function total(strips: Strip[]): number {
  return strips.reduce((sum, strip) => sum + strip.value, 0);
}

/** Where an arrow stands: how wide a byte is, and what is between the boxes. */
interface Place {
  top: number;
  scale: number;
  gap: number;
}

/** An arrow of strips side by side, its head up for loads and down for stores. */
function arrow(centre: number, { top, scale, gap }: Place, strips: Strip[], up: boolean, ghost = 0): SVGGElement {
  const all = total(strips);
  const group = s("g");
  const width = Math.max(all * scale, 1.5);
  const head = Math.min(10 + width / 6, 18);
  const [shaft, bottom] = [up ? top + head : top, up ? top + gap : top + gap - head];
  let x = centre - width / 2;
  if (ghost * scale >= 1) {
    // What reuse saved stands beside the arrow, empty.
    group.append(s("rect", { x: x + width, y: shaft, width: ghost * scale, height: bottom - shaft, class: "p-ghost" }));
  }
  for (const strip of strips) {
    const wide = all > 0 ? (width * Math.max(strip.value, 0)) / all : 0;
    if (wide <= 0) continue;
    group.append(
      s("rect", { x, y: shaft, width: wide, height: bottom - shaft, class: strip.colour }, s("title", {}, `${strip.name}: ${bytes(strip.value)} B`)),
    );
    x += wide;
  }
  const last = strips.reduce((a, b) => (b.value > a.value ? b : a));
  const [tip, base] = up ? [top, shaft] : [top + gap, bottom];
  const half = width / 2 + 6;
  group.append(s("path", { d: `M${centre - half} ${base}L${centre + half} ${base}L${centre} ${tip}Z`, class: last.colour }));
  return group;
}

/** What stands beside the arrows: a text, its class, and its number. */
function linesOf(b: Boundary): [string, string, number][] {
  const [loads, stores] = [total(b.loads), total(b.stores)];
  const lines: [string, string, number][] = [[`↑ ${bytes(loads)} B loaded`, "strong", loads]];
  for (const strip of b.loads.length > 1 ? b.loads : []) {
    if (bytes(strip.value) !== "0") lines.push([`${bytes(strip.value)} ${strip.name}`, "part", strip.value]);
  }
  if (bytes(b.saved) !== "0") lines.push([`${bytes(b.saved)} saved by reuse`, "part", b.saved]);
  lines.push([`↓ ${bytes(stores)} B stored`, "strong", stores]);
  return lines;
}

function sentence(b: Boundary): string {
  const parts = b.loads.filter((strip) => bytes(strip.value) !== "0").map((strip) => `${bytes(strip.value)} ${strip.name}`);
  const saved = bytes(b.saved) === "0" ? "" : `, ${bytes(b.saved)} saved by reuse between blocks`;
  return `loads ${bytes(total(b.loads))} B (${parts.join(", ") || "none"}${saved}), stores ${bytes(total(b.stores))} B`;
}

/** The chart of a launch, with the same in words below. */
export function memory(result: Result, unit: string, levels: MemoryLevel[] = []): HTMLElement {
  const all = boundaries(result, levels);
  const lines = all.map(linesOf);
  const gap = Math.max(GAP, ...lines.map((of) => LINE * of.length + 12));
  const most = Math.max(...all.flatMap((b) => [total(b.loads) + b.saved, total(b.stores)]), 1e-9);
  const scale = WIDEST / most;
  const height = 4 * BOX + 3 * gap;
  const picture = s("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "memory", "aria-hidden": "true" });
  LEVELS.forEach((level, i) => {
    const y = i * (BOX + gap);
    picture.append(
      s("rect", { x: 1, y: y + 0.5, width: WIDTH - 2, height: BOX - 1, rx: 5, class: "level" }),
      s("text", { x: 12, y: y + BOX / 2 + 5, class: "level-name" }, level),
    );
    const b = all[i];
    if (!b) return;
    const top = y + BOX;
    const place = { top, scale, gap };
    picture.append(arrow(LOADS, place, b.loads, true, b.saved), arrow(STORES, place, b.stores, false));
    const beside = lines[i] ?? [];
    const first = top + gap / 2 - ((beside.length - 1) * LINE) / 2 + 4;
    beside.forEach(([text, kind, value], n) =>
      picture.append(s("text", { x: 236, y: first + LINE * n, class: kind, "data-n": value, "data-of": OF[i] }, text)));
  });
  const words = h("ul", { class: "hidden" });
  all.forEach((b, i) => words.append(h("li", {}, `${LEVELS[i + 1]} to ${LEVELS[i]}: ${sentence(b)}`)));
  const key = (colour: string, text: string) => h("span", { class: "key" }, h("span", { class: `swatch ${colour}` }), text);
  return h(
    "section",
    { "aria-label": "Memory chart" },
    h("div", { class: "titled" }, h("h3", {}, `Bytes per ${unit}`), savers("memory chart", () => picture)),
    picture,
    words,
    h(
      "p",
      { class: "legend" },
      key("p-compulsory", "compulsory: a block or a wave touches it, once"),
      levels.length > 0 && key("p-reuse", "reuse lost: an earlier block touched it, and the L2 lost it"),
      key("p-capacity", levels.length > 0 ? "capacity: lost within a block or a wave" : "capacity: a cache lost it"),
      key("p-fill", "fill: lines stored in part"),
      key("p-ghost", "saved: an earlier block left it in the cache"),
    ),
  );
}
