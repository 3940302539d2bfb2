// @ts-check
/**
 * The site without network. A copy of one whole build is kept; names that hold a hash come from the copy, everything else
 * from the network, and from the copy when that is silent. A new build takes over once no page of the old one is open.
 * Published as service-worker.js at the site's root. It asks its own host only, whatever headers that host sends.
 */

/** @typedef {Event & {waitUntil(done: Promise<unknown>): void}} Lasting */
/** @typedef {Lasting & {request: Request, respondWith(answer: Response | Promise<Response>): void}} Asked */

const PATIENCE_MS = 3000; // for a page from the network, when the copy has it
const AT_ONCE = 4; // files fetched at the same time

const worker = /** @type {any} */ (self);
const home = new URL("./", location.href);
const files = new Map(Object.entries(BUILD.files));
/** What is kept, by the hash of its content: a new build fetches only what is new. Pages ask by this name too. */
const STORE = `offline ${home.pathname}`;
const channel = new BroadcastChannel(STORE);

/** Where the copy holds a file of this build. @param {string} path @param {string} hash */
const keyOf = (path, hash) => new URL(`kept/${encodeURIComponent(hash || `${BUILD.id} ${path}`)}`, home).href;

const keys = () => [...files].map(([path, { hash }]) => keyOf(path, hash));

/** @param {Cache} store */
const held = async (store) => new Set((await store.keys()).map(({ url }) => url));

async function tellState() {
  const there = await held(await caches.open(STORE));
  channel.postMessage({ have: keys().filter((key) => there.has(key)).length, of: files.size });
}

/** @param {Cache} store @param {string} path @param {{hash: string, lasting: boolean}} file */
async function fetched(store, path, { hash, lasting }) {
  const how = { integrity: hash, cache: /** @type {RequestCache} */ (lasting ? "default" : "no-cache") };
  const answer = await fetch(new URL(path, home), how);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  await store.put(keyOf(path, hash), answer);
}

/** Complete the copy. What is there already stays, so that one that broke off goes on where it was. */
async function fill() {
  const store = await caches.open(STORE);
  const there = await held(store);
  const missing = [...files].filter(([path, { hash }]) => !there.has(keyOf(path, hash)));
  let have = files.size - missing.length;
  const some = async () => {
    for (let next = missing.shift(); next; next = missing.shift()) {
      channel.postMessage({ have, of: files.size });
      await fetched(store, ...next);
      have += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, some));
  } finally {
    missing.length = 0; // after a failure nothing more is asked for
  }
  await tellState();
}

/** Fill, and say what went wrong. */
async function fillOrTell() {
  try {
    await fill();
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    const isFull = name === "QuotaExceededError";
    if (isFull && !worker.registration.active) await caches.delete(STORE); // no copy: leave nothing behind
    channel.postMessage({ failed: isFull ? "full" : "unfetched", reason: message });
    throw error;
  }
}

/** Drop what no file of this build is. */
async function tidy() {
  const store = await caches.open(STORE);
  const used = new Set(keys());
  for (const key of await held(store)) if (!used.has(key)) await store.delete(key);
}

/**
 * The answer from the copy. One under another address than was asked for, as with a query, is given that address: a module
 * is known by it.
 * @param {string} path @param {string} asked
 */
async function kept(path, asked) {
  const file = files.get(path);
  const found = file && (await (await caches.open(STORE)).match(keyOf(path, file.hash)));
  if (!found) return undefined;
  return found.url === asked && !found.redirected ? found : new Response(found.body, { headers: found.headers });
}

/** What the network says within the time that a reader with a copy waits for it. @param {Promise<Response>} answer */
async function soon(answer) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("late")), PATIENCE_MS));
  const first = /** @type {Response} */ (await Promise.race([answer, late]));
  if (first.status >= 500) throw new Error(`${first.status}`);
  return first;
}

/** @param {Request} request @param {string} path */
async function fromNetwork(request, path) {
  const answer = fetch(request);
  try {
    return await soon(answer);
  } catch {
    const copy = await kept(path, request.url);
    if (copy) return copy;
  }
  try {
    return await answer;
  } catch (error) {
    if (request.mode !== "navigate") throw error;
    if (files.has(`${path}/`)) return Response.redirect(`${home.href}${path}/`);
    const missing = await kept("404.html", request.url);
    if (!missing) throw error;
    return new Response(missing.body, { status: 404, headers: missing.headers });
  }
}

worker.addEventListener("install", (/** @type {Lasting} */ event) => event.waitUntil(fillOrTell()));

worker.addEventListener("activate", (/** @type {Lasting} */ event) => {
  event.waitUntil(tidy().then(() => worker.clients.claim()));
});

worker.addEventListener("message", (/** @type {Lasting & MessageEvent} */ event) => {
  if (event.data === "state") event.waitUntil(tellState());
  if (event.data === "fill") event.waitUntil(fillOrTell().catch(() => {})); // who asked was told
});

worker.addEventListener("fetch", (/** @type {Asked} */ event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== home.origin) return event.respondWith(Response.error());
  if (request.method !== "GET" || !pathname.startsWith(home.pathname)) return;
  const path = pathname.slice(home.pathname.length).replace(/(^|\/)index\.html$/, "$1");
  const file = files.get(path);
  if (file?.lasting) event.respondWith(kept(path, request.url).then((copy) => copy ?? fetch(request)));
  else if (file || request.mode === "navigate") event.respondWith(fromNetwork(request, path));
});
