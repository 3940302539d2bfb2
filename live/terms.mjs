// @ts-check
/**
 * A term's definition on hover and on focus.
 *
 * The build wraps a page's first use of each glossary term in `<abbr title="definition">`. Here each becomes reachable by
 * keyboard and gets one small note. Without this module the browser's own tooltip remains.
 */

import { onPage } from "./pages.mjs";
import { place } from "./place.mjs";

const LEAVE_MS = 150; // time to move the pointer from the term onto the note

const note = document.createElement("div");
note.id = "term-note";
note.className = "term-note";
note.setAttribute("role", "tooltip");
note.hidden = true;

/** @type {HTMLElement | null} */
let shown = null;
let leaving = 0;

/** @param {EventTarget | null} target */
function termAt(target) {
  return target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("abbr[data-definition]")) : null;
}

function hide() {
  clearTimeout(leaving);
  shown?.removeAttribute("aria-describedby");
  shown = null;
  note.hidden = true;
}

/** @param {HTMLElement} term */
function show(term) {
  clearTimeout(leaving);
  if (term === shown) return;
  hide();
  shown = term;
  note.textContent = term.dataset.definition ?? "";
  // Inside the article: a note outside the page's landmarks would be lost to those who move by them.
  (term.closest("article") ?? document.body).append(note);
  note.hidden = false;
  term.setAttribute("aria-describedby", note.id);
  place(note, term);
}

/** Make the terms of the page that is now shown reachable; doing it twice changes nothing. */
function prepare() {
  hide();
  const seen = new Set();
  for (const term of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("article abbr[title]"))) {
    const definition = term.title;
    term.removeAttribute("title"); // or the browser shows its own tooltip beside the note
    if (seen.has(definition)) continue; // text printed by code on the page marks its own first uses
    seen.add(definition);
    term.dataset.definition = definition;
    term.tabIndex = 0;
    term.setAttribute("role", "term");
  }
}

/** Listen once for the whole visit; the theme announces each page that instant navigation shows. */
export function start() {
  document.addEventListener("focusin", (event) => {
    const term = termAt(event.target);
    term ? show(term) : hide();
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("pointerover", (event) => {
    const term = termAt(event.target);
    if (term) show(term);
    else if (note.contains(/** @type {Node} */ (event.target))) clearTimeout(leaving);
    else if (shown && shown !== document.activeElement) {
      clearTimeout(leaving);
      leaving = window.setTimeout(hide, LEAVE_MS);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  onPage(prepare);
}
