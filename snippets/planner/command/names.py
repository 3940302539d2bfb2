"""Names of the catalog as people type them: any case, with or without dashes, a repository or the end of one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import Gpu, gpus
from snippets.planner.command.numbers import shown

MOST_NEAR = 4
LEAST_TYPED = 3  # one or two letters stand in half of all names


def find_card(typed: str) -> Gpu | None:
    """The card of that key or name; None where there is none, or more than one."""
    key = _one({key: (key, card.name) for key, card in gpus().items()}, typed)
    return gpus()[key] if key else None


def find_model(typed: str) -> str | None:
    """The key of a model by its key, its repository on Hugging Face, or that repository without the owner."""
    named = {
        key: (key, entry.repository, entry.repository.rpartition("/")[2]) for key, entry in config_entries().items()
    }
    return next((key for key in named if key == typed), None) or _one(named, typed)


def unknown_card(typed: str) -> str:
    """What to do about a card that is not in the catalog."""
    near = _near({key: (key, card.name) for key, card in gpus().items()}, typed)
    return (
        f"{shown(typed)} is not one card of the catalog.{_hint(near)} --list-gpus shows all; --total-gib X stands for "
        "any other card, of X GiB."
    )


def unknown_model(typed: str) -> str:
    """What to do about a model that is neither a file nor in the catalog."""
    entries = config_entries()
    near = _near({key: (key, entry.repository) for key, entry in entries.items()}, typed)
    hint = _hint([f"{key} ({entries[key].repository})" for key in near])
    said = f"{shown(typed)} is neither a file nor a model of the catalog (--list-models).{hint}"
    if re.fullmatch(r"\w[\w.-]{0,95}/\w[\w.-]{0,95}(?<!\.json)", typed, re.ASCII):
        said += f" Nothing is fetched: save https://huggingface.co/{typed}/raw/main/config.json and give that file."
    return said


def _plain(name: str) -> str:
    """1.3 and 13 stay apart."""
    return "".join(letter for letter in name.lower() if letter.isalnum() or letter == ".")


def _one(named: Mapping[str, Iterable[str]], typed: str) -> str | None:
    wanted = _plain(typed)
    found = [key for key, names in named.items() if wanted and wanted in map(_plain, names)]
    return found[0] if len(found) == 1 else None


def _near(named: Mapping[str, Iterable[str]], typed: str) -> list[str]:
    """Keys whose names hold what was typed, else those spelled most alike."""
    wanted = _plain(typed[:200])
    plain = {_plain(name): key for key, names in named.items() for name in names}
    if len(wanted) >= LEAST_TYPED:
        inside = list(dict.fromkeys(key for name, key in plain.items() if wanted in name))
        if inside:
            return inside[:MOST_NEAR]
    alike = get_close_matches(wanted, plain, n=MOST_NEAR, cutoff=0.5)
    return list(dict.fromkeys(plain[name] for name in alike))


def _hint(names: list[str]) -> str:
    return f" Near it: {', '.join(names)}." if names else ""
