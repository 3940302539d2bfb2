// @ts-check
/** What Reset took away, until the next change: a button beside it brings it back. */

/** @typedef {Record<string, string>} State */

export class Undo {
  /** @type {HTMLElement} */
  #root;
  /** @type {State} */
  #before = {};

  /** @param {HTMLElement} root the widget */
  constructor(root) {
    this.#root = root;
  }

  /** @param {string} tool */
  #button(tool) {
    return /** @type {HTMLButtonElement} */ (this.#root.querySelector(`[data-tool=${tool}]`));
  }

  /** @param {State} before */
  offer(before) {
    this.#before = before;
    this.#button("undo").hidden = false;
  }

  /** What stood before; the focus goes to where it came from. */
  take() {
    this.#button("reset").focus();
    return this.#before;
  }

  /** Something else has changed since. */
  forget() {
    this.#before = {};
    this.#button("undo").hidden = true;
  }
}
