// @ts-check
/** `<code-cell>`: a block of the page's Python that can be edited and run. What does that is loaded where one stands. */

export class CodeCell extends HTMLElement {
  /** @type {import("./cell.mjs").Cell | undefined} */
  #cell;

  async connectedCallback() {
    try {
      const { Cell } = await import("./cell.mjs");
      if (this.isConnected) this.#cell ??= new Cell(this);
    } catch {
      const status = /** @type {HTMLElement} */ (this.querySelector(".cell-status"));
      status.textContent = status.dataset.unloaded ?? "";
    }
  }

  disconnectedCallback() {
    this.#cell?.leave();
    this.#cell = undefined;
  }
}
