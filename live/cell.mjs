// @ts-check
/** A cell that has come to life: whose code stands in it, and what its buttons do. */
import { pack, unpack } from "./cell_link.mjs";
import { CellRun } from "./cell_run.mjs";
import { keep, kept, keyOf } from "./cell_store.mjs";
import { setText } from "./controls.mjs";
import { format, parse, write } from "./fragment.mjs";

/** @typedef {import("./editor.mjs").Editor} Editor */
/** @typedef {"page" | "edit" | "link"} Origin whose code stands in the cell */

const SAVE_MS = 400; // after the last key

/** @returns {Promise<typeof import("./editor.mjs").createEditor>} */
const editorMaker = () =>
  import("./editor.mjs").catch(() => import("./plain_editor.mjs")).then(({ createEditor }) => createEditor);

export class Cell {
  #root;
  #key;
  #block;
  /** The page's code. */
  #base;
  #text;
  /** @type {Origin} */
  #origin = "page";
  /** What stood before Reset. @type {{text: string, origin: Origin} | undefined} */
  #before;
  /** @type {Promise<Editor> | undefined} */
  #editor;
  #isOpen = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #saving;
  #run;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.#root = root;
    this.#key = keyOf(root.id); // later the address may be another page's
    this.#block = /** @type {HTMLElement} */ (root.querySelector(".cell-code pre"));
    this.#base = this.#text = root.querySelector(".cell-code code")?.textContent ?? "";
    this.#run = new CellRun(root, (key, filled) => this.#say(key, filled));
    for (const button of root.querySelectorAll("button")) button.disabled = false;
    root.addEventListener("click", this);
    addEventListener("hashchange", this);
    addEventListener("pagehide", this);
    this.#say("idle");
    this.#restore();
  }

  /** The reader leaves for another page of the site. */
  leave() {
    this.#run.leave();
    this.#isOpen = false;
    this.#save();
    this.#root.removeEventListener("click", this);
    removeEventListener("hashchange", this);
    removeEventListener("pagehide", this);
  }

  /** @param {Event} event */
  handleEvent(event) {
    if (event.type === "pagehide") this.#save();
    else if (event.type === "hashchange") this.#fromLink(true);
    else {
      const button = /** @type {Element} */ (event.target).closest("button");
      if (button?.getAttribute("aria-disabled") !== "true") this.#pressed(button?.dataset.does);
    }
  }

  /** @param {string} [does] */
  #pressed(does) {
    if (does === "run") this.#run.run(this.#text);
    else if (does === "stop") this.#run.stop();
    else if (does === "edit") this.#edit();
    else if (does === "reset") this.#reset();
    else if (does === "undo") this.#undo();
    else if (does === "mine") this.#restoreOwn();
    else if (does === "link") this.#copyLink();
  }

  #restore() {
    this.#show(kept(this.#key) ?? this.#base);
    this.#fromLink();
  }

  /** The code that the address holds, if it holds some: shown, and not run before the reader says so. @param {boolean} isNews */
  async #fromLink(isNews = false) {
    const letters = parse(location.hash).widgets.get(this.#root.id)?.get("code");
    if (letters === undefined) return;
    try {
      const code = await unpack(letters);
      if (!this.#root.isConnected) return;
      if (code !== this.#text) this.#show(code, "link");
      // With code behind it the browser finds no place of that name; who was here before is not moved.
      if (scrollY === 0 || isNews) this.#root.scrollIntoView({ block: "start" });
    } catch {
      this.#say("damaged");
    }
  }

  /** @param {string} text @param {Origin} [origin] */
  #show(text, origin = "edit") {
    this.#text = text;
    this.#origin = text === this.#base ? "page" : origin;
    if (this.#origin === "page") this.#close();
    else this.#open();
    this.#mark();
  }

  /** Say whose code it is, and offer what can be done about it. */
  #mark() {
    const note = this.#root.querySelector(".cell-note");
    const own = this.#origin === "link" && kept(this.#key) !== null;
    this.#root.dataset.origin = this.#origin;
    setText(note, note instanceof HTMLElement ? (note.dataset[own ? "both" : this.#origin] ?? "") : "");
    this.#root.querySelector("[data-does=reset]")?.setAttribute("aria-disabled", `${this.#origin === "page"}`);
    for (const [does, offered] of /** @type {[string, boolean][]} */ ([["undo", !!this.#before], ["mine", own]])) {
      const button = this.#root.querySelector(`[data-does=${does}]`);
      if (button instanceof HTMLElement) button.hidden = !offered;
    }
  }

  async #makeEditor() {
    this.#say("loading");
    const make = await editorMaker();
    const label = this.#root.dataset.label ?? "";
    const settings = { onChange: (/** @type {string} */ to) => this.#typed(to), onRun: () => this.#run.run(this.#text) };
    const editor = make({ text: this.#text, label, ...settings });
    this.#block.after(editor.element);
    this.#say("idle");
    return editor;
  }

  async #open() {
    this.#isOpen = true;
    this.#editor ??= this.#makeEditor();
    const editor = await this.#editor;
    if (!this.#isOpen) return editor;
    editor.write(this.#text);
    this.#block.hidden = true;
    this.#root.toggleAttribute("data-editing", true);
    editor.element.hidden = false;
    return editor;
  }

  async #close() {
    this.#isOpen = false;
    this.#block.hidden = false;
    this.#root.toggleAttribute("data-editing", false);
    const editor = await this.#editor;
    if (editor && !this.#isOpen) editor.element.hidden = true;
  }

  async #edit() {
    this.#run.prepare();
    const editor = await this.#open();
    if (this.#isOpen) editor.focus();
  }

  /** @param {string} text */
  #typed(text) {
    if (text === this.#text) return; // we wrote it ourselves
    this.#text = text;
    this.#before = undefined;
    this.#forgetLink();
    this.#origin = text === this.#base ? "page" : "edit";
    this.#mark();
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#save(), SAVE_MS);
  }

  /** What stands here is not, or no more, what the address holds. */
  #forgetLink() {
    if (parse(location.hash).widgets.has(this.#root.id)) write(this.#root.id, new Map());
  }

  /** Keep what was typed. */
  #save() {
    if (this.#saving === undefined) return;
    clearTimeout(this.#saving);
    this.#saving = undefined;
    if (!keep(this.#key, this.#origin === "edit" ? this.#text : null)) this.#say("unkept");
  }

  #reset() {
    this.#save();
    this.#before = { text: this.#text, origin: this.#origin };
    if (this.#origin === "edit") keep(this.#key, null);
    this.#forgetLink();
    this.#show(this.#base);
    this.#run.clear();
    this.#say("reset");
  }

  #undo() {
    const { text, origin } = this.#before ?? { text: this.#base, origin: "page" };
    this.#before = undefined;
    if (origin === "edit") keep(this.#key, text);
    this.#show(text, origin);
    /** @type {HTMLElement} */ (this.#root.querySelector("[data-does=reset]")).focus(); // the pressed button is gone
    this.#say("idle");
  }

  #restoreOwn() {
    this.#forgetLink();
    this.#show(kept(this.#key) ?? this.#base);
    /** @type {HTMLElement} */ (this.#root.querySelector("[data-does=reset]")).focus();
  }

  async #copyLink() {
    const code = await pack(this.#text);
    if (code === undefined) return this.#say("long");
    const { id } = this.#root;
    const hash = format({ anchor: id, widgets: new Map([[id, new Map([["code", code]])]]) });
    try {
      await navigator.clipboard.writeText(location.origin + location.pathname + hash);
      this.#say("copied");
    } catch {
      history.replaceState(history.state, "", hash);
      this.#say("uncopied");
    }
  }

  /** @param {string} key @param {Record<string, string>} [filled] */
  #say(key, filled = {}) {
    const status = /** @type {HTMLElement} */ (this.#root.querySelector(".cell-status"));
    const words = status.dataset[key] ?? "";
    setText(status, Object.entries(filled).reduce((said, [name, text]) => said.replace(`{${name}}`, () => text), words));
  }
}
