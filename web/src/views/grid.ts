// Which launch stands in which cell of the heat map.

import type { Config, Ranking, Rejected, Result, Shape } from "./documents";
import { shape } from "./format";

/** What stands in a cell: the fastest of the launches that share it, or the reason why none runs. */
export interface Cell {
  best: Result | null;
  rejected: Rejected | null;
  /** Launches that share the cell. */
  count: number;
}

/** A choice of what is shown: one value of something that differs between launches, or all of them. */
export interface Facet {
  key: "z" | "fold" | "variant";
  label: string;
  values: string[];
}

/** Most columns or rows: more than these are joined. */
const MOST = 40;

/** Extents along an axis that share a column or a row. */
interface Class {
  label: string;
  from: number;
}

export interface Grid {
  columns: Class[];
  rows: Class[];
  cell(column: number, row: number): Cell | undefined;
}

export const ALL = "all";

const FACETS: { key: Facet["key"]; label: string }[] = [
  { key: "variant", label: "Variant" },
  { key: "fold", label: "Fold" },
  { key: "z", label: "Block z" },
];

export function facetValue(key: Facet["key"], config: Config): string {
  if (key === "z") return String(config.block[2]);
  if (key === "fold") return shape(config.fold);
  return config.variant ?? "none";
}

function configs(ranking: Ranking): Config[] {
  return [...ranking.results, ...ranking.infeasible].map((of) => of.config);
}

function compareShapes(a: Shape, b: Shape): number {
  return a[2] - b[2] || a[1] - b[1] || a[0] - b[0];
}

/** What launches differ in beside x and y of their blocks. */
export function facets(ranking: Ranking): Facet[] {
  const all = configs(ranking);
  return FACETS.flatMap(({ key, label }) => {
    const found = new Map<string, Config>();
    for (const config of all) found.set(facetValue(key, config), config);
    if (found.size < 2) return [];
    const sorted = [...found];
    if (key === "z") sorted.sort((a, b) => a[1].block[2] - b[1].block[2]);
    if (key === "fold") sorted.sort((a, b) => compareShapes(a[1].fold, b[1].fold));
    return [{ key, label, values: sorted.map(([value]) => value) }];
  });
}

function classes(extents: Set<number>): Class[] {
  const sorted = [...extents].sort((a, b) => a - b);
  if (sorted.length <= MOST) return sorted.map((from) => ({ label: String(from), from }));
  const each = Math.ceil(sorted.length / MOST);
  return Array.from({ length: Math.ceil(sorted.length / each) }, (_, i) => {
    const [from, to] = [sorted[i * each] as number, sorted[Math.min((i + 1) * each, sorted.length) - 1] as number];
    return { label: from === to ? String(from) : `${from}–${to}`, from };
  });
}

/** The class of an extent: the last that begins at or below it. */
function classOf(all: Class[], extent: number): number {
  let [low, high] = [0, all.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((all[middle] as Class).from <= extent) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The launches of a ranking over x and y of their blocks, as far as they are chosen. */
export function grid(ranking: Ranking, chosen: Partial<Record<Facet["key"], string>>): Grid {
  const all = configs(ranking);
  const columns = classes(new Set(all.map((config) => config.block[0])));
  const rows = classes(new Set(all.map((config) => config.block[1])));
  const wanted = (config: Config) =>
    FACETS.every(({ key }) => (chosen[key] ?? ALL) === ALL || chosen[key] === facetValue(key, config));
  const cells = new Map<number, Cell>();
  const at = (config: Config) => {
    const place = classOf(rows, config.block[1]) * columns.length + classOf(columns, config.block[0]);
    const cell = cells.get(place) ?? { best: null, rejected: null, count: 0 };
    cells.set(place, cell);
    cell.count += 1;
    return cell;
  };
  // Results stand best first, so that the first of a cell is its best.
  for (const result of ranking.results) if (wanted(result.config)) at(result.config).best ??= result;
  for (const rejected of ranking.infeasible) if (wanted(rejected.config)) at(rejected.config).rejected ??= rejected;
  return { columns, rows, cell: (column, row) => cells.get(row * columns.length + column) };
}
