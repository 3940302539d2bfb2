"""The same smoke test in Firefox, over WebDriver BiDi, and in Chromium; and the page that says what was tested."""

from __future__ import annotations

import json
import re

import pytest
from conftest import SITE
from smoke import KINDS, RECORD, Smoke, kinds_of_page, run


@pytest.fixture(scope="module", params=KINDS)
def smoke(request: pytest.FixtureRequest) -> Smoke:
    return run(request.param, SITE)


def test_all_that_is_checked_works(smoke: Smoke) -> None:
    assert [check for check in smoke.done if check["wrong"]] == []


def test_python_started_from_its_kept_memory(smoke: Smoke) -> None:
    """The plain start asks for Pyodide's list of packages, the quick one does not; later the copy asks for all."""
    before = smoke.asked[: smoke.asked.index("service-worker.js")]
    assert any(re.fullmatch(r"assets/python/python-\w+\.bin", path) for path in before)
    assert not any(path.endswith("pyodide-lock.json") for path in before)


def test_the_page_about_browsers_says_what_is_checked(smoke: Smoke) -> None:
    record = json.loads(RECORD.read_text())
    assert record["checks"] == [check["name"] for check in smoke.done]
    names = [re.sub(r"Headless|[ /].*", "", name) for name in record["browsers"]]
    assert re.sub(r"Headless|[ /].*", "", smoke.browser) in names
    page = (SITE / "about/browsers/index.html").read_text()
    assert all(text in page for text in (record["date"], *record["checks"]))


def test_every_kind_of_page_is_among_those_opened() -> None:
    opened = kinds_of_page(SITE)
    folders = {path.name for path in SITE.iterdir() if path.is_dir() and list(path.rglob("index.html"))}
    assert {path.partition("/")[0] for path in opened} == folders | {"", "404.html"}
