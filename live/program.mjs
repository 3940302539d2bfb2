// @ts-check
/** `<run-program>`: runs a program of the page in the browser's Python and shows what it printed. */
import { setText } from "./controls.mjs";
import * as python from "./python.mjs";

export class RunProgram extends HTMLElement {
  /** @type {() => void} */
  #stop = () => {};

  connectedCallback() {
    this.#button.disabled = false;
    this.addEventListener("click", this);
    this.#stop = python.startNear(this);
  }

  disconnectedCallback() {
    this.#stop();
  }

  /** @param {Event} event */
  async handleEvent(event) {
    if (event.target !== this.#button) return;
    if (python.state().phase !== "ready") this.#say("starting");
    try {
      const ran = await python.ask({ program: this.getAttribute("name") });
      if (ran.failed) return this.#say("broken", ran.failed);
      const output = /** @type {HTMLElement} */ (this.querySelector("pre"));
      setText(output, ran.printed);
      output.hidden = false;
      setText(this.#status, (this.#status.dataset.done ?? "").replace("{python}", () => ran.python));
    } catch {
      this.#say("failed", python.state().reason || this.#status.dataset.unreachable || "");
    }
  }

  /** @param {string} words @param {string} [reason] */
  #say(words, reason = "") {
    setText(this.#status, (this.#status.dataset[words] ?? "").replace("{reason}", () => reason));
  }

  get #button() {
    return /** @type {HTMLButtonElement} */ (this.querySelector("button"));
  }

  get #status() {
    return /** @type {HTMLElement} */ (this.querySelector(".program-state"));
  }
}
