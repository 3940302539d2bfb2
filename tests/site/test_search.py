"""The search finds what a reader would paste: a flag, a parameter's name, a word of the field, a line of a log."""

from __future__ import annotations

import re

import pytest
from conftest import Opens, until
from playwright.sync_api import Page

from snippets import baseline
from snippets.planner.blocks import log_lines

INPUT = ".md-search__input"
STATE = "document.querySelector('.md-search-result__meta').textContent.trim()"
SECTIONS = "[...document.querySelectorAll('.md-search-result__item:first-child a')].map(({href}) => href)"


@pytest.fixture
def page(site: str, opens: Opens) -> Page:
    opened = opens(site)
    opened.click(INPUT)
    until(opened, f"{STATE} === 'Type to start searching'", "the search is ready")
    return opened


def found(page: Page, query: str) -> list[str]:
    """What the first result links to, its best section first, when the query is pasted."""
    page.evaluate("(text) => navigator.clipboard.writeText(text)", query)
    page.focus(INPUT)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+v")
    until(page, f"/matching|matches/.test({STATE})", f"an answer to {query}")
    return [re.sub(r"\?h=[^#]*", "", link.removeprefix(page.url)) for link in page.evaluate(SECTIONS)]


@pytest.mark.parametrize(
    ("query", "section"),
    [
        ("GQA", "glossary/#gqa"),
        ("grouped-query attention", "glossary/#gqa"),
        ("gpu_memory_utilization", "glossary/#gpu_memory_utilization"),
        ("--gpu-memory-utilization", "glossary/#gpu_memory_utilization"),
        ("--gpu-memory-utilization 0.92", "glossary/#gpu_memory_utilization"),
        ("kv_cache_dtype", "glossary/#kv_cache_dtype"),
        ("kv-cache-dtype", "glossary/#kv_cache_dtype"),
        ("--kv-cache-dtype", "glossary/#kv_cache_dtype"),
        ('kv_cache_dtype="fp8"', "glossary/#kv_cache_dtype"),
        ("max_model_len", "glossary/#max_model_len"),
        ("time to first token", "glossary/#ttft"),
        ("roofline", "glossary/#roofline"),
        (log_lines(baseline.num_blocks(), 16, 8192)[1], "lessons/kv-cache/"),
    ],
)
def test_search_leads_to(query: str, section: str, page: Page) -> None:
    assert section in found(page, query)[:2]  # the page itself, then its best section


def test_nothing_of_a_pasted_name_is_called_missing(page: Page) -> None:
    found(page, "--kv-cache-dtype")
    assert "Missing" not in page.inner_text(".md-search-result__item:first-child")


def test_folded_code_is_not_found(page: Page) -> None:
    assert "labs/serve-kv/#run-it" not in found(page, "ArgumentTypeError")
