// @ts-check
/** A text of many lines: typed, pasted, dropped as a file or picked. The file is read here and goes nowhere else. */
import { Control } from "./controls.mjs";

export class TextControl extends Control {
  /** Line and column of the error, from 1. @type {[number, number] | undefined} */
  #place;

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.field = /** @type {HTMLTextAreaElement} */ (root.querySelector("textarea"));
    this.picker = /** @type {HTMLInputElement} */ (root.querySelector("input[type=file]"));
    this.there = /** @type {HTMLButtonElement} */ (root.querySelector("[data-there]"));
    this.there.addEventListener("click", () => this.#go());
    root.querySelector("[data-pick]")?.addEventListener("click", () => this.picker.click());
    this.picker.addEventListener("change", () => {
      this.#open(this.picker.files?.[0]);
      this.picker.value = ""; // the same file again is a change too
    });
    root.addEventListener("dragover", (event) => this.#over(event));
    root.addEventListener("dragleave", () => root.removeAttribute("data-over"));
    root.addEventListener("drop", (event) => {
      const file = this.#over(event) ? event.dataTransfer?.files[0] : undefined;
      root.removeAttribute("data-over");
      this.#open(file);
    });
  }

  /** Wait with the answer until the reader pauses. */
  get isSlow() {
    return true;
  }

  get fields() {
    return [this.field];
  }

  get base() {
    return this.field.defaultValue;
  }

  /** What Python says stands for the text in a link. */
  #link = "";

  inLink() {
    return this.root.hidden ? this.base : this.#link;
  }

  /** What was typed stays where a link says nothing else. @param {string} [text] */
  fromLink(text) {
    return text === undefined || text === this.#link ? this.field.value : text;
  }

  read() {
    return this.field.value;
  }

  /** @param {string} text */
  write(text) {
    if (this.field.value !== text) this.field.value = text;
  }

  /** @param {import("./controls.mjs").Look} look @param {string} accepted */
  look(look, accepted) {
    super.look(look, accepted);
    this.#link = look.link ?? "";
  }

  value() {
    return this.shown?.textContent ?? "";
  }

  /** @param {string} message @param {[number, number]} [place] */
  complain(message, place) {
    super.complain(message);
    this.#place = place;
    this.there.hidden = !place;
  }

  /** Whether a file is dragged here; then it may be dropped. @param {DragEvent} event */
  #over(event) {
    const isFile = event.dataTransfer?.types.includes("Files") ?? false;
    if (isFile) event.preventDefault();
    this.root.toggleAttribute("data-over", isFile);
    return isFile;
  }

  /** @param {File | undefined} file */
  async #open(file) {
    if (!file) return;
    if (file.size > Number(this.root.dataset.most)) return this.complain(this.root.dataset.tooLarge ?? "");
    this.field.value = await file.text();
    this.field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  /** Put the caret where the error is. */
  #go() {
    if (!this.#place) return;
    const [line, column] = this.#place;
    const lines = this.field.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    const at = before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
    this.field.focus();
    this.field.setSelectionRange(at, at + 1);
    const height = parseFloat(getComputedStyle(this.field).lineHeight);
    this.field.scrollTop = (line - 3) * height;
  }
}
