// @ts-check
/** After a button in a part: the answer it leads to comes into view, and the focus does not go with the button. */

/** @typedef {HTMLElement | null} Place */

export class Landing {
  /** @type {HTMLElement} */
  #root;
  /** The section whose button was pressed last. @type {Place} */
  #section = null;

  /** @param {HTMLElement} root the widget */
  constructor(root) {
    this.#root = root;
  }

  /** @param {HTMLElement} [button] the one that was pressed; none: something else was used */
  from(button) {
    this.#section = button?.closest("[data-section]") ?? null;
  }

  /** Go on where the focus was lost, or stay. @param {boolean} hadFocus whether it was in the widget */
  keepFocus(hadFocus) {
    if (!hadFocus || this.#root.contains(document.activeElement)) return;
    const place = /** @type {Place} */ (this.#said ?? this.#section?.querySelector(":scope > summary") ?? null);
    (place ?? this.#root).focus({ preventScroll: true });
  }

  /** The answer is there. */
  arrive() {
    this.#said?.scrollIntoView({ block: "nearest" });
    this.#section = null;
  }

  /** The verdict, where the button stood with it. @returns {Place} */
  get #said() {
    return this.#section?.querySelector("[data-said]") ?? null;
  }
}
