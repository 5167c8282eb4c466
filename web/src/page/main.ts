// The page with Wavecast inside, compiled to WebAssembly: one file, which works from a folder.

import "../style/base.css";
import "../style/page.css";
import { editor } from "./editor";
import { WorkerEngine } from "./engine";
import { Page } from "./page";

void new Page(new WorkerEngine(), editor).start();
