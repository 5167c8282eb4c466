// A text of PTX as a kernel document: what it is launched with is guessed, and said to be.

/** Whether a text is PTX, as compilers write it. */
export function isPtx(text: string): boolean {
  return /^\s*\.version\s+\d/m.test(text) && /\.entry\s+\S/.test(text);
}

interface Param {
  name: string;
  type: string;
}

const ELEMENTS = ["f64", "f32", "f16"];

/** The parameters of the first entry, and its name. */
function entry(text: string): { name: string; params: Param[] } {
  const found = /\.entry\s+([\w$.]+)\s*\(([^)]*)\)/.exec(text) ?? /\.entry\s+([\w$.]+)()/.exec(text);
  const params = [...(found?.[2] ?? "").matchAll(/\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)([^,]*?)([\w$]+)(?:\[\d+\])?\s*(?:,|$)/g)];
  return { name: found?.[1] ?? "kernel", params: params.map(([, type, , name]) => ({ type: type ?? "", name: name ?? "" })) };
}

/** The parameters that are addresses of global memory. */
function pointers(text: string, params: Param[]): Set<string> {
  const wide = params.filter((p) => /64$/.test(p.type) && !p.type.startsWith("f"));
  const found = new Set<string>();
  for (const { name } of wide) {
    const escaped = name.replace(/\$/g, "\\$");
    if (new RegExp(`\\.ptr[^,]*${escaped}`).test(text)) found.add(name);
    for (const [, register] of text.matchAll(new RegExp(`ld\\.param\\.[bu]64\\s+(%\\w+),\\s*\\[${escaped}\\]`, "g"))) {
      if (text.includes("cvta.to.global.u64") && new RegExp(`cvta\\.to\\.global\\.u64\\s+%\\w+,\\s*${register}\\s*;`).test(text)) found.add(name);
    }
  }
  return found.size > 0 ? found : new Set(wide.map((p) => p.name));
}

/** The document. */
export function documentOfPtx(text: string): string {
  const { name, params } = entry(text);
  const addresses = pointers(text, params);
  const element = ELEMENTS.find((of) => new RegExp(`(?:ld|st)\\.global[\\w.]*\\.${of}`).test(text)) ?? "f32";
  const args = params.map(({ name: param, type }, i) => {
    const value = addresses.has(param) ? `p${i}` : type.startsWith("f") ? "1.0" : "N";
    return `    ${i}: ${value}   # ${param}, .${type}\n`;
  });
  const fields = params.flatMap(({ name: param }, i) => (addresses.has(param) ? [`  p${i}: {dtype: ${element}, size: N}\n`] : []));
  const required = /\.reqntid\s+([\d, ]+)/.exec(text)?.[1]?.trim();
  const block = required ? `[[${required}]]` : "[[64], [128], [256], [512]]";
  return [
    "wavecast: 1\n",
    `kernel: ${name.replace(/[^\w-]/g, "-")}\n`,
    "# Sizes, types and the launch are guessed: PTX does not say them.\n",
    "params: {N: 1048576}\n",
    "fields:\n", ...fields,
    "domain: {i: N}\n",
    `launch: {block: ${block}}\n`,
    "code:\n",
    `  entry: ${name}\n`,
    args.length > 0 ? "  args:\n" : "", ...args,
    "  ptx: |\n",
    ...text.replace(/\t/g, "  ").replace(/\r/g, "").split("\n").map((line) => (line.trim() === "" ? "\n" : `    ${line}\n`)),
  ].join("");
}
