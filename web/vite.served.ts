// The page that the program serves: `npm run served` writes its script and style to ../src/cli/page, and .ci/page holds
// the files there against what it builds.
import { copyFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const page: Plugin = {
  name: "wavecast-served",
  closeBundle: () => copyFileSync("src/page/served.html", "../src/cli/page/page.html"),
};

export default defineConfig({
  plugins: [page],
  build: {
    outDir: "../src/cli/page",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/page/served.ts", formats: ["iife"], name: "page", fileName: () => "page.js", cssFileName: "page" },
  },
});
