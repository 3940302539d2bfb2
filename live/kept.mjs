// @ts-check
/** Texts that the reader typed, kept in this tab across a reload: a link holds them in short, or not at all. */

/** @typedef {[string, string]} Kept what stands for a text in the address, and the text */

const MOST = 3; // the newest, and those of addresses gone back to

/** A short name for a long text: other texts have other names. @param {string} text */
export function nameOf(text) {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (Math.imul(sum, 31) + text.charCodeAt(at)) | 0;
  return (sum >>> 0).toString(36);
}

/** @param {string} place @returns {Kept[]} */
function all(place) {
  try {
    return JSON.parse(sessionStorage.getItem(place) ?? "[]");
  } catch {
    return []; // the browser keeps nothing for this site
  }
}

/** Keep a text; whether the browser did. @param {string} place @param {string} link @param {string} text */
export function keep(place, link, text) {
  const others = all(place).filter(([other]) => other !== link);
  const least = /** @type {Kept[]} */ ([[link, text]]);
  for (const kept of [[...least, ...others.slice(0, MOST - 1)], least]) {
    try {
      sessionStorage.setItem(place, JSON.stringify(kept));
      return true;
    } catch {
      // too much: without the older ones, then
    }
  }
  return false;
}

/** The text that stood there with this address. @param {string} place @param {string} link @returns {string | undefined} */
export const recall = (place, link) => all(place).find(([other]) => other === link)?.[1];
