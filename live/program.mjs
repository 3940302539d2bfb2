// @ts-check
/** `<run-program>`: runs a program of the page in the browser's Python and shows what it printed. */
import { Asking } from "./asking.mjs";
import { setText } from "./controls.mjs";
import * as python from "./python.mjs";

export class RunProgram extends HTMLElement {
  /** @type {() => void} */
  #stop = () => {};
  #asking = new Asking(() => this.#status.dataset, (_, words) => setText(this.#status, words));

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
    const ran = await this.#asking.ask({ program: this.getAttribute("name") });
    if (!ran) return;
    const output = /** @type {HTMLElement} */ (this.querySelector("pre"));
    setText(output, ran.printed);
    output.hidden = false;
    setText(this.#status, (this.#status.dataset.done ?? "").replace("{python}", () => ran.python));
  }

  get #button() {
    return /** @type {HTMLButtonElement} */ (this.querySelector("button"));
  }

  get #status() {
    return /** @type {HTMLElement} */ (this.querySelector(".program-state"));
  }
}
