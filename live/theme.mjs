// @ts-check
/** What the theme leaves undone: its copy buttons stand in landmarks without a name. */

function nameLandmarks() {
  for (const [index, nav] of document.querySelectorAll("nav.md-code__nav").entries()) {
    const name = `Code block ${index + 1}`;
    if (nav.getAttribute("aria-label") !== name) nav.setAttribute("aria-label", name);
  }
}

/** The theme adds them by script, on every page that it shows. */
export function start() {
  new MutationObserver(nameLandmarks).observe(document.body, { childList: true, subtree: true });
  nameLandmarks();
}
