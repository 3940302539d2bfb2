"""A Run button for a program that stands on the page."""

from __future__ import annotations

from snippets.widgets.html import BUTTON_WORDS, WORDS
from snippets.widgets.markup import tag
from snippets.widgets.program import PROGRAMS


def program_html(name: str) -> str:
    """A Run button for a program that stands above it on the page."""
    if name not in PROGRAMS:
        raise ValueError(f"There is no program {name!r}; there are: {', '.join(PROGRAMS)}.")
    words = {f"data_{key}": WORDS[key] for key in BUTTON_WORDS}
    return tag(
        "div",
        tag(
            "run-program",
            tag("button", "Run it here", type="button", disabled=True),
            tag("span", role="status", class_="program-state", data_done="Printed just now by {python}.", **words),
            tag("pre", tabindex="0", role="region", aria_label="What it printed", hidden=True),
            tag("noscript", tag("p", "Running it here needs JavaScript; what it prints stands below.")),
            name=name,
        ),
        class_="program",
    )
