"""Trees of words, tables and code: what may stand in one, and that the page and the answer hold the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
import sample_parts
from sample_parts import WIDGET, calls

from snippets.widgets.html import widget_html
from snippets.widgets.parts import texts
from snippets.widgets.parts.nodes import code_block, el, table, to_html
from snippets.widgets.registry import answer, widget
from snippets.widgets.run import look, read_state, run, to_json


@pytest.mark.parametrize("tag", ["script", "style", "a", "img", "iframe", "svg", "form", "input"])
def test_only_the_elements_of_words_tables_and_code_exist(tag: str) -> None:
    with pytest.raises(ValueError, match=f"<{tag}> is none of the elements"):
        el(tag)


@pytest.mark.parametrize("attribute", ["onclick", "style", "href", "src"])
def test_no_attribute_acts(attribute: str) -> None:
    with pytest.raises(ValueError, match="is none of those a widget may set"):
        el("p", **{attribute: "x"})


def test_text_and_attributes_are_escaped() -> None:
    assert to_html(el("p", "<b> & ", data_a='"<')) == ('<p data-a="&quot;&lt;">&lt;b&gt; &amp; </p>')


def test_a_table_has_a_caption_and_names_its_rows_and_columns() -> None:
    html = to_html(table("Layouts", ("layout", "KV"), [("TP 2", "8 GiB"), ("TP 4", "9 GiB")], (1,), (1,), "t"))
    assert '<caption id="t-caption">Layouts</caption>' in html
    assert html.startswith('<div class="part-scroll" role="region" tabindex="0" aria-labelledby="t-caption"><table')
    assert html.count('scope="col"') == html.count('scope="row"') == 2
    assert '<tr class="marked"><th scope="row">TP 4</th><td class="number">9 GiB</td></tr>' in html


def test_code_has_a_label_and_its_copy_button_is_off_without_scripts() -> None:
    html = to_html(code_block("Command", "a < b", "Copy", "c"))
    assert '<button type="button" data-copy aria-describedby="c-label" disabled>Copy</button>' in html
    assert '<pre tabindex="0" aria-labelledby="c-label"><code>a &lt; b</code></pre>' in html


class Ids(HTMLParser):
    """All ids, and all that refer to one."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.referred: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("for", "aria-labelledby", "aria-describedby"):
                self.referred |= set((value or "").split())


def test_the_page_holds_every_section_and_ids_are_unique() -> None:
    html = widget_html(WIDGET)
    found = Ids(html)
    assert len(found.ids) == len(set(found.ids))
    assert found.referred <= set(found.ids)
    for words in ("0 keys, length open", "serve --eager=no", "Opened by the reader.", "1 names are drawn here."):
        assert words in html


def test_an_answer_holds_the_sections_without_a_title_and_those_that_are_open() -> None:
    calls.clear()
    assert set(look(WIDGET, {}, {}, "wide").sections) == {"answer", "code"}
    assert calls == []
    assert set(look(WIDGET, {}, {}, "wide", ["names"]).sections) == {"answer", "code", "names"}


def test_a_text_error_has_its_place() -> None:
    answered = run(WIDGET, {"config": '{\n  "a": 1,\n  b\n}'}, {}, "wide")
    assert answered["errors"]["config"].startswith("Line 3: ")
    assert answered["places"] == {"config": [3, 3]}


def test_a_text_above_the_limit_is_refused_with_its_sentence_and_what_was_there_stays() -> None:
    kept = {"config": '{"a": 1}'}
    values, errors, accepted = read_state(WIDGET, {"config": "é" * (sample_parts.MOST_BYTES // 2 + 1)}, kept)
    assert errors == {"config": "More than 200 KB: that is no config.json."}
    assert values["config"] == accepted["config"] == kept["config"]


def test_a_link_holds_a_text_in_short_or_says_that_it_does_not() -> None:
    def link(text: str) -> str | None:
        return look(WIDGET, {"config": text}, {}, "wide").view.controls["config"].link

    assert link('{ "a":  1 }') == '{"a":1}'
    assert link(json.dumps({f"key {n}": n for n in range(20)})) == "not-in-link"
    assert "paste it again" in run(WIDGET, {"config": "not-in-link"}, {}, "wide")["errors"]["config"]


def test_words_and_ticks_are_read() -> None:
    assert read_state(WIDGET, {"length": " 8k ", "eager": "yes"}, {})[0]["length"] == "8k"
    _, errors, _ = read_state(WIDGET, {"length": "long", "eager": "maybe"}, {})
    assert errors["length"] == "Length takes a number, like 8192 or 8k."
    assert errors["eager"].startswith("Eager is one of: yes, no.")
    _, errors, _ = read_state(WIDGET, {"length": "9" * 50}, {})
    assert errors["length"] == "Length takes at most 40 characters."


def test_a_word_stands_on_its_slider_where_the_view_says() -> None:
    def position(text: str) -> int | None:
        return look(WIDGET, {"length": text}, {}, "wide").view.controls["length"].position

    assert (position("8k"), position("5000")) == (3, 2)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The sample, as if its file lay in snippets/widgets/."""
    monkeypatch.setitem(__import__("sys").modules, "snippets.widgets.sample_parts", sample_parts)
    yield
    widget.cache_clear()


ASKED = {"widget": "sample_parts", "kept": {}, "layout": "wide"}


@pytest.mark.usefixtures("registered")
def test_a_long_text_crosses_once_and_stands_as_its_handle_after_that() -> None:
    text = json.dumps({f"key {n}": n for n in range(300)})
    assert answer(json.dumps({"keep": "text 1", "text": text})) == "{}"
    for _ in range(2):
        shown = json.loads(answer(json.dumps({**ASKED, "state": {"config": ["text 1"]}})))
        assert shown["readouts"][0]["value"] == "300"
        assert shown["accepted"]["config"] == ["text 1"]
    again = {**ASKED, "state": {"config": "{"}, "kept": shown["accepted"]}
    assert json.loads(answer(json.dumps(again)))["readouts"][0]["value"] == "300"


@pytest.mark.usefixtures("registered")
def test_a_handle_that_is_unknown_is_asked_for_again_and_a_forgotten_memory_is_no_harm() -> None:
    assert json.loads(answer(json.dumps({**ASKED, "state": {"config": ["no such"]}}))) == {"forgotten": True}
    kept = {**ASKED, "state": {"eager": "yes"}, "kept": {"config": ["no such"]}}
    assert json.loads(answer(json.dumps(kept)))["readouts"][0]["value"] == "0"


def test_only_the_latest_texts_are_kept() -> None:
    for n in range(texts.MOST_KEPT + 1):
        texts.keep(f"t{n}", f"text {n}")
    assert texts.whole({"a": ["t1"]}) == {"a": "text 1"}
    with pytest.raises(texts.ForgottenError):
        texts.whole({"a": ["t0"]})


@pytest.mark.usefixtures("registered")
def test_a_file_is_made_from_what_is_set() -> None:
    asked = {**ASKED, "state": {"config": '{"b": 1, "a": 2}'}, "file": "keys"}
    assert json.loads(answer(json.dumps(asked))) == {"name": "keys.txt", "mime": "text/plain", "text": "a\nb"}


def test_the_answer_prints_the_same_bytes_as_the_same_data_copied() -> None:
    answered = run(WIDGET, {"config": '{"a": 1}'}, {}, "narrow", ["names"])
    assert to_json(json.loads(to_json(answered))) == to_json(answered)
