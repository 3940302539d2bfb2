"""The planner in the browser: text and where it is wrong, sliders, files, links, keyboard, phone, no scripts."""

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest
from conftest import Opens, answered, keep, live, put, reset, settle, until
from playwright.sync_api import Locator, Page

from snippets.catalog.configs import config_entries
from snippets.widgets.html import fragment
from snippets.widgets.planner import WIDGET
from snippets.widgets.run import look

PAGE = "tools/planner/"
CONFIG = "#planner-config"
STATUS = "document.querySelector('.widget-status').textContent"
LLAMA = json.dumps(dict(config_entries()["llama-3.1-8b"].config), indent=2)
FOUND = "(at) => document.querySelector('#planner [data-readout=' + at + '] .value').textContent"
DROP = """([text, name]) => {
  const files = new DataTransfer();
  files.items.add(new File([text], name, {type: 'application/json'}));
  const root = document.querySelector('#planner [data-control=config]');
  for (const type of ['dragover', 'drop']) {
    root.dispatchEvent(new DragEvent(type, {dataTransfer: files, bubbles: true, cancelable: true}));
  }
}"""


@pytest.fixture(scope="module")
def kept(site: str, opener: Opens) -> Page:
    return keep(opener, f"{site}{PAGE}")


@pytest.fixture
def planner(kept: Page, watch: object) -> Page:
    """The live page as it opens."""
    kept.click("#planner [data-tool=reset]")
    settle(kept)
    if kept.input_value(CONFIG):  # Reset puts it away
        put(kept, CONFIG, "")
    return reset(kept)


def readout(page: Page, name: str) -> str:
    return str(page.evaluate(FOUND, name))


def expected(name: str, **state: str) -> str:
    return next(one.value for one in look(WIDGET, state, {}, "wide").view.readouts if one.name == name)


def said(page: Page) -> str:
    return page.inner_text("#planner [data-said]")


def section(page: Page, name: str) -> Locator:
    """A section, opened."""
    page.evaluate("(name) => { document.querySelector('#planner-' + name).open = true; }", name)
    settle(page)
    return page.locator(f"#planner-{name}")


def paste(page: Page, text: str) -> None:
    page.select_option("#planner-model", "paste")
    answered(page)
    page.fill(CONFIG, text)
    settle(page)


def test_the_answer_stands_above_everything_that_can_be_set(planner: Page) -> None:
    assert said(planner).startswith("It fits: ")
    verdict, first = (
        planner.locator("#planner [data-said]").bounding_box(),
        planner.locator("#planner figure").first.bounding_box(),
    )
    assert verdict is not None and first is not None
    assert verdict["y"] < first["y"] < 800
    aloud = planner.locator("#planner .widget-said").inner_text()
    assert aloud in ("", said(planner).replace("\n", " "))


def test_a_pasted_config_is_planned_and_what_was_pasted_stays(planner: Page) -> None:
    paste(planner, LLAMA)
    assert readout(planner, "tokens") == expected("tokens", model="paste", config=LLAMA)
    assert planner.input_value(CONFIG) == LLAMA
    assert planner.inner_text("#planner [data-control=config] .control-shown") == "LlamaForCausalLM, 32 layers"
    planner.select_option("#planner-model", "qwen3-8b")
    settle(planner)
    planner.select_option("#planner-model", "paste")
    settle(planner)
    assert planner.input_value(CONFIG) == LLAMA
    assert readout(planner, "tokens") == expected("tokens", model="paste", config=LLAMA)


def test_a_dropped_config_is_planned(planner: Page) -> None:
    planner.select_option("#planner-model", "paste")
    settle(planner)
    assert said(planner).startswith("Paste a config.json")
    planner.evaluate(DROP, [LLAMA, "config.json"])
    until(planner, f"({FOUND})('tokens') !== '–'")
    assert readout(planner, "tokens") == expected("tokens", model="paste", config=LLAMA)


def test_a_file_dropped_while_a_model_of_the_list_is_chosen_is_planned_as_your_own(planner: Page) -> None:
    beside = DROP.replace("[data-control=config]", ".readouts")
    planner.evaluate(beside, [LLAMA, "config.json"])
    until(planner, f"document.querySelector('{CONFIG}').value")
    settle(planner)
    assert planner.input_value("#planner-model") == "paste"
    assert planner.is_visible(CONFIG) and planner.input_value(CONFIG) == LLAMA
    assert readout(planner, "tokens") == expected("tokens", model="paste", config=LLAMA)


def test_reset_puts_a_pasted_config_away_and_your_own_brings_it_back(site: str, opens: Opens) -> None:
    page = live(opens(f"{site}{PAGE}"))
    paste(page, LLAMA)
    page.click("#planner [data-tool=reset]")
    settle(page)
    assert page.input_value("#planner-model") == "qwen2.5-7b" and not page.is_visible(CONFIG)
    page.fill("#planner-max_num_seqs", "8")
    settle(page)
    page.reload()
    live(page)
    page.select_option("#planner-model", "paste")
    settle(page)
    assert page.input_value(CONFIG) == LLAMA
    assert readout(page, "tokens") == expected("tokens", model="paste", config=LLAMA, max_num_seqs="8")


IN_VIEW = """() => {
  const {top, bottom} = document.querySelector('#planner [data-said]').getBoundingClientRect();
  return 40 <= top && bottom <= innerHeight;
}"""


def test_a_way_out_taken_by_keyboard_leads_to_the_new_verdict(planner: Page) -> None:
    planner.get_by_role("button", name="One that is refused").click()
    settle(planner)
    planner.set_viewport_size({"width": 640, "height": 260})
    planner.evaluate("document.querySelector('#planner .refusal button').scrollIntoView({block: 'start'})")
    planner.evaluate("scrollBy(0, 200)")
    assert not planner.evaluate(IN_VIEW)
    planner.evaluate("document.querySelector('#planner .refusal button').focus({preventScroll: true})")
    planner.keyboard.press("Enter")
    settle(planner)
    assert said(planner).startswith("It ")
    assert planner.evaluate("document.activeElement.matches('[data-said]')")
    assert planner.evaluate(IN_VIEW)


def test_a_button_of_a_section_that_goes_leaves_the_focus_in_the_section(planner: Page) -> None:
    planner.fill("#planner-max_num_seqs", "2")
    button = section(planner, "size").locator("button")
    button.focus()
    planner.keyboard.press("Enter")
    settle(planner)
    assert planner.input_value("#planner-kv_cache_memory_bytes")
    assert planner.evaluate("document.activeElement.closest('#planner-size') !== null")


def test_text_that_is_no_json_says_where_and_leads_there(planner: Page) -> None:
    paste(planner, LLAMA)
    before = readout(planner, "tokens")
    wrong = LLAMA.replace('"num_hidden_layers": 32,', '"num_hidden_layers": 32,,')
    assert wrong != LLAMA
    planner.fill(CONFIG, wrong)
    settle(planner)
    line = wrong[: wrong.index(",,")].count("\n") + 1
    assert f"ine {line}, column " in planner.inner_text(f"{CONFIG}-error")
    assert readout(planner, "tokens") == before
    assert planner.input_value(CONFIG) == wrong
    planner.click("text=Go to the place")
    at = planner.eval_on_selector(CONFIG, "(field) => field.selectionStart")
    assert wrong[: at + 1].endswith(",,")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Qwen/Qwen2.5-7B", "This looks like a model's name"),
        ("<!doctype html><html></html>", "This looks like a web page"),
        ('{"model_type": "llama"}', "is missing"),
        ("[1, 2]", "not an object"),
    ],
)
def test_anything_else_that_is_pasted_gets_a_sentence(planner: Page, text: str, message: str) -> None:
    paste(planner, text)
    assert message in planner.inner_text(f"{CONFIG}-error")


def test_a_config_of_100_kb_is_pasted_and_crosses_once(planner: Page) -> None:
    labels = {str(n): f"LABEL_{n}" for n in range(4600)}
    large = json.dumps({**json.loads(LLAMA), "id2label": labels}, indent=1)
    assert len(large) > 100_000
    planner.select_option("#planner-model", "paste")
    settle(planner)
    planner.evaluate("(text) => navigator.clipboard.writeText(text)", large)
    planner.focus(CONFIG)
    planner.keyboard.press("Control+v")
    settle(planner)
    assert readout(planner, "tokens") == expected("tokens", model="paste", config=large)
    sizes = planner.evaluate("""async () => {
      const sizes = [], {postMessage} = Worker.prototype;
      Worker.prototype.postMessage = function (message) {
        sizes.push(message.request.length);
        return postMessage.call(this, message);
      };
      const widget = document.querySelector('#planner'), field = document.querySelector('#planner-max_num_seqs');
      for (const text of ['64', '32', '16']) {
        field.value = text;
        field.dispatchEvent(new Event('input', {bubbles: true}));
        while (!widget.settled) await new Promise((resolve) => setTimeout(resolve, 10));
      }
      Worker.prototype.postMessage = postMessage;
      return sizes;
    }""")
    assert len(sizes) >= 3 and max(sizes) < 5000
    assert planner.input_value(CONFIG) == large


def test_a_slider_answers_with_what_cpython_computes(planner: Page) -> None:
    planner.focus("#planner-max_model_len-slider")
    for _ in range(2):
        planner.keyboard.press("ArrowRight")
    answered(planner)
    length = planner.input_value("#planner-max_model_len")
    assert length == "32768"  # 16,384, and the model's own maximum after it
    assert readout(planner, "requests") == expected("requests", max_model_len=length)
    planner.fill("#planner-max_model_len", "8k")
    answered(planner)
    assert planner.inner_text("#planner [data-control=max_model_len] .control-shown") == "= 8,000"


def test_a_refusal_is_mended_by_its_button(planner: Page) -> None:
    planner.get_by_role("button", name="One that is refused").click()
    settle(planner)
    assert said(planner) == "vLLM 0.26.0 would refuse to start."
    assert "To serve at least one request with the model's max seq len (131072)" in planner.inner_text(
        "#planner .refusal"
    )
    planner.locator("#planner .refusal button").first.click()
    settle(planner)
    assert said(planner).startswith("It ")  # fits, or may fit
    assert planner.locator("#planner .refusal").count() == 0


def test_the_button_for_weights_that_are_not_counted_opens_their_group_and_goes_there(planner: Page) -> None:
    fields = {"num_hidden_layers": 32, "hidden_size": 2560, "num_attention_heads": 32, "max_position_embeddings": 2048}
    phi = {"architectures": ["PhiForCausalLM"], "model_type": "phi", "vocab_size": 51200, **fields}
    planner.fill("#planner-max_model_len", "2048")
    paste(planner, json.dumps(phi | {"intermediate_size": 10240, "torch_dtype": "float16"}))
    assert not planner.locator("#planner-weights_gib").is_visible()
    planner.locator("#planner [data-goto]").click()
    assert planner.evaluate("document.activeElement.id") == "planner-weights_gib"
    planner.fill("#planner-weights_gib", "5.2")
    settle(planner)
    assert said(planner).startswith("It fits: ")


def test_a_number_opens_to_its_source(planner: Page) -> None:
    numbers = section(planner, "numbers")
    row = numbers.locator("details", has_text="num_gpu_blocks").first
    row.locator("summary").click()
    assert "get_num_blocks" in row.inner_text()
    planner.fill("#planner-max_num_seqs", "128")
    settle(planner)
    assert "get_num_blocks" in row.inner_text()  # still open


@pytest.mark.parametrize(("name", "end"), [("markdown", "md"), ("csv", "csv"), ("json", "json")])
def test_a_file_is_saved(planner: Page, name: str, end: str) -> None:
    take = section(planner, "take")
    planner.fill("#planner-max_num_seqs", "8")
    with planner.expect_download() as saved:
        take.locator(f"[data-file={name}]").click()
    assert saved.value.suggested_filename == f"plan-qwen2.5-7b-rtx-4090.{end}"
    text = saved.value.path().read_text(encoding="utf-8")
    assert "max_num_seqs" in text or "--max-num-seqs 8" in text
    if name == "json":
        assert json.loads(text)["max_num_seqs"] == 8


def test_the_command_is_copied(planner: Page) -> None:
    planner.fill("#planner-max_num_seqs", "8")
    settle(planner)
    planner.locator("#planner-log .code", has_text="Start it with").locator("[data-copy]").click()
    until(planner, f"{STATUS} === 'Copied'")
    command = planner.evaluate("navigator.clipboard.readText()")
    assert command == "vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 --max-num-seqs 8"


def test_a_link_brings_back_a_pasted_config_and_every_setting(planner: Page, opens: Opens) -> None:
    paste(planner, LLAMA)
    planner.fill("#planner-max_model_len", "16K")
    planner.check("#planner-enforce_eager")
    settle(planner)
    assert '"id2label"' not in unquote(planner.url) and len(planner.url) < 4000
    other = live(opens(planner.url))
    assert readout(other, "tokens") == readout(planner, "tokens")
    assert other.is_checked("#planner-enforce_eager")
    assert other.input_value("#planner-max_model_len") == "16K"


def test_a_link_with_a_config_that_is_too_long_asks_for_it(site: str, opens: Opens) -> None:
    page = live(opens(f"{site}{PAGE}#{fragment(WIDGET, {'model': 'paste'})},config:paste-again"))
    assert "paste it again" in page.inner_text(f"{CONFIG}-error")
    assert said(page).startswith("Paste a config.json")


def test_an_unknown_model_in_a_link_gets_one_short_sentence_and_no_plan(site: str, opens: Opens) -> None:
    page = live(opens(f"{site}{PAGE}#planner=model:gpt-5,max_num_seqs:8"))
    assert page.inner_text("#planner-model-error") == "Model has no “gpt-5”: choose one from the list."
    assert page.evaluate("document.querySelector('#planner-model').value") == "gpt-5"
    assert not page.is_visible("#planner [data-said]") and not page.is_visible("#planner-take")
    page.select_option("#planner-model", "qwen3-8b")
    settle(page)
    assert page.url.endswith("#planner=model:qwen3-8b,max_num_seqs:8")
    assert readout(page, "tokens") == expected("tokens", model="qwen3-8b", max_num_seqs="8")


def test_half_a_character_in_a_config_is_no_trouble_and_a_preset_leaves_what_was_pasted(planner: Page) -> None:
    planner.select_option("#planner-model", "paste")
    half = json.dumps(json.loads(LLAMA) | {"architectures": ["LlamaForCausalLM", "\ud83d"]})
    put(planner, CONFIG, half)
    assert planner.evaluate(STATUS) == "Live"
    assert readout(planner, "tokens") == expected("tokens", model="paste", config=LLAMA)
    planner.get_by_role("button", name="One that is refused").click()
    settle(planner)
    planner.select_option("#planner-model", "paste")
    settle(planner)
    assert planner.input_value(CONFIG) == half


FITS = """() => [...document.querySelectorAll('#planner .control:not([hidden])')].flatMap((control) => {
  const room = control.getBoundingClientRect();
  return [...control.querySelectorAll('input:not(.control-file), .control-unit, label, select, textarea, button')]
    .filter((one) => one.checkVisibility() && !one.closest('.segments'))
    .filter((one) => {
      const {left, right, width} = one.getBoundingClientRect();
      return width < 30 && one.matches('[type=text]') || left < room.left - 1 || right > room.right + 1;
    }).map((one) => control.dataset.control + ' ' + one.outerHTML.slice(0, 60));
})"""


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "touch"])
def test_every_control_fits_its_column_at_every_width_with_all_groups_open(
    site: str, opens: Opens, touch: bool
) -> None:
    page = opens(f"{site}{PAGE}", touch=touch)
    page.evaluate("for (const details of document.querySelectorAll('main details')) details.open = true")
    for width in (1280, 1024, 768, 360, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(FITS) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_on_a_phone_the_second_column_of_a_table_is_in_view(site: str, opens: Opens) -> None:
    page = opens(f"{site}{PAGE}", width=360, touch=True)
    page.evaluate("for (const details of document.querySelectorAll('#planner details')) details.open = true")
    cut = page.evaluate("""[...document.querySelectorAll('#planner .part-scroll')].filter((scroll) => {
      const second = scroll.querySelector('tbody td').getBoundingClientRect();
      return second.right > scroll.getBoundingClientRect().right + 1;
    }).map((scroll) => scroll.innerText.slice(0, 80))""")
    assert cut == []


def test_models_and_cards_are_found_by_typing(planner: Page) -> None:
    planner.focus("#planner-model")
    planner.keyboard.type("gpt-oss-1")
    settle(planner)
    assert planner.input_value("#planner-model") == "gpt-oss-120b"
    groups = planner.locator("#planner-model optgroup").evaluate_all("(all) => all.map((one) => one.label)")
    assert {"Qwen", "Llama", "Gemma"} <= set(groups)


def test_every_section_is_opened_and_closed_by_keyboard(planner: Page) -> None:
    for name in [one.name for one in WIDGET.sections if one.title]:
        planner.focus(f"#planner-{name} > summary")
        planner.keyboard.press("Enter")
        settle(planner)
        assert planner.evaluate("(name) => document.querySelector('#planner-' + name).open", name)
        inside = planner.inner_text(f"#planner-{name}")
        assert len(inside) > 80, name
        planner.keyboard.press("Enter")


def test_long_tables_scroll_inside_and_are_reached_by_keyboard(site: str, opens: Opens) -> None:
    page = live(opens(f"{site}{PAGE}#planner=model:deepseek-v3,gpu:h200,tensor_parallel_size:8", width=360, touch=True))
    section(page, "layouts")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    scroll = page.locator("#planner-layouts .part-scroll", has_text="Layouts that start").first
    assert scroll.evaluate("(one) => one.scrollWidth > one.clientWidth && one.tabIndex === 0")
    assert scroll.locator("caption").inner_text().startswith("Layouts that start on 8 cards")


def test_a_phone_has_the_answer_before_the_settings_and_no_text_below_11_px(site: str, opens: Opens) -> None:
    page = live(opens(f"{site}{PAGE}", width=360, touch=True))
    for name in [one.name for one in WIDGET.sections if one.title]:
        section(page, name)
    tops = page.evaluate("""['[data-said]', '.readouts-first', '#planner-model', '#planner-log']
      .map((one) => document.querySelector(one).getBoundingClientRect().top + scrollY)""")
    assert tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = page.evaluate("""[...document.querySelectorAll('#planner *')].filter((one) => one.firstChild?.nodeType === 3
      && one.checkVisibility() && parseFloat(getComputedStyle(one).fontSize) < 11).length""")
    assert small == 0


def test_without_scripts_the_page_holds_the_whole_default_plan(site: str, opens: Opens) -> None:
    page = opens(f"{site}{PAGE}", scripts=False)
    text = page.text_content("#planner") or ""
    for words in (
        "It fits: ",
        "GPU KV cache size: ",
        "vllm serve Qwen/Qwen2.5-7B-Instruct",
        "get_num_blocks",
        "worst case",
    ):
        assert words in text
    page.click("#planner-growth > summary")
    assert page.locator("#planner-growth svg >> visible=true").count() == 1
    assert page.locator("#planner :is(input, select, textarea, button):enabled:visible").count() == 0


def test_nothing_leaves_the_page(planner: Page) -> None:
    asked: list[str] = []
    planner.on("request", lambda request: asked.append(request.url) if "favicon" not in request.url else None)
    paste(planner, LLAMA)
    section(planner, "layouts")
    assert asked == []
