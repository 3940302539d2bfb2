"""Python's quick start from the kept memory, what it fetches and when, and the plain start behind it."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from conftest import SITE, Opens, live, live_folder, until
from playwright.sync_api import Page, Route
from watch import Watch

from tools.snapshot import Snapshot

PAGE = "explore/kv-cache/"
MEMORY = next((SITE / "assets" / "python").glob("python-*.bin"))
SLOWER = "Python starts the slower way"
BUILD_ID = 16  # where a memory says which build of Pyodide it is of: 32 bytes
START = f"""import('/{live_folder()}start.mjs').then((m) => m.startPython())
  .then((started) => {{ window.started = started; }})"""


@pytest.fixture
def asked(site: str, opens: Opens) -> tuple[Page, list[str], list[str]]:
    """A page not yet opened, what it will ask for, and what it will print."""
    page = opens.fresh()
    names: list[str] = []
    printed: list[str] = []
    page.context.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    page.on("console", lambda message: printed.append(message.text))
    return page, names, printed


def test_nothing_is_fetched_before_the_first_answer_but_what_it_needs(
    site: str, asked: tuple[Page, list[str], list[str]]
) -> None:
    page, names, printed = asked
    held: list[Route] = []
    page.context.route("**/python_stdlib.zip", lambda route: held.append(route))
    page.context.route("**/snippets-*.zip", lambda route: held.append(route))
    page.goto(site + PAGE)
    live(page)  # though neither archive has come
    assert MEMORY.name in names
    assert not any(name == "pyodide-lock.json" for name in names)
    while len(held) < 2:
        page.wait_for_timeout(20)
    first_archive = min(i for i, name in enumerate(names) if name.endswith(".zip") and name != "empty.zip")
    assert first_archive > names.index(MEMORY.name)
    assert printed == []


def damaged(packed: bytes, how: str) -> tuple[int, bytes]:
    middle = len(packed) // 2
    if how == "missing":
        return 404, b"not found"
    if how == "a page instead":
        return 200, b"<!doctype html><title>Not found</title>"
    if how == "cut short":
        return 200, packed[:middle]
    if how == "one byte changed":
        return 200, packed[:middle] + bytes([packed[middle] ^ 1]) + packed[middle + 1 :]
    raise AssertionError(how)


@pytest.mark.parametrize("how", ["missing", "a page instead", "cut short", "one byte changed"])
def test_a_damaged_memory_is_noticed_and_the_plain_start_follows(
    how: str, site: str, asked: tuple[Page, list[str], list[str]], watch: Watch
) -> None:
    watch.expected += ["404", "integrity", "ERR_"]
    page, names, printed = asked
    status, body = damaged(MEMORY.read_bytes(), how)
    page.context.route("**/python-*.bin", lambda route: route.fulfill(status=status, body=body))
    page.goto(site + PAGE)
    live(page)
    assert any(text.startswith(SLOWER) for text in printed)
    assert "pyodide-lock.json" in names


@pytest.mark.parametrize("how", ["another size", "another build"])
def test_a_memory_that_is_whole_but_wrong_is_noticed_too(
    how: str, site: str, asked: tuple[Page, list[str], list[str]], watch: Watch
) -> None:
    page, _, printed = asked
    memory = gzip.decompress(MEMORY.read_bytes())
    wrong = memory[:-4096] if how == "another size" else memory[:BUILD_ID] + b"another!" + memory[BUILD_ID + 8 :]
    assert wrong != memory
    told = Snapshot(gzip.compress(wrong, 1), len(memory))
    paths = (SITE / live_folder() / "paths.mjs").read_text()
    checked = json.dumps({"name": f"../python/{MEMORY.name}", "integrity": told.integrity, "bytes": told.memory_bytes})
    lied = re.sub(r"(?m)^(export const SNAPSHOT) = .*$", lambda found: f"{found[1]} = {checked};", paths)
    page.context.route("**/paths.mjs", lambda route: route.fulfill(body=lied, content_type="text/javascript"))
    page.context.route("**/python-*.bin", lambda route: route.fulfill(body=told.packed))
    page.goto(site + PAGE)
    live(page)
    assert any(text.startswith(SLOWER) for text in printed)


def test_the_restored_python_draws_anew_and_imports_everything_once_its_library_is_there(
    site: str, opens: Opens
) -> None:
    drawn = set()
    for _ in range(2):
        page = opens(site + "glossary/")
        page.evaluate(START)
        drawn.add(page.evaluate("started.python.runPython('import random; random.random()')"))
        drawn.add(page.evaluate("started.python.runPython('random.Random().random()')"))
    assert len(drawn) == 4
    until(page, "started.library().then(() => true)")
    assert page.evaluate("started.python.runPython('import wave, zipapp; zipapp.__name__')") == "zipapp"
    source = "import inspect, snippets.units; inspect.getsource(snippets.units)[:3]"
    assert page.evaluate("(code) => started.python.runPython(code)", source) == '"""'
    shown = page.evaluate(
        """() => { try { started.python.runPython('1 / 0'); } catch (error) { return error.message; } }"""
    )
    assert "ZeroDivisionError: division by zero" in shown
