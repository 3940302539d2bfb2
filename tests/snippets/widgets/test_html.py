"""The static page holds everything: numbers, drawings, controls with their names, and what the browser needs."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from sample_widget import WIDGET

from snippets.widgets.controls_html import slider_step
from snippets.widgets.declare import Number, View
from snippets.widgets.html import fragment, try_html, widget_html
from snippets.widgets.registry import names, widget

VOID = {"input", "rect", "line", "path", "circle", "polyline", "polygon", "use", "br"}


class Page(HTMLParser):
    """Elements in order, with the names of the elements around them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def having(self, attribute: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.elements if attribute in attributes]


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(widget_html(WIDGET))


def test_it_starts_with_an_element_that_markdown_knows() -> None:
    assert widget_html(WIDGET).startswith('<div class="widget"><serving-widget ')


def test_every_element_is_closed_in_order(page: Page) -> None:
    assert page.open == []


def test_no_inline_script_style_or_handler(page: Page) -> None:
    assert not {"script", "style"} & {tag for tag, _ in page.elements}
    assert not [a for _, attributes in page.elements for a in attributes if a == "style" or a.startswith("on")]


def test_ids_are_unique_and_references_lead_to_them(page: Page) -> None:
    ids = [attributes["id"] for attributes in page.having("id")]
    assert len(ids) == len(set(ids))
    for attribute in ("for", "aria-labelledby", "aria-describedby"):
        for attributes in page.having(attribute):
            assert set((attributes[attribute] or "").split()) <= set(ids)


def test_controls_are_off_until_scripts_run_and_a_line_says_so(page: Page) -> None:
    for tag, attributes in page.elements:
        if tag in {"input", "select"} or (tag == "button" and attributes.get("data-tool") != "retry"):
            assert "disabled" in attributes
    assert any("The controls need JavaScript" in text for text in page.texts)


def test_every_control_has_a_field_its_help_and_a_place_for_its_error(page: Page) -> None:
    assert [attributes["data-control"] for attributes in page.having("data-control")] == list(WIDGET.controls)
    described = next(a for a in page.having("aria-describedby") if a.get("id") == "sample-layers")
    assert described["aria-describedby"] == "sample-layers-help sample-layers-error"
    assert (described["type"], described["inputmode"], described["value"]) == ("text", "numeric", "80")


def test_a_slider_over_stops_moves_by_index(page: Page) -> None:
    slider = next(a for a in page.having("data-stops") if a["id"] == "sample-kv_heads-slider")
    assert json.loads(slider["data-stops"] or "") == ["1", "2", "4", "8", "16", "32", "64"]
    assert (slider["min"], slider["max"], slider["value"]) == ("0", "6", "3")
    assert slider["aria-valuetext"] == "8 of 64"


def test_an_empty_field_shows_what_it_stands_for_and_its_slider_is_there(page: Page) -> None:
    field = next(a for a in page.having("placeholder") if a["id"] == "sample-moment")
    assert (field["value"], field["placeholder"]) == ("", "77")  # three before the last of 80 layers
    slider = next(a for a in page.having("data-stops") if a["id"] == "sample-moment-slider")
    assert (slider["max"], slider["value"], slider["aria-valuetext"]) == ("80", "77", "77 of 80")
    assert [a["id"] for a in page.having("placeholder")] == ["sample-moment"]


def test_a_repeating_action_with_nothing_left_offers_its_restart() -> None:
    def patch(moment: str) -> object:
        page = Page(widget_html(WIDGET, {"moment": moment}))
        return json.loads(next(a for a in page.having("data-restart"))["data-patch"] or "")

    assert patch("79") == {"moment": "80"}
    assert patch("80") == {"moment": "0"}


def test_a_slider_without_stops_has_the_range_itself(page: Page) -> None:
    slider = next(a for a in page.having("max") if a["id"] == "sample-layers-slider")
    assert (slider["min"], slider["max"], slider["step"], slider["value"]) == ("1", "200", "1", "80")


@pytest.mark.parametrize(("low", "high", "step"), [(0, 1, 0.01), (0.5, 1, 0.001), (0, 1000, 10), (1, 101, 1)])
def test_a_slider_over_fractions_has_at_least_a_hundred_steps(low: float, high: float, step: float) -> None:
    assert slider_step(Number("n", "N", low, low, high, whole=False)) == pytest.approx(step)


def test_numbers_and_findings_of_both_widths_are_in_the_page(page: Page) -> None:
    said = " ".join(page.texts)
    assert "640" in said  # 80 layers × 8 KV heads
    assert "640 of 12,800 cells are taken." in said
    svgs = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert [svg["width"] for svg in svgs] == ["680", "320"]


def test_the_preset_that_is_set_is_pressed(page: Page) -> None:
    pressed = [attributes["aria-pressed"] for attributes in page.having("aria-pressed")]
    assert pressed == ["true"] + ["false"] * 7


def test_another_state_is_shown_as_if_it_were_the_default() -> None:
    page = Page(widget_html(WIDGET, {"layers": "10"}))
    assert "80" not in {a.get("value") for a in page.having("value")}
    assert "80" in " ".join(page.texts)  # 10 layers × 8 KV heads


def test_an_action_with_nothing_left_to_do_says_so() -> None:
    assert widget_html(WIDGET, {"layers": "200"}).count('data-patch="null"') == 2


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"layers": "0"}, "control layers = '0': Layers takes a whole number from 1 to 200."),
        ({"rows": "1"}, "has no control 'rows'"),
    ],
)
def test_a_wrong_state_on_a_page_stops_the_build(state: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        widget_html(WIDGET, state)


def test_widths_that_say_different_things_stop_the_build() -> None:
    odd = replace(WIDGET, view=lambda values, layout: View(notes=(layout,)))
    with pytest.raises(ValueError, match="differ in more than the drawings"):
        widget_html(odd)


def test_text_from_a_declaration_is_escaped() -> None:
    html = widget_html(replace(WIDGET, title="<img src=x onerror=1> & more"))
    assert "<img" not in html
    assert "&lt;img src=x onerror=1&gt; &amp; more" in html


def test_a_link_holds_the_state_encoded() -> None:
    assert fragment(WIDGET, {"layers": "53", "ratio": "0.25"}) == "sample=layers:53,ratio:0.25"
    assert fragment(WIDGET, {"layers": "1,0"[:1], "ratio": " 1"}) == "sample=layers:1,ratio:%201"
    assert try_html([(WIDGET, {"layers": "53"})], "53 layers", anchor="the-lab", page="../explore/") == (
        '<a href="../explore/#the-lab&amp;sample=layers:53" class="try">53 layers</a>'
    )


def test_a_link_to_a_wrong_state_stops_the_build() -> None:
    with pytest.raises(ValueError, match="whole number from 1 to 200"):
        fragment(WIDGET, {"layers": "0"})


@pytest.mark.parametrize("name", names())
def test_every_widget_is_whole(name: str) -> None:
    page = Page(widget_html(widget(name)))
    assert page.open == []
    ids = [attributes["id"] for attributes in page.having("id")]
    assert len(ids) == len(set(ids))
    assert [tag for tag, _ in page.elements].count("svg") >= 2
