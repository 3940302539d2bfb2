"""A question on the page is judged by the same Python; without scripts its answer is still there to open."""

from __future__ import annotations

from conftest import Opens, until
from playwright.sync_api import Page

VERDICT = "document.querySelector('.question-verdict').textContent"


def check(page: Page, typed: str) -> str:
    page.fill("#question-sample_question", typed)
    assert page.evaluate(VERDICT) == ""  # what was said before is about another number
    page.keyboard.press("Enter")
    return str(until(page, f"{VERDICT} !== 'Starting Python…' && {VERDICT}"))


def test_a_number_is_judged_where_it_is_typed(sample: Page) -> None:
    assert check(sample, "28") == "28 KiB is 2.0× too low. That looks like keys without values."
    assert check(sample, "55") == "Close: 1.8 % too low. It is 56 KiB."
    assert check(sample, "56") == "Right: 56 KiB."
    assert check(sample, "57") == "57 KiB is 1.8 % too high. That looks like kilobytes of 1,000 bytes: a KiB has 1,024."
    sample.fill("#question-sample_question", "56.5")
    sample.click("text=Check")
    assert until(sample, VERDICT) == "Close: 0.9 % too high. It is 56 KiB."


def test_wrong_text_is_told_the_range_and_kept(sample: Page) -> None:
    field = sample.locator("#question-sample_question")
    assert check(sample, "fifty") == "Your estimate takes a number from 1 to 1,000 KiB."
    assert field.input_value() == "fifty"
    assert field.get_attribute("aria-invalid") == "true"
    assert "question-sample_question-verdict" in (field.get_attribute("aria-describedby") or "")
    check(sample, "56")
    assert field.get_attribute("aria-invalid") is None


def test_the_answer_opens_without_scripts(sample_site: str, opens: Opens) -> None:
    page = opens(sample_site, scripts=False)
    assert page.is_disabled("#question-sample_question")
    assert page.is_visible(".question noscript p")  # it says what needs JavaScript, and what does not
    page.click("text=Show the answer")
    assert page.is_visible("text=It is 56 KiB.")


def test_a_question_starts_python_by_itself(sample_site: str, opens: Opens) -> None:
    page = opens(sample_site)
    page.evaluate("document.querySelector('.widget').remove()")
    assert check(page, "28") == "28 KiB is 2.0× too low. That looks like keys without values."
