// @ts-check
/** The page's side of Python: one worker for the whole visit, started on the first sign that it is wanted. */
import { blobWorker } from "./blob_worker.mjs";
import { after } from "./patience.mjs";

/** @typedef {"idle" | "starting" | "slow" | "ready" | "failed"} Phase */
/** @typedef {{resolve: (answer: string) => void, reject: (error: Error) => void, stop: () => void}} Caller */

const SLOW_S = 20; // from here on a start is called slow; it goes on
const SILENT_S = 20; // no answer of ours takes as long: Python is dead

/** @type {Phase} */
let phase = "idle";
let reason = "";
/** Whether it had been ready before it failed. */
let stopped = false;
/** @type {Worker | undefined} */
let worker;
/** @type {Promise<void> | undefined} */
let started;
let lastId = 0;
/** @type {Map<number, Caller>} */
const callers = new Map();
/** @type {Set<() => void>} */
const listeners = new Set();

/** Where Python stands; `reason` says why it failed, empty when only its files did not load. */
export const state = () => ({ phase, reason, stopped });

/**
 * Call back at every change of phase.
 * @param {() => void} listener
 * @returns {() => void} stops it
 */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** @param {Phase} next @param {string} [why] */
function become(next, why = "") {
  phase = next;
  reason = why;
  for (const listener of [...listeners]) listener();
}

/** End Python and say why to all who wait. @type {(why: string) => void} */
let fail = () => {};

/** Start Python, once; after a failure, again. */
export function start() {
  started ??= new Promise((resolve, reject) => {
    const stopWaiting = after(SLOW_S, () => become("slow"));
    fail = (why) => {
      stopWaiting();
      worker?.terminate();
      worker = started = undefined;
      handles.clear();
      const error = new Error(why);
      for (const caller of callers.values()) {
        caller.stop();
        caller.reject(error);
      }
      callers.clear();
      reject(error);
      stopped = phase === "ready";
      become("failed", why);
    };
    worker = blobWorker(new URL("worker.mjs", import.meta.url));
    worker.onerror = (event) => fail(event.message ?? "");
    worker.onmessage = ({ data }) => {
      if (data.failed !== undefined) return fail(data.failed);
      if (data.ready) {
        stopWaiting();
        resolve();
        return become("ready");
      }
      callers.get(data.id)?.stop();
      callers.get(data.id)?.resolve(data.answer);
      callers.delete(data.id);
    };
    become("starting");
  });
  started.catch(() => {}); // whoever asks is told; a start nobody waits for reports through its phase
  return started;
}

/** Start Python anew, also when a start is under way that has been slow. */
export function retry() {
  if (phase === "slow") fail("");
  return start();
}

addEventListener("online", () => void ((phase === "failed" || phase === "slow") && retry()));

/**
 * One message to `snippets.widgets.registry.answer`, and its answer as it came.
 * @param {object} request
 * @returns {Promise<string>}
 */
export async function askText(request) {
  await start();
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    const stop = after(SILENT_S, () => fail(""));
    callers.set(id, { resolve, reject, stop });
    worker?.postMessage({ id, request: JSON.stringify(request) });
  });
}

/** Long texts are sent once and stand as `[handle]` in a state after that. Text → handle, in this Python. @type {Map<string, string>} */
const handles = new Map();
const LONG = 1000; // characters
const MOST_HANDLES = 6; // Python keeps a few more
let lastHandle = 0;

/** @param {Record<string, string | string[]>} state @returns {Promise<Record<string, string | string[]>>} */
async function shortened(state) {
  const short = { ...state };
  for (const [name, text] of Object.entries(state)) {
    if (typeof text !== "string" || text.length <= LONG) continue;
    let handle = handles.get(text);
    if (!handle) {
      handle = `text ${++lastHandle}`;
      await askText({ keep: handle, text });
      if (handles.size >= MOST_HANDLES) handles.clear();
      handles.set(text, handle);
    }
    short[name] = [handle];
  }
  return short;
}

/** One question, and its answer read. @param {{state?: Record<string, string>} & Record<string, any>} request @returns {Promise<any>} */
export async function ask(request) {
  if (!request.state) return JSON.parse(await askText(request));
  await start();
  const answer = JSON.parse(await askText({ ...request, state: await shortened(request.state) }));
  if (!answer.forgotten) return answer;
  handles.clear();
  return ask(request);
}

const idle = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ go) => setTimeout(go, 200));

function startWhenIdle() {
  const go = () => idle(() => phase === "idle" && start());
  if (document.readyState === "complete") go();
  else addEventListener("load", go, { once: true });
}

/** Resolves when the reader first does anything: a page that is only opened fetches no Python. */
const touched = new Promise((resolve) => {
  for (const sign of ["pointermove", "pointerdown", "touchstart", "wheel", "keydown"]) {
    globalThis.addEventListener(sign, resolve, { capture: true, once: true, passive: true });
  }
});

/** Whether the reader pays for what is fetched, or waits long for it: then only a use starts Python. */
export function isScarce() {
  // @ts-ignore: not in every browser
  const { saveData, type, effectiveType } = navigator.connection ?? {};
  return Boolean(saveData) || type === "cellular" || /2g|3g/.test(effectiveType ?? "");
}

/**
 * Start Python when the reader comes near an element: it is about to be seen, is hovered, gets the focus or is pressed.
 * @param {HTMLElement} element
 * @returns {() => void} stops watching
 */
export function startNear(element) {
  const now = () => void (phase === "idle" && start());
  let isNear = false;
  const sees = new IntersectionObserver(
    (entries) => {
      isNear = entries[entries.length - 1]?.isIntersecting ?? false;
      if (isNear) touched.then(() => isNear && startWhenIdle());
    },
    { rootMargin: "300px" },
  );
  const signs = ["focusin", "pointerdown"];
  if (!isScarce()) {
    sees.observe(element);
    signs.push("pointerenter");
  }
  for (const sign of signs) element.addEventListener(sign, now);
  return () => {
    isNear = false;
    sees.disconnect();
    for (const sign of signs) element.removeEventListener(sign, now);
  };
}
