// @ts-check
/**
 * Python for cells. Says `{ready: true}` once; runs `{source, exercise}`, says `{kind, text}` as the program prints and
 * `{cut: true}` when it prints too much, then `{done: result}`; or `{failed: reason}`, and no more.
 */
import { tell } from "./confine.mjs";
import { startPython } from "./start.mjs";

// The page starts it from a blob: URL, under the page's policy. Started from its own address it would have none.
if (location.protocol !== "blob:") throw new Error("Python runs only under the page's policy.");

const MOST_CHARACTERS = 200_000;
const MOST_LINES = 5_000;

/** What one run may still print. */
let characters = 0;
let lines = 0;
let isCut = false;

/** The part of a text that may still be shown. @param {string} text */
function allowed(text) {
  let end = 0;
  while (lines > 0 && end < text.length) {
    const newline = text.indexOf("\n", end);
    if (newline < 0) break;
    end = newline + 1;
    lines--;
  }
  if (lines > 0) end = text.length;
  end = Math.min(end, characters);
  characters -= end;
  return text.slice(0, end);
}

/** @param {string} kind @param {string} text */
function print(kind, text) {
  if (isCut) return;
  const shown = allowed(text);
  if (shown) tell({ kind, text: shown });
  if (shown.length === text.length) return;
  isCut = true;
  tell({ cut: true });
}

/** A stream of Python's that is shown. @param {string} kind */
function stream(kind) {
  const decoder = new TextDecoder();
  return {
    /** @param {Uint8Array} bytes */
    write(bytes) {
      print(kind, decoder.decode(bytes, { stream: true }));
      return bytes.length;
    },
  };
}

async function start() {
  const { python, library } = await startPython();
  await library(); // what a reader imports, and every traceback, needs it
  python.setStdout(stream("out"));
  python.setStderr(stream("err"));
  const { run_cell_json: run } = python.pyimport("snippets.cells.run");
  return /** @type {(source: string, exercise: string) => string} */ (run);
}

/** @param {any} error */
const failed = (error) => tell({ failed: String(error?.message ?? error) });

const started = start();
started.then(() => tell({ ready: true }), failed);

addEventListener("message", async ({ data: { source, exercise } }) => {
  try {
    const run = await started;
    [characters, lines, isCut] = [MOST_CHARACTERS, MOST_LINES, false];
    const { value, ...result } = JSON.parse(run(source, exercise));
    if (value) print("value", `${value}\n`);
    tell({ done: result });
  } catch (error) {
    failed(error); // a reader's error is a result: this one ended Python, or is ours
  }
});
