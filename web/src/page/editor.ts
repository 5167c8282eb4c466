// The editor of the kernel, with what Wavecast has to say underlined where it stands.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { defaultHighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";

/** An error or a warning of Wavecast, with its place if it has one. */
export interface Fault {
  message: string;
  line?: number | null;
  column?: number | null;
  help?: string | null;
}

export interface Editor {
  element: HTMLElement;
  set(text: string): void;
  show(faults: Fault[]): void;
}

/** The editor; `changed` is told the text when a person changes it. */
export function editor(changed: (text: string) => void): Editor {
  let quiet = false;
  const view = new EditorView({
    state: EditorState.create({
      extensions: [
        lineNumbers(),
        history(),
        highlightActiveLine(),
        yaml(),
        syntaxHighlighting(defaultHighlightStyle),
        lintGutter(),
        // The tab key leaves the editor, as it does every other field.
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": "Kernel as YAML", spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !quiet) changed(update.state.doc.toString());
        }),
      ],
    }),
  });

  function place({ message, line, column, help }: Fault): Diagnostic | null {
    const { doc } = view.state;
    if (!line || line > doc.lines) return null;
    const of = doc.line(line);
    const from = Math.min(of.from + Math.max((column ?? 1) - 1, 0), of.to);
    const token = /^[\w.-]+/.exec(doc.sliceString(from, of.to))?.[0].length ?? 1;
    return { from, to: Math.min(from + token, of.to), severity: "error", message: help ? `${message} (${help})` : message };
  }

  return {
    element: view.dom,
    set(text) {
      if (text === view.state.doc.toString()) return;
      quiet = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      quiet = false;
    },
    show(faults) {
      view.dispatch(setDiagnostics(view.state, faults.map(place).filter((d) => d !== null)));
    },
  };
}
