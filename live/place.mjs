// @ts-check
/** Where a small note stands: at the thing it explains, inside the window. */

const GAP_PX = 6; // between the thing and the note
const EDGE_PX = 8; // between the note and the window

/** Below the thing, or above it when there is no room; never outside the window. @param {HTMLElement} note @param {HTMLElement} thing */
export function place(note, thing) {
  const line = thing.getClientRects()[0] ?? thing.getBoundingClientRect();
  const origin = (note.offsetParent ?? document.documentElement).getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const left = Math.max(EDGE_PX, Math.min(line.left, width - note.offsetWidth - EDGE_PX));
  const below = line.bottom + GAP_PX;
  const fits = below + note.offsetHeight <= document.documentElement.clientHeight;
  const top = fits ? below : line.top - GAP_PX - note.offsetHeight;
  note.style.left = `${left - origin.left}px`;
  note.style.top = `${top - origin.top}px`;
}
