// @ts-check
/** Code in a link: compressed, in the letters that a fragment takes as they are. */

const MOST_LETTERS = 6_000; // of code in a link: chats and mail cut longer addresses
const MOST_CHARACTERS = 100_000; // of code from a link: a few letters may unpack to gigabytes

/** All bytes of a stream. Rejects when there are more than `most`. @param {ReadableStream<Uint8Array>} stream @param {number} most */
async function allOf(stream, most) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const parts = [];
  let left = most;
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    left -= part.value.length;
    if (left < 0) {
      reader.cancel().catch(() => {});
      throw new Error("too long");
    }
    parts.push(/** @type {Uint8Array<ArrayBuffer>} */ (part.value));
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** @param {Uint8Array} bytes @param {CompressionStream | DecompressionStream} through @param {number} most */
const piped = (bytes, through, most) => allOf(new Blob([/** @type {Uint8Array<ArrayBuffer>} */ (bytes)]).stream().pipeThrough(through), most);

/** Code as a link holds it; nothing when it is too long for one. @param {string} code @returns {Promise<string | undefined>} */
export async function pack(code) {
  const bytes = await piped(new TextEncoder().encode(code), new CompressionStream("deflate-raw"), Infinity);
  if (bytes.length > MOST_LETTERS) return undefined;
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const safe = letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return safe.length > MOST_LETTERS ? undefined : safe;
}

/** The code that a link holds. Rejects for anything that `pack` did not make. @param {string} letters */
export async function unpack(letters) {
  const bytes = Uint8Array.from(atob(letters.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
  const code = await piped(bytes, new DecompressionStream("deflate-raw"), MOST_CHARACTERS);
  return new TextDecoder("utf-8", { fatal: true }).decode(code);
}
