// @ts-check
/**
 * The code editor of cells: CodeMirror 6, in a shadow root. There its styles are adopted style sheets, which the page's
 * policy allows; in the page itself they would be an inline `<style>`, which it forbids.
 */
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** The colours of the page's own code. @param {string} name */
const colour = (name) => ({ color: `var(--md-code-hl-${name}-color)` });

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], ...colour("keyword") },
  { tag: [tags.string, tags.special(tags.string)], ...colour("string") },
  { tag: tags.comment, ...colour("comment") },
  { tag: tags.number, ...colour("number") },
  { tag: [tags.bool, tags.null], ...colour("constant") },
  { tag: [tags.definition(tags.function(tags.variableName)), tags.function(tags.variableName)], ...colour("function") },
  { tag: tags.definition(tags.className), ...colour("function") },
  { tag: [tags.operator, tags.punctuation], ...colour("operator") },
]);

const LOOK = EditorView.theme({
  "&": { backgroundColor: "var(--md-code-bg-color)", color: "var(--md-code-fg-color)", borderRadius: "var(--cell-radius)" },
  "&.cm-focused": { outline: "2px solid var(--md-accent-fg-color)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--md-code-font), monospace", fontSize: "var(--cell-size)", lineHeight: "1.6" },
  ".cm-content": { padding: ".7em 0", caretColor: "var(--fig-ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--muted)", border: "0", userSelect: "none" },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 .6em 0 .5em", minWidth: "2.2em" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--muted)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", outline: "1px dotted var(--fig-limit)" },
});

/** A field of code, reached by Tab: where it scrolls, no other way leads there. */
const PLAIN = { tabindex: "0", autocapitalize: "off", autocorrect: "off", spellcheck: "false" };

/** @type {typeof import("../editor.mjs").createEditor} */
export function createEditor({ text, label, onChange, onRun }) {
  const element = document.createElement("div");
  element.className = "cell-codemirror";
  const root = element.attachShadow({ mode: "open", delegatesFocus: true });
  const run = () => {
    onRun();
    return true;
  };
  const state = EditorState.create({
    doc: text,
    extensions: [
      Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      ...[history(), lineNumbers(), indentOnInput(), bracketMatching(), python(), indentUnit.of("    ")],
      ...[syntaxHighlighting(COLOURS), LOOK],
      EditorView.contentAttributes.of({ "aria-label": label, ...PLAIN }),
      EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
    ],
  });
  const view = new EditorView({ state, root, parent: root });
  /** @param {string} to */
  const write = (to) => {
    if (to !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: to } });
  };
  return { element, write, focus: () => view.focus() };
}
