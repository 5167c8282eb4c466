// Numbers as people read them: the same units and digits as the command line.

import type { Config, Shape } from "./documents";

const PREFIXES: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];

/** A number of few digits: four where they say something. */
export function digits(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 0.005) return value.toExponential(1);
  return value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

/** A rate with its unit, such as `55.16 GLUP/s`. */
export function rate(perSecond: number, unit: string): string {
  const [scale, prefix] = PREFIXES.find(([scale]) => perSecond >= scale) ?? [1, ""];
  return `${digits(perSecond / scale)} ${prefix}${unit}/s`;
}

/** A time with its unit. */
export function seconds(value: number): string {
  const [scale, unit] = value >= 1 ? [1, "s"] : value >= 1e-3 ? [1e-3, "ms"] : value >= 1e-6 ? [1e-6, "µs"] : [1e-9, "ns"];
  return value === 0 ? "0 s" : `${digits(value / scale)} ${unit}`;
}

/** Bytes of one work item. */
export function bytes(value: number): string {
  // What is left of a difference of large numbers is nothing that moves.
  return Math.abs(value) < 0.005 ? "0" : value.toFixed(Math.abs(value) >= 100 ? 1 : 2);
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(0)} %`;
}

export function shape(of: Shape): string {
  return of.join("x");
}

/** The name of a launch among its like: what differs from the plain one. */
export function launchName({ variant, block, fold }: Config): string {
  const folded = fold.some((n) => n !== 1) ? ` fold ${shape(fold)}` : "";
  return `${variant ? `${variant}: ` : ""}${shape(block)}${folded}`;
}

/** A whole number in groups of three digits. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
