// The page itself: one folder, or rather one file, since a page of file:// may load no module and no worker from a
// second one. The worker and the module of WebAssembly are put inside as text.
import { readFileSync, writeFileSync, rmSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const module = "../target/wasm32-unknown-unknown/web/wavecast_web.wasm";

/** `virtual:wasm` is the module, packed and as base64; CARGO_TARGET_DIR says where it was built. */
function wasm(): Plugin {
  const name = "virtual:wasm";
  return {
    name: "wavecast-wasm",
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load(id) {
      if (id !== `\0${name}`) return null;
      const folder = process.env.CARGO_TARGET_DIR;
      const bytes = readFileSync(folder ? `${folder}/wasm32-unknown-unknown/web/wavecast_web.wasm` : module);
      return `export default ${JSON.stringify(gzipSync(bytes, { level: 9 }).toString("base64"))};`;
    },
  };
}

/** Puts script and style into the page. */
function single(): Plugin {
  return {
    name: "wavecast-single",
    closeBundle() {
      const read = (file: string) => readFileSync(`dist/${file}`, "utf8");
      const files = readdirSync("dist");
      const script = files.find((file) => file.endsWith(".js")) as string;
      const style = files.find((file) => file.endsWith(".css")) as string;
      const closed = /<\/(script|style)/gi;
      const page = readFileSync("src/page/page.html", "utf8")
        .replace("/*STYLE*/", () => read(style).replace(closed, "<\\/$1"))
        .replace("/*SCRIPT*/", () => read(script).replace(closed, "<\\/$1"));
      writeFileSync("dist/index.html", page);
      for (const file of [script, style]) rmSync(`dist/${file}`);
    },
  };
}

export default defineConfig({
  plugins: [wasm(), single()],
  worker: { format: "iife" },
  build: {
    outDir: "dist",
    target: "es2022",
    lib: { entry: "src/page/main.ts", formats: ["iife"], name: "page", fileName: () => "page.js", cssFileName: "page" },
  },
});
