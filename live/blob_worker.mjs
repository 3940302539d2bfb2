// @ts-check

/** A worker made from a blob: URL lives under the page's policy; one made from its own address would not. @param {URL} module */
export function blobWorker(module) {
  const bootstrap = new Blob([`import ${JSON.stringify(module.href)};`], { type: "text/javascript" });
  return new Worker(URL.createObjectURL(bootstrap), { type: "module" });
}
