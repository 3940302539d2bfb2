// @ts-check
/** When the site is kept for use without network: once a reader has used something, or asks for it on its page. */
import { after } from "./patience.mjs";
import * as python from "./python.mjs";

const ROOT = new URL("../../", import.meta.url); // these modules lie two folders deep
const ALONE_S = 10; // a cell has a Python of its own, and has started it by then
const USED = "serving-widget, predict-question, code-cell";
/** The copy's name, for its store, for what is said about it, and for a reader's wish to have none. */
export const NAME = `offline ${ROOT.pathname}`;

export const isPossible = () => "serviceWorker" in navigator;

/** The worker that keeps the copy, if there is one. */
export const registered = () => navigator.serviceWorker.getRegistration(ROOT.href);

/** Keep the whole site, or complete what is kept. */
export async function keep() {
  const where = new URL("service-worker.js", ROOT);
  const registration = await navigator.serviceWorker.register(where, { updateViaCache: "none" });
  registration.active?.postMessage("fill");
}

/** Take the copy away. */
export async function remove() {
  await (await registered())?.unregister();
  await caches.delete(NAME);
}

/** Remember whether the reader wants no copy. @param {boolean} isRefused */
export function refuse(isRefused) {
  try {
    if (isRefused) localStorage.setItem(NAME, "none");
    else localStorage.removeItem(NAME);
  } catch {
    // storage is denied: the wish holds for this page
  }
}

function isRefused() {
  try {
    return localStorage.getItem(NAME) !== null;
  } catch {
    return false;
  }
}

/** Without being asked, unless the reader said no or bytes are scarce; the page about it says what became of it. */
function keepUnlessRefused() {
  if (!isRefused() && !python.isScarce()) keep().catch(() => {});
}

/** After the first use, once Python has nothing left to fetch. */
export function start() {
  if (!isPossible()) return;
  /** @param {Event} event */
  const used = ({ target }) => {
    if (!(target instanceof Element && target.closest(USED))) return;
    for (const kind of ["input", "click"]) document.removeEventListener(kind, used);
    const done = () => {
      stopListening();
      stopWaiting();
      keepUnlessRefused();
    };
    const look = () => python.state().phase === "ready" && done();
    const stopListening = python.onChange(look);
    const stopWaiting = after(ALONE_S, () => python.state().phase === "idle" && done());
    look();
  };
  for (const kind of ["input", "click"]) document.addEventListener(kind, used);
}
