// The script and the style of the report, which the program has inside: `npm run report` writes them to
// ../src/report/page, and .ci/page holds the files there against what it builds.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: "../src/report/page",
    emptyOutDir: false,
    target: "es2022",
    lib: { entry: "src/report/main.ts", formats: ["iife"], name: "report", fileName: () => "report.js", cssFileName: "report" },
  },
});
