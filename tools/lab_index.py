"""All labs as one table, in the order of the site's navigation."""

from __future__ import annotations

import re
from pathlib import Path

from tools.lab_box import lab, names

ROOT = Path(__file__).resolve().parent.parent
HEAD = ("lab", "question")


def in_navigation() -> list[str]:
    """Names of the pages under labs/, in their order, as the labs' files are called."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return [page.replace("-", "_") for page in re.findall(r"labs/([a-z0-9-]+)\.md", text)]


def ordered() -> list[str]:
    """Every lab: those of the navigation first."""
    shown = in_navigation()
    return sorted(names(), key=lambda name: (shown.index(name) if name in shown else len(shown), name))


def table() -> str:
    """Markdown: title and question."""
    found = map(lab, ordered())
    rows = [HEAD, ("---", "---"), *((f"[{one.title}]({one.page}.md)", one.fields["Question"]) for one in found)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
