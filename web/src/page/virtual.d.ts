/** The module of WebAssembly, packed with gzip, as base64: vite.page.ts makes it. */
declare module "virtual:wasm" {
  const packed: string;
  export default packed;
}

interface Window {
  /** The rankings that are shown, for whoever opens the console, and for the tests. */
  wavecastRankings: unknown;
}
