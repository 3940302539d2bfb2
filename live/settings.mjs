// @ts-check
/** What is set in a widget, as text by control: compared, named, put into the address. */
import { write } from "./fragment.mjs";

/** @typedef {Record<string, string>} State */
/** @typedef {Map<string, import("./controls.mjs").Control>} Controls */

/** @param {Controls} controls @param {(control: import("./controls.mjs").Control) => string} text @returns {State} */
export const textsOf = (controls, text) =>
  Object.fromEntries([...controls].map(([name, control]) => [name, text(control)]));

/** @param {Controls} controls @param {State} one @param {State} other */
export const isSame = (controls, one, other) => [...controls.keys()].every((name) => one[name] === other[name]);

/** Open the controls of a moment anew, as another one was used. @param {Controls} controls @param {import("./controls.mjs").Control} used @param {State} typed @param {State} base */
export function openMoments(controls, used, typed, base) {
  for (const [name, control] of controls) {
    if (!control.momentary || control === used) continue;
    typed[name] = base[name] ?? "";
    control.write(base[name] ?? "");
  }
}

/** Set what a control brings along. @param {Controls} controls @param {import("./controls.mjs").Control} used @param {State} typed */
export function bringAlong(controls, used, typed) {
  for (const [name, text] of Object.entries(used.brings)) {
    typed[name] = text;
    controls.get(name)?.write(text);
  }
}

/** Put what differs from how the page opens into the address. @param {string} widget @param {Controls} controls @param {State} base @param {(name: string) => string} now */
export function putInAddress(widget, controls, base, now) {
  const settings = [...controls.keys()].map((name) => /** @type {[string, string]} */ ([name, now(name)]));
  write(widget, new Map(settings.filter(([name, text]) => text !== base[name])));
  for (const [name, text] of settings) controls.get(name)?.keep(text);
}

/** What a link does not hold. @param {Controls} controls */
export const leftOut = (controls) =>
  [...controls.values()].filter((one) => one.isLeftOut).map((one) => one.root.dataset.label).join(", ");

/** The settings that stand where those typed are refused. @param {Controls} controls @param {State} errors @param {State} accepted @param {string} empty the word for nothing */
export function standing(controls, errors, accepted, empty) {
  const named = Object.keys(errors).map((name) => controls.get(name));
  const said = (/** @type {typeof named[0]} */ control) => control?.value(accepted[control.name] ?? "");
  return named.map((one) => `${one?.root.dataset.label} ${said(one) || empty}`).join(", ");
}
