// @ts-check
/** What a widget shows: numbers as text, drawings as SVG that our own Python made, tables, notes. */
import { setText } from "./controls.mjs";
import { fill } from "./parts.mjs";

/** @typedef {"wide" | "narrow"} Layout */
/** @typedef {{name: string, label: string, value: string, unit: string, tone: string, detail: string}} Readout */
/** @typedef {{head: string[], rows: string[][]}} Table */
/** @typedef {{name: string, finding: string, svg: string, detail: string, table: Table}} Figure */
/** @typedef {import("./parts.mjs").Node} Node */
/** @typedef {{before: Node[], figures: Figure[], after: Node[], summary: string}} Shown a section */
/** @typedef {{readouts: Readout[], figures: Figure[], notes: string[], sections: Record<string, Shown>}} Results */

const FORBIDDEN = "script, foreignObject, style, iframe, a, use[href^='http'], image";

/** An SVG element from text, with nothing in it that could act. @param {string} text */
export function drawing(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") throw new Error("the drawing is not SVG");
  for (const element of root.querySelectorAll(FORBIDDEN)) element.remove();
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const { name } of [...element.attributes]) {
      if (name.startsWith("on") || name === "style") element.removeAttribute(name);
    }
  }
  return document.importNode(root, true);
}

/** @param {string} tag @param {string[]} cells */
function row(tag, cells) {
  const line = document.createElement("tr");
  for (const cell of cells) {
    const element = document.createElement(tag);
    if (tag === "th") element.setAttribute("scope", "col");
    element.textContent = cell;
    line.append(element);
  }
  return line;
}

/** @param {HTMLTableElement | null} table @param {Table} data */
function fillTable(table, { head, rows }) {
  if (!table?.tHead || !table.tBodies[0]) return;
  table.tHead.replaceChildren(row("th", head));
  table.tBodies[0].replaceChildren(...rows.map((cells) => row("td", cells)));
}

/** Drawings in the page already, so that an equal one is left alone. @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/** @param {Element} root @param {Figure} figure @param {Layout} layout */
function showFigure(root, figure, layout) {
  const element = root.querySelector(`[data-figure="${CSS.escape(figure.name)}"]`);
  if (!(element instanceof HTMLElement)) return;
  element.hidden = figure.svg === ""; // nothing to draw in this state
  if (element.hidden) return;
  setText(element.querySelector("figcaption > strong"), figure.finding);
  setText(element.querySelector(".figure-detail"), figure.detail);
  fillTable(element.querySelector("table"), figure.table);
  const place = element.querySelector(`.drawing-${layout}`);
  if (!place || drawn.get(place) === figure.svg) return;
  place.replaceChildren(drawing(figure.svg));
  drawn.set(place, figure.svg);
}

/** @param {Element} root @param {Readout} readout */
function showReadout(root, readout) {
  const element = /** @type {HTMLElement | null} */ (
    root.querySelector(`[data-readout="${CSS.escape(readout.name)}"]`)
  );
  if (!element) return;
  element.dataset.tone = readout.tone;
  setText(element.querySelector("dt"), readout.label);
  setText(element.querySelector(".value"), readout.value);
  setText(element.querySelector(".unit"), readout.unit);
  setText(element.querySelector(".detail"), readout.detail);
}

/** The section element of that name. @param {Element} root @param {string} name */
const sectionOf = (root, name) => root.querySelector(`[data-section="${CSS.escape(name)}"]`);

/** @param {Element} root @param {string} name @param {Shown} shown @param {Layout} layout */
function showSection(root, name, shown, layout) {
  const element = sectionOf(root, name);
  if (!element) return;
  setText(element.querySelector(":scope > summary > .section-summary"), shown.summary);
  for (const part of /** @type {const} */ (["before", "after"])) {
    const place = element.querySelector(`:scope > [data-part=${part}]`);
    if (place) fill(place, shown[part]);
  }
  for (const figure of shown.figures) showFigure(element, figure, layout);
}

/** Names of the sections that open. @param {Element} root @param {string} [which] */
export const sectionsIn = (root, which = "") =>
  [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(`details[data-section]${which}`))].map(
    (section) => section.dataset.section ?? "",
  );

/** Names of those that the reader has opened. @param {Element} root */
export const seenIn = (root) => sectionsIn(root, "[open]");

/** @param {Element} root @param {Results} results @param {Layout} layout */
export function show(root, results, layout) {
  for (const readout of results.readouts) showReadout(root, readout);
  for (const figure of results.figures) showFigure(root, figure, layout);
  for (const [name, shown] of Object.entries(results.sections)) showSection(root, name, shown, layout);
  const notes = root.querySelector(".widget-notes");
  if (notes && [...notes.children].map((note) => note.textContent).join("\n") !== results.notes.join("\n")) {
    notes.replaceChildren(
      ...results.notes.map((words) => Object.assign(document.createElement("p"), { textContent: words })),
    );
  }
}

/** The answer in a few words, to be read aloud. @param {Element} root */
export function finding(root) {
  const answers = [...root.querySelectorAll("[data-said]")];
  const findings = answers.length ? answers : [...root.querySelectorAll("figcaption > strong")];
  return findings.map((one) => one.textContent).join(". ");
}

/** The width that is drawn for now, by what the style sheet shows. @param {Element} root @returns {Layout} */
export function layoutOf(root) {
  const wide = root.querySelector(".drawing-wide");
  return !wide || wide.getClientRects().length > 0 ? "wide" : "narrow";
}
