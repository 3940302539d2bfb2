"""Quoted figures name a work, a place in it, an address and the day it was read."""

from datetime import date
from urllib.parse import urlsplit

import pytest

from snippets import sources


@pytest.mark.parametrize("source", sources.load().values(), ids=sources.load())
def test_a_source_is_complete(source: sources.Source) -> None:
    assert source.title and source.locator
    assert urlsplit(source.url).scheme == "https" and urlsplit(source.url).netloc
    assert date.fromisoformat(source.read)


def test_the_paged_attention_figure_is_there() -> None:
    assert sources.load()["pagedattention-fig2"].url == "https://arxiv.org/abs/2309.06180"
