"""A reader's own run in the browser: dropped, read, compared, refused, and saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Opens, keep, reset, settle, until
from playwright.sync_api import Page

from snippets.widgets.check_run import WIDGET
from snippets.widgets.checking.example import TEXT
from snippets.widgets.run import look

PAGE = "labs/check-your-run/"
FIELD = "#check_run-text"
RESULT = (Path(__file__).resolve().parents[1] / "data/lab_result.json").read_text(encoding="utf-8")
DROP = """([text, name]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name));
  const root = document.querySelector('#check_run .readouts');
  for (const type of ['dragover', 'drop']) {
    root.dispatchEvent(new DragEvent(type, {dataTransfer: files, bubbles: true, cancelable: true}));
  }
}"""


@pytest.fixture(scope="module")
def kept(site: str, opener: Opens) -> Page:
    return keep(opener, f"{site}{PAGE}")


@pytest.fixture
def check(kept: Page, watch: object) -> Page:
    """The live page as it opens."""
    return reset(kept)


def drop(page: Page, text: str, name: str) -> None:
    page.evaluate(DROP, [text, name])
    until(page, f"document.querySelector('{FIELD}').value === {json.dumps(text)}")
    settle(page)


def said(page: Page) -> str:
    return page.inner_text("#check_run [data-said]")


def expected(name: str, text: str) -> str:
    return next(one.value for one in look(WIDGET, {"text": text}, {}, "wide").view.readouts if one.name == name)


def readout(page: Page, name: str) -> str:
    return page.inner_text(f"#check_run [data-readout={name}] .value")


def test_a_dropped_log_is_read_here_and_a_difference_is_said(check: Page) -> None:
    text = TEXT.replace("122,304", "123,304")
    drop(check, text, "server.log")
    assert said(check).startswith("KV cache size differs: 123,304 tokens was reported")
    assert readout(check, "tokens") == expected("tokens", text) == "123,304"


def test_a_dropped_result_is_drawn_start_by_start_and_saved(check: Page) -> None:
    drop(check, RESULT, "serve_kv.result.json")
    assert "in all 2 starts" in said(check)
    assert check.inner_text("#check_run figcaption strong") == "Tokens are what the formula says in 2 of 2 starts"
    assert check.locator("#check_run .drawing-wide svg rect").count() >= 4
    check.evaluate("document.querySelector('#check_run-take').open = true")
    settle(check)
    with check.expect_download() as waiting:
        check.click("#check_run [data-file=svg]")
    image = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert image.startswith("<svg ") and "<style>" in image
    assert "| tokens | 18,688 tokens | 18,688 tokens | equal |" in check.inner_text("#check_run-take code")


def test_what_is_neither_is_refused_beside_the_text_and_the_results_stay(check: Page) -> None:
    before = said(check)
    check.fill(FIELD, '{"lab": 1,}')
    settle(check)
    assert "is no whole JSON" in check.inner_text("#check_run [data-control=text] .control-error")
    assert said(check) == before
    check.fill(FIELD, "a poem")
    settle(check)
    assert "No line of vLLM's start" in check.inner_text("#check_run [data-control=text] .control-error")
