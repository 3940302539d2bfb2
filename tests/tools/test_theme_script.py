"""The theme's script with its one change, which must find its place."""

from __future__ import annotations

from pathlib import Path

import material  # type: ignore[import-untyped]
import pytest

from tools import theme_script

THEIRS = next(Path(material.__file__).parent.glob("templates/assets/javascripts/bundle.*.min.js")).read_text()


def test_the_script_of_the_pinned_theme_has_the_place_once() -> None:
    changed = theme_script.mended(THEIRS)
    assert changed.replace(theme_script.ON_USE, theme_script.AT_ONCE) == THEIRS != changed


def test_another_theme_stops_the_build() -> None:
    with pytest.raises(ValueError, match="stands 0 times"):
        theme_script.mended("document.forms")
