// @ts-check
/**
 * Python, in a worker: loads Pyodide and our modules, then answers `{id, request}` with `{id, answer}`.
 * It says `{ready: true}` once, or `{failed: reason}` and no more.
 */
import { PYODIDE, SNIPPETS } from "./paths.mjs";

const ARCHIVE = "/snippets.zip";

/** @param {string} path */
const address = (path) => new URL(path, import.meta.url).href;

/** @param {string} path */
async function bytes(path) {
  const response = await fetch(address(path));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** Rejects when the WebAssembly does not load: Pyodide only prints that, and never says it. @returns {Promise<never>} */
function noWasm() {
  return new Promise((_, reject) => {
    const { instantiateStreaming } = WebAssembly;
    WebAssembly.instantiateStreaming = (...given) => {
      const made = instantiateStreaming(...given);
      made.catch(reject);
      return made;
    };
  });
}

/** Python as it comes, our archive on its path. A quicker start belongs beside this one, with this one behind it. */
async function plainStart() {
  const archive = bytes(SNIPPETS);
  archive.catch(() => {}); // awaited below; a failure must not be reported twice
  const { loadPyodide } = await import(address(`${PYODIDE}pyodide.mjs`));
  /** @type {import("pyodide").PyodideAPI} */
  const python = await Promise.race([noWasm(), loadPyodide({ indexURL: address(PYODIDE) })]);
  python.FS.writeFile(ARCHIVE, await archive);
  python.runPython(`import sys; sys.path.insert(0, "${ARCHIVE}")`);
  return python;
}

/** @returns {Promise<(request: string) => string>} */
async function start() {
  const python = await plainStart();
  return python.pyimport("snippets.widgets.registry").answer;
}

/** @param {unknown} error */
const failed = (error) => postMessage({ failed: String(/** @type {any} */ (error)?.message ?? error) });

const started = start();
started.then(() => postMessage({ ready: true }), failed);

addEventListener("message", async ({ data: { id, request } }) => {
  const answer = await started;
  try {
    postMessage({ id, answer: answer(request) });
  } catch (error) {
    failed(error); // Python's own faults come back as answers: this one ended Python
  }
});
