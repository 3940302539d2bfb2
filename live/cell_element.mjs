// @ts-check
/** `<code-cell>`: a block of the page's Python that can be edited and run. */
import { Cell } from "./cell.mjs";

export class CodeCell extends HTMLElement {
  /** @type {Cell | undefined} */
  #cell;

  connectedCallback() {
    this.#cell ??= new Cell(this);
  }

  disconnectedCallback() {
    this.#cell?.leave();
    this.#cell = undefined;
  }
}
