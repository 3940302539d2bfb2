"""Whatever is typed into any control of any widget or question is answered: by a view, or by a sentence beside it."""

from __future__ import annotations

import json
import signal
import tracemalloc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from hostile import JSON, LONG, SHORT, SURROGATES, bent

from snippets.catalog.configs import config_entries
from snippets.widgets import registry
from snippets.widgets.run import defaults

CONTROLS = [(name, control) for name in registry.names() for control in registry.widget(name).controls]
# What makes a text count: a config is read when the model is the reader's own.
OPENS = {"config": {"model": "paste"}, "draft_config": {"method": "draft_model", "drafter": "paste"}}
HANGS_S = 60  # no measure of speed: what takes as long never ends
MOST_ANSWER_CHARACTERS = 2_000_000
MOST_MEMORY_BYTES = 400 * 10**6


@contextmanager
def ends() -> Iterator[None]:
    """What hangs is stopped, and told."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"no answer in {HANGS_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ask(request: object) -> dict[str, Any]:
    """As the worker does: JSON in, JSON out, and what came is JSON for a browser too."""
    text = registry.answer(json.dumps(request))
    assert len(text) < MOST_ANSWER_CHARACTERS
    found: dict[str, Any] = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    return found


def view(name: str, state: Mapping[str, str], seen: Sequence[str]) -> dict[str, Any]:
    kept = defaults(registry.widget(name))
    return ask({"widget": name, "state": {**kept, **state}, "kept": kept, "layout": "wide", "seen": seen})


def told(name: str, state: Mapping[str, str]) -> str:
    """What is wrong with an answer; empty when nothing is. What is accepted is shown with every section open."""
    with ends():
        answer = view(name, state, [])
        if not answer.get("errors"):
            answer = view(name, state, [section.name for section in registry.widget(name).sections])
    said = {where: text[:60] for where, text in state.items()}
    if "failed" in answer:
        return f"{name} {said}: {answer['failed'][:200]}"
    for where, message in answer["errors"].items():
        if not message or len(message) > 600 or "Traceback" in message:
            return f"{name} {said}: {where}: {message[:200]!r}"
    return ""


def faults(name: str, control: str, texts: Iterable[str]) -> list[str]:
    return [fault for text in texts if (fault := told(name, OPENS.get(control, {}) | {control: text}))]


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_any_short_text_is_answered(name: str, control: str) -> None:
    assert faults(name, control, [*SHORT.values(), *JSON.values()]) == []


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_a_text_of_five_megabytes_is_answered_in_bounded_memory(name: str, control: str) -> None:
    tracemalloc.start()
    try:
        assert faults(name, control, LONG.values()) == []
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("name", "control"), CONTROLS)
def test_half_a_character_is_answered(name: str, control: str) -> None:
    assert faults(name, control, SURROGATES.values()) == []


@pytest.mark.parametrize("control", OPENS)
def test_a_config_with_any_field_bent_is_answered(control: str) -> None:
    """Each field once, in the first published config that has it."""
    found, known = [], set[str]()
    for key, entry in config_entries().items():
        for what, text in bent(entry.config, set(entry.config) - known):
            fault = told("planner", OPENS[control] | {control: text})
            if fault:
                found.append(f"{key}, {what}: {fault}")
        known |= set(entry.config)
    assert found == []


@pytest.mark.parametrize("name", registry.questions())
def test_any_estimate_is_graded_or_refused(name: str) -> None:
    for typed in [*SHORT.values(), *JSON.values(), *SURROGATES.values(), LONG["one number"], LONG["spaces"]]:
        with ends():
            graded = ask({"question": name, "typed": typed})
        assert graded["verdict"] in ("right", "near", "off", "error"), (typed[:60], graded)
        assert len(graded["message"]) < 400
