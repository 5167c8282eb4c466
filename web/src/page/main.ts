// The page: choose a kernel and a device, see all launches, change something, see again.

import "../style/base.css";
import "../style/page.css";
import type { Ranking, Result, Sentence } from "../views/documents";
import { button, h } from "../views/dom";
import { launchName } from "../views/format";
import { rankingView } from "../views/ranking";
import { themeButton } from "../views/theme";
import { commandLine, python } from "./command";
import { controls } from "./controls";
import { changes, type DeviceSummary } from "./device";
import { editor, type Fault } from "./editor";
import { Engine, NoAnswer } from "./engine";
import { FIRST, read, type State, written } from "./state";

/** The kernels that come with Wavecast. */
const TEXTS = Object.fromEntries(
  Object.entries(import.meta.glob<string>("../../../kernels/*.yaml", { query: "?raw", import: "default", eager: true })).map(
    ([path, text]) => [path.replace(/^.*\/|\.yaml$/g, ""), text],
  ),
);

interface Answer<T> {
  ok: boolean;
  result?: T | T[];
  error?: { errors: Fault[] };
}

/** Milliseconds of rest after which what was typed is asked about. */
const REST = 250;
/** Launches that are shown with all their numbers. */
const TOP = 2000;

class Page {
  private engine = new Engine();
  private state = read(location.hash);
  private devices: DeviceSummary[] = [];
  private main = h("main");
  private result = h("div", { class: "result" });
  private status = h("p", { class: "status", role: "status" });
  private faults = h("div", { class: "faults", role: "alert" });
  private command = h("code", { class: "command" });
  private python = h("code", { class: "command python" });
  private editor = editor((text) => this.typed(text));
  private controls: ReturnType<typeof controls> | null = null;
  private timer = 0;
  /** Rankings that were asked for. */
  private asked = 0;
  /** The command was copied, or not. */
  private copied = h("span", { role: "status" });

  async start(): Promise<void> {
    const header = h("header", {}, h("h1", {}, "Wavecast"), themeButton());
    document.body.replaceChildren(header, this.main, h("footer", {}, "Everything is computed in this page; nothing is sent anywhere."));
    this.main.append(h("p", { role: "status" }, "Starting …"));
    try {
      this.devices = JSON.parse(await this.engine.devices()) as DeviceSummary[];
    } catch (error) {
      this.main.replaceChildren(h("p", { class: "warning", role: "alert" }, `Wavecast does not start here: ${String(error)}`));
      return;
    }
    this.repair();
    this.controls = controls(Object.keys(TEXTS), this.devices, this.state, {
      kernel: (kernel) => this.change({ kernel, text: null, set: {}, launch: null }),
      device: (device) => this.change({ device, factors: {} }),
      factor: (path, factor) => this.change({ factors: { ...this.state.factors, [path]: factor } }),
      param: (name, value) => this.param(name, value),
    });
    const copy = button("Copy", {}, () => void this.copy());
    this.main.replaceChildren(
      this.controls.element,
      h("details", { class: "panel editor" }, h("summary", {}, "The kernel as text"), this.editor.element),
      this.faults,
      this.status,
      this.result,
      h(
        "section",
        { class: "panel", "aria-label": "The same elsewhere" },
        h("h2", {}, "The same on the command line"),
        this.command,
        copy,
        this.copied,
        h("h2", { class: "next" }, "And in Python"),
        this.python,
      ),
    );
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === written(this.state)) return;
      this.state = read(location.hash);
      this.repair();
      this.show();
    });
    this.show();
  }

  /** A link may name what there is not. */
  private repair(): void {
    if (!(this.state.kernel in TEXTS)) this.state.kernel = FIRST.kernel;
    const named = this.devices.find((d) => d.id === this.state.device || d.aliases.includes(this.state.device));
    this.state.device = (named ?? this.devices[0])?.id ?? FIRST.device;
  }

  private device(): DeviceSummary {
    return this.devices.find((d) => d.id === this.state.device) as DeviceSummary;
  }

  private text(): string {
    return this.state.text ?? TEXTS[this.state.kernel] ?? "";
  }

  private typed(text: string): void {
    this.state.text = text === TEXTS[this.state.kernel] ? null : text;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(), REST);
  }

  private param(name: string, value: number | null): void {
    const set = { ...this.state.set };
    if (value === null) delete set[name];
    else set[name] = value;
    this.change({ set });
  }

  private change(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    this.show();
  }

  private remember(): void {
    // Each state in the history would fill it with every step of a slider. Pages of file:// may refuse this.
    try {
      history.replaceState(null, "", `#${written(this.state)}`);
    } catch {
      location.hash = written(this.state);
    }
  }

  private async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.command.textContent ?? "");
      this.copied.textContent = " Copied.";
    } catch {
      this.copied.textContent = " Your browser does not let the page copy; select the text.";
    }
  }

  private show(): void {
    this.remember();
    this.editor.set(this.text());
    this.controls?.device(this.state, this.device());
    this.command.textContent = commandLine(this.state, this.device());
    this.python.textContent = python(this.state, this.device());
    this.copied.textContent = "";
    void this.rank();
  }

  /** What every request says. */
  private request(op: string, options: object): object {
    const device_set = changes(this.device(), this.state.factors);
    return { id: 1, op, kernel_text: this.text(), device: this.state.device, options: { set: this.state.set, device_set, ...options } };
  }

  private async ask<T>(op: string, options: object): Promise<T[] | Fault[]> {
    const answer = JSON.parse(await this.engine.request(this.request(op, options), op)) as Answer<T>;
    if (!answer.ok || answer.result === undefined) throw new Refused(answer.error?.errors ?? []);
    return Array.isArray(answer.result) ? answer.result : [answer.result];
  }

  private async rank(): Promise<void> {
    const mine = ++this.asked;
    this.main.setAttribute("aria-busy", "true");
    try {
      const rankings = (await this.ask<Ranking>("rank", { top: TOP })) as Ranking[];
      this.faults.replaceChildren();
      this.editor.show([]);
      this.ranked(rankings);
    } catch (error) {
      this.failed(error);
    }
    if (mine === this.asked) this.main.removeAttribute("aria-busy");
  }

  private failed(error: unknown): void {
    const faults: Fault[] = error instanceof Refused ? error.faults : [{ message: error instanceof NoAnswer ? error.message : String(error) }];
    const said = ({ line, column, message, help }: Fault) =>
      h("li", {}, line ? h("strong", {}, `Line ${line}:${column ?? 1}: `) : null, message, help ? h("span", { class: "faint" }, ` ${help}`) : null);
    this.faults.replaceChildren(h("div", { class: "panel" }, h("h2", {}, "This cannot be ranked"), h("ul", {}, ...faults.map(said))));
    this.editor.show(faults);
    this.result.replaceChildren();
    this.status.textContent = "";
  }

  private ranked(rankings: Ranking[]): void {
    const first = rankings[0];
    if (!first) return;
    this.controls?.params(first.kernel.params, this.state.set);
    const best = first.results[0];
    this.status.textContent = best ? `Best: ${launchName(best.config)} of ${first.summary.candidates} launches.` : "";
    const views = rankings.map((ranking) => {
      return rankingView(ranking, { explain: (r) => this.explain(ranking, r), otherwise: "This launch cannot be explained." }, (rank) => {
        const chosen = ranking.results[rank - 1];
        this.state.launch = chosen ? launchName(chosen.config) : null;
        this.remember();
      }, this.state.launch);
    });
    this.result.replaceChildren(...views);
    window.wavecastRankings = rankings;
  }

  private async explain(ranking: Ranking, { config: { block, fold, variant } }: Result): Promise<Sentence[] | null> {
    try {
      const options = { block: [block], fold: [fold], near: true, ...(variant === null ? {} : { variant }) };
      const all = (await this.ask<{ kernel: { name: string }; sentences: Sentence[] }>("explain", options)) as { kernel: { name: string }; sentences: Sentence[] }[];
      return all.find((e) => e.kernel.name === ranking.kernel.name)?.sentences ?? null;
    } catch {
      return null;
    }
  }
}

/** Wavecast says what is wrong with the request. */
class Refused extends Error {
  constructor(readonly faults: Fault[]) {
    super("refused");
  }
}

void new Page().start();
