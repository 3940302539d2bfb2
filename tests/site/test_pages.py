"""Every page, light and dark, on a desk and on a phone: no violation found by axe, no sideways scrolling, no error."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, SITE, Opens, pages, until
from playwright.sync_api import Page

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
RUN_AXE = """async () => {
  const {violations} = await axe.run(document, {resultTypes: ['violations']});
  return violations.map(({id, nodes}) => id + ': ' + nodes.map((node) => node.target.join(' ')).join(' | '));
}"""
SCHEME = "document.body.dataset.mdColorScheme"
WIDE = """() => [...document.querySelectorAll('main *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1).slice(0, 5)
  .map((one) => one.outerHTML.slice(0, 90))"""
UNNAMED = "document.querySelectorAll('nav.md-code__nav:not([aria-label])').length"
ALL = [*pages(), "404.html"]


def each_page(test: object) -> object:
    return pytest.mark.parametrize("path", ALL, ids=lambda path: path or "home")(test)


def prepare(page: Page, scheme: str, width: int) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 800})
    until(page, f"{SCHEME} === '{'slate' if scheme == 'dark' else 'default'}'", scheme)
    until(page, "document.getAnimations().every((one) => one.playState !== 'running')", "colours have faded over")


@each_page
def test_a_page_has_no_violation_no_error_and_no_sideways_scrolling(path: str, site: str, opens: Opens) -> None:
    page = opens(f"{site}{path}")
    until(page, f"{UNNAMED} === 0")
    page.evaluate(AXE)
    found = []
    for scheme in ("light", "dark"):
        for width in (1280, 360):
            prepare(page, scheme, width)
            found += [f"{scheme} {width}: {violation}" for violation in page.evaluate(RUN_AXE)]
            if width == 360:
                assert page.evaluate("document.documentElement.scrollWidth") <= 360, page.evaluate(WIDE)
    assert found == []


@each_page
def test_a_page_is_complete_without_scripts(path: str, site: str, opens: Opens) -> None:
    """The words, the drawings and the controls are there, each id once, and the page's own links lead somewhere."""
    page = opens(f"{site}{path}", scripts=False)
    assert len(page.inner_text("article")) > 10
    for drawing in page.locator("article .figure .drawing").all():
        if not drawing.evaluate("(one) => one.closest('details:not([open])') !== null"):
            box = drawing.bounding_box()
            assert box is not None and box["height"] > 40
    for widget in page.locator("serving-widget").all():
        assert widget.locator("noscript p").is_visible()
        assert widget.locator(".readout .value").count() >= 2
        assert widget.locator(":is(input, select, button):enabled:visible").count() == 0
    assert page.locator("predict-question").count() == page.locator("predict-question ~ details").count()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(({id}) => id)")
    assert {one for one in ids if ids.count(one) > 1} == set()
    hrefs = page.evaluate("[...document.querySelectorAll('article a[href^=\"#\"]')].map((a) => a.getAttribute('href'))")
    anchors = {href[1:].split("&")[0] for href in hrefs}
    assert {anchor for anchor in anchors if anchor and "=" not in anchor} <= set(ids)


def test_a_number_in_prose_opens_to_its_expression_by_mouse_and_keyboard(site: str, opens: Opens) -> None:
    path = next(path for path in ALL if path and 'class="fig"' in (SITE / path / "index.html").read_text())
    page = opens(f"{site}{path}")
    figure = page.locator(".fig[role=button]").first
    figure.click()
    expression = figure.get_attribute("data-expr")
    assert page.inner_text("#fig-note") == f"{figure.inner_text()} = {expression}"
    assert figure.get_attribute("aria-expanded") == "true"
    assert figure.get_attribute("aria-describedby") == "fig-note"
    page.keyboard.press("Escape")
    assert page.locator("#fig-note").count() == 0
    page.mouse.move(2, 2)
    figure.hover()
    page.wait_for_timeout(100)
    assert page.locator("#fig-note").count() == 0  # the pointer only passes
    until(page, "document.getElementById('fig-note')", "a resting pointer opens the number")
    page.locator("#fig-note").hover()
    page.wait_for_timeout(300)
    assert page.locator("#fig-note").count() == 1
    page.mouse.move(2, 2)
    until(page, "!document.getElementById('fig-note')", "the note goes when the pointer leaves")
    figure.focus()
    for key in ("Enter", " "):
        page.keyboard.press(key)
        assert page.locator("#fig-note").count() == 1
        page.keyboard.press(key)
        assert page.locator("#fig-note").count() == 0
    page.set_viewport_size({"width": 360, "height": 700})
    figure.click()
    box = page.locator("#fig-note").bounding_box()
    assert box is not None
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360


STOPS = """() => {
  const block = (figure) => figure.closest('table') ?? figure.closest('p, li, dd, dt, figcaption, blockquote');
  const figures = [...document.querySelectorAll('.fig[role=button]')];
  const stops = figures.filter((figure) => figure.tabIndex === 0);
  return [figures.length, stops.length, new Set(figures.map(block)).size, new Set(stops.map(block)).size];
}"""


def test_the_numbers_of_a_paragraph_or_table_are_one_stop_and_arrows_reach_them_all(site: str, opens: Opens) -> None:
    page = opens(f"{site}lessons/kv-cache/")
    figures, stops, blocks, blocks_with_a_stop = page.evaluate(STOPS)
    assert stops == blocks == blocks_with_a_stop < figures / 2
    table = page.locator("article table:has(.fig[role=button] ~ *, td + td .fig[role=button])").first
    inside = table.locator(".fig[role=button]")
    assert inside.count() > 2
    first, last = inside.first, inside.last
    first.focus()
    assert page.text_content(f"#{first.get_attribute('aria-describedby')}")  # how to reach the others
    for number in inside.all()[1:]:
        page.keyboard.press("ArrowRight")
        assert number.evaluate("(one) => one === document.activeElement && one.tabIndex === 0")
    page.keyboard.press("Enter")
    assert page.inner_text("#fig-note").startswith(f"{last.inner_text()} = ")
    page.keyboard.press("Home")  # an open number hands on to the next
    assert page.inner_text("#fig-note").startswith(f"{first.inner_text()} = ")
    assert last.get_attribute("tabindex") == "-1"
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('table .fig')")


def test_numbers_and_terms_look_different(site: str, opens: Opens) -> None:
    page = opens(f"{site}lessons/kv-cache/")
    look = "(one) => [getComputedStyle(one).textDecorationLine, getComputedStyle(one).backgroundColor]"
    line, ground = page.locator(".fig[role=button]").first.evaluate(look)
    assert (line, ground) != ("underline", "rgba(0, 0, 0, 0)") and line == "none"
    assert page.locator("abbr[data-definition]").first.evaluate(look) == ["underline", "rgba(0, 0, 0, 0)"]


def test_a_table_wider_than_a_phone_shows_that_it_scrolls_and_keeps_its_first_column(site: str, opens: Opens) -> None:
    page = opens(f"{site}lessons/kv-cache/", width=360)
    wide = (
        "[...document.querySelectorAll('.md-typeset__scrollwrap')].find((one) => one.scrollWidth > one.clientWidth + 9)"
    )
    until(page, f"!!{wide}")
    before = page.evaluate(f"{wide}.querySelector('td').getBoundingClientRect().left")
    assert "scroll, scroll" in page.evaluate(f"getComputedStyle({wide}).backgroundAttachment")
    page.evaluate(f"{wide}.scrollLeft = 1e4")
    assert page.evaluate(f"{wide}.querySelector('td').getBoundingClientRect().left") >= min(before, 12)
    assert page.evaluate(f"{wide}.querySelector('td:last-child').getBoundingClientRect().right") <= 360


def test_on_a_phone_the_copy_button_stands_above_the_code(site: str, opens: Opens) -> None:
    page = opens(f"{site}lessons/kv-cache/", width=360)
    until(page, "document.querySelector('.md-code__nav')")
    shown = "[...document.querySelectorAll('pre:has(> .md-code__nav)')].filter((pre) => pre.offsetHeight)"
    covered = """.map((pre) => {
      const text = document.createRange();
      text.selectNodeContents(pre.querySelector('code'));
      return text.getBoundingClientRect().top - pre.querySelector('.md-code__button').getBoundingClientRect().bottom;
    })"""
    assert min(page.evaluate(shown + covered)) >= 0


def test_going_to_another_page_and_back_keeps_python_and_the_state(site: str, opens: Opens) -> None:
    page = opens(f"{site}explore/kv-cache/#memory_cliff=batch:53")
    until(page, "document.querySelector('#memory_cliff').settled && performance.mark('kept')")
    page.locator("#memory_cliff").evaluate("(one) => one.dispatchEvent(new Event('pointerenter'))")
    until(page, "document.querySelector('#memory_cliff').answered")
    page.locator(".md-tabs__link").first.click()
    until(page, "!document.querySelector('#memory_cliff') && document.querySelector('#how_many_fit')?.answered")
    assert page.evaluate("performance.getEntriesByName('kept').length") == 1  # the page was not loaded anew
    assert page.evaluate("document.querySelector('#how_many_fit').dataset.phase") == "ready"
    page.go_back()
    until(page, "document.querySelector('#memory_cliff')?.answered")
    assert page.input_value("#memory_cliff-batch") == "53"
    assert page.url.endswith("#memory_cliff=batch:53")


def test_a_link_with_state_to_another_page_arrives_in_it(site: str, opens: Opens) -> None:
    page = opens(site)
    page.evaluate("""() => {
      const link = document.createElement('a');
      link.href = 'explore/kv-cache/#try-this&memory_cliff=batch:53';
      link.textContent = 'there';
      document.querySelector('article').prepend(link);
      performance.mark('kept');
    }""")
    page.click("text=there")
    until(page, "document.querySelector('#memory_cliff')?.answered || document.querySelector('#memory_cliff-batch')")
    until(page, "Math.abs(document.querySelector('#try-this')?.getBoundingClientRect().top ?? 1e9) < 200")
    assert page.input_value("#memory_cliff-batch") == "53"
    assert page.evaluate("performance.getEntriesByName('kept').length") == 1


@pytest.mark.parametrize("damaged", ["a\\", 'a"]b', "%E0%A4%A", "memory_cliff=batch", "__proto__=a:1", "try-this&&&=x"])
def test_a_damaged_link_does_no_harm_to_the_theme_either(site: str, opens: Opens, damaged: str) -> None:
    page = opens(f"{site}explore/kv-cache/#{damaged}")
    page.evaluate("(damaged) => { location.hash = '#again-' + damaged; }", damaged)
    page.locator(".md-tabs__link").first.click()
    until(page, "document.querySelector('#how_many_fit')")


def test_no_page_holds_an_inline_style_or_an_address_of_another_host_to_load() -> None:
    loads = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    found = []
    for path in SITE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        body = text.partition("<body")[2]
        found += [f"{path.name}: {match}" for match in loads.findall(text) if 'rel="canonical"' not in match]
        found += [f"{path.name}: {match}" for match in re.findall(r"<(?!template)[a-z][^>]*\sstyle=[^>]*>", body)]
    assert found == []
