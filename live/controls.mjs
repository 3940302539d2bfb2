// @ts-check
/** The controls of a widget: what stands in them, and how they look for an answer. Lookups only, no arithmetic. */

/** @typedef {{value: string, label: string}} Option */
/**
 * @typedef {{shown: string, options: Option[] | null, stops: number[] | null, hidden: boolean,
 *   if_empty: number | string | null, link: string | null, position: number | null}} Look
 */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

const MOST_UNREAD = 200; // characters of a wrong text in a link

/** Write text only where it changes, so that nothing is announced twice. @param {Element | null} element @param {string} text */
export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** One control. Its kinds say how text gets in and out. */
export class Control {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.name = root.dataset.control ?? "";
    /** Whether it opens anew when another control is set. */
    this.momentary = root.hasAttribute("data-momentary");
    this.shown = root.querySelector(".control-shown");
    this.error = /** @type {HTMLElement} */ (root.querySelector(".control-error"));
  }

  /** The fields that are marked when the text is wrong. @returns {Field[]} */
  get fields() {
    return [];
  }

  /** Whether an answer may wait until the reader pauses. */
  get isSlow() {
    return false;
  }

  /** What stands for an accepted text in a link. @param {string} accepted */
  inLink(accepted) {
    return accepted;
  }

  /** What stands in a link for a text that is wrong, or not yet read. @param {string} typed */
  unread(typed) {
    return typed.slice(0, MOST_UNREAD);
  }

  /** Learn what stands in the address for it. @param {string} _link */
  keep(_link) {}

  /** Whether a link holds nothing of what was typed. */
  isLeftOut = false;

  /** Whether its value is none of its list. */
  get isUnknown() {
    return false;
  }

  /** The text that a link gives, or the page's own where the link gives none. @param {string} [text] */
  fromLink(text) {
    return text ?? this.base;
  }

  /** The text the page opened with. */
  get base() {
    return "";
  }

  /** The text that Reset sets. */
  get opened() {
    return this.base;
  }

  /** What is set along with it, by control: what a file belongs to that is dropped while its text is not in sight. @type {Record<string, string>} */
  brings = {};

  /** The text after the reader used one of the control's elements. @param {EventTarget | null} used @returns {string} */
  read(used) {
    return used instanceof HTMLInputElement || used instanceof HTMLSelectElement ? used.value : "";
  }

  /** Put text in. @param {string} _text */
  write(_text) {}

  /** @param {Look} look @param {string} _accepted the value shown, as text */
  look(look, _accepted) {
    this.root.hidden = look.hidden;
    setText(this.shown, look.shown);
  }

  /** A value in words, with its unit. @param {string} accepted */
  value(accepted) {
    return `${accepted} ${this.root.dataset.unit ?? ""}`.trim();
  }

  /** Bring it into view and go there, out of a group that is closed. */
  open() {
    this.root.closest("details")?.setAttribute("open", "");
    this.root.scrollIntoView({ block: "center" });
    this.fields[0]?.focus({ preventScroll: true });
  }

  /** @param {string} message empty when the text is right @param {[number, number]} [_place] line and column in it */
  complain(message, _place) {
    setText(this.error, message);
    this.root.toggleAttribute("data-wrong", message !== "");
    for (const field of this.fields) {
      if (message) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
    if (message) this.root.closest("details")?.setAttribute("open", "");
  }
}

/** A field for a number or a word, with or without a slider. */
class NumberControl extends Control {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.field = /** @type {HTMLInputElement} */ (root.querySelector("input[type=text]"));
    this.slider = /** @type {HTMLInputElement | null} */ (root.querySelector("input[type=range]"));
    /** @type {string[]} */
    this.stops = JSON.parse(this.slider?.dataset.stops ?? "[]");
  }

  get fields() {
    return [this.field];
  }

  get base() {
    return this.field.defaultValue;
  }

  /** @param {EventTarget | null} used */
  read(used) {
    if (used !== this.slider || !this.slider) return this.field.value;
    this.field.value = this.stops[Number(this.slider.value)] ?? this.slider.value;
    return this.field.value;
  }

  /** @param {string} text */
  write(text) {
    if (this.field.value !== text) this.field.value = text;
    const at = this.stops.indexOf(text);
    if (this.slider && (at >= 0 || !this.stops.length)) this.slider.value = at >= 0 ? String(at) : text;
  }

  /** @param {Look} look @param {string} accepted */
  look(look, accepted) {
    super.look(look, accepted);
    this.field.placeholder = String(look.if_empty ?? "");
    if (!this.slider) return;
    if (look.stops) {
      this.stops = look.stops.map(String);
      this.slider.max = String(this.stops.length - 1);
    }
    this.slider.value = look.position === null ? accepted : String(look.position);
    this.slider.setAttribute("aria-valuetext", look.shown || this.value(accepted));
  }
}

class CheckControl extends Control {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.box = /** @type {HTMLInputElement} */ (root.querySelector("input"));
  }

  get fields() {
    return [this.box];
  }

  get base() {
    return this.box.defaultChecked ? "yes" : "no";
  }

  read() {
    return this.box.checked ? "yes" : "no";
  }

  /** @param {string} text */
  write(text) {
    this.box.checked = text === "yes";
  }
}

class ChoiceControl extends Control {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.select = root.querySelector("select");
    this.radios = [...root.querySelectorAll("input")];
    this.options = [...(this.select?.options ?? [])].map(({ value, text }) => ({ value, label: text }));
    this.options.push(...this.radios.map(({ value, parentElement }) => ({ value, label: parentElement?.textContent ?? "" })));
  }

  /** @returns {Field[]} */
  get fields() {
    return this.select ? [this.select] : this.radios;
  }

  get base() {
    const option = [...(this.select?.options ?? [])].find((option) => option.defaultSelected);
    return option?.value ?? this.radios.find((radio) => radio.defaultChecked)?.value ?? "";
  }

  /** @param {string} accepted */
  value(accepted) {
    const option = [...(this.select?.options ?? [])].find((option) => option.value === accepted);
    const radio = this.radios.find((radio) => radio.value === accepted);
    return option?.text ?? radio?.closest("label")?.textContent ?? accepted;
  }

  /** The option for a text that is not in the list: what a link says is kept, and seen. */
  #unknown = Object.assign(document.createElement("option"), { hidden: true });

  get isUnknown() {
    return this.select !== null && this.#unknown.selected;
  }

  /** @param {string} text */
  write(text) {
    this.#unknown.remove();
    if (this.select && !this.options.some(({ value }) => value === text)) {
      Object.assign(this.#unknown, { value: text, text: `“${text.slice(0, MOST_UNREAD)}”` });
      this.select.prepend(this.#unknown);
    }
    if (this.select) this.select.value = text;
    for (const radio of this.radios) radio.checked = radio.value === text;
  }

  /** @param {Look} look @param {string} accepted */
  look(look, accepted) {
    super.look(look, accepted);
    const labels = new Map((look.options ?? this.options).map(({ value, label }) => [value, label]));
    if (!this.#unknown.selected) this.#unknown.remove();
    for (const option of this.select?.options ?? []) {
      if (option === this.#unknown) continue;
      option.hidden = option.disabled = !labels.has(option.value);
      setText(option, labels.get(option.value) ?? option.text);
    }
    for (const radio of this.radios) {
      const label = radio.closest("label");
      if (label) label.hidden = !labels.has(radio.value);
      setText(label?.querySelector("span") ?? null, labels.get(radio.value) ?? label?.textContent ?? "");
    }
  }
}

/** @type {Record<string, new (root: HTMLElement) => Control>} */
const KINDS = { number: NumberControl, choice: ChoiceControl, word: NumberControl, check: CheckControl };

/** Make another kind of control known. @param {string} name @param {new (root: HTMLElement) => Control} kind */
export const addKind = (name, kind) => void (KINDS[name] = kind);

/** All controls under an element, by name. @param {HTMLElement} root @returns {Map<string, Control>} */
export function controlsIn(root) {
  const roots = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-control]"));
  return new Map(
    [...roots].map((one) => {
      const control = new (KINDS[one.dataset.kind ?? ""] ?? Control)(one);
      return [control.name, control];
    }),
  );
}
