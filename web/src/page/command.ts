// The command line and the Python lines that give the same.

import { changes, type DeviceSummary } from "./device";
import type { State } from "./state";

/** A word of a shell, in quotes where it needs them. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function file(state: State): string {
  return state.text === null ? `kernels/${state.kernel}.yaml` : "kernel.yaml";
}

export function commandLine(state: State, device: DeviceSummary): string {
  const parts = ["wavecast", "rank", file(state), "-d", device.id];
  for (const [name, value] of Object.entries(state.set)) parts.push("--set", `${name}=${value}`);
  for (const [path, value] of Object.entries(changes(device, state.factors))) parts.push("--device-set", `${path}=${value}`);
  return parts.map(word).join(" ");
}

/** A text of Python. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

export function python(state: State, device: DeviceSummary): string {
  const options = [quoted(file(state)), `device=${quoted(device.id)}`];
  const given = (name: string, all: Record<string, string | number>) => {
    const items = Object.entries(all).map(([key, value]) => `${quoted(key)}: ${typeof value === "number" ? value : quoted(value)}`);
    if (items.length > 0) options.push(`${name}={${items.join(", ")}}`);
  };
  given("set", state.set);
  given("device_set", changes(device, state.factors));
  return `import wavecast\nranking = wavecast.rank(${options.join(", ")})\nprint(ranking.best.block)`;
}
