"""Every drawing on the site: made for two widths, named by its finding, coloured by classes, numbers beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from conftest import SITE

STYLES = next(SITE.glob("assets/site-*.css")).read_text(encoding="utf-8")
DEFINED = set(re.findall(r"\.([a-z][\w-]*)", STYLES))


@dataclass(frozen=True)
class Drawing:
    """One figure as it stands on a page."""

    page: Path
    html: str

    @property
    def svgs(self) -> list[ElementTree.Element]:
        return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg .*?</svg>", self.html, re.S)]

    @property
    def elements(self) -> list[ElementTree.Element]:
        return [element for svg in self.svgs for element in svg.iter()]


def drawings() -> list[Drawing]:
    """All of them, in the order of their pages."""
    found = []
    for page in sorted(SITE.rglob("*.html")):
        figures = re.findall(r'<figure class="figure".*?</figure>', page.read_text(encoding="utf-8"), re.S)
        found += [Drawing(page.relative_to(SITE), figure) for figure in figures]
    assert found, f"no drawing in {SITE}: run `make site`"
    return found


def test_each_is_drawn_for_a_wide_and_for_a_narrow_page() -> None:
    for one in drawings():
        assert [svg.get("width") for svg in one.svgs] == ["680", "320"], one.page


def test_each_is_named_by_a_finding_that_says_something() -> None:
    for one in drawings():
        finding = re.search(r'<strong id="([\w-]+)">([^<]{20,})</strong>', one.html)
        assert finding, one.page
        assert {svg.get("aria-labelledby") for svg in one.svgs} == {finding[1]}, one.page


def test_each_has_its_numbers_as_a_table() -> None:
    for one in drawings():
        assert re.search(r"<table>.*<th scope=\"col\">.*<td>.*</table>", one.html, re.S), one.page


def test_colours_and_type_come_from_classes_that_exist() -> None:
    for one in drawings():
        for element in one.elements:
            assert "style" not in element.keys(), (one.page, element.tag)  # noqa: SIM118
            assert not re.match(r"#|rgb|[a-z]+$", element.get("fill", "")), (one.page, element.attrib)
            assert "stroke" not in element.attrib, (one.page, element.attrib)
            assert set(element.get("class", "").split()) <= DEFINED, (one.page, element.attrib)


def test_coordinates_have_at_most_one_decimal_so_that_every_python_prints_the_same() -> None:
    for one in drawings():
        for element in one.elements:
            for name in ("x", "y", "x1", "y1", "x2", "y2", "width", "height", "cx", "cy", "r", "points", "d"):
                assert not re.search(r"\.\d\d", element.get(name, "")), (one.page, element.attrib)
