// The command line and the Python lines that give the same.

import { changes, type DeviceNumbers } from "./device";
import type { State } from "./state";

/** A word of a shell, in quotes where it needs them. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function file(state: State): string {
  return state.text === null ? `kernels/${state.kernel}.yaml` : "kernel.yaml";
}

function deviceOf(state: State): string {
  return state.deviceText === null ? state.device : "device.yaml";
}

/** `vary` is what a series is over; without it all launches are ranked. */
export function commandLine(state: State, device: DeviceNumbers | null, vary?: string): string {
  const parts = ["wavecast", vary ? "sweep" : "rank", file(state), "-d", deviceOf(state)];
  if (vary) parts.push("--best", "--vary", vary);
  const varied = vary?.split("=")[0]?.trim();
  for (const [name, value] of Object.entries(state.set)) if (name !== varied) parts.push("--set", `${name}=${value}`);
  for (const [path, value] of Object.entries(changes(device, state.factors))) if (path !== varied) parts.push("--device-set", `${path}=${value}`);
  return parts.map(word).join(" ");
}

/** A text of Python. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

export function python(state: State, device: DeviceNumbers | null): string {
  const options = [quoted(file(state)), `device=${quoted(deviceOf(state))}`];
  const given = (name: string, all: Record<string, string | number>) => {
    const items = Object.entries(all).map(([key, value]) => `${quoted(key)}: ${typeof value === "number" ? value : quoted(value)}`);
    if (items.length > 0) options.push(`${name}={${items.join(", ")}}`);
  };
  given("set", state.set);
  given("device_set", changes(device, state.factors));
  return `import wavecast\nranking = wavecast.rank(${options.join(", ")})\nprint(ranking.best.block)`;
}
