// @ts-check
/** What a widget says of itself: whether Python is there, what is refused, what was copied. Its words are Python's. */
import { setText } from "./controls.mjs";
import * as python from "./python.mjs";

export class Status {
  /** @type {HTMLElement} */
  #root;

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

  /** Say what was just done. @param {string} key @param {string} [file] */
  say(key, file = "") {
    setText(this.#line, this.#words(key, { file }));
  }

  /** Show where Python stands. @param {string} broken why the last state was not answered @param {() => string} standing */
  show(broken, standing) {
    const { phase, reason, stopped } = python.state();
    const shown = broken ? "broken" : phase;
    const said = shown === "failed" && stopped ? "stopped" : shown;
    this.#root.dataset.phase = shown;
    const isRefused = shown === "ready" && this.#root.hasAttribute("data-refused");
    const why = broken || reason || this.#words("unreachable");
    const filled = { reason: why, settings: isRefused ? standing() : "" };
    setText(this.#line, this.#words(isRefused ? "refused" : said, filled));
    const retry = /** @type {HTMLElement} */ (this.#root.querySelector("[data-tool=retry]"));
    retry.hidden = phase !== "failed" && phase !== "slow";
  }
}
