/** Written by tools/assets.py: where the files of Python lie, relative to these modules. */
export const PYODIDE: string;
/** An archive of nothing: stands for the standard library, which the kept memory has in use. */
export const EMPTY: string;
export const SNIPPETS: string;
/** Python's memory, packed: its file, the hash of it, and its size unpacked; null starts Python the plain way. */
export const SNAPSHOT: { name: string; integrity: string; bytes: number } | null;
/** Pyodide's lock file without packages. */
export const LOCK: string;
/** Pyodide's WebAssembly, packed with gzip. */
export const WASM: string;
