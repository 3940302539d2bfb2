// @ts-check
/** Buttons that change the state as the answer says: Step goes one on, Play goes on until nothing is left. */

/** @typedef {Record<string, string>} State */

const PLAY_MS = 400;

export class Actions {
  /** The button that plays. @type {HTMLButtonElement | undefined} */
  #player;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #next;
  /** @type {(patch: State) => void} */
  #apply;

  /** @param {(patch: State) => void} apply */
  constructor(apply) {
    this.#apply = apply;
  }

  get isPlaying() {
    return this.#player !== undefined;
  }

  /** @param {HTMLButtonElement} button */
  isPlayer(button) {
    return this.#player === button;
  }

  /** Put on a button what it would do now. @param {HTMLButtonElement} button @param {Record<string, State | null>} actions */
  offer(button, actions) {
    const next = actions[button.dataset.action ?? ""] ?? null;
    const patch = next ?? actions[button.dataset.restart ?? ""] ?? null;
    button.dataset.patch = JSON.stringify(patch);
    button.ariaDisabled = patch === null ? "true" : null; // it keeps the focus, which a disabled one loses
    if (button !== this.#player) return;
    if (next) this.#next = setTimeout(() => this.#step(button), PLAY_MS);
    else this.pause();
  }

  /** @param {HTMLButtonElement} button */
  press(button) {
    if (button.ariaDisabled) return;
    if (button.dataset.pause) {
      this.#player = button;
      button.dataset.play = button.textContent ?? "";
      button.textContent = button.dataset.pause;
    }
    this.#step(button);
  }

  /** @param {HTMLButtonElement} button */
  #step(button) {
    const patch = JSON.parse(button.dataset.patch ?? "null");
    if (patch) this.#apply(patch);
  }

  /** Stop playing; whether there was something to stop. */
  pause() {
    clearTimeout(this.#next);
    if (!this.#player) return false;
    this.#player.textContent = this.#player.dataset.play ?? "";
    this.#player = undefined;
    return true;
  }
}
