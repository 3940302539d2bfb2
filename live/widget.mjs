// @ts-check
/**
 * `<serving-widget>`: brings a widget's static HTML to life. It keeps what the reader set, asks Python for the view of
 * it, and writes the answer into the page. The latest state wins; one call at most is under way.
 */
import { controlsIn, setText } from "./controls.mjs";
import { parse, write } from "./fragment.mjs";
import * as python from "./python.mjs";
import { layoutOf, show } from "./results.mjs";

/** @typedef {import("./results.mjs").Layout} Layout */
/** @typedef {import("./results.mjs").Results} Results */
/** @typedef {Record<string, string>} State */
/**
 * @typedef {Results & {controls: Record<string, import("./controls.mjs").Look>, actions: Record<string, State | null>,
 *   errors: State, accepted: State, failed?: string}} Answer
 */

const SETTLED_MS = 350;
const PLAY_MS = 400;

/** Bring the pressed preset of a row that scrolls into view, without moving the page. @param {Element} row */
function showPressed(row) {
  const pressed = /** @type {HTMLElement | null} */ (row.querySelector("[aria-pressed=true]"));
  if (pressed) row.scrollLeft = pressed.getBoundingClientRect().left - row.getBoundingClientRect().left - 24;
}

export class ServingWidget extends HTMLElement {
  #controls = controlsIn(this);
  /** What the page opens with. */
  #base = this.#textsOf((control) => control.base);
  #typed = { ...this.#base };
  /** @type {State} the last state Python accepted */
  #accepted = {};
  /** @type {State} */
  #errors = {};
  /** Counts changes, so that an answer knows whether it is late. */
  #version = 0;
  /** The change that `#accepted` and `#errors` are the answer to. */
  #read = -1;
  /** @type {Set<Layout>} widths whose drawing shows an older state */
  #stale = new Set();
  #asking = false;
  #broken = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settling;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #playing;
  /** @type {HTMLButtonElement | undefined} */
  #player;
  /** @type {(() => void)[]} */
  #stops = [];
  /** An action pressed before its state was answered. @type {HTMLButtonElement | undefined} */
  #wanted;
  /** The page the widget stands on. */
  #path = "";

  /** @param {(control: import("./controls.mjs").Control) => string} text @returns {State} */
  #textsOf(text) {
    return Object.fromEntries([...this.#controls].map(([name, control]) => [name, text(control)]));
  }

  get name() {
    return this.getAttribute("name") ?? "";
  }

  /** Whether what is shown is the answer to what is set. */
  get answered() {
    return !this.#asking && this.#read === this.#version;
  }

  /** Whether every change is answered, for both widths, and written into the address. */
  get settled() {
    return !this.#asking && this.#settling === undefined && this.#stale.size === 0;
  }

  connectedCallback() {
    this.#path = location.pathname;
    this.addEventListener("input", this);
    this.addEventListener("click", this);
    for (const element of this.querySelectorAll(":disabled")) {
      if (element instanceof HTMLButtonElement && element.dataset.patch === "null") continue;
      if (element instanceof HTMLOptionElement) continue;
      element.removeAttribute("disabled");
    }
    const resized = new ResizeObserver(() => this.#pump());
    resized.observe(this);
    this.#stops = [python.onChange(() => this.#phaseChanged()), python.startNear(this), () => resized.disconnect()];
    this.restore(parse(location.hash).widgets.get(this.name));
    this.#phaseChanged();
    for (const row of this.querySelectorAll(".presets-row")) showPressed(row);
  }

  disconnectedCallback() {
    this.#pause();
    clearTimeout(this.#settling);
    for (const stop of this.#stops) stop();
  }

  /** Set the widget as a link says; what the link does not name is as the page opens. @param {Map<string, string>} [settings] */
  restore(settings = new Map()) {
    this.#pause();
    this.#set({ ...this.#base, ...Object.fromEntries([...settings].filter(([name]) => this.#controls.has(name))) });
  }

  /** @param {Event} event */
  handleEvent(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.type === "input") {
      const control = this.#controls.get(target.closest("[data-control]")?.getAttribute("data-control") ?? "");
      if (!control) return;
      this.#pause();
      this.#typed[control.name] = control.read(target);
      this.#openMoments(control);
      this.#changed();
    } else {
      const button = target.closest("button");
      if (button) this.#pressed(button);
    }
  }

  /** @param {import("./controls.mjs").Control} used the control that the reader has set */
  #openMoments(used) {
    for (const [name, control] of this.#controls) {
      if (!control.momentary || control === used) continue;
      this.#typed[name] = this.#base[name] ?? "";
      control.write(this.#base[name] ?? "");
    }
  }

  /** @param {HTMLButtonElement} button */
  #pressed(button) {
    const { values, action, tool } = button.dataset;
    const playing = this.#player === button;
    this.#wanted = undefined;
    this.#pause();
    if (values) this.#set({ ...this.#typed, ...JSON.parse(values) });
    else if (tool === "reset") this.#set({ ...this.#base });
    else if (tool === "copy") this.#copyLink();
    else if (tool === "retry") python.start();
    else if (action && !playing && this.#read !== this.#version) {
      this.#wanted = button; // what it would do is known with the answer that is under way
      python.start();
    } else if (action && !playing) {
      if (button.dataset.pause) this.#play(button);
      this.#step(button);
    }
  }

  /** @param {State} typed */
  #set(typed) {
    const same = [...this.#controls.keys()].every((name) => typed[name] === this.#typed[name]);
    for (const [name, control] of this.#controls) control.write(typed[name] ?? "");
    this.#typed = typed;
    if (!same) this.#changed();
  }

  #changed() {
    this.#version++;
    this.#stale = new Set(/** @type {Layout[]} */ (["wide", "narrow"]));
    if (python.state().phase !== "ready") this.setAttribute("data-waiting", "");
    if (python.state().phase === "failed") python.start();
    this.#showPresets();
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#settled(), SETTLED_MS);
    this.#pump();
  }

  /** Ask for the width that is seen; for the other one once the reader has stopped. */
  async #pump() {
    const seen = layoutOf(this);
    const other = this.#settling === undefined && !this.#player ? [...this.#stale][0] : undefined;
    const layout = this.#stale.has(seen) ? seen : other;
    if (this.#asking || !layout || !this.isConnected || python.state().phase === "failed") return;
    this.#asking = true;
    this.#stale.delete(layout);
    const version = this.#version;
    try {
      const request = { widget: this.name, state: this.#typed, kept: this.#accepted, layout };
      const answer = /** @type {Answer} */ (await python.ask(request));
      this.#asking = false;
      if (this.isConnected) this.#show(answer, layout, version === this.#version);
      this.#pump();
    } catch {
      this.#asking = false; // the phase says why; the next change starts Python again
      this.#stale.add(layout);
    }
  }

  /** @param {Answer} answer @param {Layout} layout @param {boolean} current whether nothing changed since it was asked for */
  #show(answer, layout, current) {
    this.#broken = current ? (answer.failed ?? "") : this.#broken;
    if (answer.failed === undefined) {
      show(this, answer, layout); // a late answer still moves the drawing along while a slider is dragged
      if (current) this.#accept(answer);
    }
    if (current) this.removeAttribute("data-waiting");
    this.#showStatus();
  }

  /** @param {Answer} answer */
  #accept(answer) {
    this.#read = this.#version;
    this.#accepted = answer.accepted;
    this.#errors = answer.errors;
    for (const [name, control] of this.#controls) {
      const look = answer.controls[name];
      if (look) control.look(look, answer.accepted[name] ?? "");
      control.complain(answer.errors[name] ?? "");
    }
    this.toggleAttribute("data-refused", Object.keys(answer.errors).length > 0);
    if (this.#version > 0 && this.#settling === undefined && !this.#player) this.writeLink();
    for (const button of this.querySelectorAll("button")) {
      if (button.dataset.action) this.#offer(button, answer.actions);
    }
    this.#showPresets();
    const wanted = this.#wanted;
    if (wanted && !wanted.disabled) this.#pressed(wanted);
  }

  /** @param {HTMLButtonElement} button @param {Record<string, State | null>} actions */
  #offer(button, actions) {
    const next = actions[button.dataset.action ?? ""] ?? null;
    const patch = next ?? actions[button.dataset.restart ?? ""] ?? null;
    button.dataset.patch = JSON.stringify(patch);
    button.disabled = patch === null;
    if (button !== this.#player) return;
    if (next) this.#playing = setTimeout(() => this.#step(button), PLAY_MS);
    else this.#pause();
  }

  /** @param {HTMLButtonElement} button */
  #step(button) {
    const patch = JSON.parse(button.dataset.patch ?? "null");
    if (patch) this.#set({ ...this.#typed, ...patch });
  }

  /** @param {HTMLButtonElement} button */
  #play(button) {
    this.#player = button;
    button.dataset.play = button.textContent ?? "";
    button.textContent = button.dataset.pause ?? "";
  }

  #pause() {
    clearTimeout(this.#playing);
    if (!this.#player) return;
    this.#player.textContent = this.#player.dataset.play ?? "";
    this.#player = undefined;
    this.#pump();
  }

  /** The reader has stopped: the address and what is read aloud follow, and the other width's drawing. */
  #settled() {
    this.#settling = undefined;
    if (!this.isConnected || this.#player) return;
    this.writeLink();
    const findings = [...this.querySelectorAll("figcaption > strong")].map((finding) => finding.textContent);
    setText(this.querySelector(".widget-said"), findings.join(". "));
    this.#pump();
  }

  /** Put what is set into the address; what differs from how the page opens, that is. */
  writeLink() {
    if (location.pathname !== this.#path) return; // the reader is on the way to another page
    const settings = [...this.#controls.keys()].map((name) => /** @type {[string, string]} */ ([name, this.#now(name)]));
    write(this.name, new Map(settings.filter(([name, text]) => text !== this.#base[name])));
  }

  /** A control's text as Python reads it; as typed where it is wrong or not yet read, unless that is nothing. @param {string} name */
  #now(name) {
    const typed = this.#typed[name] ?? "";
    const read = this.#read === this.#version && !(name in this.#errors);
    return read || !typed.trim() ? (this.#accepted[name] ?? typed) : typed;
  }

  /** The settings that stand where those typed are refused. */
  get #standing() {
    const named = Object.keys(this.#errors).map((name) => this.#controls.get(name));
    const empty = this.#status.dataset.empty ?? "";
    return named
      .map((control) => `${control?.root.dataset.label} ${control?.value(this.#accepted[control.name] ?? "") || empty}`)
      .join(", ");
  }

  async #copyLink() {
    this.writeLink();
    const status = this.#status;
    try {
      await navigator.clipboard.writeText(location.href);
      setText(status, status.dataset.copied ?? "");
    } catch {
      setText(status, status.dataset.uncopied ?? "");
    }
  }

  #showPresets() {
    for (const button of this.querySelectorAll("button")) {
      if (!button.dataset.values) continue;
      const set = Object.entries(JSON.parse(button.dataset.values)).every(([name, text]) => this.#now(name) === text);
      button.setAttribute("aria-pressed", String(set));
    }
  }

  #phaseChanged() {
    const { phase } = python.state();
    if (phase === "ready" && !this.#asking) {
      this.#stale.add(layoutOf(this));
      this.#pump();
    }
    this.#showStatus();
  }

  get #status() {
    return /** @type {HTMLElement} */ (this.querySelector(".widget-status"));
  }

  #showStatus() {
    const { phase, reason } = python.state();
    const shown = this.#broken ? "broken" : phase;
    const why = this.#broken || reason || this.#status.dataset.unreachable || "";
    this.dataset.phase = shown;
    const words = shown === "ready" && this.hasAttribute("data-refused") ? "refused" : shown;
    const said = (this.#status.dataset[words] ?? "").replace("{reason}", () => why);
    setText(this.#status, said.replace("{settings}", () => this.#standing));
    const retry = /** @type {HTMLElement} */ (this.querySelector("[data-tool=retry]"));
    retry.hidden = phase !== "failed";
  }
}
