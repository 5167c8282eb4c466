// What can stand at a place of a kernel document, by the JSON Schema of the format.

/** As much of a JSON Schema as this one has. */
export interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  description?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
}

export interface Completion {
  label: string;
  /** What the schema says of it. */
  says: string;
  /** What is put in. */
  text: string;
}

export interface Completions {
  /** Where the word begins that they stand in the place of. */
  from: number;
  options: Completion[];
}

/** Where a place is: the keys around it, and whether a key or a value stands there. */
interface Place {
  path: string[];
  isValue: boolean;
  from: number;
}

const KEY = /^(\s*(?:- +)*)(["']?)([\w-]+)\2\s*:/;

/** The keys of the mappings that a line stands in, by its indentation. */
function above(lines: string[], indent: number): string[] {
  const path: string[] = [];
  let within = indent;
  for (let i = lines.length - 1; i >= 0 && within > 0; i--) {
    const found = KEY.exec(lines[i] ?? "");
    if (!found || (found[1] ?? "").length >= within) continue;
    within = (found[1] ?? "").length;
    path.unshift(found[3] ?? "");
  }
  return path;
}

/** The part of a line after the last bracket or comma, with the keys of the brackets that are open there. */
function inFlow(line: string): { path: string[]; rest: number; isOpen: boolean } {
  const open: { path: string[] }[] = [];
  let [rest, quote] = [0, ""];
  for (let i = 0; i < line.length; i++) {
    const c = line[i] as string;
    if (quote) { if (c === quote) quote = ""; continue; }
    if (c === '"' || c === "'") quote = c;
    else if (c === "#" && /\s/.test(line[i - 1] ?? " ")) break;
    else if (c === "{" || c === "[") {
      const key = /([\w-]+)\s*:\s*$/.exec(line.slice(rest, i))?.[1];
      open.push({ path: key ? [key] : [] });
      rest = i + 1;
    } else if (c === "}" || c === "]") { open.pop(); rest = i + 1; }
    else if (c === "," && open.length > 0) rest = i + 1;
  }
  return { path: open.flatMap((o) => o.path), rest, isOpen: open.length > 0 };
}

export function placeAt(text: string, at: number): Place | null {
  const lines = text.slice(0, at).split("\n");
  const line = lines.pop() ?? "";
  if (/(^|\s)#/.test(line)) return null;
  const start = at - line.length;
  const flow = inFlow(line);
  const segment = line.slice(flow.rest);
  const lead = /^\s*(?:- +)*/.exec(line)?.[0].length ?? 0;
  const path = [...above(lines, lead), ...flow.path];
  const word = /[\w.-]*$/.exec(line)?.[0] ?? "";
  const key = /^\s*(?:- +)*(["']?)([\w-]+)\1\s*:\s*/.exec(segment);
  if (key) {
    // Behind the value nothing is completed.
    if (/\S\s/.test(segment.slice(key[0].length))) return null;
    return { path: [...path, key[2] ?? ""], isValue: true, from: start + line.length - word.length };
  }
  return { path, isValue: false, from: start + line.length - word.length };
}

/** A schema and all that it may be instead. */
function all(root: Schema, of: Schema | undefined, depth = 0): Schema[] {
  if (!of || depth > 8) return [];
  const named = of.$ref ? all(root, root.$defs?.[of.$ref.replace("#/$defs/", "")], depth + 1) : [];
  const others = [...(of.anyOf ?? []), ...(of.oneOf ?? [])].flatMap((one) => all(root, one, depth + 1));
  return [of, ...named, ...others, ...all(root, of.items, depth + 1)];
}

export function completions(root: Schema, text: string, at: number): Completions | null {
  const place = placeAt(text, at);
  if (!place) return null;
  let here = all(root, root);
  for (const key of place.path) {
    here = here.flatMap((of) => {
      const more = typeof of.additionalProperties === "object" ? of.additionalProperties : undefined;
      return all(root, of.properties?.[key] ?? more);
    });
  }
  const options = new Map<string, Completion>();
  const add = (label: string, says: string | undefined, text: string) => {
    if (!options.has(label)) options.set(label, { label, says: (says ?? "").split("\n")[0] ?? "", text });
  };
  for (const of of here) {
    if (!place.isValue) for (const [key, value] of Object.entries(of.properties ?? {})) add(key, value.description ?? all(root, value).find((v) => v.description)?.description, `${key}: `);
    for (const value of [...(of.enum ?? []), ...(of.const === undefined ? [] : [of.const])]) {
      if (place.isValue || place.path.length > 0) add(String(value), of.description, String(value));
    }
    if (place.isValue && of.type === "boolean") for (const value of ["true", "false"]) add(value, of.description, value);
  }
  const word = text.slice(place.from, at);
  const fitting = [...options.values()].filter((o) => o.label.startsWith(word) && o.label !== word);
  return fitting.length > 0 ? { from: place.from, options: fitting } : null;
}
