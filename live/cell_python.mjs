// @ts-check
/**
 * The page's side of Python for cells: a worker of its own, started at the first need, so that no widget ever waits for
 * a reader's program. One program runs at a time; stopping it ends the worker, and a new one starts at once.
 */
import { blobWorker } from "./blob_worker.mjs";
import { after } from "./patience.mjs";

/** @typedef {{kind: string, text: string} | {cut: true}} Piece */
/** @typedef {{error: string, python: string, graded?: {passed: boolean, message: string}}} Result */
/** @typedef {"waiting" | "starting" | "slow" | "running"} Stage */
/** @typedef {{source: string, exercise: string, onPiece: (piece: Piece) => void, onStage: (stage: Stage) => void}} Job */
/** @typedef {Job & {resolve: (result: Result | undefined) => void, reject: (error: Error) => void, sent: boolean}} Held */

/** A failure of Python itself; `wasReady` tells whether it had been running. */
export class PythonError extends Error {
  /** @param {string} reason @param {boolean} wasReady */
  constructor(reason, wasReady) {
    super(reason);
    this.wasReady = wasReady;
  }
}

const SLOW_S = 20; // from here on a start is called slow; it goes on

/** @type {Worker | undefined} */
let worker;
/** Ends the wait for a start. */
let stopWaiting = () => {};
let isReady = false;
/** The first one runs. @type {Held[]} */
const held = [];

function end() {
  stopWaiting();
  worker?.terminate();
  worker = undefined;
  isReady = false;
  for (const job of held) job.sent = false;
}

/** @param {string} reason */
function fail(reason) {
  const error = new PythonError(reason, isReady);
  end();
  held.shift()?.reject(error);
  next();
}

/** @param {any} data */
function told(data) {
  const [job] = held;
  if (data.ready) {
    stopWaiting();
    isReady = true;
    job?.onStage("running");
  } else if (data.failed !== undefined) fail(String(data.failed));
  else if (data.done && job) {
    held.shift();
    job.resolve(data.done);
    next();
  } else job?.onPiece(data);
}

/** Start Python for cells, once. */
export function start() {
  if (worker) return worker;
  const made = blobWorker(new URL("cell_worker.mjs", import.meta.url));
  // What an ended worker said last may still come.
  made.onmessage = ({ data }) => void (made === worker && told(data));
  made.onerror = (event) => void (made === worker && fail(event.message ?? ""));
  worker = made;
  stopWaiting = after(SLOW_S, () => held[0]?.onStage("slow"));
  return made;
}

function next() {
  const [job] = held;
  if (!job || job.sent) return;
  job.sent = true;
  job.onStage(isReady ? "running" : "starting");
  start().postMessage({ source: job.source, exercise: job.exercise });
}

/**
 * Run a program when those before it have ended.
 * @param {Job} job
 * @returns {{result: Promise<Result | undefined>, stop: () => void}} the result is undefined when it was stopped
 */
export function run(job) {
  /** @type {Held} */
  let mine;
  /** @type {Promise<Result | undefined>} */
  const result = new Promise((resolve, reject) => {
    mine = { ...job, resolve, reject, sent: false };
    held.push(mine);
  });
  if (held.length > 1) job.onStage("waiting");
  next();
  const stop = () => {
    const at = held.indexOf(mine);
    if (at < 0) return;
    held.splice(at, 1);
    if (mine.sent) {
      const wasReady = isReady;
      end();
      if (wasReady) start(); // so that the next program finds it ready
    }
    mine.resolve(undefined);
    next();
  };
  return { result, stop };
}

/** Give the memory back: no cell is on the page any more. */
export function close() {
  if (held.length === 0) end();
}
