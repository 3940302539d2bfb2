"""A link holds a state, opens in it, survives being damaged, and shares the address with headings and other widgets."""

from __future__ import annotations

import json
import subprocess

import pytest
from conftest import ROOT, Opens, go, live, reset, settle, until
from playwright.sync_api import Page


def text_in(page: Page, control: str) -> str:
    return page.input_value(f"#sample-{control}")


def cells(page: Page) -> str:
    return page.inner_text("[data-readout=cells] .value")


def fragment(page: Page) -> str:
    return page.url.partition("#")[2]


def top_of(page: Page, selector: str) -> float:
    return float(page.evaluate(f"document.querySelector('{selector}').getBoundingClientRect().top"))


def test_a_link_opens_in_its_state_at_its_heading(sample_site: str, opens: Opens) -> None:
    page = opens(f"{sample_site}#the-lab&sample=layers:53,kv_heads:16,kind:mla,form:b")
    assert (text_in(page, "layers"), text_in(page, "kv_heads")) == ("53", "16")  # before Python runs
    page.set_viewport_size({"width": 360, "height": 400})
    page.reload()
    live(page)
    assert cells(page) == "848"  # 53 layers × 16 KV heads
    assert page.is_checked("input[value=mla]")
    assert page.input_value("#sample-form") == "b"
    assert fragment(page) == "the-lab&sample=kind:mla,layers:53,kv_heads:16,form:b"


def test_a_link_without_a_heading_shows_the_widget(sample_site: str, site: str, opens: Opens) -> None:
    page = opens(sample_site, width=360)
    page.set_viewport_size({"width": 360, "height": 300})
    page.goto("about:blank")
    page.goto(f"{sample_site}#sample=layers:53")
    assert 0 <= top_of(page, "serving-widget") < 100
    page.goto("about:blank")
    page.goto(f"{site}#how_many_fit=seq_len:4096")
    until(page, "Math.abs(document.querySelector('serving-widget').getBoundingClientRect().top) < 100")
    page.goto("about:blank")
    page.goto(f"{sample_site}#below&sample=layers:53")
    assert 0 <= top_of(page, "#below") < 300


def test_only_what_differs_stands_in_the_address_without_new_steps_in_the_history(sample: Page) -> None:
    steps = sample.evaluate("history.length")
    sample.fill("#sample-layers", "53")
    settle(sample)
    assert fragment(sample) == "sample=layers:53"
    sample.fill("#sample-layers", "80")
    settle(sample)
    assert fragment(sample) == ""
    assert sample.evaluate("history.length") == steps


def test_an_equal_number_typed_otherwise_is_no_difference(sample: Page) -> None:
    sample.fill("#sample-layers", " 80.0")
    settle(sample)
    assert fragment(sample) == ""


def test_wrong_text_stands_in_the_address_encoded_and_comes_back(sample: Page) -> None:
    sample.fill("#sample-layers", "a,b:c&d=e%#é")
    settle(sample)
    assert fragment(sample) == "sample=layers:a%2Cb%3Ac%26d%3De%25%23%C3%A9"
    reset(sample)
    assert text_in(sample, "layers") == "80"
    go(sample, "sample=layers:a%2Cb%3Ac%26d%3De%25%23%C3%A9")
    assert text_in(sample, "layers") == "a,b:c&d=e%#é"
    assert sample.inner_text("#sample-layers-error") == "Layers takes a whole number from 1 to 200."


def test_an_empty_field_does_not_stand_in_the_address(sample: Page) -> None:
    sample.fill("#sample-heads", "32")
    sample.fill("#sample-layers", "10")
    settle(sample)
    sample.fill("#sample-layers", "")  # refused: the results are still those of 10 layers
    settle(sample)
    assert fragment(sample) == "sample=layers:10,heads:32"
    sample.evaluate("document.querySelector('details.controls-group').open = true")
    sample.fill("#sample-ratio", "0.25")
    settle(sample)
    sample.fill("#sample-ratio", "")
    settle(sample)
    assert fragment(sample) == "sample=layers:10,heads:32"


DAMAGED = (
    *("%", "%E0%A4%A", "=", "&&&", "sample", "sample=", "sample=layers", "sample=layers:", "sample=:5"),
    *("sample=layers:%FF", "sample=layers:1:2:3", "sample=form:zzz", "sample=nothing:1", "nothing=layers:1"),
    *("sample=__proto__:1,constructor:2,toString:3", "__proto__=layers:1", "a\\", 'a"]b&sample=x:1', "\u2028&=,:"),
    *("the-lab&the-lab&sample=layers:1&sample=heads:9", "no-such-heading&sample=kind:nonsense"),
    *("sample=" + "layers:1," * 500, "sample=layers:" + "9" * 3000),
)


@pytest.mark.parametrize("damaged", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_link_does_no_harm(sample: Page, damaged: str) -> None:
    go(sample, damaged)
    assert sample.get_attribute("serving-widget", "data-phase") == "ready"
    sample.fill("#sample-layers", "10")
    sample.fill("#sample-heads", "64")
    settle(sample)
    assert cells(sample) == "80"  # 10 layers × 8 KV heads


def test_half_a_character_pasted_into_a_field_does_no_harm(sample: Page) -> None:
    sample.evaluate("""() => {
      const field = document.querySelector('#sample-layers');
      field.value = '1\\ud800';
      field.dispatchEvent(new Event('input', {bubbles: true}));
    }""")
    settle(sample)
    assert fragment(sample) == "sample=layers:1%EF%BF%BD"


def test_an_option_that_there_is_not_is_said_at_the_control(sample: Page) -> None:
    go(sample, "sample=kind:nonsense")
    assert sample.inner_text("#sample-kind-error") == "Attention is one of: MHA, GQA, MLA."
    assert fragment(sample) == "sample=kind:nonsense"
    sample.check("input[value=mha]", force=True)
    settle(sample)
    assert sample.inner_text("#sample-kind-error") == ""


def test_a_link_on_the_page_sets_the_widget_shows_it_and_moves_the_focus_there(sample: Page) -> None:
    sample.set_viewport_size({"width": 360, "height": 400})
    sample.click("text=53 layers, 16 heads")
    settle(sample)
    assert cells(sample) == "848"
    assert fragment(sample) == "the-lab&sample=layers:53,kv_heads:16"
    assert 0 <= top_of(sample, "serving-widget") < 100
    assert sample.evaluate("document.activeElement.id") == "sample"


def test_a_link_on_the_page_starts_from_the_state_the_page_opens_with(sample: Page) -> None:
    sample.fill("#sample-heads", "32")
    settle(sample)
    sample.click("text=53 layers, 16 heads")
    settle(sample)
    assert text_in(sample, "heads") == "64"


def test_back_and_forward_move_through_the_states(sample: Page) -> None:
    sample.fill("#sample-layers", "10")
    settle(sample)
    sample.click("text=53 layers, 16 heads")
    settle(sample)
    sample.go_back()
    settle(sample)
    assert (text_in(sample, "layers"), cells(sample)) == ("10", "80")
    sample.go_forward()
    settle(sample)
    assert (text_in(sample, "layers"), cells(sample)) == ("53", "848")


def test_a_link_to_a_heading_keeps_what_was_set_and_is_one_step_in_the_history(sample: Page) -> None:
    sample.fill("#sample-layers", "10")
    sample.click("a:has-text('below')")  # at once: what was typed is not in the address yet
    settle(sample)
    assert text_in(sample, "layers") == "10"
    assert fragment(sample) == "below&sample=layers:10"
    sample.go_back()
    settle(sample)
    assert text_in(sample, "layers") == "10"
    assert fragment(sample) == "sample=layers:10"


@pytest.mark.parametrize("typed", ["below", "no-such-heading", ""])
def test_an_address_that_sets_no_widget_keeps_what_was_set(sample: Page, typed: str) -> None:
    sample.fill("#sample-layers", "10")
    settle(sample)
    go(sample, typed)
    until(sample, "location.hash.endsWith('sample=layers:10')")
    assert (text_in(sample, "layers"), cells(sample)) == ("10", "80")  # 10 layers × 8 KV heads


def test_going_back_to_how_the_page_opened_sets_the_widget_back(sample: Page) -> None:
    sample.click("text=53 layers, 16 heads")
    settle(sample)
    sample.go_back()
    settle(sample)
    assert text_in(sample, "layers") == "80"
    assert fragment(sample) == ""


def test_show_the_python_opens_the_folded_source(sample: Page) -> None:
    sample.click("text=Show the Python")
    assert sample.is_visible("#sample-python")


LENGTH = "#how_many_fit-seq_len"
HEADING = "four-ways-in"


def header_bottom(page: Page) -> float:
    return float(page.evaluate("document.querySelector('.md-header').getBoundingClientRect().bottom"))


def slow(page: Page) -> Page:
    """Make the page's processor slow, so that the theme's own steps come late."""
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 8})
    return page


def test_links_to_places_on_a_slow_page_of_the_site_keep_what_was_set(site: str, opens: Opens) -> None:
    page = slow(live(opens(site)))
    page.fill(LENGTH, "4096")
    settle(page)
    steps = page.evaluate("history.length")
    requests = page.inner_text("[data-readout=requests] .value")
    for link, anchor in (("[data-tool=source]", "how_many_fit-python"), (f"#{HEADING} .headerlink", HEADING)):
        page.locator(link).evaluate("(link) => link.click()")
        page.wait_for_timeout(600)  # the theme and the browser have had their say
        settle(page)
        assert page.input_value(LENGTH) == "4096"
        assert page.inner_text("[data-readout=requests] .value") == requests
        assert fragment(page) == f"{anchor}&how_many_fit=seq_len:4096"
        assert header_bottom(page) <= top_of(page, f"#{anchor}") < 300
    assert page.evaluate("history.length") == steps + 2
    for earlier in ("how_many_fit-python&how_many_fit=seq_len:4096", "how_many_fit=seq_len:4096"):
        page.go_back()
        page.wait_for_timeout(300)
        settle(page)
        assert page.input_value(LENGTH) == "4096"
        assert fragment(page) == earlier


def test_a_heading_followed_on_a_page_of_the_site_stands_below_the_header(site: str, opens: Opens) -> None:
    page = live(opens(f"{site}explore/kv-cache/#memory_cliff=batch:53"))
    page.locator("#try-this .headerlink").evaluate("(link) => link.click()")
    settle(page)
    page.wait_for_timeout(300)
    assert top_of(page, "#try-this") >= header_bottom(page)
    assert fragment(page) == "try-this&memory_cliff=batch:53"
    page.keyboard.press("Tab")  # the next stop lies behind the heading
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= header_bottom(page)


def test_copy_link_gives_an_address_that_opens_in_this_state(sample: Page) -> None:
    sample.fill("#sample-layers", "53")
    sample.click("text=Copy link")
    until(sample, "document.querySelector('.widget-status').textContent === 'Link copied'", "Link copied")
    assert sample.evaluate("navigator.clipboard.readText()").endswith("/#sample=layers:53")


ROUND_TRIPS = """
import { format, parse } from "./live/fragment.mjs";
const texts = JSON.parse(process.argv[1]);
const whole = (hash) => {
  const { anchor, widgets } = parse(hash);
  return [anchor, [...widgets].map(([name, settings]) => [name, [...settings]])];
};
console.log(JSON.stringify(texts.map((text) => [whole(text), whole(format(parse(text)))])));
"""


def test_a_fragment_reads_back_as_it_was_written() -> None:
    texts = [
        "#the-lab&memory_cliff=batch:53,seq_len:8192&paged_allocator=block_size:32",
        "#memory_cliff=batch:53", "#a%20b&c=d%3A:e%2C", "#the-lab", "", "#", "#b=,&", *(f"#{text}" for text in DAMAGED),
    ]  # fmt: skip
    command = ["node", "--input-type=module", "-e", ROUND_TRIPS, json.dumps(texts)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    read = json.loads(done.stdout)
    assert read[0][0] == [
        "the-lab",
        [["memory_cliff", [["batch", "53"], ["seq_len", "8192"]]], ["paged_allocator", [["block_size", "32"]]]],
    ]
    for (anchor, widgets), again in read:
        assert again == [anchor, [[name, settings] for name, settings in widgets if settings]]
