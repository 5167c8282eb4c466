// The editor of the page that a server has: a field of the browser with what is wrong underlined behind it, and a list of
// what can stand at the cursor. It has no highlighting, and no code of others.

import { button, h } from "../views/dom";
import { completions, type Completions, type Schema } from "./complete";
import { brought, type Fault, type MakeEditor } from "./editing";

export const textarea: MakeEditor = (label, changed) => {
  let schema: Schema | null = null;
  let found: Completions | null = null;
  const list = h("ul", { class: "completions", role: "listbox", "aria-label": "What can stand here", hidden: true });
  const area = h("textarea", { "aria-label": label, spellcheck: "false", autocapitalize: "off", autocomplete: "off", wrap: "off", rows: 18 });
  const behind = h("pre", { class: "behind", "aria-hidden": "true" });
  const help = h("p", { class: "faint" }, "Ctrl and space list what can stand at the cursor.");
  const listButton = button("What can stand here?", {}, () => open(true));

  function close(): void {
    list.hidden = true;
    found = null;
  }

  function take(index: number): void {
    const option = found?.options[index];
    if (!found || !option) return;
    area.setRangeText(option.text, found.from, area.selectionStart, "end");
    close();
    area.focus();
    typed();
  }

  function open(isAsked: boolean): void {
    found = schema && completions(schema, area.value, area.selectionStart);
    if (!found || (!isAsked && found.from === area.selectionStart)) return close();
    list.replaceChildren(...found.options.slice(0, 50).map(({ label, says }, i) => {
      const item = h("li", { role: "option", "aria-selected": i === 0 ? "true" : "false" }, h("strong", {}, label), says && ` ${says}`);
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(i);
      });
      return item;
    }));
    list.hidden = false;
  }

  function move(step: number): void {
    const items = [...list.children];
    const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
    const next = (at + step + items.length) % items.length;
    items.forEach((item, i) => item.setAttribute("aria-selected", i === next ? "true" : "false"));
    items[next]?.scrollIntoView({ block: "nearest" });
  }

  function put(text: string): void {
    area.value = text;
    typed();
  }

  function typed(): void {
    behind.replaceChildren();
    changed(area.value);
  }

  area.addEventListener("input", () => {
    open(false);
    typed();
  });
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      open(true);
    } else if (!list.hidden) {
      const steps: Record<string, () => void> = {
        ArrowDown: () => move(1),
        ArrowUp: () => move(-1),
        Enter: () => take([...list.children].findIndex((item) => item.getAttribute("aria-selected") === "true")),
        Escape: close,
      };
      const step = steps[event.key];
      if (step) {
        event.preventDefault();
        step();
      }
    }
  });
  area.addEventListener("scroll", () => {
    behind.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`;
  });
  for (const [kind, data] of [["drop", (e: Event) => (e as DragEvent).dataTransfer], ["paste", (e: Event) => (e as ClipboardEvent).clipboardData]] as const) {
    area.addEventListener(kind, (event) => {
      if (brought(data(event), put)) event.preventDefault();
    });
  }

  return {
    element: h("div", { class: "plain-editor" }, h("div", { class: "layers" }, behind, area), list, listButton, help),
    set(text) {
      if (text === area.value) return;
      area.value = text;
      behind.replaceChildren();
    },
    show(faults: Fault[]) {
      const lines = area.value.split("\n");
      behind.replaceChildren(...lines.flatMap((line, i) => {
        const fault = faults.find((f) => f.line === i + 1);
        if (!fault) return [`${line}\n`];
        const from = Math.max((fault.column ?? 1) - 1, 0);
        const to = from + (/^[\w.-]+/.exec(line.slice(from))?.[0].length ?? 1);
        return [line.slice(0, from), h("span", { class: "wrong" }, line.slice(from, to) || " "), `${line.slice(to)}\n`];
      }));
    },
    complete(of) {
      schema = of;
    },
  };
};
