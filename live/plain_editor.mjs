// @ts-check
/** Stands for the editor where its files do not load: a text field. */

/** @type {typeof import("./editor.mjs").createEditor} */
export function createEditor({ text, label, onChange, onRun }) {
  const element = document.createElement("textarea");
  element.className = "cell-plain";
  element.spellcheck = false;
  element.autocapitalize = "off";
  element.setAttribute("aria-label", label);
  const write = (/** @type {string} */ to) => {
    element.value = to;
    element.rows = to.split("\n").length + 1;
  };
  write(text);
  element.addEventListener("input", () => onChange(element.value));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onRun();
  });
  return { element, write, focus: () => element.focus() };
}
