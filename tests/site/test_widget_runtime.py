"""What the browser does with any live widget, tried on the sample: wrong input, faults, width, presets, keyboard."""

from __future__ import annotations

import pytest
from conftest import Opens, go, live, settle, until
from playwright.sync_api import Page
from sample_widget import BROKEN_RATIO, WIDGET
from watch import Watch

from snippets.widgets.run import look

RESULTS = "document.querySelector('.widget-results').outerHTML.replaceAll(' disabled=\"\"', '')"
STATUS = "document.querySelector('.widget-status').textContent"


def cells(page: Page) -> str:
    return str(page.evaluate("document.querySelector('[data-readout=cells] .value').textContent"))


def error(page: Page, control: str) -> str:
    return str(page.evaluate(f"document.querySelector('#sample-{control}-error').textContent"))


def text_in(page: Page, control: str) -> str:
    return page.input_value(f"#sample-{control}")


@pytest.mark.parametrize(
    ("control", "text", "message"),
    [
        ("layers", "0", "Layers takes a whole number from 1 to 200."),
        ("layers", "-3", "Layers takes a whole number from 1 to 200."),
        ("layers", "1e99", "Layers takes a whole number from 1 to 200."),
        ("layers", "many", "Layers takes a whole number from 1 to 200."),
        ("kv_heads", "3", "KV heads must divide the 64 query heads."),
    ],
)
def test_wrong_text_gets_a_message_keeps_what_was_typed_and_the_rest_goes_on(
    sample: Page, control: str, text: str, message: str
) -> None:
    page = sample
    page.fill(f"#sample-{control}", text)
    settle(page)
    assert error(page, control) == message
    assert text_in(page, control) == text
    field = page.locator(f"#sample-{control}")
    assert field.get_attribute("aria-invalid") == "true"
    assert f"sample-{control}-error" in (field.get_attribute("aria-describedby") or "")
    assert cells(page) == "640"
    kept = {"layers": "Layers 80", "kv_heads": "KV heads 8"}[control]
    assert page.evaluate(STATUS) == f"Results are for {kept}, the last setting that works"
    page.fill("#sample-heads", "32")
    settle(page)
    assert page.inner_text("[data-readout=share] .value") == "4"  # 32 query heads over the 8 KV heads kept
    page.fill(f"#sample-{control}", "4")
    settle(page)
    assert error(page, control) == ""
    assert field.get_attribute("aria-invalid") is None
    assert page.evaluate(STATUS) == "Live"


DIMMED = """(root) => {
  const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const light = (colour) => {
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(root.querySelector('.readouts')).backgroundColor);
  return [...root.querySelectorAll('.value, .widget-status')].map((one) => {
    const [low, high] = [ground, light(getComputedStyle(one).color)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
}"""


def test_results_of_refused_input_stand_back_and_stay_readable(sample: Page) -> None:
    page = sample
    tone = "getComputedStyle(document.querySelector('[data-readout=cells] .value')).color"
    normal = page.evaluate(tone)
    page.fill("#sample-layers", "0")
    settle(page)
    page.wait_for_timeout(200)
    assert page.evaluate(tone) != normal
    for scheme in ("default", "slate"):
        page.evaluate("(scheme) => { document.body.dataset.mdColorScheme = scheme; }", scheme)
        page.wait_for_timeout(200)
        assert min(page.eval_on_selector("serving-widget", DIMMED)) >= 4.5
    page.evaluate("document.body.dataset.mdColorScheme = 'default'")
    page.fill("#sample-layers", "10")
    settle(page)
    assert page.evaluate(tone) == normal


def test_a_refused_choice_and_an_empty_field_are_named_by_what_stands(sample: Page) -> None:
    page = go(sample, "sample=kind:nonsense,ratio:7")
    assert page.evaluate(STATUS) == "Results are for Attention GQA, Ratio left empty, the last setting that works"


def test_a_wrong_control_in_a_folded_group_opens_it(sample: Page) -> None:
    page = go(sample, "#sample=ratio:7")
    assert page.evaluate("document.querySelector('details.controls-group').open")
    assert page.is_visible("#sample-ratio")
    assert error(page, "ratio") == "Ratio takes a number from 0 to 1, or nothing."


def test_a_fault_in_a_view_is_said_and_the_next_setting_works(sample: Page) -> None:
    page = sample
    page.evaluate("document.querySelector('details.controls-group').open = true")
    page.fill("#sample-ratio", str(BROKEN_RATIO))
    until(page, "document.querySelector('serving-widget').dataset.phase === 'broken'")
    assert page.evaluate(STATUS) == (
        "Python stopped at this setting: ZeroDivisionError: the sample breaks here on purpose. "
        "The numbers shown are from before it."
    )
    page.fill("#sample-ratio", "0.25")
    until(page, f"{STATUS} === 'Live'")
    assert page.inner_text(".widget-notes") == "Ratio 0.25."


SLOW = """() => {
  const {postMessage} = Worker.prototype;
  Worker.prototype.postMessage = function (...sent) { setTimeout(() => postMessage.apply(this, sent), 600); };
  window.quick = () => { Worker.prototype.postMessage = postMessage; };
}"""


def test_an_answer_that_takes_long_is_said_and_what_is_shown_stands_back(sample: Page) -> None:
    status = "document.querySelector('.widget-status').textContent"
    waiting = "document.querySelector('serving-widget').hasAttribute('data-waiting')"
    sample.evaluate(SLOW)
    try:
        sample.fill("#sample-layers", "64")
        until(sample, f"{status} === 'Computing…'")
        assert sample.evaluate(waiting)
        settle(sample)
    finally:
        sample.evaluate("quick()")
    assert sample.evaluate(status) == "Live"
    assert not sample.evaluate(waiting)


def test_a_change_of_width_draws_the_current_state_for_it(sample: Page) -> None:
    page = sample
    page.fill("#sample-layers", "10")
    settle(page)
    for layout, width in (("wide", 1280), ("narrow", 360)):
        page.set_viewport_size({"width": width, "height": 800})
        settle(page)
        assert page.is_visible(f".drawing-{layout}")
        shown = page.evaluate(f"document.querySelector('.drawing-{layout}').textContent")
        assert shown == "80 cells"  # 10 layers × 8 KV heads
        assert f"0 0 {680 if layout == 'wide' else 320} 80" in page.inner_html(f".drawing-{layout}")


def test_a_dragged_slider_never_shows_the_other_widths_old_drawing(sample: Page) -> None:
    page = sample
    page.fill("#sample-layers", "10")
    settle(page)
    assert page.evaluate("document.querySelector('.drawing-narrow').textContent") == "80 cells"


def test_stops_follow_the_state_and_a_control_that_does_not_apply_is_hidden(sample: Page) -> None:
    page = sample
    page.fill("#sample-heads", "16")
    settle(page)
    assert page.get_attribute("#sample-kv_heads-slider", "max") == "4"  # 1, 2, 4, 8, 16
    assert page.get_attribute("#sample-kv_heads-slider", "aria-valuetext") == "8 of 16"
    assert not page.is_visible("[data-control=rank]")
    page.check("input[value=mla]", force=True)
    settle(page)
    assert page.is_visible("[data-control=rank]")


def test_a_preset_sets_its_controls_and_is_pressed_while_they_stand(sample: Page) -> None:
    page = sample
    small = page.locator("button", has_text="Small")
    small.click()
    settle(page)
    assert cells(page) == "112"  # 28 layers × 4 KV heads
    assert small.get_attribute("aria-pressed") == "true"
    page.fill("#sample-layers", "29")
    settle(page)
    assert small.get_attribute("aria-pressed") == "false"
    page.fill("#sample-layers", " 28 ")
    settle(page)
    assert small.get_attribute("aria-pressed") == "true"


def test_reset_goes_back_to_the_state_the_page_opened_with(sample: Page) -> None:
    page = sample
    before, address = page.evaluate(RESULTS), page.url
    page.fill("#sample-layers", "x")
    page.check("input[value=mla]", force=True)
    page.click("text=Small")
    settle(page)
    page.click("text=Reset")
    settle(page)
    assert page.evaluate(RESULTS) == before
    assert text_in(page, "layers") == "80" and error(page, "layers") == ""
    assert page.url == address


def test_step_and_play_follow_the_view_and_stop_on_any_input(sample: Page) -> None:
    page = sample
    page.click("text=Step")
    settle(page)
    assert text_in(page, "layers") == "81"
    page.click("text=Play")
    until(page, "Number(document.querySelector('#sample-layers').value) >= 83")
    assert page.inner_text("[data-repeats]") == "Pause"
    page.fill("#sample-heads", "32")
    assert page.inner_text("[data-repeats]") == "Play"
    settle(page)
    stopped = text_in(page, "layers")
    page.wait_for_timeout(900)
    assert text_in(page, "layers") == stopped


def test_play_ends_where_nothing_is_left_to_do(sample: Page) -> None:
    page = go(sample, "#sample=layers:198")
    page.click("text=Play")
    until(page, "document.querySelector('[data-repeats]').ariaDisabled")
    settle(page)
    assert text_in(page, "layers") == "200"
    assert page.inner_text("[data-repeats]") == "Play"
    assert page.url.endswith("#sample=layers:200")


def test_a_press_at_the_end_begins_again_where_the_view_says_so(sample: Page) -> None:
    page = go(sample, "#sample=layers:3,moment:2")
    run = page.locator("[data-restart]")
    run.click()
    until(page, "document.querySelector('#sample-moment').value === '3'")
    settle(page)  # it stops at the end by itself
    assert (run.inner_text(), run.is_enabled(), text_in(page, "moment")) == ("Run", True, "3")
    run.click()
    until(page, "document.querySelector('#sample-moment').value === '1'")
    assert run.inner_text() == "Pause"
    until(page, "document.querySelector('#sample-moment').value === '3'")
    settle(page)
    assert run.inner_text() == "Run"


def test_an_empty_field_shows_what_it_stands_for(sample: Page) -> None:
    page = sample
    field, slider = page.locator("#sample-moment"), page.locator("#sample-moment-slider")
    page.fill("#sample-layers", "50")
    settle(page)
    assert (field.input_value(), field.get_attribute("placeholder")) == ("", "47")
    assert (slider.get_attribute("max"), slider.input_value()) == ("50", "47")
    slider.press("ArrowRight")
    settle(page)
    assert (field.input_value(), slider.input_value()) == ("48", "48")
    assert page.url.endswith("#sample=layers:50,moment:48")


def test_a_moment_opens_anew_when_another_control_is_set_but_not_by_a_link(sample: Page) -> None:
    page = go(sample, "#sample=layers:50,moment:9")
    assert text_in(page, "moment") == "9"
    page.fill("#sample-layers", "60")
    settle(page)
    assert text_in(page, "moment") == ""
    assert page.input_value("#sample-moment-slider") == "57"
    assert page.url.endswith("#sample=layers:60")


def test_pause_is_the_same_button(sample: Page) -> None:
    page = sample
    page.click("text=Play")
    page.click("text=Pause")
    settle(page)
    stopped_at = text_in(page, "layers")
    assert int(stopped_at) > 80  # how many steps fit between the two clicks depends on the machine
    page.wait_for_timeout(1500)
    assert text_in(page, "layers") == stopped_at


def test_what_changed_is_said_once_the_reader_stops(sample: Page) -> None:
    page = sample
    page.fill("#sample-layers", "10")
    settle(page)
    said = page.locator(".widget-said")
    assert said.get_attribute("aria-live") == "polite"
    assert said.text_content() == "80 of 12,800 cells are taken."


def test_what_is_read_aloud_is_never_of_an_older_setting(sample: Page) -> None:
    page = sample
    said = "document.querySelector('.widget-said').textContent"
    page.fill("#sample-layers", "10")
    settle(page)
    assert page.evaluate(said) == "80 of 12,800 cells are taken."
    page.fill("#sample-layers", "11")
    assert page.evaluate(said) in ("", "88 of 12,800 cells are taken.")
    settle(page)
    assert page.evaluate(said) == "88 of 12,800 cells are taken."
    page.fill("#sample-layers", "0")
    settle(page)
    assert page.evaluate(said) == ""  # the error is said at its control


def test_a_link_with_a_value_of_no_list_shows_it_and_no_results(sample: Page) -> None:
    page = go(sample, "sample=form:nonsense")
    assert error(page, "form") == "Form is one of: First, Second."
    assert page.evaluate("document.querySelector('#sample-form').selectedOptions[0].text") == "“nonsense”"
    assert page.evaluate(STATUS) == "No results: the link names something that is not in a list"
    assert not page.is_visible("[data-readout=cells]") and not page.is_visible("figure")
    page.fill("#sample-layers", "10")
    settle(page)
    assert page.url.endswith("#sample=layers:10,form:nonsense")
    page.select_option("#sample-form", "b")
    settle(page)
    assert page.evaluate(STATUS) == "Live" and cells(page) == "80"
    assert page.is_visible("[data-readout=cells]") and page.is_visible("figure")
    assert page.locator("#sample-form option").all_inner_texts() == ["First", "Second"]


def test_a_button_with_nothing_left_to_do_keeps_the_focus(sample: Page) -> None:
    page = go(sample, "#sample=layers:199")
    step = page.locator("[data-action=next]").first
    step.focus()
    page.keyboard.press("Enter")
    settle(page)
    assert text_in(page, "layers") == "200"
    assert step.get_attribute("aria-disabled") == "true"
    assert step.evaluate("(one) => one === document.activeElement")
    page.keyboard.press("Enter")
    settle(page)
    assert text_in(page, "layers") == "200"
    page.fill("#sample-layers", "5")
    settle(page)
    assert step.get_attribute("aria-disabled") is None


def test_the_chosen_segment_is_marked_where_the_system_gives_the_colours(sample: Page) -> None:
    page = sample
    ground = "(one) => getComputedStyle(one).backgroundColor"
    page.emulate_media(forced_colors="active")
    chosen, other = (page.locator(f"input[value={name}] + span").evaluate(ground) for name in ("gqa", "mla"))
    page.emulate_media(forced_colors="none")
    assert chosen != other


COVERED = """() => {
  const stuck = [...document.querySelectorAll('.readouts, .readouts-first')]
    .filter((one) => getComputedStyle(one).position === 'sticky').map((one) => one.getBoundingClientRect());
  const at = document.activeElement.getBoundingClientRect();
  return stuck.some((bar) => at.top < bar.bottom - 1 && at.bottom > bar.top + 1);
}"""


@pytest.mark.parametrize(("width", "height"), [(640, 400), (640, 640), (360, 640)])
def test_no_control_that_has_the_focus_stands_under_the_readouts(sample: Page, width: int, height: int) -> None:
    page = sample
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("document.querySelector('details.controls-group').open = true")
    settle(page)
    page.focus("[data-tool=reset]")
    for _ in range(16):  # backwards: each next one comes in at the top
        page.keyboard.press("Shift+Tab")
        inside = page.evaluate("document.activeElement.closest('.widget-controls') !== null")
        assert not (inside and page.evaluate(COVERED)), page.evaluate("document.activeElement.outerHTML")


def test_every_control_is_reached_and_moved_by_keyboard(sample: Page) -> None:
    page = sample
    page.evaluate("document.querySelector('details.controls-group').open = true")
    page.focus("#links a:last-child")
    reached: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    fields = [f"sample-{name}" for name in ("layers", "heads", "kv_heads", "ratio", "form")]
    sliders = [f"sample-{name}-slider" for name in ("layers", "heads", "kv_heads")]
    buttons = ["Big", "Small", "Model 8 of many", "Step", "Play", "Reset", "Copy link", "Show the Python", "Check"]
    assert set(reached) >= {*fields, *sliders, *buttons, "More", "The numbers", "question-sample_question"}
    page.focus("input[value=gqa]")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.is_checked("input[value=mla]") and page.is_visible("[data-control=rank]")
    assert page.url.endswith("#sample=kind:mla")


ACTIVE_SVG = """<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script>
<rect style="fill:red" onclick="alert(3)" class="f-kv"/><a href="javascript:alert(4)"><text>t</text></a>
<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">x</p></foreignObject></svg>"""


def test_a_drawing_that_came_with_something_active_in_it_loses_it(sample: Page, watch: Watch) -> None:
    watch.expected += ["Content Security Policy"]  # the policy blocks it too
    drawing = "(await import(new URL('assets/live/results.mjs', location))).drawing"
    made = sample.evaluate(f"async (svg) => {drawing}(svg).outerHTML", ACTIVE_SVG)
    assert made.replace("\n", "") == '<svg xmlns="http://www.w3.org/2000/svg"><rect class="f-kv"></rect></svg>'


LOW_TARGETS = """() => [...document.querySelectorAll(':is(.widget, .question) :is(button, input, select, summary, a)')]
  .filter((one) => !one.matches('.segments input') && !one.closest('.figure-data') && one.checkVisibility())
  .filter((one) => one.getBoundingClientRect().height < 43.5).map((one) => one.outerHTML.slice(0, 80))"""


def test_a_phone_has_targets_of_44_px_and_keeps_the_readouts_in_view(sample_site: str, opens: Opens) -> None:
    page = live(opens(sample_site, width=360, touch=True))
    page.evaluate("document.querySelector('details.controls-group').open = true")
    assert page.evaluate(LOW_TARGETS) == []
    page.evaluate("document.querySelector('#sample-kv_heads-slider').scrollIntoView({block: 'end'})")
    box = page.locator(".readouts-first").bounding_box()
    assert box is not None
    assert 0 <= box["y"] < box["y"] + box["height"] <= 800
    assert box["height"] < 80  # one row
    assert page.locator(".readouts-first .readout").count() <= 3


def test_leaving_the_page_stops_the_widget_and_coming_back_starts_it(sample: Page) -> None:
    page = sample
    page.evaluate("window.gone = document.querySelector('.widget'); gone.remove()")
    page.evaluate("document.querySelector('article').append(gone)")
    page.fill("#sample-layers", "10")
    settle(page)
    assert cells(page) == "80"


def test_the_answer_in_the_page_is_what_cpython_computes(sample: Page) -> None:
    page = go(sample, "#sample=layers:7,heads:16,kv_heads:2")
    view = look(WIDGET, {"layers": "7", "heads": "16", "kv_heads": "2"}, {}, "wide").view
    assert page.locator(".readout .value").all_text_contents() == [readout.value for readout in view.readouts]
