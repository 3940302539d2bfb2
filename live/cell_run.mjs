// @ts-check
/** Runs a cell's code and shows what came of it: what it printed, its error, the verdict on an exercise. */
import { CellOutput } from "./cell_output.mjs";
import * as python from "./cell_python.mjs";
import { setText } from "./controls.mjs";

/** @typedef {(key: string, filled?: Record<string, string>) => void} Say */

export class CellRun {
  #root;
  #say;
  #output;
  /** @type {(() => void) | undefined} */
  #stop;

  /** @param {HTMLElement} root @param {Say} say */
  constructor(root, say) {
    this.#root = root;
    this.#say = say;
    this.#output = new CellOutput(/** @type {HTMLElement} */ (root.querySelector(".cell-output")));
    this.#mark(false);
  }

  /** The reader is about to run something. */
  prepare() {
    python.start();
  }

  clear() {
    this.#output.clear();
    this.#judge();
  }

  /** @param {string} source */
  async run(source) {
    if (this.#stop) return;
    this.clear();
    this.#mark(true);
    let isCut = false;
    const { result, stop } = python.run({
      source,
      exercise: this.#root.dataset.exercise ?? "",
      onStage: (stage) => this.#say(stage),
      onPiece: (piece) => {
        if ("cut" in piece) isCut = this.#cut();
        else this.#output.add(piece.kind, piece.text);
      },
    });
    this.#stop = stop;
    try {
      this.#show(await result, isCut);
    } catch (error) {
      const { message, wasReady } = /** @type {python.PythonError} */ (error);
      this.#say(wasReady ? "ended" : "failed", { reason: message || (this.#words.unreachable ?? "") });
    }
    this.#output.flush();
    this.#stop = undefined;
    this.#mark(false);
  }

  stop() {
    this.#stop?.();
  }

  /** Nobody will see the rest. */
  leave() {
    this.stop();
    setTimeout(() => !document.querySelector("code-cell") && python.close(), 0); // once the next page stands
  }

  /** Say that no more is shown, at once: a program may print for ever. */
  #cut() {
    this.#output.add("error", `\n${this.#words.cut}\n`);
    this.#say("flooded");
    return true;
  }

  /** @param {python.Result | undefined} result @param {boolean} isCut */
  #show(result, isCut) {
    if (!result) return this.#say("stopped");
    if (result.error) this.#output.add("error", result.error);
    const silent = this.#output.isEmpty && !result.graded;
    this.#say(result.error ? "error" : silent ? "silent" : "done", { python: result.python });
    if (result.graded) this.#judge(result.graded);
    if (isCut && !result.error) this.#say("flooded");
  }

  /** @param {{passed: boolean, message: string}} [graded] */
  #judge(graded) {
    const verdict = /** @type {HTMLElement | null} */ (this.#root.querySelector(".cell-verdict"));
    if (!verdict) return;
    verdict.dataset.verdict = graded ? (graded.passed ? "right" : "off") : "";
    setText(verdict, graded?.message ?? "");
  }

  /** @param {boolean} isRunning */
  #mark(isRunning) {
    this.#root.toggleAttribute("data-running", isRunning);
    this.#root.querySelector("[data-does=run]")?.setAttribute("aria-disabled", `${isRunning}`);
    this.#root.querySelector("[data-does=stop]")?.setAttribute("aria-disabled", `${!isRunning}`);
  }

  get #words() {
    return /** @type {HTMLElement} */ (this.#root.querySelector(".cell-status")).dataset;
  }
}
