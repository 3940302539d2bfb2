// @ts-check
/** An answer that takes long: what is shown stands back meanwhile, and the status says so. */

const LATE_MS = 150; // below, dimming would only flicker

export class Late {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {() => void} */
  #begin;

  /** @param {() => void} begin */
  constructor(begin) {
    this.#begin = begin;
  }

  /** An answer is awaited, from now or from before. */
  expect() {
    this.#timer ??= setTimeout(this.#begin, LATE_MS);
  }

  /** An answer came, or none will. */
  end() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
