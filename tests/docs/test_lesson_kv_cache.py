"""The KV-cache lesson as built: its program and output are the real ones, and it asks before it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from planned import BASELINE, concurrency, planned, tokens

from snippets.units import gib
from snippets.widgets.questions.kv_cache import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / os.environ.get("SITE", "site")
FP8 = replace(BASELINE, kv_cache_dtype="fp8")
PROGRAM = ROOT / "snippets" / "kv_cache_size.py"

# Word for word what the specification of the lesson asks the program to print.
PRINTED = """\
Qwen2.5-7B-Instruct: 57344 bytes/token = 56 KiB/token
  seq_len=  2048: 0.11 GiB (1 sequence)
  seq_len=  8192: 0.44 GiB (1 sequence)
  seq_len= 32768: 1.75 GiB (1 sequence)
MHA would be 7x larger: 392 KiB/token
"""


@pytest.fixture(scope="module")
def page() -> str:
    built = SITE / "lessons" / "kv-cache" / "index.html"
    if not built.exists():
        raise pytest.UsageError(f"{built} is missing: run `make site`, or `make test`, which builds it")
    return built.read_text(encoding="utf-8")


def code_blocks(page: str) -> list[str]:
    """The text of every code block, without its highlighting."""
    found = re.findall(r"<pre(?:\s[^>]*)?>(.*?)</pre>", page, re.S)
    return [unescape(re.sub(r"<[^>]+>", "", block)) for block in found]


def test_output_block_is_what_the_program_prints(page: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "snippets.kv_cache_size"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == PRINTED
    assert PRINTED.strip() in (block.strip() for block in code_blocks(page))


def test_program_stands_whole_on_the_page(page: str) -> None:
    assert PROGRAM.read_text(encoding="utf-8").strip() in (block.strip() for block in code_blocks(page))


def test_every_question_has_its_answer_in_a_plain_disclosure(page: str) -> None:
    for question in QUESTIONS:
        asked = page.index(f'name="{question.name}"')
        answer = page.index('<details class="question-answer">', asked)
        following = page.find("<predict-question", asked)
        assert following == -1 or answer < following
        assert unescape(page[answer:]).find(question.answer_text.split(",")[0].split(" (")[0]) > 0


def test_question_on_reads_hides_the_drawing_that_answers_it(page: str) -> None:
    answer = page.index('<details class="question-answer">', page.index('name="kv_cache_share_of_reads"'))
    assert answer < page.index('data-figure="decode-bytes"')


def test_first_screen_has_question_picture_and_answer_in_that_order(page: str) -> None:
    first = page.index('id="intuition-and-why-it-matters"')
    question = page.index("what makes the next one wait?", first)
    picture = page.index('data-figure="memory-split"', question)
    assert picture < page.index("<strong>About", picture) < page.index('id="mental-model"')


@pytest.mark.parametrize(
    "figure",
    [
        # Worked out by hand, read from vLLM 0.26.0, or the planner's, independently of the expressions on the page.
        "23.64 GiB",  # what a driver shows of a 24 GB card, from out-of-memory messages
        "14.19 GiB",  # 2 bytes × 7,615,616,512 parameters
        gib(planned().available_bytes or 0),
        f"{tokens(planned()):,}",
        f"{concurrency(planned()):.2f}",
        f"{concurrency(planned(args=FP8)):.2f}",
        f"{concurrency(planned('qwen2.5-7b-awq')):.2f}",
        f"{concurrency(planned(args=replace(BASELINE, gpu_memory_utilization=0.90))):.2f}",
        f"{concurrency(planned(args=replace(BASELINE, max_model_len=32_768))):.2f}",
        f"{concurrency(planned(args=replace(BASELINE, usage='llm'))):.2f}",
        "246,604",  # (15,231,233,024 − 1,089,994,752) ÷ 57,344, rounded up
        "265,612",  # 15,231,233,024 ÷ 57,344, rounded up
        "1.09 GB",  # 152,064 × 3,584 × 2 bytes
    ],
)
def test_lesson_says(page: str, figure: str) -> None:
    assert f">{figure}<" in page or figure in unescape(re.sub(r"<[^>]+>", "", page))
