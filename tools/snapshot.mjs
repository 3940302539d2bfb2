// @ts-check
/**
 * usage: node tools/snapshot.mjs ARCHIVE TARGET
 * Starts Python, imports every module of snippets/ that the worker answers with, asks for each widget once, and writes
 * Python's memory as it is then. Restored in a browser, that is Python as it would be after its first answers.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { loadPyodide } from "pyodide";

const [archive = "", target = ""] = process.argv.slice(2);

// What cells and programs commonly import comes too: a first import is slow in the browser.
const WARM_UP = `
import gc, json, pkgutil, random, sys
import ast, asyncio, contextlib, csv, fractions, html, io, itertools, linecache, statistics, textwrap, traceback
sys.path.insert(0, "/snippets.zip")
from snippets.widgets import registry
from snippets.cells.exercise import exercise
from snippets.cells.run import run_cell_json
from snippets import exercises
registry.questions()
for name in registry.names():
    sections = [section.name for section in registry.widget(name).sections]
    for layout in ("wide", "narrow"):
        request = {"widget": name, "state": {}, "kept": {}, "layout": layout, "seen": sections}
        reply = json.loads(registry.answer(json.dumps(request)))
        if "failed" in reply:
            raise RuntimeError(f"{name}: {reply['failed']}")
for module in pkgutil.iter_modules(exercises.__path__):
    ran = json.loads(run_cell_json(exercise(module.name).solution, module.name))
    if not ran.get("graded", {}).get("passed"):
        raise RuntimeError(f"{module.name}: {ran}")
run_cell_json("1 / 0", "")
random.seed(0)  # the browser seeds anew
gc.collect()
`;

// @ts-ignore: not in the published types; the seed makes hash() equal for every reader
const python = await loadPyodide({ _makeSnapshot: true, env: { PYTHONHASHSEED: "0" } });
python.FS.writeFile("/snippets.zip", readFileSync(archive));
python.runPython(WARM_UP);
// @ts-ignore
writeFileSync(target, python.makeMemorySnapshot());
