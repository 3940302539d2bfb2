// @ts-check
/** Files dropped anywhere on a widget go to one of its texts: the one dropped on, the first in sight, or one to choose. */

/** @param {Element} area the widget @param {EventTarget | null} at where the pointer is */
function taker(area, at) {
  const under = at instanceof Element ? at.closest("[data-kind=text]") : null;
  const choices = ["[data-kind=text]:not([hidden])", "[data-kind=text][data-chosen-by]"];
  return choices.reduce((/** @type {Element | null} */ found, one) => found ?? area.querySelector(one), under);
}

/** Hand a text control the files that are its own. @param {HTMLElement} root @param {(file: File | undefined) => void} open */
export function takeDrops(root, open) {
  const area = root.closest("serving-widget") ?? root;
  /** @param {DragEvent} event whether it brings a file for this control */
  const over = (event) => {
    const transfer = event.dataTransfer;
    if (!transfer?.types.includes("Files")) return false;
    event.preventDefault(); // the browser would open the file in place of the page
    const mine = taker(area, event.target);
    if (!mine) transfer.dropEffect = "none";
    root.toggleAttribute("data-over", mine === root);
    return mine === root;
  };
  area.addEventListener("dragover", (event) => over(/** @type {DragEvent} */ (event)));
  area.addEventListener("dragleave", () => root.removeAttribute("data-over"));
  area.addEventListener("drop", (event) => {
    const drop = /** @type {DragEvent} */ (event);
    if (over(drop)) open(drop.dataTransfer?.files[0]);
    root.removeAttribute("data-over");
  });
}
