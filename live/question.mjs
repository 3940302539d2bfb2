// @ts-check
/** `<predict-question>`: a number typed before the answer is shown, judged by the same Python that makes the answer. */
import { setText } from "./controls.mjs";
import * as python from "./python.mjs";

export class PredictQuestion extends HTMLElement {
  /** @type {() => void} */
  #stop = () => {};

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
    if (python.state().phase !== "ready") this.#show("waiting", this.#words.starting ?? "");
    try {
      const graded = await python.ask({ question: this.getAttribute("name"), typed });
      if (!this.isConnected || this.#field.value !== typed) return;
      if (graded.failed) this.#show("error", (this.#words.broken ?? "").replace("{reason}", () => graded.failed));
      else this.#show(graded.verdict, graded.message);
    } catch {
      const why = python.state().reason || this.#words.unreachable || "";
      this.#show("error", (this.#words.failed ?? "").replace("{reason}", () => why));
    }
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

  get #words() {
    return this.#verdict.dataset;
  }
}
