// Asks the worker, one request after the other, and ends it if an answer takes too long: then a new one is started.

import packed from "virtual:wasm";
import type { Message } from "./worker";
import WorkerOfPage from "./worker?worker&inline";

/** Milliseconds that an answer may take. */
export const PATIENCE = 5000;

/** There is no answer, and why. */
export class NoAnswer extends Error {}

interface Waiting {
  message: Message;
  done: (text: string) => void;
  failed: (why: NoAnswer) => void;
  /** What it is about: a later request about the same takes its place while it waits. */
  about: string;
}

async function unpacked(): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Engine {
  private module = unpacked();
  private worker: Promise<Worker> | null = null;
  private waiting: Waiting[] = [];
  private busy = false;

  /** The devices that are known, as JSON. */
  devices(): Promise<string> {
    return this.ask({ devices: true }, "devices");
  }

  /** The answer to a request of `serve`. One that is overtaken by a later one about the same is never answered. */
  request(request: object, about: string): Promise<string> {
    return this.ask({ request: JSON.stringify(request) }, about);
  }

  private ask(message: Message, about: string): Promise<string> {
    this.waiting = this.waiting.filter((other) => other.about !== about);
    return new Promise((done, failed) => {
      this.waiting.push({ message, done, failed, about });
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
      const seconds = PATIENCE / 1000;
      const late = `This took longer than ${seconds} s and was ended. Ask for fewer launches, or use wavecast on the command line, which has no such limit.`;
      const timer = setTimeout(() => end(late), PATIENCE);
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
