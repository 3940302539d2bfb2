// @ts-check
/**
 * Links that hold a state: opening one, going back to one, and following one on the page it is on.
 * A link that sets a widget brings it into view. One that sets none leaves what the reader has set, in the address too.
 */
import { agree, format, isNews, parse } from "./fragment.mjs";
import { onPage } from "./pages.mjs";
import { ServingWidget } from "./widget.mjs";

/** @typedef {import("./fragment.mjs").Fragment} Fragment */

/** The page whose widgets are shown; the theme changes the address before it changes the page. */
let page = "";

const widgets = () => /** @type {ServingWidget[]} */ ([...document.querySelectorAll("serving-widget")]);

/** The first widget on the page that a fragment sets. @param {Fragment} fragment */
const target = (fragment) => widgets().find((widget) => fragment.widgets.has(widget.name));

/** Put what every widget is set to into the address. */
function keepWidgets() {
  for (const widget of widgets()) widget.writeLink();
}

/** Mark the entry of the history as seen, the way the theme does: an entry without a state is a new one. */
function markEntry() {
  history.replaceState({ x: scrollX, y: scrollY }, "");
}

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
  if (!link || !plain || !onThisPage(link) || widgets().length === 0) return;
  const fragment = parse(link.hash);
  const widget = target(fragment);
  if (!widget && !document.getElementById(fragment.anchor)) return;
  event.preventDefault();
  event.stopPropagation();
  keepWidgets(); // what was typed a moment ago belongs to the entry that is left
  markEntry();
  if (widget) setWidgets(fragment, widget);
  else jump(fragment.anchor);
}

/** A new entry in the history. The theme is not told: it would jump once more, late. @param {Fragment} fragment */
function push(fragment) {
  history.pushState(null, "", format(fragment));
  agree();
}

/** A widget that the link does not name stays as it is. @param {Fragment} fragment @param {ServingWidget} widget */
function setWidgets(fragment, widget) {
  push({ ...fragment, widgets: new Map([...parse(location.hash).widgets, ...fragment.widgets]) });
  for (const one of widgets()) if (fragment.widgets.has(one.name)) one.restore(fragment.widgets.get(one.name));
  widget.scrollIntoView({ block: "start" });
  widget.focus({ preventScroll: true });
  markEntry();
}

/** @param {string} anchor */
function jump(anchor) {
  const { anchor: here, widgets } = parse(location.hash);
  if (here !== anchor) push({ anchor, widgets });
  const element = openTo(anchor);
  element?.scrollIntoView({ block: "start" });
  // The next stop of the tab key lies behind the place, as after a jump of the browser's own.
  const reachable = element?.hasAttribute("tabindex");
  if (!reachable) element?.setAttribute("tabindex", "-1");
  element?.focus({ preventScroll: true });
  if (!reachable) element?.removeAttribute("tabindex");
  markEntry();
}

/** The address changed by itself: back, forward, typed, or set by a script. Its events come in pairs, and late. */
function changed() {
  if (location.pathname !== page || !isNews()) return;
  const fragment = parse(location.hash);
  const isNew = history.state === null;
  if (isNew && !target(fragment)) keepWidgets();
  else for (const widget of widgets()) widget.restore(fragment.widgets.get(widget.name));
  agree();
  if (isNew) markEntry();
  else scrollTo(0, history.state.y ?? scrollY); // the theme does so only where it saw the step
}

/** Whether the page that has just come was never left before. The theme marks the first one at a time of its own. */
function isFirstVisit() {
  const loaded = /** @type {PerformanceNavigationTiming | undefined} */ (performance.getEntriesByType("navigation")[0]);
  return page === "" ? loaded?.type === "navigate" : history.state === null;
}

/** A page has just come: if its address sets a widget, the browser found no element of that name to scroll to. */
function arrived() {
  const isFirst = isFirstVisit();
  page = location.pathname;
  agree();
  const fragment = parse(location.hash);
  if (!isFirst) return;
  if (target(fragment)) reveal(fragment);
  else openTo(fragment.anchor);
}

/** Listen once for the whole visit. */
export function start() {
  // Before the theme, which would fetch nothing and scroll to the top.
  document.addEventListener("click", followed, { capture: true });
  addEventListener("hashchange", changed);
  addEventListener("popstate", changed);
  onPage(() => void setTimeout(arrived, 0));
}
