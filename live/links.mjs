// @ts-check
/**
 * Links that hold a state: opening one, going back to one, and following one on the page it is on.
 * A link to a heading keeps what the reader has set; a link that sets a widget brings it into view.
 */
import { format, parse, replace } from "./fragment.mjs";
import { ServingWidget } from "./widget.mjs";

/** @typedef {import("./fragment.mjs").Fragment} Fragment */

/** Whether the next change of the address is a jump to a heading, which must not reset the widgets. */
let jumping = false;
/** The widgets' part of the address before that jump. @type {Fragment["widgets"]} */
let kept = new Map();

const widgets = () => /** @type {ServingWidget[]} */ ([...document.querySelectorAll("serving-widget")]);

/** The first widget on the page that a fragment sets. @param {Fragment} fragment */
const target = (fragment) => widgets().find((widget) => fragment.widgets.has(widget.name));

/** @param {string} id */
function openTo(id) {
  const element = id ? document.getElementById(id) : null;
  for (let at = element; at; at = at.parentElement) if (at instanceof HTMLDetailsElement) at.open = true;
  return element;
}

/** Show what a link points at: its heading, or else the widget that it sets. @param {Fragment} fragment */
function reveal(fragment) {
  const element = openTo(fragment.anchor) ?? target(fragment);
  element?.scrollIntoView({ block: "start" });
  return element;
}

/** @param {HTMLAnchorElement} link */
const onThisPage = (link) =>
  link.hash !== "" && link.origin === location.origin && link.pathname === location.pathname && link.search === location.search;

/** @param {MouseEvent} event */
function followed(event) {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!link || !plain || !onThisPage(link)) return;
  const fragment = parse(link.hash);
  const current = parse(location.hash).widgets;
  const widget = target(fragment);
  if (!widget) {
    openTo(fragment.anchor);
    kept = current;
    jumping = kept.size > 0;
    setTimeout(carry, 0); // the theme changes the address without an event
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  // A widget that the link does not name stays as it is.
  history.pushState(null, "", format({ ...fragment, widgets: new Map([...current, ...fragment.widgets]) }));
  for (const one of widgets()) if (fragment.widgets.has(one.name)) one.restore(fragment.widgets.get(one.name));
  widget.scrollIntoView({ block: "start" });
  widget.focus({ preventScroll: true });
}

/** After a jump to a heading, put the widgets' part back into the address. */
function carry() {
  if (!jumping) return;
  jumping = false;
  const { anchor, widgets } = parse(location.hash);
  if (!widgets.size) replace({ anchor, widgets: kept });
}

/** The address changed: back, forward, or typed. */
function changed() {
  if (jumping) return carry();
  const fragment = parse(location.hash);
  for (const widget of widgets()) widget.restore(fragment.widgets.get(widget.name));
}

/** A page has just come: if its address sets a widget, the browser found no element of that name to scroll to. */
function arrived() {
  const fragment = parse(location.hash);
  if (history.state === null && target(fragment)) reveal(fragment);
}

/** Listen once for the whole visit. */
export function start() {
  // Before the theme, which would fetch nothing and scroll to the top.
  document.addEventListener("click", followed, { capture: true });
  addEventListener("hashchange", changed);
  addEventListener("popstate", changed);
  /** @type {{ subscribe(next: () => void): void } | undefined} */
  const pages = Reflect.get(window, "document$");
  if (pages) pages.subscribe(() => void setTimeout(arrived, 0));
  else arrived();
}
