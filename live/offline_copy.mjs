// @ts-check
/** `<offline-copy>`: says whether the site is kept in this browser, keeps it, and takes it away again. */
import { setText } from "./controls.mjs";
import { NAME, isPossible, keep, refuse, registered, remove } from "./offline.mjs";

/** @typedef {{have: number, of: number} | {failed: string, reason: string}} Told by the service worker */

export class OfflineCopy extends HTMLElement {
  /** @type {BroadcastChannel | undefined} */
  #channel;

  connectedCallback() {
    if (!isPossible()) return this.#say("impossible");
    for (const button of this.querySelectorAll("button")) button.disabled = false;
    this.addEventListener("click", this);
    this.#channel = new BroadcastChannel(NAME);
    this.#channel.onmessage = ({ data }) => this.#told(data);
    this.#ask();
  }

  disconnectedCallback() {
    this.#channel?.close();
    this.removeEventListener("click", this);
  }

  /** @param {Event} event */
  handleEvent(event) {
    const does = /** @type {Element} */ (event.target).closest("button")?.dataset.does;
    if (does === "keep") this.#keep();
    if (does === "remove") this.#remove();
  }

  async #ask() {
    const registration = await registered();
    if (registration?.active) registration.active.postMessage("state");
    else this.#say(registration?.installing ? "fetching" : "none");
  }

  async #keep() {
    refuse(false);
    this.#say("fetching");
    try {
      await keep();
    } catch {
      this.#say("denied");
    }
  }

  async #remove() {
    refuse(true);
    try {
      await remove();
      this.#say("removed");
    } catch {
      this.#say("denied");
    }
  }

  /** @param {Told} told */
  #told(told) {
    if ("failed" in told) return this.#say(told.failed, told.reason);
    this.#bar.value = told.have;
    this.#bar.max = told.of;
    this.#say(told.have === told.of ? "kept" : "fetching");
  }

  /** @param {string} state @param {string} [reason] */
  #say(state, reason = "") {
    this.dataset.state = state;
    this.#bar.hidden = state !== "fetching";
    const line = /** @type {HTMLElement} */ (this.querySelector("[role=status]"));
    const said = (line.dataset[state] ?? "").replace("{reason}", () => reason);
    if (line.textContent !== said) setText(line, said);
  }

  get #bar() {
    return /** @type {HTMLProgressElement} */ (this.querySelector("progress"));
  }
}
