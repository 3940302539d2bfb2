"""A cell while it is edited and after it ran: no violation found by axe, and it fits, light, dark, desk and phone."""

from __future__ import annotations

from cell import Cell
from conftest import Opens, until
from playwright.sync_api import Route
from test_pages import AXE, RUN_AXE, UNNAMED, prepare
from watch import Watch

LESSON = "lessons/kv-cache/"
CODE = (
    "import sys\nprint('a line that is longer than a phone is wide, ' * 4)\nprint('told apart', file=sys.stderr)\n1 / 0"
)


def test_an_edited_cell_has_no_violation_and_fits(site: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["preloaded"]
    page = opens.fresh()
    page.goto(site + LESSON)
    cell = Cell(page, "kv_bytes_per_token").alive()
    cell.run(CODE)
    page.evaluate(AXE)
    found = []
    for scheme in ("light", "dark"):
        for width in (1280, 360):
            prepare(page, scheme, width)
            found += [f"{scheme} {width}: {violation}" for violation in page.evaluate(RUN_AXE)]
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert found == []
    root = f"{cell.find('.cell-codemirror')}.shadowRoot"
    assert page.evaluate(f"[{root}.adoptedStyleSheets.length, {root}.querySelectorAll('style').length]") == [1, 0]
    label = page.evaluate(f"{root}.querySelector('[contenteditable]').getAttribute('aria-label')")
    assert "Escape, then Tab, leaves the editor" in label
    cell.press("reset")
    cell.run("print(1)")
    until(page, f"{cell.find('.cell-verdict')}.textContent")


def test_nothing_moves_when_a_cell_comes_to_life(site: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["preloaded"]
    heights = "[...document.querySelectorAll('.cell')].map((one) => one.offsetHeight)"
    page = opens.fresh()
    held: list[Route] = []
    page.context.route("**/cell.mjs", lambda route: held.append(route))
    page.goto(site + LESSON)
    until(page, f"{UNNAMED} === 0", "the theme is there")
    while not held:
        page.wait_for_timeout(20)
    before = page.evaluate(heights)
    for route in held:
        route.continue_()
    Cell(page, "kv_cache_size").alive()
    assert page.evaluate(heights) == before
