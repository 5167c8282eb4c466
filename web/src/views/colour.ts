// Colours that most people can tell apart: of the share of the best rate (after viridis, dark to light), and of
// limiters and parts (Okabe and Ito, "Color Universal Design", 2008). The latter are in style/base.css.

type Rgb = [number, number, number];

const STOPS: Rgb[] = [
  [68, 1, 84],
  [65, 68, 135],
  [42, 120, 142],
  [34, 168, 132],
  [122, 209, 81],
  [253, 231, 37],
];

/** The colour of a share from 0 to 1. */
export function ofShare(share: number): Rgb {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const below = Math.min(Math.floor(at), STOPS.length - 2);
  const from = STOPS[below] as Rgb;
  const to = STOPS[below + 1] as Rgb;
  return from.map((channel, i) => Math.round(channel + (at - below) * ((to[i] as number) - channel))) as Rgb;
}

export function css([red, green, blue]: Rgb): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** Black or white, whichever is read more easily on this colour (relative luminance as WCAG 2 defines it). */
export function inkOn(colour: Rgb): string {
  const [red, green, blue] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  // Contrast with white is 1.05 / (l + 0.05), with black (l + 0.05) / 0.05: they are equal here.
  return luminance > Math.sqrt(1.05 * 0.05) - 0.05 ? "#000" : "#fff";
}

/** The class of the colour of a limiter. */
export function limiterClass(limiter: string): string {
  return ["fp", "l1", "l2", "dram"].includes(limiter) ? `c-${limiter}` : "c-other";
}
