// What all editors of the page have in common.

import type { Schema } from "./complete";
import { documentOfPtx, isPtx } from "./ptx";

/** A text that was dropped or pasted, or the first of the files that were; PTX becomes a document. */
export function brought(data: DataTransfer | null, put: (text: string) => void): boolean {
  const file = data?.files[0];
  const text = data?.getData("text/plain") ?? "";
  if (file) {
    void file.text().then((read) => put(isPtx(read) ? documentOfPtx(read) : read));
    return true;
  }
  if (!isPtx(text)) return false;
  put(documentOfPtx(text));
  return true;
}

/** An error or a warning of Wavecast, with its place if it has one. */
export interface Fault {
  message: string;
  line?: number | null;
  column?: number | null;
  help?: string | null;
}

/** How a page makes its editor: `changed` is told the text when a person changes it. */
export type MakeEditor = (label: string, changed: (text: string) => void) => Editor;

export interface Editor {
  element: HTMLElement;
  set(text: string): void;
  show(faults: Fault[]): void;
  /** What can stand where, from now on. */
  complete(schema: Schema): void;
}
