// What is shown, to be taken along as a file.

import type { Ranking, Result } from "./documents";
import { button } from "./dom";

/** Hands a text to the browser as a file. */
export function save(name: string, kind: string, text: string | Blob): void {
  const address = URL.createObjectURL(typeof text === "string" ? new Blob([text], { type: kind }) : text);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  // Some browsers only follow links that are in the document.
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A cell of a table of values separated by commas. */
export function cell(value: string | number): string {
  const text = String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The launches as rows, with names of columns as the command line has them. */
export function csv(ranking: Ranking): string {
  const columns: [string, (r: Result) => string | number][] = [
    ["kernel", () => ranking.kernel.name],
    ["device", () => ranking.device.id],
    ["variant", (r) => r.config.variant ?? ""],
    ["block", (r) => r.config.block.join("x")],
    ["fold", (r) => r.config.fold.join("x")],
    ["grid", (r) => r.config.grid.join("x")],
    ["limiter", (r) => r.limiter],
    ["rank", (r) => r.rank],
    ["tie_group", (r) => r.tie_group],
    ["rate_per_s", (r) => r.rate_per_s],
    ["time_s", (r) => r.time_s],
    ["relative", (r) => r.relative ?? ""],
    ["l2_load_B", (r) => r.volumes.l2.load.total],
    ["l2_store_B", (r) => r.volumes.l2.store.total],
    ["dram_load_B", (r) => r.volumes.dram.load.total],
    ["dram_store_B", (r) => r.volumes.dram.store.total],
    ["occupancy", (r) => r.occupancy.fraction],
    ["waves", (r) => r.occupancy.waves],
    ["time_low_s", (r) => r.confidence.time_interval_s?.[0] ?? ""],
    ["time_high_s", (r) => r.confidence.time_interval_s?.[1] ?? ""],
  ];
  const rows = [columns.map(([name]) => name), ...ranking.results.map((r) => columns.map(([, value]) => cell(value(r))))];
  return rows.map((row) => `${row.join(",")}\n`).join("");
}

/** Buttons that save the launches. */
export function takeAlong(ranking: Ranking): HTMLElement[] {
  const name = `${ranking.kernel.name}-${ranking.device.id}`.replace(/[^\w.-]+/g, "-");
  return [
    button("Save as CSV", {}, () => save(`${name}.csv`, "text/csv", csv(ranking))),
    button("Save as JSON", {}, () => save(`${name}.json`, "application/json", `${JSON.stringify(ranking, null, 2)}\n`)),
  ];
}
