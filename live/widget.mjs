// @ts-check
/**
 * `<serving-widget>`: brings a widget's static HTML to life. It keeps what the reader set, asks Python for the view of
 * it, and writes the answer into the page. The latest state wins; one call at most is under way.
 */
import { Actions } from "./actions.mjs";
import { addKind, controlsIn, setText } from "./controls.mjs";
import { parse } from "./fragment.mjs";
import { Landing } from "./landing.mjs";
import { Late } from "./late.mjs";
import { markPresets, showPressed } from "./presets.mjs";
import * as python from "./python.mjs";
import { finding, layoutOf, sectionsIn, seenIn, show } from "./results.mjs";
import { bringAlong, isSame, leftOut, openMoments, putInAddress, standing, textsOf } from "./settings.mjs";
import { Status } from "./status.mjs";
import { copyCode, copyText, save } from "./take.mjs";
import { TextControl } from "./text_control.mjs";
import { Undo } from "./undo.mjs";

/** @typedef {import("./results.mjs").Layout} Layout */
/** @typedef {import("./results.mjs").Results} Results */
/** @typedef {Record<string, string>} State */
/**
 * @typedef {Results & {controls: Record<string, import("./controls.mjs").Look>, actions: Record<string, State | null>,
 *   errors: State, places: Record<string, [number, number]>, accepted: State, failed?: string}} Answer
 */

addKind("text", TextControl);
const SETTLED_MS = 350;
const PAUSE_MS = 250; // in the typing of a long text
const BOTH = /** @type {Layout[]} */ (["wide", "narrow"]);

export class ServingWidget extends HTMLElement {
  #controls = controlsIn(this);
  /** What the page opens with. */
  #base = textsOf(this.#controls, (control) => control.base);
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
  /** @type {Set<string>} sections that show an older state: closed ones are not asked for */
  #old = new Set();
  #asking = false;
  #broken = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settling;
  #actions = new Actions((patch) => this.#set({ ...this.#typed, ...patch }));
  /** @type {(() => void)[]} */
  #stops = [];
  /** An action pressed before its state was answered. @type {HTMLButtonElement | undefined} */
  #wanted;
  /** A long text that is being typed. @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;
  #status = new Status(this);
  #undo = new Undo(this);
  #landing = new Landing(this);
  #late = new Late(() => this.#wait());
  /** The page the widget stands on. */
  #path = "";

  get name() {
    return this.getAttribute("name") ?? "";
  }

  /** Whether what is shown is the answer to what is set. */
  get answered() {
    return !this.#asking && this.#typing === undefined && this.#read === this.#version;
  }

  /** Whether every change is answered, for both widths, and written into the address. */
  get settled() {
    const isResting = this.#typing === undefined && this.#settling === undefined;
    return !this.#asking && isResting && this.#stale.size === 0 && !seenIn(this).some((name) => this.#old.has(name));
  }

  connectedCallback() {
    this.#path = location.pathname;
    this.addEventListener("input", this);
    this.addEventListener("click", this);
    this.addEventListener("toggle", this, { capture: true });
    for (const element of this.querySelectorAll(":disabled")) {
      if (element instanceof HTMLOptionElement) continue;
      element.removeAttribute("disabled");
    }
    const resized = new ResizeObserver(() => this.#pump());
    resized.observe(this);
    this.#stops = [python.onChange(() => this.#phaseChanged()), python.startNear(this), () => resized.disconnect()];
    this.restore(parse(location.hash).widgets.get(this.name));
    this.#phaseChanged();
    showPressed(this);
  }

  disconnectedCallback() {
    this.#pause();
    clearTimeout(this.#settling);
    clearTimeout(this.#typing);
    this.#late.end();
    for (const stop of this.#stops) stop();
  }

  /** Set the widget as a link says; what the link does not name is as the page opens. @param {Map<string, string>} [settings] */
  restore(settings = new Map()) {
    this.#pause();
    this.#set(textsOf(this.#controls, (control) => control.fromLink(settings.get(control.name))));
  }

  /** @param {Event} event */
  handleEvent(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.type === "input") {
      const control = this.#controls.get(target.closest("[data-control]")?.getAttribute("data-control") ?? "");
      if (!control) return;
      this.#pause();
      this.#landing.from();
      this.#typed[control.name] = control.read(target);
      bringAlong(this.#controls, control, this.#typed);
      openMoments(this.#controls, control, this.#typed, this.#base);
      clearTimeout(this.#typing);
      this.#typing = undefined;
      if (control.isSlow) this.#typing = setTimeout(() => this.#changed(), PAUSE_MS);
      else this.#changed();
    } else if (event.type === "toggle") {
      if (seenIn(this).some((name) => this.#old.has(name))) this.#askAgain();
    } else {
      const button = target.closest("button");
      if (button) this.#pressed(button);
    }
  }

  /** @param {HTMLButtonElement} button */
  #pressed(button) {
    const { values, action, tool, copy, file, goto } = button.dataset;
    const playing = this.#actions.isPlayer(button);
    /** @type {import("./take.mjs").Say} */
    const say = (key, filled) => this.#status.say(key, filled);
    this.#wanted = undefined;
    this.#pause();
    this.#landing.from(values ? button : undefined);
    if (values) this.#set({ ...this.#typed, ...JSON.parse(values) });
    else if (copy !== undefined) copyCode(button, say);
    else if (file) this.#save(file);
    else if (goto) this.#controls.get(goto)?.open();
    else if (tool === "reset") this.#reset();
    else if (tool === "undo") {
      this.#set(this.#undo.take());
      say("undone");
    } else if (tool === "copy") this.#copyLink(say);
    else if (tool === "retry") python.retry();
    else if (action && !playing && this.#read !== this.#version) {
      this.#wanted = button; // what it would do is known with the answer that is under way
      python.start();
    } else if (action && !playing) this.#actions.press(button);
  }

  #reset() {
    const before = { ...this.#typed };
    this.#set(textsOf(this.#controls, (control) => control.opened));
    if (isSame(this.#controls, before, this.#typed)) return;
    this.#undo.offer(before);
    this.#status.say("reset");
  }

  /** Copy the address, and say what it does not hold. @param {import("./take.mjs").Say} say */
  #copyLink(say) {
    this.writeLink();
    const missing = leftOut(this.#controls);
    const partly = missing ? "Partly" : "";
    copyText(location.href, (key) => say(key + partly, { missing }), "copied", "uncopied");
  }

  /** @param {State} typed */
  #set(typed) {
    const same = isSame(this.#controls, typed, this.#typed);
    for (const [name, control] of this.#controls) control.write(typed[name] ?? "");
    this.#typed = typed;
    if (!same) this.#changed();
  }

  #askAgain() {
    this.#stale = new Set(BOTH);
    this.#late.expect();
    this.#pump();
  }

  /** What is shown is of an older state, and has been for a while. */
  #wait() {
    this.setAttribute("data-waiting", "");
    this.#showStatus();
  }

  /** @param {string} file */
  async #save(file) {
    const made = await python.ask({ widget: this.name, state: this.#typed, kept: this.#accepted, file });
    if (made.failed === undefined) save(made, (key, filled) => this.#status.say(key, filled));
  }

  #changed() {
    clearTimeout(this.#typing);
    this.#typing = undefined;
    this.#version++;
    this.#undo.forget();
    this.#status.forget();
    this.#stale = new Set(BOTH);
    this.#old = new Set(sectionsIn(this));
    if (python.state().phase !== "ready") this.setAttribute("data-waiting", "");
    else this.#late.expect();
    if (python.state().phase === "failed") python.start();
    markPresets(this, (name) => this.#now(name));
    clearTimeout(this.#settling);
    this.#settling = setTimeout(() => this.#settled(), SETTLED_MS);
    this.#tell();
    this.#pump();
  }

  /** Ask for the width that is seen; for the other one once the reader has stopped. */
  async #pump() {
    const seen = layoutOf(this);
    const other = this.#settling === undefined && !this.#actions.isPlaying ? [...this.#stale][0] : undefined;
    const layout = this.#stale.has(seen) ? seen : other;
    if (this.#asking || !layout || !this.isConnected || python.state().phase === "failed") return;
    this.#asking = true;
    this.#stale.delete(layout);
    const version = this.#version;
    try {
      const seen = seenIn(this);
      const request = { widget: this.name, state: this.#typed, kept: this.#accepted, layout, seen };
      const answer = /** @type {Answer} */ (await python.ask(request));
      this.#asking = false;
      if (this.isConnected) this.#show(answer, layout, version === this.#version);
      this.#pump();
    } catch {
      this.#asking = false; // the phase says why; the next change starts Python again
      this.#late.end();
      this.#stale.add(layout);
    }
  }

  /** @param {Answer} answer @param {Layout} layout @param {boolean} current whether nothing changed since it was asked for */
  #show(answer, layout, current) {
    this.#broken = current ? (answer.failed ?? "") : this.#broken;
    if (this.#broken) this.#actions.pause();
    const hadFocus = this.contains(document.activeElement);
    if (answer.failed === undefined) {
      show(this, answer, layout); // a late answer still moves the drawing along while a slider is dragged
      if (current) this.#accept(answer);
      if (current) for (const name of Object.keys(answer.sections)) this.#old.delete(name);
    }
    this.#landing.keepFocus(hadFocus);
    this.#late.end();
    if (!current || seenIn(this).some((name) => this.#old.has(name))) this.#late.expect();
    else this.removeAttribute("data-waiting");
    if (current) this.#landing.arrive();
    this.#showStatus();
    this.#tell();
  }

  /** @param {Answer} answer */
  #accept(answer) {
    this.#read = this.#version;
    this.#accepted = answer.accepted;
    this.#errors = answer.errors;
    for (const [name, control] of this.#controls) {
      const look = answer.controls[name];
      if (look) control.look(look, answer.accepted[name] ?? "");
      control.complain(answer.errors[name] ?? "", answer.places[name]);
    }
    const wrong = Object.keys(answer.errors);
    this.toggleAttribute("data-refused", wrong.length > 0);
    this.toggleAttribute("data-unknown", wrong.some((name) => this.#controls.get(name)?.isUnknown));
    if (this.#version > 0 && this.#settling === undefined && !this.#actions.isPlaying) this.writeLink();
    for (const button of this.querySelectorAll("button")) {
      if (button.dataset.action) this.#actions.offer(button, answer.actions);
    }
    markPresets(this, (name) => this.#now(name));
    const wanted = this.#wanted;
    if (wanted) this.#pressed(wanted);
  }

  #pause() {
    if (this.#actions.pause()) this.#pump();
  }

  /** The reader has stopped: the address and what is read aloud follow, and the other width's drawing. */
  #settled() {
    this.#settling = undefined;
    if (!this.isConnected || this.#actions.isPlaying) return;
    this.writeLink();
    this.#tell();
    this.#pump();
  }

  /** What is read aloud is the answer to what is set, once the reader has stopped; until then it is nothing. */
  #tell() {
    const isRest = this.#settling === undefined && !this.#actions.isPlaying;
    const isAnswer = isRest && this.answered && this.#version > 0 && !this.hasAttribute("data-refused");
    setText(this.querySelector(".widget-said"), isAnswer ? finding(this) : "");
  }

  /** Put what is set into the address; what differs from how the page opens, that is. */
  writeLink() {
    if (location.pathname !== this.#path) return; // the reader is on the way to another page
    putInAddress(this.name, this.#controls, this.#base, (name) => this.#now(name));
  }

  /** A control's text as Python reads it; as typed where it is wrong or not yet read, unless that is nothing. @param {string} name */
  #now(name) {
    const typed = this.#typed[name] ?? "";
    const read = this.#read === this.#version && !(name in this.#errors);
    const accepted = this.#accepted[name] ?? typed;
    const control = this.#controls.get(name);
    return (read || !typed.trim() ? control?.inLink(accepted) : control?.unread(typed)) ?? accepted;
  }

  #phaseChanged() {
    const { phase } = python.state();
    if (phase === "failed") this.#actions.pause();
    if (phase === "ready" && !this.#asking) {
      this.#stale.add(layoutOf(this));
      this.#pump();
    }
    this.#showStatus();
  }

  #showStatus() {
    const { empty } = this.#status;
    this.#status.show(this.#broken, () => standing(this.#controls, this.#errors, this.#accepted, empty));
  }
}
