// @ts-check
/** What the theme leaves undone: names for the landmarks of its copy buttons, and a search for what is pasted. */

function nameLandmarks() {
  for (const [index, nav] of document.querySelectorAll("nav.md-code__nav").entries()) {
    const name = `Code block ${index + 1}`;
    if (nav.getAttribute("aria-label") !== name) nav.setAttribute("aria-label", name);
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
  new MutationObserver(nameLandmarks).observe(document.body, { childList: true, subtree: true });
  nameLandmarks();
  document.addEventListener("input", cleanQuery, { capture: true });
}
