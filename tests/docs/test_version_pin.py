"""One vLLM version for the whole edition (decision 0004)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_STATES_IT = re.compile(r"The pin is \*\*(\d+\.\d+\.\d+)\*\*")
DECISIONS = [
    page for page in sorted((ROOT / "adr").glob("*.md")) if _STATES_IT.search(page.read_text(encoding="utf-8"))
]
DECISION = DECISIONS[-1].read_text(encoding="utf-8")  # a later one replaces an earlier one
PIN = _STATES_IT.findall(DECISION)[0]
SPEAKING = sorted(
    path
    for pattern in (
        "README.md",
        "mkdocs.yml",
        "adr/*.md",
        "docs/**/*.md",
        "docs/**/*.py",
        "labs/*.py",
        "snippets/**/*.py",
    )
    for path in ROOT.glob(pattern)
    if "assets" not in path.parts and "decisions" not in path.parts and path not in DECISIONS
)
# A page that compares versions names the others here, with the reason.
OTHERS: dict[str, set[str]] = {}


def named(path: Path) -> set[str]:
    """The vLLM versions a file speaks of: "vLLM 0.26.0", "vllm==0.26.0", "VLLM_VERSION = …"."""
    text = path.read_text(encoding="utf-8")
    return set(re.findall(r"(?:vLLM\s+v?|vllm==|VLLM_VERSION\s*=\s*[\"'])(\d+\.\d+\.\d+)", text))


@pytest.mark.parametrize("path", SPEAKING, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_file_speaks_of_the_pinned_version_only(path: Path) -> None:
    assert named(path) <= {PIN} | OTHERS.get(path.relative_to(ROOT).as_posix(), set())


def test_decision_names_the_documentation_of_the_same_version() -> None:
    assert "`/vllm-project/vllm`" in DECISION
    assert f"`v{PIN}`" in DECISION
    assert f"pip download --no-deps vllm=={PIN}" in DECISION
