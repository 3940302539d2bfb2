// @ts-check
/** `<predict-question>`: a number typed before the answer is shown, judged by the same Python that makes the answer. */
import { Asking } from "./asking.mjs";
import { setText } from "./controls.mjs";
import * as python from "./python.mjs";

export class PredictQuestion extends HTMLElement {
  /** @type {() => void} */
  #stop = () => {};
  #asking = new Asking(
    () => this.#verdict.dataset,
    (key, words) => this.#show(key === "starting" || key === "slow" ? "waiting" : "error", words),
  );

  connectedCallback() {
    for (const element of this.querySelectorAll(":disabled")) element.removeAttribute("disabled");
    this.addEventListener("submit", this);
    this.addEventListener("input", this);
    this.#stop = python.startNear(this);
  }

  disconnectedCallback() {
    this.#stop();
  }

  /** @param {Event} event */
  handleEvent(event) {
    if (event.type === "submit") {
      event.preventDefault();
      this.#check();
    } else this.#show("", "");
  }

  async #check() {
    const typed = this.#field.value;
    const graded = await this.#asking.ask({ question: this.getAttribute("name"), typed });
    if (graded && this.isConnected && this.#field.value === typed) this.#show(graded.verdict, graded.message);
  }

  /** @param {string} verdict @param {string} message */
  #show(verdict, message) {
    this.dataset.verdict = verdict;
    setText(this.#verdict, message);
    if (verdict === "error") this.#field.setAttribute("aria-invalid", "true");
    else this.#field.removeAttribute("aria-invalid");
  }

  get #field() {
    return /** @type {HTMLInputElement} */ (this.querySelector("input"));
  }

  get #verdict() {
    return /** @type {HTMLElement} */ (this.querySelector(".question-verdict"));
  }
}
