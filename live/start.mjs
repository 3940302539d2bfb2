// @ts-check
/**
 * Python's two starts. The quick one restores the memory that the build kept, with our modules imported; whatever is
 * wrong with it is noticed before it runs, and the plain start follows.
 */
import { EMPTY, LOCK, PYODIDE, SNAPSHOT, SNIPPETS, WASM } from "./paths.mjs";

/** @typedef {import("pyodide").PyodideAPI} Python */
/** @typedef {{python: Python, library: () => Promise<void>}} Started `library` resolves once every import works */

const ARCHIVE = "/snippets.zip";
const SEED = "import os, random; random.seed(os.urandom(32))"; // or every reader would draw the same

/** @param {string} path */
const address = (path) => new URL(path, import.meta.url).href;

/** @param {string} path @param {RequestInit} [how] */
async function got(path, how) {
  const response = await fetch(address(path), how);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}

/** @param {string} path */
const bytes = async (path) => new Uint8Array(await (await got(path)).arrayBuffer());

/** Python's WebAssembly out of its packed file, or as it comes where that fails. @param {Response} answer */
async function unpacked(answer) {
  try {
    const { body } = await got(WASM);
    if (!body) return answer.body;
    answer.body?.cancel().catch(() => {});
    return body.pipeThrough(new DecompressionStream("gzip"));
  } catch {
    return answer.body;
  }
}

/**
 * The answer with Python's WebAssembly, of the type that browsers insist on, whatever the host calls it. A host that does
 * not pack it on the way is asked for the file that the build packed: a third of the bytes.
 * @param {Response} answer
 */
async function asWasm(answer) {
  if (!answer.ok) throw new Error(`${answer.url.split("/").pop()}: ${answer.status}`);
  const isPacked = answer.headers.has("Content-Encoding");
  if (isPacked && answer.headers.get("Content-Type") === "application/wasm") return answer;
  const body = isPacked ? answer.body : await unpacked(answer);
  return new Response(body, { headers: { "Content-Type": "application/wasm" } });
}

/** Rejects when the WebAssembly does not load: Pyodide only prints that, and never says it. @returns {Promise<never>} */
function noWasm() {
  return new Promise((_, reject) => {
    const { instantiateStreaming } = WebAssembly;
    WebAssembly.instantiateStreaming = (source, ...given) => {
      const made = instantiateStreaming(Promise.resolve(source).then(asWasm), ...given);
      made.catch(reject);
      return made;
    };
  });
}

const failing = noWasm();
failing.catch(() => {});

/** @param {Record<string, unknown>} how @returns {Promise<Python>} */
async function load(how) {
  const { loadPyodide } = await import(address(`${PYODIDE}pyodide.mjs`));
  return Promise.race([failing, loadPyodide({ indexURL: address(PYODIDE), ...how })]);
}

/** The kept memory. Its hash, its packing and its size are checked: Pyodide would run a damaged one. @param {NonNullable<typeof SNAPSHOT>} kept */
async function memory({ name, integrity, bytes: size }) {
  const { body } = await got(name, { integrity });
  if (!body) throw new Error(`${name}: empty`);
  const unpacked = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  if (unpacked.byteLength !== size) throw new Error(`${name}: ${unpacked.byteLength} bytes, not ${size}`);
  return new Uint8Array(unpacked);
}

/** @param {NonNullable<typeof SNAPSHOT>} kept @returns {Promise<Started>} */
async function quickStart(kept) {
  const restored = memory(kept);
  restored.catch(() => {}); // awaited by Pyodide; a failure must not be reported twice
  const python = await load({
    _loadSnapshot: restored,
    stdLibURL: address(EMPTY),
    packageBaseUrl: address(PYODIDE),
    lockFileContents: LOCK,
  });
  python.runPython(SEED);
  /** @type {Promise<void> | undefined} */
  let whole;
  const library = async () => {
    const parts = [bytes(`${PYODIDE}python_stdlib.zip`), bytes(SNIPPETS)];
    const [standard, ours] = /** @type {[Uint8Array, Uint8Array]} */ (await Promise.all(parts));
    const version = python.runPython("import sys; '%d%d' % sys.version_info[:2]");
    python.FS.writeFile(`/lib/python${version}.zip`, standard);
    python.FS.writeFile(ARCHIVE, ours);
    python.runPython("import importlib; importlib.invalidate_caches()");
  };
  const fetched = () => {
    whole ??= library();
    whole.catch(() => (whole = undefined)); // the next one who needs it tries again
    return whole;
  };
  return { python, library: fetched };
}

/** @returns {Promise<Started>} */
async function plainStart() {
  const archive = bytes(SNIPPETS);
  archive.catch(() => {}); // awaited below
  const python = await load({});
  python.FS.writeFile(ARCHIVE, await archive);
  python.runPython(`import sys; sys.path.insert(0, "${ARCHIVE}")`);
  return { python, library: async () => {} };
}

/** Python, ready to import our modules. */
export async function startPython() {
  if (!SNAPSHOT) return plainStart();
  try {
    return await quickStart(SNAPSHOT);
  } catch (error) {
    console.info("Python starts the slower way:", error);
    return plainStart();
  }
}
