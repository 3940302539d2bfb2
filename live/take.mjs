// @ts-check
/** What the reader takes along: code copied, files saved. Each says how it went through `say`. */

/** @typedef {(key: string, filled?: Record<string, string>) => void} Say */

/** @param {string} text @param {Say} say @param {string} done @param {string} refused */
export async function copyText(text, say, done, refused) {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say(refused);
  }
}

/** Copy the code beside a button; where the browser refuses, it is marked. @param {HTMLElement} button @param {Say} say */
export async function copyCode(button, say) {
  const code = button.closest(".code")?.querySelector("code");
  if (!code) return;
  getSelection()?.selectAllChildren(code);
  await copyText(code.textContent ?? "", say, "code", "uncoded");
}

/** Save a file that Python made. @param {{name: string, mime: string, text: string}} file @param {Say} say */
export function save({ name, mime, text }, say) {
  const address = URL.createObjectURL(new Blob([text], { type: mime }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser reads it after the click
  say("saved", { file: name });
}
