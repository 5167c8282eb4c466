// Pictures: what all of them have in common. Each is SVG, has a form in words or as a table beside it, and can be saved as
// SVG and PNG.

import { button, h, s } from "./dom";
import { save } from "./take";

/** What makes a drawing look the same outside of the page. */
const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "font-size", "font-weight",
  "font-family", "text-anchor", "opacity", "paint-order",
];

/** A drawing as a text of its own, with the colours that it has here. */
export function standalone(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const [style, target] = [getComputedStyle(element), to[i] as Element];
    target.setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    target.removeAttribute("class");
  });
  const { width, height, x, y } = drawing.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  for (const name of ["class", "aria-hidden", "role", "aria-label"]) copy.removeAttribute(name);
  const ground = getComputedStyle(drawing.closest(".panel") ?? document.body).backgroundColor;
  copy.prepend(s("rect", { x, y, width, height, style: `fill:${ground}` }));
  return new XMLSerializer().serializeToString(copy);
}

/** The same as PNG, with two pixels for each of the drawing. */
async function png(drawing: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(drawing))}`;
  await image.decode();
  const { width, height } = drawing.viewBox.baseVal;
  const canvas = h("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d")?.drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("this browser draws no PNG"))), "image/png"),
  );
}

/** Buttons that save a drawing, which is made when one is pressed if it does not stand in the page. */
export function savers(name: string, drawing: () => SVGSVGElement): HTMLElement {
  const made = (then: (drawn: SVGSVGElement) => void | Promise<void>) => () => {
    const drawn = drawing();
    if (drawn.isConnected) return void then(drawn);
    // Colours are known only of what stands in the page.
    const place = h("div", { class: "panel hidden", "aria-hidden": "true" }, drawn);
    document.body.append(place);
    void Promise.resolve(then(drawn)).finally(() => place.remove());
  };
  const file = name.replace(/[^\w.-]+/g, "-");
  return h(
    "div",
    { class: "savers" },
    button("SVG", { "aria-label": `Save as SVG: ${name}` }, made((drawn) => save(`${file}.svg`, "image/svg+xml", standalone(drawn)))),
    button("PNG", { "aria-label": `Save as PNG: ${name}` }, made(async (drawn) => save(`${file}.png`, "image/png", await png(drawn)))),
  );
}

/** A part of the page with a picture: its head, the picture, and more. */
export function pictureSection(
  title: string,
  name: string,
  drawing: () => SVGSVGElement,
  ...content: (Node | string | null | false)[]
): HTMLElement {
  return h("section", { "aria-label": title }, h("div", { class: "titled" }, h("h3", {}, title), savers(name, drawing)), ...content);
}

/** Marks of an axis: round numbers, or powers of ten with 2 and 5 between them. */
export function marks(low: number, high: number, isLog: boolean): number[] {
  if (!(high > low)) return [low];
  if (isLog) {
    const found: number[] = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
      for (const digit of [1, 2, 5]) {
        const at = digit * 10 ** power;
        if (at >= low * 0.999 && at <= high * 1.001) found.push(at);
      }
    }
    return found.length > 9 ? found.filter((n) => /^[1]/.test(n.toExponential())) : found;
  }
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((n) => n * power >= rough) ?? 10) * power;
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-9; at += step) found.push(Number(at.toPrecision(12)));
  return found;
}

/** A number of an axis. */
export function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e12) return `${Number((value / 1e12).toPrecision(3))}T`;
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(3))}G`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

/** A number with its unit: 15.3 TB/s. */
export function prefixed(value: number, unit: string): string {
  return short(value).replace(/([TGMk]?)$/, " $1") + unit;
}

export interface Axis {
  low: number;
  high: number;
  isLog?: boolean;
  name: string;
  text?: (value: number) => string;
}

export interface Frame {
  drawing: SVGSVGElement;
  x(value: number): number;
  y(value: number): number;
}

export const PLOT = { left: 62, right: 14, top: 10, bottom: 42 };

/** Axes with their names and marks; what is drawn between them is added by whoever asks. */
export function frame(width: number, height: number, across: Axis, up: Axis): Frame {
  const drawing = s("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", "aria-hidden": "true" });
  const scale = ({ low, high, isLog }: Axis, from: number, to: number) => {
    const f = isLog ? Math.log : (n: number) => n;
    const span = f(high) - f(low) || 1;
    return (value: number) => from + ((f(value) - f(low)) / span) * (to - from);
  };
  const [right, bottom] = [width - PLOT.right, height - PLOT.bottom];
  const [x, y] = [scale(across, PLOT.left, right), scale(up, bottom, PLOT.top)];
  for (const at of marks(across.low, across.high, across.isLog ?? false)) {
    drawing.append(
      s("line", { x1: x(at), x2: x(at), y1: PLOT.top, y2: bottom, class: "gridline" }),
      s("text", { x: x(at), y: bottom + 15, class: "tick middle" }, (across.text ?? short)(at)),
    );
  }
  for (const at of marks(up.low, up.high, up.isLog ?? false)) {
    drawing.append(
      s("line", { x1: PLOT.left, x2: right, y1: y(at), y2: y(at), class: "gridline" }),
      s("text", { x: PLOT.left - 6, y: y(at) + 4, class: "tick end" }, (up.text ?? short)(at)),
    );
  }
  drawing.append(
    s("text", { x: (PLOT.left + right) / 2, y: height - 6, class: "axis middle" }, across.name),
    s("text", { x: 12, y: (PLOT.top + bottom) / 2, class: "axis middle", transform: `rotate(-90 12 ${(PLOT.top + bottom) / 2})` }, up.name),
  );
  return { drawing, x, y };
}
