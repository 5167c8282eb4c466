// Where Wavecast runs: beside the page, so that it can be ended whatever it does.

interface Wavecast {
  memory: WebAssembly.Memory;
  room(bytes: number): number;
  ask(): number;
  devices(): number;
  answer_bytes(): number;
}

export type Message = { module: Uint8Array<ArrayBuffer> } | { request: string } | { devices: true };

let wavecast: Wavecast | null = null;

function answer(at: number): string {
  const { memory, answer_bytes } = wavecast as Wavecast;
  return new TextDecoder().decode(new Uint8Array(memory.buffer, at >>> 0, answer_bytes()));
}

onmessage = async ({ data }: MessageEvent<Message>) => {
  if ("module" in data) {
    const { instance } = await WebAssembly.instantiate(data.module, {});
    wavecast = instance.exports as unknown as Wavecast;
    postMessage("");
  } else if ("devices" in data) {
    postMessage(answer((wavecast as Wavecast).devices()));
  } else {
    const bytes = new TextEncoder().encode(data.request);
    const { room, ask, memory } = wavecast as Wavecast;
    const at = room(bytes.length) >>> 0;
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    postMessage(answer(ask()));
  }
};
