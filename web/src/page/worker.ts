// Where Wavecast runs: beside the page, so that it can be ended whatever it does.

interface Wavecast {
  memory: WebAssembly.Memory;
  room(bytes: number): number;
  ask(): number;
  answer_bytes(): number;
}

export type Message = { module: WebAssembly.Module } | { request: string };

let wavecast: Wavecast | null = null;

onmessage = async ({ data }: MessageEvent<Message>) => {
  if ("module" in data) {
    const instance = await WebAssembly.instantiate(data.module, {});
    wavecast = instance.exports as unknown as Wavecast;
    postMessage("");
    return;
  }
  const bytes = new TextEncoder().encode(data.request);
  const { room, ask, memory, answer_bytes } = wavecast as Wavecast;
  const at = room(bytes.length) >>> 0;
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const from = ask() >>> 0;
  postMessage(new TextDecoder().decode(new Uint8Array(memory.buffer, from, answer_bytes())));
};
