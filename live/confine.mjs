// @ts-check
/**
 * What a reader's program shall not reach, though the page's policy allows it: what the browser keeps for this site,
 * and other workers, in which all of that would be there again. To be imported before everything else.
 */

/** @type {(message: object) => void} */
export const tell = postMessage.bind(globalThis);

const TAKEN = [
  ...["caches", "indexedDB", "cookieStore", "BroadcastChannel", "SharedWorker", "Worker"], // kept, or shared with pages
  ...["webkitRequestFileSystem", "webkitRequestFileSystemSync", "webkitResolveLocalFileSystemURL"],
  ...["webkitResolveLocalFileSystemSyncURL", "postMessage", "Notification"], // pages expect our messages alone
];
const TAKEN_FROM_NAVIGATOR = ["storage", "serviceWorker", "locks", "storageBuckets", "webkitPersistentStorage"];

/** Delete a property wherever an object has it from. @param {object} object @param {string} name */
function take(object, name) {
  for (let at = object; at; at = Object.getPrototypeOf(at)) Reflect.deleteProperty(at, name);
  if (Reflect.get(object, name) !== undefined) throw new Error(`${name} is still there`);
}

for (const name of TAKEN) take(globalThis, name);
for (const name of TAKEN_FROM_NAVIGATOR) take(navigator, name);
