// @ts-check
/** Rows of presets: which one is set, and that it is in view where the row scrolls. */

/** Mark the presets whose values are all set. @param {HTMLElement} root @param {(name: string) => string} now a control's text */
export function markPresets(root, now) {
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".presets [data-values]"))) {
    const values = Object.entries(JSON.parse(button.dataset.values ?? "{}"));
    button.setAttribute("aria-pressed", String(values.every(([name, text]) => now(name) === text)));
  }
}

/** Bring the pressed presets into view, without moving the page. @param {HTMLElement} root */
export function showPressed(root) {
  for (const row of root.querySelectorAll(".presets-row")) {
    const pressed = /** @type {HTMLElement | null} */ (row.querySelector("[aria-pressed=true]"));
    if (pressed) row.scrollLeft = pressed.getBoundingClientRect().left - row.getBoundingClientRect().left - 24;
  }
}
