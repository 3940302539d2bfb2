// @ts-check
/** What asks Python at a press, and says beside its button where Python stands. */
import * as python from "./python.mjs";

export class Asking {
  /** Counts presses: only the last one is answered. */
  #last = 0;
  /** @type {() => DOMStringMap} */
  #words;
  /** @type {(key: string, words: string) => void} */
  #say;

  /** @param {() => DOMStringMap} words its sentences, by name @param {(key: string, words: string) => void} say */
  constructor(words, say) {
    this.#words = words;
    this.#say = say;
  }

  /** @param {string} key @param {string} [reason] */
  #tell(key, reason = "") {
    this.#say(key, (this.#words()[key] ?? "").replace("{reason}", () => reason));
  }

  /** The answer, or nothing when there is none that counts; then the reason is said. @param {object} request @returns {Promise<any>} */
  async ask(request) {
    const press = ++this.#last;
    const isLast = () => press === this.#last;
    const stop = python.onChange(() => isLast() && python.state().phase === "slow" && this.#tell("slow"));
    try {
      python.retry();
      if (python.state().phase !== "ready") this.#tell("starting");
      const answer = await python.ask(request);
      if (!isLast()) return undefined;
      if (answer.failed === undefined) return answer;
      this.#tell("broken", answer.failed);
    } catch {
      if (isLast()) this.#tellFailure();
    } finally {
      stop();
    }
    return undefined;
  }

  #tellFailure() {
    const { reason, stopped } = python.state();
    this.#tell(stopped ? "stopped" : "failed", reason || this.#words().unreachable);
  }
}
