"""The glossary holds the field's words, and a page marks the first use of each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from markdown import markdown

from tools import glossary

DOCS = Path(__file__).resolve().parents[2] / "docs"
ENTRIES = glossary.parse(glossary.PAGE.read_text(encoding="utf-8"))
NAMES = {name.lower() for entry in ENTRIES for name in entry.names}

# What a page of the site may use without explaining it.
REQUIRED = """
KV cache, token, prefill, decode, KV head, query head, head dim, MHA, GQA, MQA, MLA, sliding window, block, block
table, PagedAttention, HBM, memory-bound, compute-bound, roofline, arithmetic intensity, FLOP, throughput, latency,
TTFT, ITL, TPOT, concurrency, batch, continuous batching, prefix caching, preemption, chunked prefill, activation,
CUDA graph, weights, BF16, FP8, AWQ, quantization, quantisation, tensor parallel, GiB, GB, gpu_memory_utilization,
max_model_len, max_num_seqs, max_num_batched_tokens, kv_cache_dtype, attention backend, goodput
"""


def marked(text: str) -> list[str]:
    """The words that a page with this text offers a definition for."""
    return re.findall(r"<abbr title=\"[^\"]+\">([^<]+)</abbr>", markdown(text, extensions=["tools.glossary"]))


@pytest.mark.parametrize("term", re.split(r",\s+", " ".join(REQUIRED.split())))
def test_glossary_defines(term: str) -> None:
    assert term.lower() in NAMES


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
def test_definition_is_one_line_of_plain_text(entry: glossary.Entry) -> None:
    assert entry.definition.endswith(".")
    assert len(entry.definition) <= 160
    assert not re.search(r"[<>`\[\]]|\*\w", entry.definition)


def test_no_name_stands_for_two_terms() -> None:
    assert len(NAMES) == sum(len(entry.names) for entry in ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
def test_owning_lesson_is_linked_as_soon_as_it_exists(entry: glossary.Entry) -> None:
    kind, _, title = entry.owner.partition(": ")
    titles = {page.read_text(encoding="utf-8").split("# ", 1)[1].splitlines()[0] for page in lessons()}
    if kind == "Lesson":
        assert (DOCS / re.findall(r"\]\((.+?)\)", title)[0]).is_file()
    else:
        assert title not in titles


def lessons() -> list[Path]:
    return [page for page in (DOCS / "lessons").glob("*.md") if page.name != "index.md"]


def test_only_the_first_use_is_marked() -> None:
    assert marked("A KV cache grows. Another KV cache, the third KV cache.") == ["KV cache"]


def test_capitals_plurals_hyphens_and_line_ends_are_the_same_term() -> None:
    assert marked("Weights and batches, KV-cache size, two KV\nheads.") == [
        "Weights",
        "batches",
        "KV-cache",
        "KV\nheads",
    ]


def test_acronyms_keep_their_capitals() -> None:
    assert marked("GiB, not gib; MLA, not mla; GB") == ["GiB", "MLA", "GB"]


def test_the_longest_name_wins() -> None:
    assert marked("A block table lists blocks.") == ["block table", "blocks"]


def test_another_name_of_a_marked_term_is_not_marked_again() -> None:
    assert marked("GQA is grouped-query attention.") == ["GQA"]


def test_code_headings_links_and_parts_of_words_are_left_alone() -> None:
    assert marked("# Prefill\n\n`decode` [roofline](x.md) preprefill tokenizer max-batch\n\n    HBM\n") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The CUDA context takes memory.", []),
        ("Graphs and the CUDA\ncontext. A context of 8,192.", ["context"]),
        ("A 24 GB card, sold as 10 GB.", []),
        ("A 24-GB card counts in GB, vLLM in GiB.", ["GB", "GiB"]),
    ],
)
def test_words_that_only_look_like_a_term_are_left_alone(text: str, words: list[str]) -> None:
    assert marked(text) == words


def test_tables_are_left_alone() -> None:
    table = "| HBM | GiB |\n|---|---|\n| FP8 | 3 |\n\nAfter it, HBM."
    html = markdown(table, extensions=["tables", "tools.glossary"])
    assert re.findall("<abbr[^>]*>([^<]*)", html) == ["HBM"]


def test_text_between_and_after_terms_is_kept() -> None:
    html = markdown("Big *weights* and tokens, *few* GiB left.", extensions=["tools.glossary"])
    assert re.sub(r"<[^>]+>", "", html) == "Big weights and tokens, few GiB left."


def test_entry_without_owner_is_refused() -> None:
    with pytest.raises(ValueError, match="has 1 definitions, but 0"):
        glossary.parse("Word { #word }\n:   Its meaning.\n")


def test_each_term_of_the_page_is_a_heading_with_its_id_and_other_names() -> None:
    page = (
        '<div class="glossary" markdown>\n\n'
        "GQA { #gqa }\ngrouped-query attention\n:   Shares KV heads. *Lesson: X*\n\n"
        "HBM { #hbm }\n:   Stacked. *Lesson: X*\n\n</div>"
    )
    html = markdown(page, extensions=["tools.glossary", "attr_list", "def_list", "md_in_html", "toc"])
    html = html.replace("\n", "")
    assert '<h3 id="gqa">GQA<span class="other-name"> · grouped-query attention</span></h3>' in html
    assert "<p>Shares KV heads. <em>Lesson: X</em></p>" in html
    assert '<h3 id="hbm">HBM</h3>' in html
