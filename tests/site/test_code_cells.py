"""Cells: code of the page that is run, edited, stopped, brought back, kept and handed on by link."""

from __future__ import annotations

import subprocess
import sys

import pytest
from cell import Cell
from conftest import Opens, live, until
from playwright.sync_api import Page, Route
from watch import Watch

LESSON = "lessons/kv-cache/"
PROGRAM = "kv_cache_size"
EXERCISE = "kv_bytes_per_token"


@pytest.fixture(autouse=True)
def background(watch: Watch) -> None:
    """A page that another one covers is not painted, and its font waits."""
    watch.expected += ["preloaded"]


@pytest.fixture(scope="module")
def lesson_page(site: str, opener: Opens) -> Page:
    page = opener.fresh()
    opener.opened.remove(page)
    page.goto(site + LESSON)
    return page


@pytest.fixture
def cell(lesson_page: Page, watch: Watch) -> Cell:
    """The lesson's program as the page opens, in a page that is kept: Python stays warm."""
    one = Cell(lesson_page, PROGRAM).alive()
    if lesson_page.evaluate(f"{one.find('')}.dataset.origin !== 'page'"):
        one.press("reset")
    return one


def test_the_lessons_program_prints_what_the_command_line_prints(cell: Cell) -> None:
    shown = cell.run()
    command = [sys.executable, "-m", "snippets.kv_cache_size"]
    assert shown == subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert cell.text("status").startswith("Finished, Python 3.")


def test_output_comes_in_order_with_errors_told_apart_and_the_last_value(cell: Cell) -> None:
    cell.run("import sys\nfor i in range(2):\n    print('out', i)\n    print('err', i, file=sys.stderr)\n{'a': 1}")
    assert cell.pieces() == [
        ["out", "out 0\n"],
        ["err", "err 0\n"],
        ["out", "out 1\n"],
        ["err", "err 1\n"],
        ["value", "{'a': 1}\n"],
    ]


def test_a_traceback_shows_the_readers_lines_only(cell: Cell) -> None:
    cell.run("import json\n\ndef read(text):\n    return json.loads(text)\n\nread('{')")
    [[kind, told]] = cell.pieces()
    assert kind == "error"
    assert [line.strip() for line in told.splitlines() if "File" in line] == [
        'File "<cell>", line 6, in <module>',
        'File "<cell>", line 4, in read',
    ]
    assert "    return json.loads(text)\n" in told
    assert "JSONDecodeError: Expecting property name" in told
    assert cell.text("status").startswith("Ended with an error")
    assert "was never closed" in cell.run("print((")
    assert "a cell cannot ask for input while it runs" in cell.run("input('Name? ')")


def test_an_endless_loop_shows_what_it_printed_and_can_be_stopped_while_the_page_goes_on(cell: Cell) -> None:
    page = cell.page
    cell.write("print('before')\nwhile True:\n    pass")
    cell.press("run")
    cell.wait("output", "before")
    question = page.locator("predict-question").first
    question.locator("input").fill("56")
    question.locator("button").click()
    until(page, "document.querySelector('.question-verdict').textContent.startsWith('Right')", "Python answers others")
    assert cell.text("status") == "Running…"
    cell.press("stop")
    cell.ended()
    assert cell.text("status") == "Stopped. Python starts anew."
    assert cell.text("output") == "before\n"
    assert cell.run("1 + 1") == "2\n"


def test_a_program_that_prints_for_ever_is_cut_with_a_notice(cell: Cell) -> None:
    cell.write("i = 0\nwhile True:\n    print(i)\n    i += 1")
    cell.press("run")
    cell.wait("output", "is not shown.]")
    lines = cell.text("output").split("\n")
    assert lines[4999:5002] == ["4999", "", "[More than 5,000 lines or 200,000 characters: what follows is not shown.]"]
    cell.press("stop")
    cell.ended()
    assert len(cell.run("print('x' * 10**6)")) < 201_000
    assert cell.run("print('well')") == "well\n"


@pytest.mark.parametrize("code", ["import os; os._exit(3)", "import sys; sys.stdout.close()"])
def test_code_that_ends_python_itself_is_told_and_the_next_run_works(cell: Cell, code: str) -> None:
    cell.run(code)
    assert cell.text("status").startswith("Python itself ended: ")
    assert cell.run("1 + 1") == "2\n"


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("def f():\n    f()\nf()", "RecursionError: maximum recursion depth exceeded\n"),
        ("raise SystemExit('no card')", "SystemExit: no card\n"),
        ("'\\ud800'", "'\\ud800'\n"),
        ("print('\\u202e<img src=x onerror=alert(1)>')", "\u202e<img src=x onerror=alert(1)>\n"),
        ("import statistics, decimal, csv; decimal.Decimal('0.1') * 3", "Decimal('0.3')\n"),
    ],
)
def test_unusual_programs_end_as_they_would_elsewhere(cell: Cell, code: str, last: str) -> None:
    assert cell.run(code).endswith(last)
    assert cell.page.locator(".cell-output img").count() == 0


def test_a_second_cell_waits_for_the_first_and_stopping_one_leaves_the_other(cell: Cell) -> None:
    other = Cell(cell.page, EXERCISE).alive()
    cell.write("while True:\n    pass")
    cell.press("run")
    cell.wait("status", "Running")
    other.press("run")
    assert other.text("status") == "Waits for the cell that is running"
    other.press("stop")
    other.ended()
    assert cell.text("status") == "Running…"
    other.press("run")
    cell.press("stop")
    other.ended()
    assert other.text("output") == "28\n"


def test_an_exercise_says_what_is_off_until_it_is_right(cell: Cell) -> None:
    one = Cell(cell.page, EXERCISE).alive()
    one.run()
    assert one.text("verdict") == "Not yet. 28 bytes for Qwen2.5-7B-Instruct is 2,048 times too small."
    one.run(
        "def kv_bytes_per_token(config):\n"
        '    return 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * 128 * 2'
    )
    assert "stops in line 2 for Llama-2-13B: KeyError: 'num_key_value_heads'" in one.text("verdict")
    solution = one.page.locator(".cell-help code").last
    one.run(solution.text_content() or "")
    assert one.text("verdict").startswith("Right, in bytes: Qwen2.5-7B-Instruct (57,344)")
    one.press("reset")
    assert one.text("verdict") == ""


def test_reset_brings_the_pages_code_back_and_can_be_undone(cell: Cell) -> None:
    original = cell.code()
    cell.write("print('mine')")
    assert cell.text("note") == "Your edit, kept in this browser."
    cell.press("reset")
    assert cell.code() == original and cell.text("note") == ""
    cell.press("undo")
    until(cell.page, f"{cell.find('')}.dataset.origin === 'edit'")
    assert cell.code() == "print('mine')"
    assert cell.run() == "mine\n"


def test_an_edit_survives_a_reload_and_is_gone_after_reset(cell: Cell) -> None:
    page = cell.page
    cell.write("print('kept')")
    page.reload()
    cell.alive()
    cell.wait("note", "Your edit")
    until(page, f"{cell.find('.cell-code pre')}.hidden")
    assert cell.code() == "print('kept')"
    cell.press("reset")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('cell'))") == []
    page.reload()
    cell.alive()
    assert "class ModelConfig" in cell.code() and cell.text("note") == ""


def test_the_editor_is_left_with_escape_and_tab_and_runs_with_control_and_enter(cell: Cell) -> None:
    page = cell.page
    cell.write("print('keys')")
    page.keyboard.press("Tab")
    assert cell.code() == "print('keys')    " or cell.code().strip() == "print('keys')"
    inside = f"document.activeElement.matches('#{cell.id} .cell-codemirror')"
    assert page.evaluate(inside)
    page.keyboard.press("ControlOrMeta+Enter")
    cell.wait("output", "keys")
    cell.ended()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.does") == "run"


def test_the_editor_comes_when_somebody_edits_and_python_when_something_runs(site: str, opens: Opens) -> None:
    page = opens.fresh()
    names: list[str] = []
    page.context.on("request", lambda request: names.append(request.url.rpartition("/")[2]))
    page.goto(site + LESSON)
    cell = Cell(page, EXERCISE).alive()
    assert not {"editor.mjs", "cell_worker.mjs"} & set(names)
    cell.run()
    assert "cell_worker.mjs" in names and "editor.mjs" not in names
    cell.open()
    assert "editor.mjs" in names and "plain_editor.mjs" not in names


def test_without_the_editors_files_a_text_field_stands_in(site: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["ERR_FAILED"]
    page = opens.fresh()
    page.context.route("**/editor.mjs", lambda route: route.abort())
    page.goto(site + LESSON)
    cell = Cell(page, PROGRAM).alive()
    cell.open()
    page.locator(f"#{cell.id} textarea").fill("print('plain')")
    page.keyboard.press("ControlOrMeta+Enter")
    cell.wait("output", "plain")


def test_storage_that_is_denied_or_full_is_told_and_breaks_nothing(site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };")
    page.goto(site + LESSON)
    cell = Cell(page, PROGRAM).alive()
    cell.write("print('not kept')")
    cell.wait("status", "This browser keeps no edits here")
    assert cell.run() == "not kept\n"


def test_a_python_that_does_not_start_is_told_and_the_next_try_works(site: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["ERR_FAILED"]
    page = opens.fresh()
    blocked: list[Route] = []

    def block(route: Route) -> None:
        blocked.append(route)
        route.abort()

    page.context.route("**/pyodide.mjs", block)
    page.goto(site + LESSON)
    cell = Cell(page, EXERCISE).alive()
    cell.press("run")
    cell.ended()
    assert cell.text("status").startswith("Python could not start: ") and blocked
    page.context.unroute("**/pyodide.mjs")
    assert cell.run() == "28\n"


def test_leaving_the_page_ends_the_program_and_gives_the_memory_back(site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.goto(site + LESSON)
    cell = Cell(page, PROGRAM).alive()
    cell.write("while True:\n    pass")
    cell.press("run")
    cell.wait("status", "Running")
    before = len(page.workers)
    page.locator(".md-tabs__link, .md-nav__link[href*=explore]").first.evaluate("(link) => link.click()")
    until(page, "!document.querySelector('code-cell')")
    live(page)
    page.wait_for_timeout(200)
    assert len([worker for worker in page.workers if worker.url.startswith("blob:")]) <= before
    assert page.evaluate("document.querySelector('#how_many_fit').dataset.phase") == "ready"


def test_without_scripts_the_code_is_there_and_the_page_says_why_it_does_not_run(site: str, opens: Opens) -> None:
    page = opens(site + LESSON, scripts=False)
    one = page.locator(f"#cell-{PROGRAM}")
    assert "def kv_bytes_per_token" in one.locator("code").inner_text()
    assert one.locator("button:visible").count() == 0
    assert one.locator("noscript p").inner_text() == "Running and editing this code needs JavaScript."
    page.locator(".cell-help summary").first.click()
    assert page.locator(".cell-help p").first.is_visible()
