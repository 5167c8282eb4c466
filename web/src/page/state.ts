// What the page shows, as it stands in the address: a link takes it along, and nothing is sent anywhere.

export interface State {
  /** A kernel of the gallery. */
  kernel: string;
  /** The text, if it is not that of the gallery. */
  text: string | null;
  device: string;
  /** The text of a device of one's own, in the place of `device`. */
  deviceText: string | null;
  /** Numbers of the device, as factors. */
  factors: Record<string, number>;
  /** Parameters of the kernel that are not those of its text. */
  set: Record<string, number>;
  /** The launch that is shown. */
  launch: string | null;
  /** What it is compared with, such as `device:t4`. */
  with: string;
  /** The series that is plotted, as `NAME=VALUES`. */
  vary: string | null;
}

export const FIRST: State = {
  kernel: "star3d25", text: null, device: "a100-40gb", deviceText: null, factors: {}, set: {}, launch: null, with: "", vary: null,
};

/** The state as the part of an address behind `#`. */
export function written(state: State): string {
  const all = new URLSearchParams({ kernel: state.kernel, device: state.device });
  for (const [path, factor] of Object.entries(state.factors)) if (factor !== 1) all.set(`x.${path}`, String(factor));
  for (const [name, value] of Object.entries(state.set)) all.set(`set.${name}`, String(value));
  if (state.launch) all.set("launch", state.launch);
  if (state.with) all.set("with", state.with);
  if (state.vary) all.set("vary", state.vary);
  if (state.deviceText !== null) all.set("device-text", state.deviceText);
  if (state.text !== null) all.set("text", state.text);
  return all.toString();
}

/** Reads it; what is not understood is as at first. */
export function read(hash: string): State {
  const state: State = { ...FIRST, factors: {}, set: {} };
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const number = Number(value);
    if (key === "kernel") state.kernel = value;
    else if (key === "device") state.device = value;
    else if (key === "device-text") state.deviceText = value;
    else if (key === "launch") state.launch = value;
    else if (key === "with") state.with = value;
    else if (key === "vary") state.vary = value;
    else if (key === "text") state.text = value;
    else if (key.startsWith("x.") && number >= 1 / 8 && number <= 8) state.factors[key.slice(2)] = number;
    else if (key.startsWith("set.") && Number.isSafeInteger(number)) state.set[key.slice(4)] = number;
  }
  return state;
}
