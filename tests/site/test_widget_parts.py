"""Text, sections, tables, code and files in the browser, tried on the sample of parts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Opens, answered, live, put, settle, until
from playwright.sync_api import Page
from sample_parts import MOST_BYTES, WIDGET

from snippets.widgets.run import look

CONFIG = "#sample_parts-config"
STATUS = "document.querySelector('.widget-status').textContent"
RESULTS = """(() => {
  for (const section of document.querySelectorAll('details.section')) section.open = false;
  return document.querySelector('serving-widget').outerHTML.replace(/.*class="widget-results"/s, '')
    .replaceAll(' disabled=""', '').replace(/<p class="widget-said".*/s, '');
})()"""
LONG = json.dumps({f"key number {n}": "x" * 40 for n in range(1800)}, indent=1)  # about 100 KB
COUNT = """
  window.sent = [];
  window.Worker = class extends Worker {
    postMessage(message) { sent.push(message.request.length); super.postMessage(message); }
  };"""
DROP = """([text, name]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name, {type: 'application/json'}));
  const root = document.querySelector('[data-control=config]');
  const say = (type) => root.dispatchEvent(new DragEvent(type, {dataTransfer: files, bubbles: true, cancelable: true}));
  const taken = !say('dragover');
  const over = root.hasAttribute('data-over');
  say('drop');
  return [taken, over, root.hasAttribute('data-over')];
}"""


@pytest.fixture
def parts(sample_site: str, opens: Opens) -> Page:
    return live(opens(f"{sample_site}parts.html"))


def keys(page: Page) -> str:
    return page.inner_text("[data-readout=keys] .value")


def error(page: Page) -> str:
    return page.inner_text(f"{CONFIG}-error")


def test_the_first_live_answer_changes_nothing_also_where_sections_are_open(sample_site: str, opens: Opens) -> None:
    built = opens(f"{sample_site}parts.html", scripts=False)
    page = live(opens(f"{sample_site}parts.html"))
    page.click("details.section > summary")
    settle(page)
    page.fill("#sample_parts-length", "2k")  # so that the section is asked for
    settle(page)
    page.fill("#sample_parts-length", "")
    settle(page)
    assert page.evaluate(RESULTS) == built.evaluate(RESULTS)


def test_pasted_text_is_read_when_the_typing_pauses_in_one_message(sample_site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.add_init_script(COUNT)
    page.goto(f"{sample_site}parts.html")
    live(page)
    before = page.evaluate("sent.length")
    page.focus(CONFIG)
    page.keyboard.type('{"a": 1, "b": 2}')
    settle(page)
    assert keys(page) == "2"
    assert page.evaluate("sent.length") - before <= 3  # one for each width, and one if the typing paused


def test_a_long_text_crosses_once(sample_site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.add_init_script(COUNT)
    page.goto(f"{sample_site}parts.html")
    live(page)
    put(page, CONFIG, LONG)
    assert keys(page) == "1800"
    for length in ("2k", "4k", "8k"):
        page.fill("#sample_parts-length", length)
        settle(page)
    assert keys(page) == "1800"
    assert len([size for size in page.evaluate("sent") if size > len(LONG)]) == 1
    assert page.input_value(CONFIG) == LONG


def test_python_that_has_forgotten_a_text_gets_it_again(parts: Page) -> None:
    put(parts, CONFIG, LONG)
    forget = """async () => {
      const {askText} = await import(new URL('assets/live/python.mjs', location));
      for (let n = 0; n < 20; n++) await askText({keep: 'other ' + n, text: 'other'});
    }"""
    parts.evaluate(forget)
    parts.fill("#sample_parts-length", "2k")
    settle(parts)
    assert keys(parts) == "1800"
    assert parts.inner_text("[data-said]") == "1800 keys, length 2k"


def test_text_that_is_no_json_is_kept_and_a_button_leads_to_the_place(parts: Page) -> None:
    parts.fill(CONFIG, '{"a": 1}')
    settle(parts)
    wrong = '{\n  "a": 1,\n  "é𝄞": 2,,\n  "c": 3\n}'
    parts.fill(CONFIG, wrong)
    settle(parts)
    assert error(parts).startswith("Line 3: ")
    assert keys(parts) == "1"
    assert parts.input_value(CONFIG) == wrong
    assert parts.evaluate(STATUS) == "Results are for config.json 1 keys, the last setting that works"
    assert parts.get_attribute(CONFIG, "aria-invalid") == "true"
    parts.click("text=Go to the place")
    assert parts.evaluate("document.activeElement.id") == "sample_parts-config"
    caret = parts.eval_on_selector(CONFIG, "(field) => field.value.slice(0, field.selectionStart)")
    assert caret == '{\n  "a": 1,\n  "é𝄞": 2,'
    parts.fill(CONFIG, "{}")
    settle(parts)
    assert error(parts) == ""
    assert not parts.is_visible("text=Go to the place")


def test_a_dropped_file_is_read_and_a_dragged_text_is_left_to_the_field(parts: Page) -> None:
    assert parts.evaluate(DROP, ['{"a": 1, "b": 2, "c": 3}', "config.json"]) == [True, True, False]
    until(parts, "document.querySelector('[data-readout=keys] .value').textContent === '3'")
    assert parts.input_value(CONFIG) == '{"a": 1, "b": 2, "c": 3}'


def test_a_picked_file_is_read(parts: Page, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text('{"a": 1}', encoding="utf-8")
    with parts.expect_file_chooser() as chooser:
        parts.click("[data-pick]")
    chooser.value.set_files(file)
    until(parts, "document.querySelector('[data-readout=keys] .value').textContent === '1'")


def test_a_file_that_is_too_large_is_refused_with_a_sentence_and_not_read(parts: Page) -> None:
    parts.fill(CONFIG, '{"a": 1}')
    settle(parts)
    parts.evaluate(DROP, ["x" * (MOST_BYTES + 1), "model.safetensors"])
    assert error(parts) == "More than 200 KB: that is no config.json."
    assert parts.input_value(CONFIG) == '{"a": 1}'


def test_a_section_is_computed_while_it_is_open_and_what_was_opened_in_it_stays(parts: Page) -> None:
    summary = parts.locator("details.section > summary")
    parts.fill(CONFIG, '{"alpha": 1, "be": 2}')
    settle(parts)
    assert parts.inner_text(".section-summary") == "1 in all"  # closed: as the page opened
    summary.click()
    settle(parts)
    assert parts.inner_text(".section-summary") == "2 in all"
    assert parts.locator(".part-table tbody tr").all_inner_texts() == ["alpha\t5", "be\t2"]
    parts.click("text=More")
    assert parts.is_visible("text=Opened by the reader.")
    parts.evaluate("window.kept = document.querySelector('.part-table')")
    parts.fill(CONFIG, '{"gamma": 1}')
    settle(parts)
    assert parts.is_visible("text=Opened by the reader.")
    assert parts.locator(".part-table tbody tr").all_inner_texts() == ["gamma\t5"]
    assert parts.evaluate("kept === document.querySelector('.part-table')")
    assert parts.inner_text("figcaption") == "1 names are drawn here."


def test_a_figure_with_nothing_to_draw_is_put_away(parts: Page) -> None:
    parts.click("details.section > summary")
    parts.fill(CONFIG, json.dumps({f"key{n}": n for n in range(9)}))
    settle(parts)
    assert not parts.is_visible("figure")
    parts.fill(CONFIG, '{"a": 1}')
    settle(parts)
    assert parts.is_visible("figure svg >> visible=true")


def test_code_is_copied_and_said(parts: Page) -> None:
    parts.check("#sample_parts-eager")
    settle(parts)
    parts.click("[data-copy]")
    until(parts, f"{STATUS} === 'Copied'")
    assert parts.evaluate("navigator.clipboard.readText()") == "serve --eager=yes"


def test_a_button_in_a_part_sets_controls(parts: Page) -> None:
    parts.click("text=Take 8k")
    answered(parts)
    assert parts.input_value("#sample_parts-length") == "8k"
    assert parts.inner_text("[data-said]") == "0 keys, length 8k"


def test_a_word_and_its_slider_move_together(parts: Page) -> None:
    assert parts.get_attribute("#sample_parts-length", "placeholder") == "4k"
    parts.focus("#sample_parts-length-slider")
    parts.keyboard.press("ArrowRight")
    answered(parts)
    assert parts.input_value("#sample_parts-length") == "8k"
    parts.fill("#sample_parts-length", "1k")
    answered(parts)
    assert parts.input_value("#sample_parts-length-slider") == "0"
    parts.fill("#sample_parts-length", "long")
    answered(parts)
    assert parts.inner_text("#sample_parts-length-error") == "Length takes a number, like 8192 or 8k."


def test_a_file_is_saved_with_what_is_set(parts: Page) -> None:
    parts.fill(CONFIG, '{"b": 1, "a": 2}')
    settle(parts)
    with parts.expect_download() as saved:
        parts.click("[data-file]")
    assert saved.value.suggested_filename == "keys.txt"
    assert saved.value.path().read_text() == "a\nb"
    until(parts, f"{STATUS} === 'Saved keys.txt'")


def test_a_link_holds_the_text_in_short_and_a_long_one_asks_for_it_again(parts: Page, opens: Opens) -> None:
    parts.fill(CONFIG, '{\n "a": 1,\n "b": [2, 3]\n}')
    settle(parts)
    assert parts.url.endswith("#sample_parts=config:%7B%22a%22%3A1%2C%22b%22%3A%5B2%2C3%5D%7D")
    other = live(opens(parts.url))
    assert other.input_value(CONFIG) == '{"a":1,"b":[2,3]}'
    assert keys(other) == "2"
    put(parts, CONFIG, LONG)
    assert re.search("#sample_parts=config:not-in-link-[0-9a-z]+$", parts.url)
    far = live(opens(parts.url))
    assert "paste it again" in error(far)


def test_a_link_without_the_text_is_not_called_whole_and_a_reload_keeps_what_was_typed(parts: Page) -> None:
    parts.click("text=Copy link")
    until(parts, f"{STATUS} === 'Link copied'")
    put(parts, CONFIG, LONG)
    assert parts.inner_text(".control-kept") == "Too long for a link: kept in this tab only, a reload included."
    parts.click("text=Copy link")
    until(parts, f"{STATUS} === 'Link copied, without config.json: too long for a link'")
    assert len(parts.evaluate("navigator.clipboard.readText()")) < 200
    parts.reload()
    live(parts)
    assert parts.input_value(CONFIG) == LONG
    assert keys(parts) == "1800"
    assert parts.is_visible(".control-kept")
    put(parts, CONFIG, "{}")
    assert parts.inner_text(".control-kept") == ""


TEXTS = (
    "x" * 2_000_000,  # larger than what is read
    "[" + "é" * 5000,  # no JSON
    '{"a": "half a character: \\ud83d"}',  # in JSON's own writing
    '{"\ud83d": 1',  # as it is
)


@pytest.mark.parametrize("text", TEXTS, ids=["large", "wrong", "escaped", "half"])
def test_no_text_makes_a_long_address_or_is_lost(parts: Page, text: str) -> None:
    put(parts, CONFIG, text)
    assert len(parts.url) < 3000
    assert parts.evaluate("document.querySelector('serving-widget').answered")
    parts.reload()
    live(parts)
    same = "(text) => document.querySelector('textarea').value === JSON.parse(text)"
    assert parts.evaluate(same, json.dumps(text))
    assert parts.is_visible(CONFIG)


def test_a_text_that_is_put_away_is_there_again_after_a_reload(parts: Page) -> None:
    parts.fill(CONFIG, '{ "a": 1 }')
    parts.select_option("#sample_parts-model", "a")
    settle(parts)
    parts.reload()
    live(parts)
    parts.select_option("#sample_parts-model", "own")
    settle(parts)
    assert parts.input_value(CONFIG) == '{ "a": 1 }'


def test_another_tab_does_not_get_what_was_typed_here(parts: Page, opens: Opens) -> None:
    put(parts, CONFIG, LONG)
    other = live(opens(parts.url.partition("#")[0]))
    put(other, CONFIG, LONG.replace("x", "y"))
    other.evaluate("(url) => { location.href = url; }", parts.url)
    settle(other)
    assert "paste it again" in error(other)


def test_reset_can_be_undone_until_the_next_change(parts: Page) -> None:
    parts.fill(CONFIG, '{ "a": 1 }')
    parts.check("#sample_parts-eager")
    settle(parts)
    undo = parts.get_by_role("button", name="Undo reset")
    assert undo.count() == 0
    parts.click("[data-tool=reset]")
    settle(parts)
    assert parts.input_value(CONFIG) == ""
    assert parts.evaluate(STATUS) == "All is as the page opens. Undo reset brings back what was set."
    undo.click()
    settle(parts)
    assert parts.input_value(CONFIG) == '{ "a": 1 }' and parts.is_checked("#sample_parts-eager")
    assert parts.evaluate(STATUS) == "What was set is back"
    assert undo.count() == 0
    assert parts.evaluate("document.activeElement.dataset.tool") == "reset"
    parts.click("[data-tool=reset]")
    settle(parts)
    parts.check("#sample_parts-eager")
    settle(parts)
    assert undo.count() == 0
    assert parts.evaluate(STATUS) == "Live"


def test_a_file_in_place_of_a_text_can_be_undone(parts: Page) -> None:
    back = parts.locator("[data-back]")
    parts.evaluate(DROP, ['{"b": 1}', "config.json"])
    until(parts, f"document.querySelector('{CONFIG}').value")
    assert not back.is_visible()  # nothing stood there
    parts.fill(CONFIG, '{"mine": 1, "typed": 2}')
    assert not back.is_visible()
    parts.evaluate(DROP, ['{"b": 1}', "config.json"])
    until(parts, "!document.querySelector('[data-back]').hidden")
    back.click()
    settle(parts)
    assert parts.input_value(CONFIG) == '{"mine": 1, "typed": 2}'
    assert keys(parts) == "2"
    assert not back.is_visible()
    assert parts.evaluate("document.activeElement.id") == CONFIG[1:]


DROP_BESIDE = DROP.replace("const say = (type) => root", "const say = (type) => document.querySelector('.readouts')")


def test_a_file_may_be_dropped_anywhere_on_the_widget(parts: Page) -> None:
    assert parts.evaluate(DROP_BESIDE, ['{"a": 1}', "config.json"]) == [True, True, False]
    until(parts, f"document.querySelector('{CONFIG}').value === '{{\"a\": 1}}'")
    settle(parts)
    parts.select_option("#sample_parts-model", "a")
    settle(parts)
    # taken from the browser, which would open it, and refused
    assert parts.evaluate(DROP_BESIDE, ['{"b": 1}', "config.json"]) == [True, False, False]
    assert parts.input_value(CONFIG) == '{"a": 1}'


def test_what_was_typed_stays_where_a_followed_link_says_nothing_of_it(parts: Page) -> None:
    parts.fill(CONFIG, '{ "a": 1 }')
    settle(parts)
    parts.evaluate("location.hash = '#sample_parts=length:2k'")
    settle(parts)
    assert parts.input_value(CONFIG) == '{ "a": 1 }'
    parts.click("[data-tool=reset]")
    settle(parts)
    assert parts.input_value(CONFIG) == ""


def test_the_text_is_put_away_where_it_does_not_apply_and_out_of_the_link(parts: Page) -> None:
    parts.fill(CONFIG, '{"a": 1}')
    settle(parts)
    parts.select_option("#sample_parts-model", "a")
    settle(parts)
    assert not parts.is_visible(CONFIG)
    assert parts.url.endswith("#sample_parts=model:a")
    assert parts.locator("#sample_parts-model optgroup").evaluate_all("(all) => all.map((one) => one.label)") == [
        "Known",
        "Other",
    ]


def test_nothing_in_a_tree_is_more_than_text(parts: Page) -> None:
    parts.fill(CONFIG, '{"<img src=x onerror=alert(1)>": 1}')
    parts.click("details.section > summary")
    settle(parts)
    assert parts.inner_text(".part-table tbody th") == "<img src=x onerror=alert(1)>"
    made = """async (tree) => {
      const {fill} = await import(new URL('assets/live/parts.mjs', location));
      try { fill(document.createElement('div'), [tree]); } catch (error) { return error.message; }
    }"""
    assert "is no part of a widget" in parts.evaluate(made, ["script", {}, ["1"]])
    assert "is no attribute of a part" in parts.evaluate(made, ["p", {"onclick": "1"}, ["1"]])


def test_what_is_shown_is_what_cpython_computes(parts: Page) -> None:
    parts.fill(CONFIG, '{"a": 1}')
    parts.select_option("#sample_parts-model", "b")
    settle(parts)
    shown = look(WIDGET, {"config": '{"a": 1}', "model": "b"}, {}, "wide").sections["answer"]
    assert parts.inner_text("[data-said]") == shown.before[0][2][0]
