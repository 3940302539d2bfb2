// @ts-check
/** The pages that instant navigation shows one after the other, without a load. */

/**
 * Call back for the page that is shown now, and for each that follows.
 * @param {() => void} next
 */
export function onPage(next) {
  let isFirst = true; // the theme tells of the page that is shown now too
  const follow = () => {
    /** @type {{ subscribe(next: () => void): void } | undefined} */
    const pages = Reflect.get(window, "document$"); // the theme's script comes late, and with it this event once more
    if (!pages) return;
    document.removeEventListener("DOMContentLoaded", follow);
    pages.subscribe(() => {
      if (!isFirst) next();
      isFirst = false;
    });
  };
  document.addEventListener("DOMContentLoaded", follow);
  follow();
  next();
}
