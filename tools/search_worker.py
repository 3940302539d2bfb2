"""Mend the search library in the theme's worker; a hook of the site.

lunr 2.3.9 keeps its words in an automaton and merges nodes whose `TokenSet.toString` is equal. That text joins each
edge's letter to the id of the node it leads to with nothing between, so an edge `1` to node 23 next to others can read
like an edge `1` to node 2: nodes that differ are merged, words get lost, others are found that no page has, and such a
search ends in an error. A site full of numbers meets it. One comma after each id tells them apart.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

AMBIGUOUS = "e=e+s+o.id}return e}"
TOLD_APART = 'e=e+s+o.id+","}return e}'


def mended(worker: str) -> str:
    """The worker's text with the one change. Raises ValueError when the place is not there exactly once."""
    if worker.count(AMBIGUOUS) != 1:
        raise ValueError(f"`{AMBIGUOUS}` stands {worker.count(AMBIGUOUS)} times in the theme's search worker, not once")
    return worker.replace(AMBIGUOUS, TOLD_APART)


def on_post_build(config: MkDocsConfig) -> None:
    """Called by MkDocs when the site is written."""
    workers = list(Path(config.site_dir, "assets/javascripts/workers").glob("search.*.min.js"))
    if len(workers) != 1:
        raise PluginError(f"the theme has {len(workers)} search workers, not one: see tools/search_worker.py")
    try:
        workers[0].write_text(mended(workers[0].read_text()))
    except ValueError as error:
        raise PluginError(f"{error}: see tools/search_worker.py") from error
