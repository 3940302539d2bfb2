"""Pages around the labs: commands that vLLM's parser takes, numbers worked out by hand, names that agree."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from snippets import baseline
from snippets.catalog.configs import catalog_config
from snippets.widgets.questions import labs_cards
from tools import lab_index, several_cards
from tools.lab_box import names
from tools.lab_results import card_note

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / os.environ.get("SITE", "site")
LABS = ROOT / "docs" / "labs"
FLAGS = json.loads((ROOT / "snippets/planner/command/vllm_flags.json").read_text(encoding="utf-8"))["flags"]
TAKES = {spelling: takes for *spellings, takes in FLAGS for spelling in spellings}
LAYOUTS = (*several_cards.ONE_MACHINE, *several_cards.LARGER, *several_cards.TWO_MACHINES)


def commands() -> list[str]:
    """Every `vllm serve` line that the page about several cards makes or holds."""
    made = [several_cards.command(layout) for layout in LAYOUTS]
    two = several_cards.TWO_MACHINES[0]
    made += [several_cards.through_ray(two), *(several_cards.without_ray(two, rank) for rank in (0, 1))]
    page = (LABS / "several-cards.md").read_text(encoding="utf-8")
    return made + re.findall(r"^vllm serve .*$", page, re.MULTILINE)


@pytest.mark.parametrize("line", commands())
def test_every_flag_is_one_of_the_pinned_parser_with_as_many_values_as_it_takes(line: str) -> None:
    """vllm_flags.json was read from the parser; these lines were also parsed by it whole on 2026-11-30."""
    program, serve, model, *words = shlex.split(line)
    assert (program, serve) == ("vllm", "serve") and not model.startswith("-")
    while words:
        flag = words.pop(0)
        assert TAKES.get(flag) in ("one", "none"), flag
        if TAKES[flag] == "one":
            assert not words.pop(0).startswith("--"), flag


def test_lines_for_several_machines_are_as_they_were_parsed() -> None:
    two = several_cards.TWO_MACHINES[0]
    start = "vllm serve Qwen/Qwen2.5-72B --max-model-len 8192 --tensor-parallel-size 4 --pipeline-parallel-size 2"
    assert several_cards.through_ray(two) == f"{start} --distributed-executor-backend ray"
    assert several_cards.without_ray(two, 0) == f"{start} --nnodes 2 --node-rank 0 --master-addr HEAD"
    assert several_cards.without_ray(two, 1) == f"{start} --nnodes 2 --node-rank 1 --master-addr HEAD --headless"


@pytest.mark.parametrize("cards", [1, 2, 4])
def test_a_card_holds_its_share_of_weights_and_of_each_tokens_cache(cards: int) -> None:
    """57,344 bytes a token over all cards: 28 layers, 4 KV heads, 128, keys and values, 2 bytes; blocks of 16."""
    plan = several_cards.Layout("qwen2.5-7b", cards).plan()
    assert plan.cache is not None and plan.available_bytes is not None and plan.weights_bytes is not None
    blocks = plan.available_bytes // (16 * 57_344 // cards)
    assert plan.cache.num_gpu_blocks == blocks
    assert plan.cache.kv_cache_size_tokens == int(blocks / 512 * 8192)
    assert plan.weights_bytes == pytest.approx(baseline.WEIGHTS_BYTES / cards, rel=0.001)


def test_what_cannot_be_split_and_what_does_not_fit_is_said_in_words() -> None:
    *_, eight, _, why = several_cards.table(several_cards.ONE_MACHINE).splitlines()
    assert eight.endswith("| refused |")
    assert why == "With 8 cards: “Total number of attention heads (28) must be divisible by tensor parallel size (8).”"
    two = several_cards.table(several_cards.LARGER)
    assert "With 2 cards: “CUDA out of memory: the weights take 30.55 GiB of a card with 23.64 GiB.”" in two


def test_labs_stand_in_the_order_of_the_navigation() -> None:
    assert lab_index.ordered() == [name for name in lab_index.in_navigation() if name in names()]
    assert sorted(lab_index.ordered()) == names()
    first = lab_index.table().splitlines()[2]
    assert first.startswith("| [Predict the KV cache, then measure it](serve-kv.md) | How many tokens")


def test_a_stage_of_two_machines_holds_half_of_the_layers() -> None:
    """Qwen2.5-72B: 80 layers, 8 KV heads of 128; TP 4 leaves 2 heads, PP 2 leaves 40 layers to a card."""
    assert len(catalog_config("qwen2.5-72b").layers) == 80
    plan = several_cards.TWO_MACHINES[0].plan()
    assert plan.cache is not None
    assert plan.cache.bytes_per_block == 40 * 2 * 16 * 2 * 128 * 2


def test_the_question_asks_for_what_the_table_says() -> None:
    row = several_cards.table(several_cards.ONE_MACHINE).splitlines()[4]
    assert row.startswith("| 4 |") and f" {labs_cards.FOUR} (" in row
    assert labs_cards.FOUR_CARDS.name in labs_cards.WORKING
    assert several_cards.ratio(*several_cards.ONE_MACHINE[2::-2]) == labs_cards.FOUR / labs_cards.ONE


def test_the_issue_template_is_the_one_that_the_page_opens_and_is_whole() -> None:
    template = (ROOT / ".github/ISSUE_TEMPLATE/gpu-result.md").read_text(encoding="utf-8")
    head = dict(re.findall(r"^(\w+): (.+)$", template.split("---")[1], re.MULTILINE))
    assert {"name", "about"} <= head.keys()
    page = (LABS / "index.md").read_text(encoding="utf-8")
    assert f"“{head['name']}”" in page and "template=gpu-result.md" in page
    assert "## Send your result" in page


def test_every_labs_page_says_whether_a_result_from_a_card_was_recorded() -> None:
    for name in names():
        page = (LABS / f"{name.replace('_', '-')}.md").read_text(encoding="utf-8")
        assert f'print(card_note("{name}"))' in page, name


def test_a_lab_without_a_result_from_a_card_invites_one_in_one_line() -> None:
    said = [card_note(name) for name in names()]
    assert all("index.md#send-your-result" in note and "\n" not in note for note in said if note)


def test_steps_on_the_page_about_the_box_are_the_scripts() -> None:
    page = (LABS / "autodl.md").read_text(encoding="utf-8")
    script = (ROOT / "labs/autodl.sh").read_text(encoding="utf-8")
    steps = re.findall(r"^  ([a-z]+)(?: LAB \[flags\])?  +\S", script.partition("options\n")[0], re.MULTILINE)
    assert steps == ["check", "setup", "run", "pack", "stop"]
    for step in steps:
        assert re.search(rf"bash autodl\.sh (?:--\S+ (?:\S+ )?)*{step}", page), step
    options = set(re.findall(r"^  (--[a-z-]+)", script, re.MULTILINE))
    for line in re.findall(r"autodl\.sh (.*?)(?:`|$)", page, re.MULTILINE):
        before = re.split(r"\b(?:check|setup|run|pack|stop)\b", line)[0]
        assert set(re.findall(r"--[a-z-]+", before)) <= options, line


def test_no_table_is_left_as_text() -> None:
    pages = sorted(SITE.rglob("*.html"))
    assert pages
    left = [page for page in pages if re.search(r"<p>[^<]*\|\s*:?-{3}", page.read_text(encoding="utf-8"))]
    assert left == []
