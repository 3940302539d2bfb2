// @ts-check
/** The controls of a widget: what stands in them, and how they look for an answer. Lookups only, no arithmetic. */

/** @typedef {{value: string, label: string}} Option */
/**
 * @typedef {{shown: string, options: Option[] | null, stops: number[] | null, hidden: boolean, if_empty: number | null,
 *   position: number | null}} Look
 */
/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

/** Write text only where it changes, so that nothing is announced twice. @param {Element | null} element @param {string} text */
export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** One control. `NumberControl` and `ChoiceControl` say how text gets in and out. */
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

  /** The text the page opened with. */
  get base() {
    return "";
  }

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

  /** @param {string} message empty when the text is right */
  complain(message) {
    setText(this.error, message);
    this.root.toggleAttribute("data-wrong", message !== "");
    for (const field of this.fields) {
      if (message) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
    if (message) this.root.closest("details")?.setAttribute("open", "");
  }
}

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

class ChoiceControl extends Control {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.select = root.querySelector("select");
    this.radios = [...root.querySelectorAll("input")];
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

  /** @param {string} text */
  write(text) {
    if (this.select) this.select.value = text;
    for (const radio of this.radios) radio.checked = radio.value === text;
  }

  /** @param {Look} look @param {string} accepted */
  look(look, accepted) {
    super.look(look, accepted);
    if (!look.options) return;
    const labels = new Map(look.options.map(({ value, label }) => [value, label]));
    for (const option of this.select?.options ?? []) {
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

/** All controls under an element, by name. @param {HTMLElement} root @returns {Map<string, Control>} */
export function controlsIn(root) {
  const roots = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll("[data-control]"));
  return new Map(
    [...roots].map((one) => {
      const control = one.querySelector("input[type=text]") ? new NumberControl(one) : new ChoiceControl(one);
      return [control.name, control];
    }),
  );
}
