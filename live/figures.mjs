// @ts-check
/**
 * A figure in prose opens to the expression that makes it: under a resting pointer, or by a press; a second press or
 * Escape closes it. The figures of one paragraph, list item or table are one stop of the tab key; arrows move among them.
 */
import { onPage } from "./pages.mjs";
import { place } from "./place.mjs";

const REST_MS = 300; // the pointer passes over many numbers on its way
const LEAVE_MS = 150; // time to move the pointer from the number onto the note
const GROUPS = ["table", "p, li, dd, dt, figcaption, blockquote", "section, article, body"];

const note = document.createElement("div");
note.id = "fig-note";
note.className = "fig-note";
note.setAttribute("role", "tooltip");

/** Said with the one number of several that the tab key reaches. */
const help = document.createElement("p");
help.id = "fig-help";
help.hidden = true;
help.textContent = "Arrow keys move to the other numbers here.";

/** @type {HTMLElement | null} */
let open = null;
/** Whether a press opened it: then it stays when the pointer goes. */
let pressed = false;
let waiting = 0;
/** The figures of each block of text, in order. @type {Map<HTMLElement, HTMLElement[]>} */
let rows = new Map();

function close() {
  clearTimeout(waiting);
  open?.setAttribute("aria-expanded", "false");
  if (open) describe(open);
  open = null;
  pressed = false;
  note.remove();
}

/** @param {HTMLElement} figure */
function show(figure) {
  close();
  open = figure;
  const code = document.createElement("code");
  code.textContent = figure.dataset.expr ?? "";
  note.replaceChildren(`${figure.textContent} = `, code);
  (figure.closest("article") ?? document.body).append(note);
  figure.setAttribute("aria-expanded", "true");
  figure.setAttribute("aria-describedby", note.id);
  place(note, figure);
}

/** A press opens a figure, keeps one open that the pointer opened, and closes it again. @param {HTMLElement} figure */
function press(figure) {
  if (figure === open && pressed) return close();
  if (figure !== open) show(figure);
  clearTimeout(waiting);
  pressed = true;
}

/** @param {HTMLElement} figure */
function describe(figure) {
  if (figure.tabIndex === 0 && (rows.get(figure)?.length ?? 0) > 1) figure.setAttribute("aria-describedby", help.id);
  else figure.removeAttribute("aria-describedby");
}

/** Make one figure the tab key's stop among those around it. @param {HTMLElement} figure */
function stopAt(figure) {
  for (const one of rows.get(figure) ?? []) {
    one.tabIndex = one === figure ? 0 : -1;
    if (one !== open) describe(one);
  }
}

/** @param {HTMLElement} figure @param {string} key @returns {HTMLElement | undefined} */
function reached(figure, key) {
  const row = rows.get(figure) ?? [];
  const at = row.indexOf(figure);
  if (key === "ArrowRight" || key === "ArrowDown") return row[at + 1];
  if (key === "ArrowLeft" || key === "ArrowUp") return row[at - 1];
  if (key === "Home") return row[0];
  return key === "End" ? row.at(-1) : undefined;
}

/** @param {HTMLElement} figure @param {KeyboardEvent} event */
function keyed(figure, event) {
  const next = event.ctrlKey || event.metaKey || event.altKey ? undefined : reached(figure, event.key);
  if (event.key === "Enter" || event.key === " ") press(figure);
  else if (next) {
    const wasOpen = figure === open;
    next.focus();
    if (wasOpen) press(next);
  } else return;
  event.preventDefault(); // the space bar and the arrows would scroll
}

/** @param {EventTarget | null} target */
const figureAt = (target) =>
  target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(".fig[role=button]")) : null;

/** @param {PointerEvent} event */
function pointed({ target, pointerType }) {
  if (pointerType === "touch") return; // a touch is a press
  const figure = figureAt(target);
  if (figure && figure === open) clearTimeout(waiting);
  else if (figure && !pressed) {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => show(figure), REST_MS);
  } else if (note.contains(/** @type {Node} */ (target))) clearTimeout(waiting);
  else if (!pressed) {
    clearTimeout(waiting);
    if (open) waiting = window.setTimeout(close, LEAVE_MS);
  }
}

function prepare() {
  close();
  document.body.append(help);
  rows = new Map();
  /** @type {Map<Element | null, HTMLElement[]>} */
  const blocks = new Map();
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".fig[data-expr]"))) {
    if (figure.parentElement?.closest("a, button, summary, label")) continue;
    const block = GROUPS.map((group) => figure.closest(group)).find(Boolean) ?? null;
    const row = blocks.get(block) ?? [];
    blocks.set(block, [...row, figure]);
    figure.setAttribute("role", "button");
    figure.setAttribute("aria-expanded", "false");
  }
  for (const row of blocks.values()) {
    for (const figure of row) rows.set(figure, row);
    if (row[0]) stopAt(row[0]);
  }
}

/** Listen once for the whole visit; the theme announces each page that instant navigation shows. */
export function start() {
  document.addEventListener("click", (event) => {
    const figure = figureAt(event.target);
    if (figure) press(figure);
    else if (open && !note.contains(/** @type {Node} */ (event.target))) close();
  });
  document.addEventListener("focusin", (event) => {
    const figure = figureAt(event.target);
    if (figure) stopAt(figure);
    if (open && figure !== open && pressed) close();
  });
  document.addEventListener("pointerover", pointed);
  document.addEventListener("keydown", (event) => {
    const figure = figureAt(event.target);
    if (event.key === "Escape") close();
    else if (figure) keyed(figure, event);
  });
  onPage(prepare);
}
