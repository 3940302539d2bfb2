// @ts-check
/** A figure in prose opens to the expression that makes it: a press shows it, a second press or Escape hides it. */
import { place } from "./place.mjs";

const note = document.createElement("div");
note.id = "fig-note";
note.className = "fig-note";
note.setAttribute("role", "tooltip");

/** @type {HTMLElement | null} */
let open = null;

function close() {
  open?.setAttribute("aria-expanded", "false");
  open?.removeAttribute("aria-describedby");
  open = null;
  note.remove();
}

/** @param {HTMLElement} figure */
function toggle(figure) {
  const again = figure === open;
  close();
  if (again) return;
  open = figure;
  const code = document.createElement("code");
  code.textContent = figure.dataset.expr ?? "";
  note.replaceChildren(`${figure.textContent} = `, code);
  (figure.closest("article") ?? document.body).append(note);
  figure.setAttribute("aria-expanded", "true");
  figure.setAttribute("aria-describedby", note.id);
  place(note, figure);
}

/** @param {EventTarget | null} target */
const figureAt = (target) =>
  target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest(".fig[role=button]")) : null;

function prepare() {
  close();
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".fig[data-expr]"))) {
    if (figure.parentElement?.closest("a, button, summary, label")) continue;
    figure.tabIndex = 0;
    figure.setAttribute("role", "button");
    figure.setAttribute("aria-expanded", "false");
  }
}

/** Listen once for the whole visit; the theme announces each page that instant navigation shows. */
export function start() {
  document.addEventListener("click", (event) => {
    const figure = figureAt(event.target);
    if (figure) toggle(figure);
    else if (open && !note.contains(/** @type {Node} */ (event.target))) close();
  });
  document.addEventListener("keydown", (event) => {
    const figure = figureAt(event.target);
    if (event.key === "Escape") close();
    else if (figure && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault(); // the space bar would scroll
      toggle(figure);
    }
  });
  /** @type {{ subscribe(next: () => void): void } | undefined} */
  const pages = Reflect.get(window, "document$");
  pages?.subscribe(prepare);
  prepare();
}
