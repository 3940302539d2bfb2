"""The worker's one function answers every message, and a fault becomes an answer too."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest
import sample_widget

from snippets.widgets.registry import answer, names, widget
from snippets.widgets.run import run, to_json

ASKED = {"state": {"layers": "10"}, "kept": {}, "layout": "narrow"}


@pytest.fixture
def sample() -> Iterator[None]:
    """The sample, as if its file lay in snippets/widgets/."""
    sys.modules["snippets.widgets.sample"] = sample_widget
    yield
    del sys.modules["snippets.widgets.sample"]
    widget.cache_clear()


def test_the_widgets_of_the_explorer_are_there() -> None:
    assert {"memory_cliff", "paged_allocator"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_widget_is_named_like_its_module(name: str) -> None:
    assert widget(name).name == name


@pytest.mark.usefixtures("sample")
def test_a_change_is_answered_with_the_view_of_it() -> None:
    assert answer(json.dumps({"widget": "sample", **ASKED})) == to_json(
        run(sample_widget.WIDGET, {"layers": "10"}, {}, "narrow")
    )


@pytest.mark.usefixtures("sample")
def test_a_fault_in_a_view_comes_back_as_a_sentence() -> None:
    broken = {"widget": "sample", **ASKED, "state": {"ratio": str(sample_widget.BROKEN_RATIO)}}
    assert json.loads(answer(json.dumps(broken))) == {"failed": "ZeroDivisionError: the sample breaks here on purpose"}


@pytest.mark.parametrize("name", ["run", "no_such", "", "os.path", "../run"])
def test_a_name_that_is_no_widget_is_answered_with_the_names_there_are(name: str) -> None:
    failed = json.loads(answer(json.dumps({"widget": name, **ASKED})))["failed"]
    assert f"There is no widget {name!r}; there are: " in failed


@pytest.mark.parametrize("request_json", ["", "[]", "{}", "null", '{"question": "no_such", "typed": "1"}'])
def test_a_message_that_means_nothing_is_answered_as_failed(request_json: str) -> None:
    assert set(json.loads(answer(request_json))) == {"failed"}
