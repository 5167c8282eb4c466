// Wavecast as a server: `wavecast serve --http`, which has this page, too.

import { type Engine, type Gallery, NoAnswer, PATIENCE, TOO_LATE } from "./asking";

export class RemoteEngine implements Engine {
  where = "Computed by wavecast serve --http, which this page comes from; nothing is sent anywhere else.";
  private running = new Map<string, AbortController>();

  /** `token` is what a server asks for that others can reach. */
  constructor(private token: string | null) {}

  async gallery(): Promise<Gallery> {
    const answer = await fetch("/gallery.json");
    if (!answer.ok) throw new NoAnswer(`The server has no gallery (${answer.status}).`);
    return (await answer.json()) as Gallery;
  }

  async request(request: object, about: string): Promise<string> {
    // Closing the connection of a request ends its work.
    this.running.get(about)?.abort();
    const control = new AbortController();
    this.running.set(about, control);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      control.abort();
    }, PATIENCE);
    try {
      const headers: Record<string, string> = { "Content-Type": "application/json" };
      if (this.token) headers.Authorization = `Bearer ${this.token}`;
      const answer = await fetch("/ask", { method: "POST", headers, body: JSON.stringify(request), signal: control.signal });
      return await answer.text();
    } catch (error) {
      if (late) throw new NoAnswer(TOO_LATE);
      if (control.signal.aborted) return await new Promise(() => {});
      throw new NoAnswer(`The server does not answer (${error instanceof Error ? error.message : String(error)}). Is wavecast serve still running?`);
    } finally {
      clearTimeout(timer);
      if (this.running.get(about) === control) this.running.delete(about);
    }
  }
}
