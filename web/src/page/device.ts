// Devices, and the numbers of theirs that can be changed.

export interface DeviceSummary {
  id: string;
  name: string;
  aliases: string[];
  numbers: Record<string, string | number>;
}

/** Numbers that a slider changes: its name, and what it changes by the same factor. The bandwidth of the memory is not
 * among them: where it was fitted to measurements, the model takes that and not the number of the device. */
export const SLIDERS: { path: string; name: string; along: string[] }[] = [
  { path: "sm.count", name: "SMs", along: [] },
  { path: "clock", name: "Clock", along: [] },
  { path: "l2.capacity", name: "L2 size", along: ["l2.effective"] },
  { path: "l2.bandwidth", name: "L2 bandwidth", along: [] },
];

/** A number of a device, such as `1.41 GHz`, times a factor; counts stay whole. */
export function times(value: string | number, factor: number): string {
  if (typeof value === "number") return String(Math.max(1, Math.round(value * factor)));
  const parts = /^([\d.]+)(.*)$/.exec(value);
  if (!parts) return value;
  return `${Number((Number(parts[1]) * factor).toPrecision(4))}${parts[2]}`;
}

/** What is changed of a device, as `--device-set` takes it. */
export function changes(device: DeviceSummary, factors: Record<string, number>): Record<string, string> {
  const all: Record<string, string> = {};
  for (const { path, along } of SLIDERS) {
    const factor = factors[path] ?? 1;
    if (factor === 1) continue;
    for (const changed of [path, ...along]) {
      const value = device.numbers[changed];
      if (value !== undefined) all[changed] = times(value, factor);
    }
  }
  return all;
}
