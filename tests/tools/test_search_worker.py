"""The search library keeps words apart that it merged: seen on the words of the site, with the theme's own worker."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import material  # type: ignore[import-untyped]
import pytest

from tools import search_worker

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / os.environ.get("SITE", "site")
WORKERS = "assets/javascripts/workers"
THEIRS = next(Path(material.__file__).parent.glob(f"templates/{WORKERS}/search.*.min.js"))
# Prints how many words the automaton lost, or takes without having been given them, over 100 starts of its node ids.
ASK = """
globalThis.self = globalThis;
globalThis.addEventListener = () => {};
const { worker, words } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
require('vm').runInThisContext(worker);
let wrong = 0;
for (let start = 1; start <= 100; start += 1) {
  lunr.TokenSet._nextId = start;
  const taken = new Set(lunr.TokenSet.fromArray(words).toArray());
  for (const word of words) if (!taken.delete(word)) wrong += 1;
  wrong += taken.size;
}
console.log(wrong);
"""


@pytest.fixture(scope="module")
def words() -> list[str]:
    """Words of the site, cut at what is neither letter nor digit, in the order the library wants."""
    index = json.loads((SITE / "search/search_index.json").read_text())
    text = " ".join(f"{part['title']} {part['text']}" for part in index["docs"])
    return sorted(set(re.findall(r"[a-z0-9.]+", text.lower())))


def confused(worker: str, words: list[str]) -> int:
    asked = json.dumps({"worker": worker, "words": words})
    return int(subprocess.run(["node", "-e", ASK], input=asked, capture_output=True, text=True, check=True).stdout)


def test_the_library_as_it_comes_confuses_words(words: list[str]) -> None:
    assert confused(THEIRS.read_text(), words) > 0  # when this fails, the hook is needed no more


def test_the_mended_library_takes_exactly_the_words_it_was_given(words: list[str]) -> None:
    assert len(words) > 3_000
    assert confused(search_worker.mended(THEIRS.read_text()), words) == 0


def test_the_site_has_the_mended_worker() -> None:
    assert SITE.joinpath(WORKERS, THEIRS.name).read_text() == search_worker.mended(THEIRS.read_text())


def test_a_worker_without_the_fault_stops_the_build() -> None:
    with pytest.raises(ValueError, match="stands 0 times"):
        search_worker.mended("self.lunr = {}")
