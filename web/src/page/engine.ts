// Wavecast in a worker: one request after the other, and a worker whose answer takes too long is ended and started anew.

import packed from "virtual:wasm";
import schema from "../../../grammar/kernel.schema.json";
import { type Engine, type Gallery, NoAnswer, PATIENCE, TOO_LATE } from "./asking";
import type { Schema } from "./complete";
import type { Message } from "./worker";
import WorkerOfPage from "./worker?worker&inline";

/** The kernels that come with Wavecast. */
const KERNELS = Object.fromEntries(
  Object.entries(import.meta.glob<string>("../../../kernels/*.yaml", { query: "?raw", import: "default", eager: true })).map(
    ([path, text]) => [path.replace(/^.*\/|\.yaml$/g, ""), text],
  ),
);

interface Waiting {
  message: Message;
  done: (text: string) => void;
  failed: (why: NoAnswer) => void;
  /** What it is about: a later request about the same takes its place while it waits. */
  about: string;
}

/** The module, compiled once: a new worker does not wait for it again. */
async function compiled(): Promise<WebAssembly.Module> {
  // The browser reads base64 faster than any script.
  const bytes = (await fetch(`data:application/gzip;base64,${packed}`)).body as ReadableStream<Uint8Array<ArrayBuffer>>;
  const stream = bytes.pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

export class WorkerEngine implements Engine {
  where = "Everything is computed in this page; nothing is sent anywhere.";
  private module = compiled();
  private worker: Promise<Worker> | null = this.start();
  private waiting: Waiting[] = [];
  private busy = false;

  gallery(): Promise<Gallery> {
    return Promise.resolve({ kernels: KERNELS, schema: schema as unknown as Schema });
  }

  request(request: object, about: string): Promise<string> {
    this.waiting = this.waiting.filter((other) => other.about !== about);
    return new Promise((done, failed) => {
      this.waiting.push({ message: { request: JSON.stringify(request) }, done, failed, about });
      void this.next();
    });
  }

  private start(): Promise<Worker> {
    const worker = new WorkerOfPage();
    return this.module.then(
      (module) =>
        new Promise((done, failed) => {
          worker.onmessage = () => done(worker);
          worker.onerror = (event) => failed(new NoAnswer(event.message));
          worker.postMessage({ module } satisfies Message);
        }),
    );
  }

  private async next(): Promise<void> {
    if (this.busy) return;
    const task = this.waiting.shift();
    if (!task) return;
    this.busy = true;
    try {
      this.worker ??= this.start();
      task.done(await this.answered(await this.worker, task.message));
    } catch (error) {
      task.failed(error instanceof NoAnswer ? error : new NoAnswer(String(error)));
    } finally {
      this.busy = false;
      void this.next();
    }
  }

  private answered(worker: Worker, message: Message): Promise<string> {
    return new Promise((done, failed) => {
      const end = (why: string) => {
        worker.terminate();
        this.worker = null;
        failed(new NoAnswer(why));
      };
      const timer = setTimeout(() => end(TOO_LATE), PATIENCE);
      worker.onmessage = ({ data }: MessageEvent<string>) => {
        clearTimeout(timer);
        done(data);
      };
      worker.onerror = (event) => {
        clearTimeout(timer);
        event.preventDefault();
        end(`Wavecast failed (${event.message}) and was started anew. Please report it with the kernel.`);
      };
      worker.postMessage(message);
    });
  }
}
