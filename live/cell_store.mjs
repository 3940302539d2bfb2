// @ts-check
/** What a reader wrote in a cell, kept in this browser: only after an edit, and until it is taken back. */

/** Where the edit of a cell of this page is kept. @param {string} name */
export const keyOf = (name) => `cell ${location.pathname} ${name}`;

/** The kept edit, if there is one. @param {string} key */
export function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // storage is denied
  }
}

/** Keep an edit, or forget it where there is none; whether that went well. @param {string} key @param {string | null} code */
export function keep(key, code) {
  try {
    if (code === null) localStorage.removeItem(key);
    else localStorage.setItem(key, code);
    return true;
  } catch {
    return false; // denied, or full
  }
}
