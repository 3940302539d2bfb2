/** Written by tools/assets.py: where Pyodide and the archive of snippets/ lie, relative to these modules. */
export const PYODIDE: string;
export const SNIPPETS: string;
