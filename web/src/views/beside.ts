// The part of a ranking that compares: the launch that is shown with one that was kept, or with what another kernel or
// another device makes of it.

import { comparison, type Side } from "./compare";
import type { Ranking, Result } from "./documents";
import { button, h } from "./dom";
import { heat } from "./heat";
import { launchName } from "./format";

/** Another ranking that can stand beside this one. */
export interface Other {
  /** What a state or a link calls it, such as `device:t4`. */
  key: string;
  group: "Devices" | "Kernels" | "Rankings";
  name: string;
  get(): Promise<Ranking | null>;
}

export interface Beside {
  element: HTMLElement;
  /** Keeps a launch to compare others with. */
  keep(result: Result): void;
  select(result: Result): void;
}

const KEPT = "launch";

/** What was kept: it outlives the ranking that it is of, so that it can be compared with what a change makes of it. */
export interface Kept {
  side: Side | null;
}

/** `told` hears what is compared with; `first` is what is compared with at first. */
export function beside(ranking: Ranking, offered: () => Other[], kept: Kept, told: (key: string) => void, first = ""): Beside {
  let [current, asked]: [Result | null, number] = [null, 0];
  let other: Ranking | null = null;
  const place = h("div", { class: "comparison" });
  const select = h("select", { id: `beside-${ranking.kernel.name}-${ranking.device.id}` });
  select.append(h("option", { value: "" }, "nothing"), h("option", { value: KEPT }, "the launch that was kept"));
  let others: Other[] = [];
  /** Lists what there is to compare with: when somebody is about to choose, or a link has. */
  function offer(): void {
    if (others.length > 0) return;
    others = offered();
    for (const group of ["Devices", "Kernels", "Rankings"] as const) {
      const of = others.filter((o) => o.group === group);
      if (of.length > 0) select.append(h("optgroup", { label: group }, ...of.map((o) => h("option", { value: o.key }, o.name))));
    }
  }
  for (const kind of ["focus", "pointerenter", "pointerdown"]) select.addEventListener(kind, offer);
  const same = h("input", { type: "checkbox" });
  const sameLabel = h("label", { class: "check", hidden: true }, same, " the same launch, not the best of each");
  const say = (text: string) => place.replaceChildren(h("p", { class: "faint", role: "status" }, text));

  function sides(): [Side, Side] | string {
    if (!current) return "";
    if (select.value === KEPT) {
      if (!kept.side) return "Show a launch, press \u201cKeep to compare\u201d, and then show another, or change something.";
      return [kept.side, { head: ranking, result: current }];
    }
    if (!other) return "\u2026";
    const name = launchName(current.config);
    const theirs = same.checked ? other.results.find((r) => launchName(r.config) === name) : other.results[0];
    const ours = same.checked ? current : ranking.results[0];
    if (!theirs || !ours) return same.checked ? `There, ${name} is not among the launches that can run.` : "There, no launch can run.";
    return [{ head: ranking, result: ours }, { head: other, result: theirs }];
  }

  function draw(): void {
    sameLabel.hidden = select.value === "" || select.value === KEPT;
    if (select.value === "") return place.replaceChildren();
    const found = sides();
    if (typeof found === "string") return say(found);
    const parts: HTMLElement[] = [];
    if (other && select.value !== KEPT) {
      const maps = [ranking, other].map((of) => {
        const map = heat(of, () => {});
        if (of.results[0]) map.select(of.results[0]);
        return h("div", {}, h("h3", {}, `${of.kernel.name} on ${of.device.name}`), map.element);
      });
      parts.push(h("div", { class: "sides" }, ...maps));
    }
    place.replaceChildren(comparison(...found), ...parts);
  }

  async function change(): Promise<void> {
    const mine = ++asked;
    other = null;
    told(select.value);
    draw();
    const source = others.find((o) => o.key === select.value);
    if (!source) return;
    try {
      const found = await source.get();
      if (mine !== asked) return;
      other = found;
      if (found) draw();
      else say("It could not be ranked.");
    } catch (error) {
      if (mine === asked) say(error instanceof Error ? error.message : String(error));
    }
  }

  select.addEventListener("change", () => void change());
  same.addEventListener("change", draw);
  if (first) offer();
  if (first && [...select.options].some((o) => o.value === first)) {
    select.value = first;
    void change();
  }
  const keepButton = button("Keep to compare", {}, () => current && keep(current));
  function keep(result: Result): void {
    kept.side = { head: ranking, result };
    name();
    if (select.value !== KEPT) {
      select.value = KEPT;
      void change();
    } else draw();
  }
  const keptName = h("span", { class: "faint", role: "status" });
  function name(): void {
    const { side } = kept;
    keptName.textContent = side ? `kept: ${launchName(side.result.config)} of ${side.head.kernel.name} on ${side.head.device.id}` : "";
  }
  name();
  const element = h("section", { class: "panel", "aria-label": "Compare" }, h("h2", {}, "Compare"),
    h("p", { class: "choices" }, keepButton, keptName, h("label", {}, "Compare with ", select), sameLabel), place);
  return {
    element,
    keep,
    select(result) {
      current = result;
      if (select.value === KEPT || same.checked) draw();
    },
  };
}
