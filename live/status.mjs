// @ts-check
/** What a widget says of itself: whether Python is there, what is refused, what was copied. Its words are Python's. */
import { setText } from "./controls.mjs";
import * as python from "./python.mjs";

export class Status {
  /** @type {HTMLElement} */
  #root;
  /** What was done last, until the next change. */
  #said = "";

  /** @param {HTMLElement} root the widget */
  constructor(root) {
    this.#root = root;
  }

  get #line() {
    return /** @type {HTMLElement} */ (this.#root.querySelector(".widget-status"));
  }

  /** One of its sentences. @param {string} key @param {Record<string, string>} [filled] */
  #words(key, filled = {}) {
    const found = this.#line.dataset[key] ?? "";
    return Object.entries(filled).reduce((said, [name, text]) => said.replace(`{${name}}`, () => text), found);
  }

  /** What stands for a value that is nothing. */
  get empty() {
    return this.#words("empty");
  }

  /** Say what was just done. @param {string} key @param {Record<string, string>} [filled] */
  say(key, filled = {}) {
    this.#said = this.#words(key, filled);
    setText(this.#line, this.#said);
  }

  /** What was done is no longer the last. */
  forget() {
    this.#said = "";
  }

  /** Show where Python stands. @param {string} broken why the last state was not answered @param {() => string} standing */
  show(broken, standing) {
    const { phase, reason, stopped } = python.state();
    const shown = broken ? "broken" : phase;
    const said = shown === "failed" && stopped ? "stopped" : shown;
    this.#root.dataset.phase = shown;
    const isRefused = shown === "ready" && this.#root.hasAttribute("data-refused");
    const why = broken || reason || this.#words("unreachable");
    const isLate = shown === "ready" && this.#root.hasAttribute("data-waiting");
    const filled = { reason: why, settings: isRefused ? standing() : "" };
    const refused = this.#root.hasAttribute("data-unknown") ? "unknown" : "refused";
    const done = shown === "ready" && !isRefused ? this.#said : "";
    const words = this.#words(isRefused ? refused : said, filled);
    setText(this.#line, isLate ? this.#words("computing") : done || words);
    const retry = /** @type {HTMLElement} */ (this.#root.querySelector("[data-tool=retry]"));
    const hasNothing = phase !== "failed" && phase !== "slow";
    if (hasNothing && retry === document.activeElement) this.#root.focus({ preventScroll: true });
    retry.hidden = hasNothing;
  }
}
