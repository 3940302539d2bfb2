"""Every widget of the site: the browser's Python says what CPython says, for every control and many states."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import pytest
from conftest import SITE, Opens, answered, go, keep, live_folder, pages, reset, settle
from playwright.sync_api import Page

from snippets.draw.figure import LAYOUTS, Layout
from snippets.widgets.declare import Check, Choice, Control, Number, Text, View, Widget, Word
from snippets.widgets.html import fragment
from snippets.widgets.registry import names, widget
from snippets.widgets.run import defaults, look, run, text_of, to_json

SEED = 7
RANDOM_STATES = 25
WRONG = ("", "0", "-1", "1e300", "words", "9" * 400)
ASK = """async (requests) => {
  const {askText} = await import(new URL('/LIVE_FOLDERpython.mjs', location));
  return Promise.all(requests.map(askText));
}""".replace("LIVE_FOLDER", live_folder())
# Buttons are off in the built page, and the theme wraps tables to let them scroll.
RESULTS = """(root) => root.querySelector('.widget-results').outerHTML.replaceAll(' disabled=""', '')
  .replaceAll('<div class="md-typeset__scrollwrap"><div class="md-typeset__table"><table>', '<table>')
  .replaceAll('</table></div></div>', '</table>')"""


@cache
def shown() -> dict[str, str]:
    """The page each widget stands on."""
    found: dict[str, str] = {}
    for path in pages():
        html = (SITE / path / "index.html").read_text(encoding="utf-8")
        found |= dict.fromkeys(re.findall(r'<serving-widget name="(\w+)"', html), path)
    return found


def texts(control: Control) -> list[str]:
    """Texts to try in one control: its ends, its middle, its default, each option."""
    if isinstance(control, Choice):
        return [option.value for option in control.options]
    if isinstance(control, Check):
        return ["yes", "no"]
    if not isinstance(control, Number):
        return ["", *(control.stops if isinstance(control, Word) else ())]
    stops = control.stops or (control.minimum, (control.minimum + control.maximum) // 2, control.maximum)
    picked = {stops[0], stops[len(stops) // 3], stops[2 * len(stops) // 3], stops[-1], control.minimum, control.maximum}
    return [text_of(value) for value in sorted(picked)]


def states(one: Widget) -> Iterator[dict[str, str]]:
    """A grid: every preset, every control at its ends and between, wrong texts, and mixtures of all."""
    yield {}
    for bar in one.preset_bars:
        yield from (dict(preset.values) for preset in bar.presets)
    for name, control in one.controls.items():
        yield from ({name: text} for text in (*texts(control), *WRONG))
    dice = random.Random(SEED)
    for _ in range(RANDOM_STATES):
        yield {name: dice.choice(texts(control)) for name, control in one.controls.items()}


@pytest.fixture(scope="session")
def live_pages(site: str, opener: Opens) -> dict[str, Page]:
    """Pages with widgets, live, opened once."""
    return {path: keep(opener, f"{site}{path}") for path in sorted(set(shown().values()))}


@pytest.fixture
def page(request: pytest.FixtureRequest, live_pages: dict[str, Page], watch: Any) -> Page:
    """The page of the widget named by the test's parameter, as it opens."""
    return reset(live_pages[shown()[request.getfixturevalue("name")]])


def each_widget(test: Any) -> Any:
    return pytest.mark.parametrize("name", names())(test)


def readouts(page: Page, name: str) -> list[tuple[str, str, str, str]]:
    one = f"document.querySelector('#{name}')"
    read = "(part) => readout.querySelector(part).textContent"
    parts = ["dt", ".value", ".unit", ".detail"]
    return [
        tuple(found)
        for found in page.evaluate(f"[...{one}.querySelectorAll('.readout')].map((readout) => {parts}.map({read}))")
    ]


def said_by(view: View) -> list[tuple[str, str, str, str]]:
    return [(readout.label, readout.value, readout.unit, readout.detail) for readout in view.readouts]


def computed(one: Widget, state: dict[str, str]) -> list[tuple[str, str, str, str]]:
    return said_by(look(one, state, {}, "wide").view)


def test_every_widget_stands_on_a_page() -> None:
    assert set(shown()) == set(names())
    assert {"memory_cliff", "paged_allocator"} <= set(names())


@each_widget
def test_python_in_the_browser_answers_what_cpython_answers(name: str, page: Page) -> None:
    one = widget(name)
    asked: list[tuple[dict[str, str], Layout]] = list(product(states(one), LAYOUTS))
    requests = [{"widget": name, "state": state, "kept": {}, "layout": layout} for state, layout in asked]
    answers = page.evaluate(ASK, requests)
    for (state, layout), answer in zip(asked, answers, strict=True):
        assert answer == to_json(run(one, state, {}, layout)), (state, layout)


@each_widget
def test_the_first_live_answer_equals_the_built_page_byte_for_byte(
    name: str, site: str, page: Page, opens: Opens
) -> None:
    built = opens(f"{site}{shown()[name]}", scripts=False)
    assert page.eval_on_selector(f"#{name}", RESULTS) == built.eval_on_selector(f"#{name}", RESULTS)


@each_widget
def test_moving_each_control_by_keyboard_shows_what_cpython_computes(name: str, page: Page) -> None:
    one = widget(name)
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    for control in one.controls.values():
        state = press(page, name, control)
        if state is not None:
            answered(page)
            assert readouts(page, name) == computed(one, state), state
        page.click(f"#{name} [data-tool=reset]")


def press(page: Page, name: str, control: Control) -> dict[str, str] | None:
    """Move one control with the keyboard; None when it does not apply to the state the page opens in."""
    root = page.locator(f"#{name} [data-control={control.name}]")
    if not root.is_visible():
        return None
    if isinstance(control, Check):
        root.locator("input").focus()
        page.keyboard.press("Space")
        return {control.name: "yes" if root.locator("input").is_checked() else "no"}
    if isinstance(control, Text):
        return None  # tried where its widget is
    if isinstance(control, Number | Word):
        has_slider = control.slider if isinstance(control, Number) else bool(control.stops)
        moved = root.locator("input[type=range]" if has_slider else "input[type=text]")
        moved.focus()
        if has_slider:
            page.keyboard.press("ArrowRight")
            if root.locator("input[type=text]").input_value() == text_of(control.default):  # it stood at its end
                page.keyboard.press("ArrowLeft")
        else:
            page.keyboard.press("Control+a")
            page.keyboard.type(texts(control)[-1])
        return {control.name: root.locator("input[type=text]").input_value()}
    root.locator("select, input:checked").first.focus()
    page.keyboard.press("ArrowRight" if control.style == "segmented" else "ArrowDown")
    value = root.locator("select, input:checked").first.input_value()
    return {control.name: value}


@each_widget
def test_typing_into_each_field_shows_what_cpython_computes(name: str, page: Page) -> None:
    one = widget(name)
    for control in one.controls.values():
        field = page.locator(f"#{name}-{control.name}")
        if not isinstance(control, Number) or not field.is_visible():
            continue
        kept: dict[str, str] = {}
        for text in (*texts(control), text_of(control.default)):
            field.fill(text)
            answered(page)
            answer = look(one, {control.name: text}, kept, "wide")
            kept = dict(answer.accepted)
            assert readouts(page, name) == said_by(answer.view), (control.name, text)


@each_widget
def test_wrong_text_in_each_field_is_said_there_and_nothing_else_changes(name: str, page: Page) -> None:
    one = widget(name)
    opened = readouts(page, name)
    for control in one.controls.values():
        field = page.locator(f"#{name}-{control.name}")
        if not isinstance(control, Number) or not field.is_visible():
            continue
        for text in ("-1", "words", "1e300"):
            field.fill(text)
            answered(page)
            said = page.inner_text(f"#{name}-{control.name}-error")
            assert said.startswith(f"{control.label} takes ") and " from " in said, (control.name, text)
            assert field.input_value() == text
            assert field.get_attribute("aria-invalid") == "true"
            assert readouts(page, name) == opened
        field.fill(text_of(control.default))
        answered(page)
        assert page.inner_text(f"#{name}-{control.name}-error") == ""


PRESETS = """async (name) => {
  const widget = document.querySelector('#' + name), seen = [];
  const parts = ['dt', '.value', '.unit', '.detail'];
  for (const button of widget.querySelectorAll('.presets button')) {
    widget.querySelector('[data-tool=reset]').click();
    button.click();
    while (!widget.answered) await new Promise((resolve) => setTimeout(resolve, 5));
    const shown = [...widget.querySelectorAll('.readout')]
      .map((one) => parts.map((part) => one.querySelector(part).textContent));
    seen.push([button.textContent, button.ariaPressed, shown]);
  }
  return seen;
}"""


@each_widget
def test_every_preset_sets_what_it_says(name: str, page: Page) -> None:
    one = widget(name)
    presets = [preset for bar in one.preset_bars for preset in bar.presets]
    seen = page.evaluate(PRESETS, name)  # in one go: a click by the mouse for each takes over a minute
    for preset, (label, pressed, shown_) in zip(presets, seen, strict=True):
        assert (label, pressed) == (preset.label, "true")
        assert [tuple(row) for row in shown_] == computed(one, dict(preset.values)), preset.name
    if presets:
        page.locator(f"#{name} .presets button").first.click()  # and by the mouse
        answered(page)
        assert readouts(page, name) == computed(one, dict(presets[0].values))


@each_widget
def test_a_link_with_state_opens_in_that_state(name: str, page: Page) -> None:
    one = widget(name)
    valid = [state for state in states(one) if state and not run(one, state, {}, "wide")["errors"]]
    for state in random.Random(SEED).sample(valid, 8):
        go(page, fragment(one, state))
        assert readouts(page, name) == computed(one, state), state


@each_widget
def test_every_control_is_reached_by_the_tab_key(name: str, page: Page) -> None:
    one = widget(name)
    page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true")
    page.evaluate(f"document.querySelector('#{name}').focus()")
    reached = set()
    for _ in range(4 * len(one.controls) + 60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.name || ''"))
    for control in one.controls.values():
        if page.locator(f"#{name} [data-control={control.name}]").is_visible():
            assert f"{name}-{control.name}" in reached, control.name


def test_two_widgets_and_a_heading_share_one_link(live_pages: dict[str, Page], watch: Any) -> None:
    page = reset(live_pages[shown()["memory_cliff"]])
    assert shown()["memory_cliff"] == shown()["paged_allocator"]
    go(page, "try-this&memory_cliff=batch:53&paged_allocator=block_size:32")
    for name, state in (("memory_cliff", {"batch": "53"}), ("paged_allocator", {"block_size": "32"})):
        assert readouts(page, name) == computed(widget(name), state)
    page.fill("#memory_cliff-batch", "54")
    settle(page)
    assert page.url.endswith("#try-this&memory_cliff=batch:54&paged_allocator=block_size:32")


def test_links_in_the_text_set_the_tools_they_speak_of(live_pages: dict[str, Page], watch: Any) -> None:
    followed = 0
    for page in live_pages.values():
        reset(page)
        for link in page.locator("a.try").all():
            address = (link.get_attribute("href") or "").partition("#")[2]
            name, _, settings = address.split("&")[-1].partition("=")
            link.click()
            answered(page)
            pairs = [pair.split(":") for pair in settings.split(",") if pair]
            state = defaults(widget(name)) | dict(pairs)
            assert readouts(page, name) == computed(widget(name), state), address
            assert page.evaluate("document.activeElement.id") == name
            followed += 1
    assert followed >= 10
