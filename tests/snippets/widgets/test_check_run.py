"""The page that reads a reader's own run: what it opens with, what it says, and what can be taken along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snippets.draw.figure import LAYOUTS
from snippets.planner.evidence.logs import logs
from snippets.widgets.check_run import WIDGET
from snippets.widgets.checking import example
from snippets.widgets.checking.asked import MOST_IN_LINK, NOT_IN_LINK, check_text, in_link
from snippets.widgets.checking.sections import DOWNLOADS
from snippets.widgets.declare import TextError
from snippets.widgets.html import widget_html
from snippets.widgets.parts.nodes import Element, Node
from snippets.widgets.run import Answer, defaults, look, read_state

EVERY = tuple(section.name for section in WIDGET.sections)
ROOT = Path(__file__).resolve().parents[3]
RECORDED = json.loads((ROOT / "tests/data/lab_result.json").read_text(encoding="utf-8"))


def answer(layout: Any = "wide", **state: str) -> Answer:
    found = look(WIDGET, state, {}, layout, EVERY)
    assert found.errors == {}
    return found


def text_of(node: Node) -> str:
    return node if isinstance(node, str) else " ".join(map(text_of, node.children))


def said(found: Answer, section: str) -> str:
    shown = found.sections[section]
    return " ".join(map(text_of, (*shown.before, *shown.after)))


def buttons(node: Node) -> list[str]:
    if isinstance(node, str):
        return []
    own = [node.attributes["data-file"]] if isinstance(node, Element) and "data-file" in node.attributes else []
    return [*own, *(name for child in node.children for name in buttons(child))]


def saved(name: str, **state: str) -> tuple[str, str]:
    values, errors, _ = read_state(WIDGET, state, {})
    assert errors == {}
    return next(one for one in DOWNLOADS if one.name == name).make(values)


def test_it_opens_with_a_published_log_that_agrees() -> None:
    found = answer()
    assert said(found, "answer").startswith("Tokens and concurrency are what the reported memory gives: equal.")
    assert "inside the range of" in said(found, "answer")
    assert "Qwen3.5-27B on RTX 3090 24 GB" in said(found, "answer")
    assert [one.value for one in found.view.readouts[:3]] == ["7.47", "122,304", "13.87x"]
    assert "named by the log's repository" in found.view.notes[0]
    assert "choose the card" in answer(text=f"{example.TEXT}\n").view.notes[0]


def test_the_log_it_opens_with_is_the_collections() -> None:
    log = next(one for one in logs() if one.id == "L066")
    lines = json.loads((ROOT / "snippets/planner/evidence/startup_logs.json").read_text(encoding="utf-8"))
    printed = next(one["log_lines"] for one in lines if one["id"] == "L066")
    version, command, *rest = example.TEXT.splitlines()
    assert rest == printed
    assert version.endswith(f" {log.vllm_version}")
    stated = {
        "--dtype": "dtype",
        "--tensor-parallel-size": "tensor_parallel_size",
        "--max-model-len": "max_model_len",
        "--gpu-memory-utilization": "gpu_memory_utilization",
    }
    words = command.split()
    assert {flag: words[words.index(flag) + 1] for flag in stated} == {
        f: str(log.settings[n]) for f, n in stated.items()
    }
    assert ("--enforce-eager" in words) == log.settings["enforce_eager"]


def test_a_difference_is_said_first_and_in_numbers() -> None:
    found = answer(text=example.TEXT.replace("122,304", "123,304"), card=example.CARD)
    assert said(found, "answer").startswith(
        "KV cache size differs: 123,304 tokens was reported, and 122,304 tokens follows from the memory."
    )
    assert "+1,000 tokens outside" in said(found, "parts")


def test_a_result_of_several_settings_is_compared_in_each() -> None:
    found = answer(text=json.dumps(RECORDED))
    assert said(found, "answer").startswith(
        "Tokens and concurrency are what the reported memory gives in all 2 starts."
    )
    assert found.view.figures[0].finding == "Tokens are what the formula says in 2 of 2 starts"
    assert "On a CPU nothing is measured before the cache" in found.view.notes[0]
    assert found.view.readouts[1].detail == "the first of 2 starts"


def test_nothing_typed_asks_for_a_file() -> None:
    found = answer(text="  ")
    assert said(found, "answer").startswith("Drop a result file or a start-up log")
    assert found.view.figures[0].svg == ""


def test_a_refusal_shows_vllms_words() -> None:
    text = "vllm serve Qwen/Qwen2.5-7B-Instruct\nNo available memory for the cache blocks. Try increasing"
    found = answer(text=text)
    assert said(found, "answer").startswith("vLLM did not start.")
    assert "No available memory for the cache blocks" in said(found, "answer")


@pytest.mark.parametrize(
    ("typed", "line", "column", "words"),
    [
        ('{"lab": 1,}', 1, 11, "no whole JSON"),
        ("nothing of the kind", 0, 0, "No line of vLLM's start"),
        ('{"schema": 1, "lab": "x"}', 0, 0, "schema 1"),
        (NOT_IN_LINK, 0, 0, "drop the file again"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(typed: str, line: int, column: int, words: str) -> None:
    with pytest.raises(TextError, match=words) as refused:
        check_text(typed)
    assert (refused.value.line, refused.value.column) == (line, column)


def test_a_link_holds_a_short_text_whole_and_no_long_one() -> None:
    assert in_link(example.TEXT) == example.TEXT
    assert in_link("GPU KV cache size: 1 tokens " * MOST_IN_LINK) is None


def test_both_widths_and_every_state_make_a_page() -> None:
    for text in (example.TEXT, json.dumps(RECORDED), "", "GPU KV cache size: 9 tokens"):
        for layout in LAYOUTS:
            answer(layout, text=text)
        assert "data-figure" in widget_html(WIDGET, {"text": text})


def test_the_image_stands_alone_and_the_markdown_is_a_table() -> None:
    name, image = saved("svg")
    assert name.endswith(".svg") and image.startswith("<svg ") and "<style>" in image
    assert "The KV cache got 7.47 GiB" in image and "start-up log of vLLM 0.19.0" in image
    name, table = saved("markdown")
    assert name.endswith(".md")
    assert "| tokens | 122,304 tokens | 122,304 tokens | equal |" in table


def test_what_a_file_names_cannot_break_a_table_or_a_drawing() -> None:
    broken = json.loads(json.dumps(RECORDED))
    broken["settings"][0]["name"] = "a | b <script>\n</svg> `"
    state = {"text": json.dumps(broken)}
    assert "a \\| b &lt;script>" in saved("markdown", **state)[1]
    assert "<script>" not in saved("svg", **state)[1]
    assert "<script>" not in answer(**state).view.figures[0].svg


def test_no_button_offers_an_image_where_there_is_none() -> None:
    offered = [
        name for node in answer(text="GPU KV cache size: 9 tokens").sections["take"].before for name in buttons(node)
    ]
    assert offered == ["markdown"]
    assert "svg" in [name for node in answer().sections["take"].before for name in buttons(node)]
    assert saved("svg", text="")[1].startswith("<svg ")


def test_what_was_read_is_shown_with_its_lines() -> None:
    shown = said(answer(), "read")
    assert "tensor_parallel_size" in shown and "Available KV cache memory: 7.47 GiB" in shown


def test_defaults_are_what_the_page_opens_with() -> None:
    assert defaults(WIDGET) == {"text": example.TEXT, "model": "auto", "card": "auto"}
