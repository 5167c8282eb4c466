// Elements, made without a framework: text is only ever set as text, so that no document can bring markup along.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined>;

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) element.append(child);
}

/** An element of HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An element of SVG. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** A button that does something. */
export function button(text: string, attributes: Attributes, act: () => void): HTMLButtonElement {
  const made = h("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

let released: Promise<void> | null = null;
document.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const mine = new Promise<void>((done) => {
    const end = () => {
      if (released === mine) released = null;
      done();
    };
    // The click comes right after the release. Not every press is seen to end.
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => setTimeout(end), { capture: true, once: true });
    setTimeout(end, 1000);
  });
  released = mine;
}, { capture: true, passive: true });

/** Waits until no button is pressed: a click on what is replaced between press and release is lost. */
export async function unpressed(): Promise<void> {
  await released;
}
