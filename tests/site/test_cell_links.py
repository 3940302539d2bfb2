"""Code in a link: shown as another's, never run by itself, refused where it is damaged or too long."""

from __future__ import annotations

import base64
import zlib
from urllib.parse import urlsplit

import pytest
from cell import Cell
from conftest import Opens, until
from playwright.sync_api import Page
from watch import Watch

LESSON = "lessons/kv-cache/"
NAME = "kv_bytes_per_token"


@pytest.fixture(autouse=True)
def background(watch: Watch) -> None:
    """A page that another one covers is not painted, and its font waits."""
    watch.expected += ["preloaded"]


def link(code: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    letters = base64.urlsafe_b64encode(packer.compress(code) + packer.flush()).decode().rstrip("=")
    return fragment(letters)


def fragment(letters: str) -> str:
    return f"#cell-{NAME}&cell-{NAME}=code:{letters}"


@pytest.fixture
def reader(opens: Opens) -> Page:
    """A reader without edits."""
    return opens.fresh()


def shared(page: Page, address: str) -> Cell:
    page.goto(address)
    cell = Cell(page, NAME).alive()
    cell.wait("note", "came with the link")
    until(page, f"{cell.find('.cell-code pre')}.hidden")
    return cell


def test_a_copied_link_opens_at_the_cell_with_its_code_which_runs_at_a_press_only(site: str, reader: Page) -> None:
    cell = Cell(reader, NAME)
    reader.goto(site + LESSON)
    cell.alive().write("print('ünder ⇢ way')\n" * 3)
    code = cell.code()
    cell.press("link")
    cell.wait("status", "Link to this code copied")
    address = reader.evaluate("navigator.clipboard.readText()")
    cell.press("reset")
    reader.goto("about:blank")
    cell = shared(reader, address)
    assert cell.code() == code
    assert "It runs only when you press Run" in cell.text("note")
    assert cell.text("output") == "" and len(reader.workers) <= 1  # that of the questions near by
    assert "cell_worker" not in "".join(worker.url for worker in reader.workers)
    until(reader, f"Math.abs({cell.find('')}.getBoundingClientRect().top) < 200", "the cell is in view")
    assert reader.evaluate("localStorage.length") == 0
    assert cell.run() == "ünder ⇢ way\n" * 3


def test_editing_shared_code_makes_it_the_readers_own(site: str, reader: Page) -> None:
    cell = shared(reader, site + LESSON + link(b"print(1)"))
    cell.open()
    reader.keyboard.type("# mine\n")
    cell.wait("note", "Your edit")
    assert "code:" not in reader.url
    reader.reload()
    cell.alive().wait("note", "Your edit")
    assert cell.code() == "# mine\nprint(1)"


def test_an_edit_is_not_lost_to_a_link(site: str, reader: Page) -> None:
    cell = Cell(reader, NAME)
    reader.goto(site + LESSON)
    cell.alive().write("print('mine')")
    reader.goto("about:blank")
    cell = shared(reader, site + LESSON + link(b"print('theirs')"))
    assert "Your own edit is kept" in cell.text("note")
    cell.press("mine")
    cell.wait("note", "Your edit, kept")
    assert cell.code() == "print('mine')"
    reader.evaluate("(hash) => { location.hash = hash; }", link(b"print('theirs')"))
    cell.wait("note", "came with the link")
    cell.press("reset")
    cell.press("undo")
    cell.wait("note", "came with the link")


@pytest.mark.parametrize(
    "letters",
    ["", "%%%", "AAAA", "__proto__", link(b"print(1)").rpartition(":")[2][:-4], link(b"\xff\xfe").rpartition(":")[2]],
)
def test_a_damaged_link_is_told_and_the_pages_code_stands(site: str, reader: Page, letters: str) -> None:
    reader.goto(site + LESSON + fragment(letters))
    cell = Cell(reader, NAME).alive()
    cell.wait("status", "The link's code is damaged")
    assert "def kv_bytes_per_token" in cell.code() and cell.text("note") == ""


def test_a_few_letters_that_unpack_to_much_are_refused(site: str, reader: Page) -> None:
    address = site + LESSON + link(b"#" * 50_000_000)
    reader.goto(address)
    Cell(reader, NAME).alive().wait("status", "The link's code is damaged")


def test_text_from_a_link_is_text(site: str, reader: Page) -> None:
    hostile = "</code><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u0000"
    cell = shared(reader, site + LESSON + link(hostile.encode()))
    assert reader.locator("code-cell img, code-cell script").count() == 0
    assert "<img src=x onerror=alert(1)>" in cell.code()


def test_code_too_long_for_a_link_is_told(site: str, reader: Page) -> None:
    reader.goto(site + LESSON)
    cell = Cell(reader, NAME).alive()
    cell.write("x = " + " + ".join(str(i * 7919 % 10007) for i in range(6000)))
    cell.press("link")
    cell.wait("status", "Too long for a link")


def test_where_the_clipboard_is_refused_the_link_stands_in_the_address(site: str, reader: Page) -> None:
    reader.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error('no'));")
    reader.goto(site + LESSON)
    cell = Cell(reader, NAME).alive()
    cell.press("link")
    cell.wait("status", "The link is in the address bar")
    assert urlsplit(reader.url).fragment.startswith(f"cell-{NAME}&cell-{NAME}=code:")
