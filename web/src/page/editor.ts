// The editor of the kernel, with what Wavecast has to say underlined where it stands.

import { autocompletion, type CompletionContext, completionKeymap, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { defaultHighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { completions, type Schema } from "./complete";
import { brought, type Fault, type MakeEditor } from "./editing";

export const editor: MakeEditor = (label, changed) => {
  let quiet = false;
  let schema: Schema | null = null;
  const source = (context: CompletionContext) => {
    const found = schema && completions(schema, context.state.doc.toString(), context.pos);
    if (!found || (!context.explicit && found.from === context.pos)) return null;
    const options = found.options.map(({ label, says, text }) => ({ label, info: says, apply: text, type: text.endsWith(": ") ? "property" : "enum" }));
    return { from: found.from, options };
  };
  const put = (text: string) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
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
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, { key: "Alt-Enter", run: startCompletion }]),
        autocompletion({ override: [source] }),
        EditorView.domEventHandlers({
          drop: (event) => brought(event.dataTransfer, put) && (event.preventDefault(), true),
          paste: (event) => brought(event.clipboardData, put) && (event.preventDefault(), true),
        }),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
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
    complete(of) {
      schema = of;
    },
  };
};
