// @ts-check
/** How long to wait, counted only while the page is awake: a page in the back-forward cache, or asleep, waits for nobody. */

const TICK_MS = 1000;

/**
 * Call back after so many seconds.
 * @param {number} seconds
 * @param {() => void} late
 * @returns {() => void} stops it
 */
export function after(seconds, late) {
  let left = seconds;
  const ticking = setInterval(() => {
    left -= TICK_MS / 1000;
    if (left > 0) return;
    clearInterval(ticking);
    late();
  }, TICK_MS);
  return () => clearInterval(ticking);
}
