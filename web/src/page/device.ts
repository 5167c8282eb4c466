// Devices, and the numbers of theirs that can be changed.

export interface DeviceSummary {
  id: string;
  name: string;
  aliases: string[];
}

/** A device with its numbers by their paths, as the command line takes them. */
export interface DeviceNumbers extends DeviceSummary {
  numbers: Record<string, string>;
}

/** Numbers that a slider changes: its name, and what it changes by the same factor. */
export const SLIDERS: { path: string; name: string; along: string[] }[] = [
  { path: "sm.count", name: "SMs", along: [] },
  { path: "clock", name: "Clock", along: [] },
  { path: "l2.capacity", name: "L2 size", along: ["l2.effective"] },
  { path: "l2.bandwidth", name: "L2 bandwidth", along: [] },
  { path: "dram.bandwidth", name: "DRAM bandwidth", along: [] },
];

/** A number of a device, such as `1.41 GHz`, times a factor; counts stay whole. */
export function times(value: string, factor: number): string {
  const parts = /^([\d.]+)(.*)$/.exec(value);
  if (!parts) return value;
  const number = Number(parts[1]) * factor;
  return parts[2] === "" ? String(Math.max(1, Math.round(number))) : `${Number(number.toPrecision(4))}${parts[2]}`;
}

/** What is changed of a device, as `--device-set` takes it. */
export function changes(device: DeviceNumbers | null, factors: Record<string, number>): Record<string, string> {
  const all: Record<string, string> = {};
  for (const { path, along } of SLIDERS) {
    const factor = factors[path] ?? 1;
    if (factor === 1) continue;
    for (const changed of [path, ...along]) {
      const value = device?.numbers[changed];
      if (value !== undefined) all[changed] = times(value, factor);
    }
  }
  return all;
}
