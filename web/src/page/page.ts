// The page: choose a kernel and a device, see all launches, change something, see again.

import type { Kept, Other } from "../views/beside";
import type { Said } from "../views/detail";
import type { Details, Explanation, Ranking, Result, Sweep } from "../views/documents";
import { button, h, unpressed } from "../views/dom";
import { launchName } from "../views/format";
import { rankingView } from "../views/ranking";
import { themeButton } from "../views/theme";
import { type Engine, type Gallery, NoAnswer } from "./asking";
import { commandLine, python } from "./command";
import { type Controls, controls } from "./controls";
import { changes, type DeviceNumbers, type DeviceSummary } from "./device";
import type { Fault, MakeEditor } from "./editing";
import { FIRST, read, type State, written } from "./state";
import { whatIf } from "./whatif";

interface Answer<T> {
  ok: boolean;
  result?: T | T[];
  error?: { errors: (Fault & { file?: string | null })[] };
}

/** Milliseconds of rest after which what was typed is asked about. */
const REST = 250;
/** Launches that are shown with all their numbers. */
const TOP = 2000;
/** What a device of one's own begins with. */
const OWN_DEVICE = (id: string) => `# A device of your own: what is not named here is as the ${id} has it.\nwavecast-device: 1\nid: own\nname: My own\ninherit: ${id}\nsources:\n  mine: {kind: measured, text: "where your numbers come from"}\n# for example\n# l2: {capacity: {value: 60 MiB, source: mine}, effective: {value: 30 MiB, source: mine}}\n`;

/** Wavecast says what is wrong with the request. */
class Refused extends Error {
  constructor(readonly faults: (Fault & { file?: string | null })[]) {
    super(faults[0]?.message ?? "refused");
  }
}

export class Page {
  private state = read(location.hash);
  private gallery: Gallery = { kernels: {}, schema: null };
  private devices: DeviceSummary[] = [];
  /** The device with its own numbers, and what it was read from. */
  private numbers: DeviceNumbers | null = null;
  private numbersOf = "";
  private main = h("main");
  private result = h("div", { class: "result" });
  private status = h("p", { class: "status", role: "status" });
  private faults = h("div", { class: "faults", role: "alert" });
  private command = h("code", { class: "command" });
  private python = h("code", { class: "command python" });
  private copied = h("span", { role: "status" });
  private editor;
  private deviceEditor;
  private ownDevice: HTMLDetailsElement;
  private controls: Controls | null = null;
  private series = whatIf((vary) => {
    this.state.vary = vary;
    this.remember();
    void this.plot();
  });
  /** The launch that was kept to be compared. */
  private kept: Kept = { side: null };
  private timer = 0;
  /** Rankings that were asked for. */
  private asked = 0;

  constructor(private engine: Engine, makeEditor: MakeEditor) {
    this.editor = makeEditor("Kernel as YAML", (text) => this.typed({ text: text === this.gallery.kernels[this.state.kernel] ? null : text }));
    this.deviceEditor = makeEditor("Device as YAML", (deviceText) => this.typed({ deviceText }));
    this.ownDevice = h("details", { class: "panel editor", hidden: true }, h("summary", {}, "The device as text"), this.deviceEditor.element);
  }

  async start(): Promise<void> {
    const header = h("header", {}, h("h1", {}, "Wavecast"), themeButton());
    document.body.replaceChildren(header, this.main, h("footer", {}, this.engine.where));
    this.main.append(h("p", { role: "status" }, "Starting …"));
    try {
      this.gallery = await this.engine.gallery();
    } catch (error) {
      this.main.replaceChildren(h("p", { class: "warning", role: "alert" }, `Wavecast does not start here: ${error instanceof Error ? error.message : String(error)}`));
      return;
    }
    this.repair();
    if (this.gallery.schema) this.editor.complete(this.gallery.schema);
    this.controls = controls(Object.keys(this.gallery.kernels), this.state, {
      kernel: (kernel) => this.change({ kernel, text: null, set: {}, launch: null, vary: null }),
      device: (device) => this.chooseDevice(device),
      factor: (path, factor) => this.change({ factors: { ...this.state.factors, [path]: factor } }),
      param: (name, value) => this.param(name, value),
    });
    this.fill(this.controls);
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === written(this.state)) return;
      this.state = read(location.hash);
      this.repair();
      void this.show();
    });
    // Files that miss the editor would be opened in the place of the page.
    for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
    // What is seen first is asked for first.
    const shown = this.show();
    void this.listDevices();
    await shown;
  }

  private fill(of: Controls): void {
    const copy = button("Copy", {}, () => void this.copy(this.command.textContent ?? ""));
    const link = button("Copy a link to this", {}, () => void this.copy(location.href));
    this.main.replaceChildren(
      of.element,
      h("details", { class: "panel editor" }, h("summary", {}, "The kernel as text"),
        h("p", { class: "faint" }, "YAML, or PTX dropped or pasted here."), this.editor.element),
      this.ownDevice,
      this.faults,
      this.status,
      this.result,
      this.series.element,
      h(
        "section",
        { class: "panel", "aria-label": "The same elsewhere" },
        h("h2", {}, "The same on the command line"),
        this.command,
        h("p", {}, copy, " ", link, this.copied),
        h("h2", { class: "next" }, "And in Python"),
        this.python,
      ),
    );
  }

  /** A link may name what there is not. */
  private repair(): void {
    if (!(this.state.kernel in this.gallery.kernels)) this.state.kernel = FIRST.kernel;
    if (this.devices.length === 0) return;
    const named = this.devices.find((d) => d.id === this.state.device || d.aliases.includes(this.state.device));
    this.state.device = (named ?? this.devices[0])?.id ?? FIRST.device;
  }

  private async listDevices(): Promise<void> {
    try {
      const [found] = await this.ask<{ devices: DeviceSummary[] }>({ id: 1, op: "devices" }, "devices");
      this.devices = found?.devices ?? [];
    } catch {
      return;
    }
    const before = this.state.device;
    this.repair();
    this.controls?.devices(this.devices, this.state.deviceText === null ? this.state.device : "own");
    if (this.state.device !== before) void this.show();
  }

  private text(): string {
    return this.state.text ?? this.gallery.kernels[this.state.kernel] ?? "";
  }

  private typed(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.show(), REST);
  }

  private chooseDevice(device: string | null): void {
    if (device !== null) return this.change({ device, deviceText: null, factors: {} });
    this.ownDevice.open = true;
    this.change({ deviceText: OWN_DEVICE(this.state.device), factors: {} });
  }

  private param(name: string, value: number | null): void {
    const set = { ...this.state.set };
    if (value === null) delete set[name];
    else set[name] = value;
    this.change({ set });
  }

  private change(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    void this.show();
  }

  private remember(): void {
    // Each state in the history would fill it with every step of a slider. Pages of file:// may refuse this.
    try {
      history.replaceState(null, "", `#${written(this.state)}`);
    } catch {
      location.hash = written(this.state);
    }
  }

  private async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.copied.textContent = " Copied.";
    } catch {
      this.copied.textContent = " Your browser does not let the page copy; select the text.";
    }
  }

  /** What names the device in a request. */
  private device(): object {
    return this.state.deviceText === null ? { device: this.state.device } : { device_text: this.state.deviceText };
  }

  /** The numbers of the device, once they are known. */
  private async learn(): Promise<void> {
    const of = JSON.stringify(this.device());
    if (of === this.numbersOf && this.numbers) return;
    const [found] = await this.ask<{ devices: DeviceNumbers[] }>({ id: 1, op: "devices", ...this.device() }, "numbers");
    if (of !== JSON.stringify(this.device())) return;
    [this.numbers, this.numbersOf] = [found?.devices[0] ?? null, of];
    this.describe();
  }

  /** What stands around the result. */
  private describe(): void {
    const known = this.numbersOf === JSON.stringify(this.device()) ? this.numbers : null;
    this.controls?.device(this.state, known);
    this.command.textContent = commandLine(this.state, known);
    this.python.textContent = python(this.state, known);
  }

  private async show(): Promise<void> {
    this.remember();
    this.editor.set(this.text());
    this.ownDevice.hidden = this.state.deviceText === null;
    if (this.state.deviceText !== null) this.deviceEditor.set(this.state.deviceText);
    this.copied.textContent = "";
    this.main.setAttribute("aria-busy", "true");
    const mine = ++this.asked;
    const isChanged = Object.values(this.state.factors).some((factor) => factor !== 1);
    try {
      // What is changed of a device is said by its numbers.
      if (isChanged) await this.learn();
      this.describe();
      const rankings = await this.ask<Ranking>(this.request("rank", { top: TOP }), "rank");
      await unpressed();
      if (mine !== this.asked) return;
      this.faults.replaceChildren();
      this.editor.show([]);
      this.deviceEditor.show([]);
      this.ranked(rankings);
      await this.learn();
      this.series.offers(rankings[0]?.kernel.params ?? {}, this.numbers);
      await this.plot();
    } catch (error) {
      if (mine === this.asked) this.failed(error);
    }
    if (mine === this.asked) this.main.removeAttribute("aria-busy");
  }

  /** What every request about the kernel says. */
  private request(op: string, options: object): object {
    const device_set = changes(this.numbers, this.state.factors);
    return { id: 1, op, kernel_text: this.text(), ...this.device(), options: { set: this.state.set, device_set, ...options } };
  }

  private async ask<T>(request: object, about: string): Promise<T[]> {
    const answer = JSON.parse(await this.engine.request(request, about)) as Answer<T>;
    if (!answer.ok || answer.result === undefined) throw new Refused(answer.error?.errors ?? []);
    return Array.isArray(answer.result) ? answer.result : [answer.result];
  }

  private failed(error: unknown): void {
    const faults = error instanceof Refused ? error.faults : [{ message: error instanceof Error ? error.message : String(error) } as Fault & { file?: string }];
    const ofDevice = ({ file }: { file?: string | null }) => (file ?? "").startsWith("device");
    const said = (fault: Fault & { file?: string | null }) => {
      const where = fault.line ? `${ofDevice(fault) ? "Device, line" : "Line"} ${fault.line}:${fault.column ?? 1}: ` : "";
      return h("li", {}, where && h("strong", {}, where), fault.message, fault.help ? h("span", { class: "faint" }, ` ${fault.help}`) : null);
    };
    this.faults.replaceChildren(h("div", { class: "panel" }, h("h2", {}, "This cannot be ranked"), h("ul", {}, ...faults.map(said))));
    this.editor.show(faults.filter((fault) => !ofDevice(fault)));
    this.deviceEditor.show(faults.filter(ofDevice));
    this.result.replaceChildren();
    this.status.textContent = "";
  }

  /** Devices and kernels that a ranking can be compared with. */
  private others(): Other[] {
    const rank = async (request: object): Promise<Ranking | null> => (await this.ask<Ranking>(request, "beside"))[0] ?? null;
    const options = { top: TOP, set: this.state.set };
    // A link may name a device before the list of all is there.
    const named = /^device:(.+)$/.exec(this.state.with)?.[1];
    const devices = named && !this.devices.some((d) => d.id === named) ? [{ id: named, name: named }, ...this.devices] : this.devices;
    return [
      ...devices.map(({ id, name }): Other => ({
        key: `device:${id}`, group: "Devices", name: `${name} (${id})`,
        get: () => rank({ id: 1, op: "rank", kernel_text: this.text(), device: id, options }),
      })),
      ...Object.entries(this.gallery.kernels).map(([name, text]): Other => ({
        key: `kernel:${name}`, group: "Kernels", name,
        get: () => rank({ ...this.request("rank", { top: TOP, set: {} }), kernel_text: text }),
      })),
    ];
  }

  private ranked(rankings: Ranking[]): void {
    const first = rankings[0];
    if (!first) return;
    this.controls?.params(first.kernel.params, this.state.set);
    const best = first.results[0];
    this.status.textContent = best ? `Best: ${launchName(best.config)} of ${first.summary.candidates} launches.` : "";
    const views = rankings.map((ranking) =>
      rankingView(ranking, { explain: (r) => this.explain(ranking, r), otherwise: "This launch cannot be explained." }, {
        shown: (result) => {
          this.state.launch = launchName(result.config);
          this.remember();
        },
        named: this.state.launch,
        others: () => this.others(),
        with: this.state.with,
        kept: this.kept,
        compared: (key) => {
          this.state.with = key;
          this.remember();
        },
      }));
    this.result.replaceChildren(...views);
    window.wavecastRankings = rankings;
  }

  private async explain(ranking: Ranking, { config: { block, fold, variant } }: Result): Promise<Said | null> {
    try {
      const options = { block: [block], fold: [fold], near: true, ...(variant === null ? {} : { variant }) };
      const all = await this.ask<Explanation>(this.request("explain", options), "explain");
      const found = all.find((e) => e.kernel.name === ranking.kernel.name);
      return found ? { sentences: found.sentences, details: found as Details, neighbours: found.neighbours.near } : null;
    } catch {
      return null;
    }
  }

  /** Plots the series that was asked for. */
  private async plot(): Promise<void> {
    const { vary } = this.state;
    this.series.set(vary);
    if (!vary) return;
    const name = vary.split("=")[0]?.trim() ?? "";
    // What varies is not set, too.
    const without = <T>(of: Record<string, T>) => Object.fromEntries(Object.entries(of).filter(([key]) => key !== name));
    const device_set = without(changes(this.numbers, this.state.factors));
    try {
      const request = this.request("sweep", { vary: [vary], best: true, set: without(this.state.set), device_set });
      const sweeps = await this.ask<Sweep>(request, "sweep");
      if (this.state.vary === vary) this.series.show(sweeps, commandLine(this.state, this.numbers, vary));
    } catch (error) {
      if (error instanceof NoAnswer || error instanceof Refused) this.series.say(error.message);
      else throw error;
    }
  }
}
