// @ts-check
/** Where a cell prints: text is added once a frame, and what is new stays in view for who reads the end. */

const KINDS = ["out", "err", "value", "error"];

export class CellOutput {
  /** @type {HTMLElement} */
  #root;
  /** @type {{kind: string, text: string}[]} */
  #new = [];
  #isAsked = false;

  /** @param {HTMLElement} root the `pre` */
  constructor(root) {
    this.#root = root;
  }

  get isEmpty() {
    return this.#new.length === 0 && !this.#root.hasChildNodes();
  }

  clear() {
    this.#new = [];
    this.#root.replaceChildren();
    this.#root.hidden = true;
  }

  /** @param {string} kind @param {string} text */
  add(kind, text) {
    if (!KINDS.includes(kind)) return;
    const last = this.#new.at(-1);
    if (last?.kind === kind) last.text += text;
    else this.#new.push({ kind, text });
    if (this.#isAsked) return;
    this.#isAsked = true;
    requestAnimationFrame(() => this.flush());
  }

  /** Show what has come. */
  flush() {
    this.#isAsked = false;
    if (this.#new.length === 0) return;
    this.#root.hidden = false;
    const { scrollHeight, scrollTop, clientHeight } = this.#root;
    const isAtEnd = scrollHeight - scrollTop - clientHeight < 2;
    for (const { kind, text } of this.#new.splice(0)) {
      const last = this.#root.lastElementChild;
      if (last instanceof HTMLElement && last.dataset.kind === kind) last.append(text);
      else this.#root.append(piece(kind, text));
    }
    if (isAtEnd) this.#root.scrollTop = this.#root.scrollHeight;
  }
}

/** @param {string} kind @param {string} text */
function piece(kind, text) {
  const made = document.createElement("span");
  made.dataset.kind = kind;
  made.textContent = text;
  return made;
}
