// @ts-check
/**
 * The part of the address after "#": a heading's anchor, then each widget's settings under its own name.
 * `#the-lab&memory_cliff=batch:53,seq_len:8192&paged_allocator=block_size:32`
 */

/** @typedef {Map<string, string>} Settings control name → text, only where it differs from what the page opens with */
/** @typedef {{anchor: string, widgets: Map<string, Settings>}} Fragment */

/** Text as it was before encoding; text that is not validly encoded stays as it is. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Half a character cannot be encoded; it becomes the mark for what is unknown. @param {string} text */
export const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd");

/** @param {string} text */
export const encoded = (text) => encodeURIComponent(wellFormed(text));

/** @param {string} text @param {string} mark @returns {[string, string]} */
function cut(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** Read any text as a fragment; parts that mean nothing are left out. @param {string} hash @returns {Fragment} */
export function parse(hash) {
  /** @type {Fragment} */
  const fragment = { anchor: "", widgets: new Map() };
  for (const [index, part] of hash.replace(/^#/, "").split("&").entries()) {
    if (!part.includes("=")) {
      if (index === 0) fragment.anchor = decoded(part);
      continue;
    }
    const [name, settings] = cut(part, "=");
    /** @type {Settings} */
    const found = new Map();
    for (const pair of settings.split(",").filter((pair) => pair.includes(":"))) {
      const [control, text] = cut(pair, ":");
      found.set(decoded(control), decoded(text));
    }
    fragment.widgets.set(decoded(name), found);
  }
  return fragment;
}

/** The fragment as text, with its "#"; empty for an empty one. @param {Fragment} fragment */
export function format({ anchor, widgets }) {
  const parts = anchor ? [encoded(anchor)] : [];
  for (const [name, settings] of widgets) {
    const pairs = [...settings].map((pair) => pair.map(encoded).join(":"));
    if (pairs.length) parts.push(`${encoded(name)}=${pairs.join(",")}`);
  }
  return parts.length ? `#${parts.join("&")}` : "";
}

/** The fragment that what the page shows was last in accord with. */
let agreed = "";

/** Whether the address has changed since the page was last in accord with it. */
export const isNews = () => location.hash !== agreed;

/** What the page shows is what its address says. */
export const agree = () => void (agreed = location.hash);

/** Put one widget's settings into the address, without a step in the history. @param {string} name @param {Settings} settings */
export function write(name, settings) {
  const fragment = parse(location.hash);
  fragment.widgets.set(name, settings);
  const address = location.pathname + location.search + format(fragment);
  // The theme keeps the scroll position in the state of the entry: hand it on.
  if (address !== location.pathname + location.search + location.hash) history.replaceState(history.state, "", address);
  agree();
}
