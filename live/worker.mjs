// @ts-check
/**
 * Python, in a worker: starts it, then answers `{id, request}` with `{id, answer}`; `{id, request, library: true}` once
 * the standard library is whole. It says `{ready: true}` once, or `{failed: reason}` and no more.
 */
import { startPython } from "./start.mjs";

const started = startPython().then(({ python, library }) => ({
  /** @type {(request: string) => string} */
  answer: python.pyimport("snippets.widgets.registry").answer,
  library,
}));

/** @param {unknown} error */
const failed = (error) => postMessage({ failed: String(/** @type {any} */ (error)?.message ?? error) });

started.then(() => postMessage({ ready: true }), failed);

addEventListener("message", async ({ data: { id, request, library } }) => {
  try {
    const python = await started;
    if (library) await python.library();
    postMessage({ id, answer: python.answer(request) });
    void python.library().catch(() => {}); // after the first answer; who needs it asks again
  } catch (error) {
    failed(error); // Python's own faults come back as answers: this one ended Python
  }
});
