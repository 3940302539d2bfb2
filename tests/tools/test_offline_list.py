"""What the copy for use without network holds, and the icons of the installed site."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import struct
import zlib
from pathlib import Path

import pytest

from tools import icons, offline

SITE = Path(__file__).resolve().parents[2] / os.environ.get("SITE", "site")
WORKER = (SITE / offline.WORKER).read_text()
BUILD = json.loads(re.findall(r"^const BUILD = (\{.*\});$", WORKER, re.M)[0])


def test_the_list_of_the_built_site_names_each_page_and_file_with_its_hash() -> None:
    files = BUILD["files"]
    for page in SITE.rglob("index.html"):
        assert page.relative_to(SITE).as_posix().removesuffix("index.html") in files
    for path, said in files.items():
        content = (SITE / path / "index.html" if path.endswith("/") or not path else SITE / path).read_bytes()
        if path == "sitemap.xml":  # the local server writes it anew
            assert said["hash"] == ""
        else:
            assert said["hash"] == "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()


def test_the_list_holds_both_starts_of_python_the_search_and_the_page_for_what_is_missing() -> None:
    files = set(BUILD["files"])
    assert {"", "404.html", "search/search_index.json", "manifest.webmanifest", "assets/python/empty.zip"} <= files
    for pattern in (
        r"assets/python/python-\w+\.bin",
        r"assets/python/snippets-\w+\.zip",
        r"assets/pyodide-[\d.]+/pyodide\.asm\.wasm",
        r"assets/pyodide-[\d.]+/python_stdlib\.zip",
        r"assets/pyodide-[\d.]+/pyodide-lock\.json",
        r"assets/live-\w+/(worker|cell_worker|editor)\.mjs",
        r"assets/javascripts/workers/search\.\w+\.min\.js",
    ):
        assert any(re.fullmatch(pattern, path) for path in files), pattern
    assert not any(path.endswith((".map", ".gz")) or "lunr" in path or path == offline.WORKER for path in files)


def test_only_names_that_change_with_their_content_are_answered_without_asking_the_host() -> None:
    lasting = [path for path, said in BUILD["files"].items() if said["lasting"]]
    assert len(lasting) > 40
    assert all(re.search(r"[-.][0-9a-f]{8,12}[./]|/pyodide-[\d.]+/", path) for path in lasting)
    assert not any(path.endswith((".html", "/")) or path == "" for path in lasting)


def test_another_content_is_another_worker(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("one")
    before = offline.worker(offline.kept_files(tmp_path))
    assert offline.worker(offline.kept_files(tmp_path)) == before
    (tmp_path / "index.html").write_text("two")
    assert offline.worker(offline.kept_files(tmp_path)) != before


def test_sizes_are_in_millions_of_bytes() -> None:
    files = {"": offline.Kept("", 1_400_000, False), "assets/python/a.bin": offline.Kept("", 2_200_000, True)}
    assert offline.megabytes(files) == "4 MB"
    assert offline.megabytes(files, only_python=True) == "2 MB"


def test_the_page_says_the_size() -> None:
    page = (SITE / offline.PAGE).read_text()
    assert not any(place in page + (SITE / offline.SEARCH).read_text() for place in offline.PLACES)
    assert offline.megabytes(offline.kept_files(SITE)) in page


def pixels(image: bytes) -> list[bytes]:
    """The lines of an 8-bit RGBA PNG without filters."""
    width, height, depth, kind = struct.unpack(">IIBB", image[16:26])
    assert (depth, kind, width) == (8, 6, height)
    body = zlib.decompress(image[image.index(b"IDAT") + 4 : image.index(b"IEND") - 8])
    lines = [body[start : start + 1 + 4 * width] for start in range(0, len(body), 1 + 4 * width)]
    assert all(line[0] == 0 for line in lines) and len(lines) == height
    return [line[1:] for line in lines]


def test_the_icon_is_the_drawing() -> None:
    lines = pixels(icons.png(192))  # 8 pixels a unit, so every edge lies between two

    def dot(x: int, y: int) -> tuple[int, ...]:
        """The colour in the middle of a unit."""
        return tuple(lines[y * 8 + 4][x * 32 + 16 : x * 32 + 20])

    assert dot(0, 0) == (255, 255, 255, 0)
    assert dot(5, 5) == (0x2F, 0x6D, 0xB3, 255)
    assert dot(15, 5) == dot(5, 15) == dot(13, 15) == dot(16, 20) == (0xC2, 0x57, 0x0C, 255)
    assert dot(17, 17) == (255, 255, 255, 0)  # the free block


def test_a_mask_cuts_nothing_off() -> None:
    """What is drawn lies within 0.4 of the width from the middle, the part that every mask leaves."""
    size = 192
    lines = pixels(icons.maskable(size))
    drawn = [
        (x, y) for y in range(size) for x in range(size) if lines[y][4 * x : 4 * x + 4] != bytes((255, 255, 255, 255))
    ]
    assert len(drawn) > size * size / 8
    assert max(((x + 0.5 - size / 2) ** 2 + (y + 0.5 - size / 2) ** 2) ** 0.5 for x, y in drawn) <= 0.4 * size


@pytest.mark.parametrize("part", ['<circle r="3"/>', '<path fill="#000000" d="M1 1L2 2z"/>'])
def test_a_drawing_of_other_shapes_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match=r"teach tools/icons\.py"):
        icons.rectangles(f'<svg xmlns="http://www.w3.org/2000/svg">{part}</svg>')
