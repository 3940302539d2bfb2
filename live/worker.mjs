// @ts-check
/**
 * Python for widgets, in a worker: starts it, then answers `{id, request}` with `{id, answer}`. It says `{ready: true}`
 * once, or `{failed: reason}` and no more.
 */
import { startPython } from "./start.mjs";

// The page starts it from a blob: URL, under the page's policy. Started from its own address it would have none.
if (location.protocol !== "blob:") throw new Error("Python runs only under the page's policy.");

const started = startPython().then(({ python, library }) => ({
  /** @type {(request: string) => string} */
  answer: python.pyimport("snippets.widgets.registry").answer,
  library,
}));

/** @param {unknown} error */
const failed = (error) => postMessage({ failed: String(/** @type {any} */ (error)?.message ?? error) });

started.then(() => postMessage({ ready: true }), failed);

addEventListener("message", async ({ data: { id, request } }) => {
  try {
    const python = await started;
    postMessage({ id, answer: python.answer(request) });
    void python.library().catch(() => {}); // after the first answer, for what no answer has imported yet
  } catch (error) {
    failed(error); // Python's own faults come back as answers: this one ended Python
  }
});
