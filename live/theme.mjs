// @ts-check
/** What the theme leaves undone: landmarks without a name, tables no key can scroll, a search that trips over flags. */

/** A table wider than the page scrolls on its own; then a key must reach it. */
const tables = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const wide = target.scrollWidth > target.clientWidth;
    const attributes = { tabindex: "0", role: "group", "aria-label": "Table" };
    for (const [name, value] of Object.entries(attributes)) {
      if (wide) target.setAttribute(name, value);
      else target.removeAttribute(name);
    }
  }
});

/** @type {WeakSet<Element>} */
const watched = new WeakSet(); // to watch one again would report it again

function mend() {
  for (const [index, nav] of document.querySelectorAll("nav.md-code__nav").entries()) {
    const name = `Code block ${index + 1}`;
    if (nav.getAttribute("aria-label") !== name) nav.setAttribute("aria-label", name);
  }
  for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (!watched.has(table)) tables.observe(table);
    watched.add(table);
  }
}

/**
 * To the search a leading `-` means "without this" and `:` `^` `~` are operators; a flag or a line of a log is neither.
 * @param {Event} event
 */
function cleanQuery({ target }) {
  if (!(target instanceof HTMLInputElement && target.matches(".md-search__input"))) return;
  const clean = target.value.replace(/(^|\s)[-+]+/g, "$1").replace(/[:^~*\\]+/g, " ");
  if (clean !== target.value) target.value = clean;
  target.dispatchEvent(new KeyboardEvent("keyup")); // the theme listens to keys only, and a mouse pastes too
}

/** The theme adds them by script, on every page that it shows. */
export function start() {
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  mend();
  document.addEventListener("input", cleanQuery, { capture: true });
}
