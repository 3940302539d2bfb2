// @ts-check
/**
 * Python, in a worker: starts it, then answers `{id, request}` with `{id, answer}`; `{id, request, library: true}` once
 * the standard library is whole. It says `{ready: true}` once, or `{failed: reason}` and no more.
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

/** Fetch the standard library; what went wrong, as an answer. @param {{library: () => Promise<void>}} python */
const whole = ({ library }) =>
  library().then(
    () => "",
    (error) => JSON.stringify({ failed: `${error.message} (the standard library did not load)` }),
  );

started.then(() => postMessage({ ready: true }), failed);

addEventListener("message", async ({ data: { id, request, library } }) => {
  try {
    const python = await started;
    const missing = library ? await whole(python) : "";
    postMessage({ id, answer: missing || python.answer(request) });
    void python.library().catch(() => {}); // after the first answer; who needs it asks again
  } catch (error) {
    failed(error); // Python's own faults come back as answers: this one ended Python
  }
});
