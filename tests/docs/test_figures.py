"""Every figure on a page is still what its expression makes, and no number with a unit stands in prose without one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from snippets import figures, sources

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MADE_BY_THE_BUILD = {"assets", "decisions"}
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in MADE_BY_THE_BUILD)
WRITTEN = [*PAGES, *sorted(DOCS.glob("notebooks/*.py"))]
TEACHING = [p for p in PAGES if p.relative_to(DOCS).parts[0] in {"lessons", "explore", "interview"}]

# What may stand bare: names and choices, not results.
ALLOWED = {
    "24 GB": "printed on the RTX 4090's box: a name, not a measure",
    "80 GB": "printed on an H100's data sheet: a name, not a measure",
    **{
        f"{n} tokens": "a length chosen for an example"
        for n in ("100", "500", "1,000", "2,048", "4,096", "8,192", "32,768")
    },
}

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_SPACED_UNITS = (
    r"[KMGT]i?B(?:/s)?|bytes?|tokens?(?:/s|\s+per\s+second)?|%|percent|ms|µs|s|seconds|[GT]?FLOPS?(?:/s|/B)?|GHz"
)
BARE = re.compile(rf"(?<![\w.,^])(?:{_NUMBER}(?:\s|&nbsp;)?(?:{_SPACED_UNITS})(?![\w])|{_NUMBER}(?:×|x\b))")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.S)
_FENCE = re.compile(r"^(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,}).*?^[ \t>]*(?P=mark)[ \t]*$", re.M | re.S)


def shown(path: Path) -> str:
    """A path a reader of a failing test can use."""
    return path.relative_to(ROOT).as_posix()


def inline_code(text: str) -> list[str]:
    """The content of every code span outside fenced blocks."""
    return [match[2] for match in _INLINE_CODE.finditer(_FENCE.sub("", text))]


def marked(kind: str) -> list[tuple[Path, str]]:
    """Every `#!fig …` or `#!cite …` of the site with its page."""
    prefix = f"#!{kind} "
    return [
        (page, span.removeprefix(prefix))
        for page in WRITTEN
        for span in inline_code(page.read_text(encoding="utf-8"))
        if span.startswith(prefix)
    ]


def prose(markdown: str) -> str:
    """The words of a page: no fenced blocks, code, formulas, figures, addresses, tags. Line numbers stay."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    text = _FENCE.sub(blank, markdown)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = _INLINE_CODE.sub(lambda match: "⟦⟧" + blank(match), text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"<[^>]+>", blank, text)
    for name in ALLOWED:
        text = text.replace(name, "⟦⟧")
    return text


def bare_figures(markdown: str) -> list[str]:
    """Numbers with a unit that neither carry an expression nor a source, each with its line."""
    lines = prose(markdown).splitlines()
    return [f"line {i}: {match[0]}" for i, line in enumerate(lines, 1) for match in BARE.finditer(line)]


@pytest.mark.parametrize(("page", "source"), marked("fig"), ids=lambda x: shown(x) if isinstance(x, Path) else x)
def test_figure_is_what_its_expression_makes(page: Path, source: str) -> None:
    figures.check(*figures.parse(source))


@pytest.mark.parametrize(("page", "source"), marked("cite"), ids=lambda x: shown(x) if isinstance(x, Path) else x)
def test_quoted_figure_names_a_source_that_exists(page: Path, source: str) -> None:
    _, key = figures.parse(source)
    assert key in sources.load()


@pytest.mark.parametrize("page", TEACHING, ids=shown)
def test_no_number_with_a_unit_is_typed_into_prose(page: Path) -> None:
    found = bare_figures(page.read_text(encoding="utf-8"))
    assert not found, "write these as `#!fig TEXT = EXPRESSION` or `#!cite TEXT = source`: " + "; ".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "56 KiB of it",
        "holds 14.19 GiB.",
        "1,008 GB/s",
        "115,408 tokens",
        "3.2 % of",
        "32% of",
        "is 7× larger",
        "7x",
        "14.0 ms",
        "- 20.4 to 38.2 %",
        "| 57,344 bytes |",
        "at 4.8 TB/s",
        "10 s",
    ],
)
def test_the_lint_finds_a_typed_number(text: str) -> None:
    assert bare_figures(text)


@pytest.mark.parametrize(
    "text",
    [
        "`#!fig 56 KiB = kib(57344)`",
        "a card with 24 GB on the box",
        "28 layers and 4 KV heads",
        "```text\n8,192 tokens\n```",
        "    ```\n    8,192 tokens\n    ```",
        "[page](https://example.org/7x)",
        "Qwen2.5-7B",
        "version 0.26.0 says so",
        "a 4-bit format",
        "GiB = 2^30 bytes",
        "14 × `#!fig 8,192 = count(8192)` tokens",
    ],
)
def test_the_lint_leaves_names_code_and_marked_figures_alone(text: str) -> None:
    assert not bare_figures(text)
