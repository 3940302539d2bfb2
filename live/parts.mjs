// @ts-check
/**
 * Words, tables and code from Python, as a tree: `[tag, attributes, children]` or text. Text is only ever text, and
 * only the elements and attributes named here are made. What is in the page already is changed, not replaced, so that
 * what the reader opened, focused or marked stays.
 */

/** @typedef {string | Branch} Node */
/** @typedef {{0: string, 1: Record<string, string>, 2: Node[]}} Branch */

const TAGS = new Set(
  "p div span strong em code pre ul ol li dl dt dd button table caption thead tbody tr th td details summary".split(" "),
);
const ATTRIBUTES = /^(class|scope|role|tabindex|type|colspan|id|hidden|open|data-[a-z-]+|aria-[a-z-]+)$/;

/** @param {string} tag */
function made(tag) {
  if (!TAGS.has(tag)) throw new Error(`<${tag}> is no part of a widget`);
  return document.createElement(tag);
}

/** @param {Element} element @param {Record<string, string>} attributes @param {boolean} isNew */
function dress(element, attributes, isNew) {
  for (const { name } of [...element.attributes]) {
    if (!(name in attributes) && name !== "open") element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (!ATTRIBUTES.test(name)) throw new Error(`${name} is no attribute of a part`);
    if (name === "open" && !isNew) continue; // the reader has opened or closed it since
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

/** The node of the page for one of the tree, the one that stands there where it can be. @param {ChildNode | undefined} old @param {Node} node @returns {ChildNode} */
function fit(old, node) {
  if (typeof node === "string") {
    if (!(old instanceof Text)) return document.createTextNode(node);
    if (old.data !== node) old.data = node;
    return old;
  }
  const { 0: tag, 1: attributes, 2: children } = node;
  const same = old instanceof HTMLElement && old.localName === tag && (old.id === (attributes.id ?? ""));
  const element = same ? old : made(tag);
  dress(element, attributes, !same);
  fill(element, children);
  return element;
}

/** Make an element hold these nodes. @param {Element} element @param {Node[]} nodes */
export function fill(element, nodes) {
  const old = [...element.childNodes];
  for (const [index, node] of nodes.entries()) {
    const fitted = fit(old[index], node);
    if (fitted === old[index]) continue;
    if (old[index]) old[index].replaceWith(fitted);
    else element.append(fitted);
  }
  for (const extra of old.slice(nodes.length)) extra.remove();
}
