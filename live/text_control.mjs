// @ts-check
/** A text of many lines: typed, pasted, dropped as a file or picked. The file is read here and goes nowhere else. */
import { Control, setText } from "./controls.mjs";
import { takeDrops } from "./drop.mjs";
import { encoded, wellFormed } from "./fragment.mjs";
import { keep, nameOf, recall } from "./kept.mjs";

/** Whether a link has room for a text. @param {string} text @param {number} most characters, as encoded */
const isShort = (text, most) => text.length <= most && encoded(text).length <= most;

export class TextControl extends Control {
  /** Line and column of the error, from 1. @type {[number, number] | undefined} */
  #place;
  /** What Python says stands for the text in a link. */
  #link = "";
  /** What stands for it in the address, and the text, as kept last. @type {[string, string]} */
  #kept = ["", ""];
  /** The text that a file replaced. */
  #before = "";
  /** Whether the link holds nothing of it. */
  isLeftOut = false;

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** Whether the page opens without it. */
    this.isAside = root.hidden;
    this.field = /** @type {HTMLTextAreaElement} */ (root.querySelector("textarea"));
    this.picker = /** @type {HTMLInputElement} */ (root.querySelector("input[type=file]"));
    this.there = /** @type {HTMLButtonElement} */ (root.querySelector("[data-there]"));
    this.there.addEventListener("click", () => this.#go());
    root.querySelector("[data-pick]")?.addEventListener("click", () => this.picker.click());
    this.picker.addEventListener("change", () => {
      this.#open(this.picker.files?.[0]);
      this.picker.value = ""; // the same file again is a change too
    });
    this.back = /** @type {HTMLButtonElement} */ (root.querySelector("[data-back]"));
    this.back.addEventListener("click", () => this.#replace(this.#before));
    this.field.addEventListener("input", () => (this.back.hidden = true));
    takeDrops(root, (file) => this.#open(file));
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

  /** What Reset makes of it: a text that the page does not open with in sight is put away, and not lost. */
  get opened() {
    return this.isAside ? this.field.value : this.base;
  }

  inLink() {
    const isNone = this.root.hidden || !this.field.value.trim();
    if (isNone) return this.base;
    return this.#link === this.root.dataset.notInLink ? this.#mark : this.#link;
  }

  unread() {
    if (this.root.hidden) return this.base;
    return isShort(this.field.value, Number(this.root.dataset.mostInLink)) ? this.field.value : this.#mark;
  }

  /** What a link says in place of a text that is too long for it. */
  get #mark() {
    return `${this.root.dataset.notInLink}-${nameOf(this.field.value)}`;
  }

  /** Where this tab keeps the text. */
  get #shelf() {
    return `serving-widget ${this.field.id}`;
  }

  /** What was typed in this tab stays where a link says nothing else. @param {string} [text] */
  fromLink(text) {
    const [link, own] = this.#kept;
    if (text === undefined) return this.field.value || (recall(this.#shelf, "") ?? "");
    return text === link ? own : (recall(this.#shelf, text) ?? text);
  }

  /** @param {string} said */
  keep(said) {
    const link = wellFormed(said); // as it is read again
    const text = this.field.value;
    this.isLeftOut = link.startsWith(`${this.root.dataset.notInLink}`);
    if (link === this.#kept[0] && text === this.#kept[1]) return;
    this.#kept = [link, text];
    const isKept = keep(this.#shelf, link, text);
    const note = /** @type {HTMLElement} */ (this.root.querySelector(".control-kept"));
    const { inTab = "", notInTab = "" } = note.dataset;
    setText(note, this.isLeftOut ? (isKept ? inTab : notInTab) : "");
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

  /** @param {File | undefined} file */
  async #open(file) {
    if (!file) return;
    const isAway = this.root.hidden;
    this.root.hidden = false;
    if (file.size > Number(this.root.dataset.most)) return this.complain(this.root.dataset.tooLarge ?? "");
    const text = await file.text();
    const before = this.field.value;
    this.brings = isAway ? JSON.parse(this.root.dataset.chosenBy ?? "{}") : {};
    this.#replace(text);
    this.brings = {};
    this.#before = before;
    this.back.hidden = !before.trim() || before === text;
  }

  /** Put another text in place of the one that stands there, as if it had been typed. @param {string} text */
  #replace(text) {
    this.field.focus({ preventScroll: true });
    this.field.value = text;
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
