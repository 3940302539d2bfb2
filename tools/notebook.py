"""Notebook pages: mkdocs-jupyter runs the cells, the site's own Markdown makes the page.

mkdocs-jupyter's template brings half a megabyte of styles and scripts from other hosts. The template put in its place
hands over the executed notebook as JSON, and from that one run come the page and the notebook to download.
A cell that fails stops the build; so does a cell that shows anything but printed text.
"""

from __future__ import annotations

import ast
import html
import json
import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any
from urllib.parse import urljoin

import jupytext  # type: ignore[import-untyped]
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs_jupyter.config import settings

from snippets import figures
from tools import kept

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "tools" / "jupyter"
CELL_SECONDS = 120  # a cell that takes longer stops the build
TEMPORARY_BYTES = 70  # a socket's path may have 103 bytes in all on macOS, 107 on Linux
SITE_ONLY = "site-only"  # tag of a cell that the download leaves out
ANSWER = "answer"  # tag of the prose that belongs to the output above it, and is folded with it
REVEAL = "reveal"  # metadata of a code cell whose output is folded: the line to click on

Cell = dict[str, Any]

_FORMAT = re.compile(r"`#!(fig|math) ([^`]+)`")
_FORMULA = re.compile(r"```math\n(.*?)\n```", re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)(#[^)]*)?\)")


@cache
def _own_folder() -> TemporaryDirectory[str]:
    """A folder for Jupyter and IPython, without anybody's personal settings; it goes when the build ends."""
    usual = gettempdir()
    folder = TemporaryDirectory(prefix="notebook-", dir=usual if len(os.fsencode(usual)) <= TEMPORARY_BYTES else "/tmp")
    # Sockets are files in here: nothing goes over the network, and two builds at once do not meet.
    sockets = {"transport": "ipc", "ip": str(Path(folder.name) / "kernel")}
    options = {"KernelManager": sockets, "NotebookClient": {"timeout": CELL_SECONDS}}
    (Path(folder.name) / "jupyter_nbconvert_config.json").write_text(json.dumps(options))
    return folder


def _results(docs: Path) -> Path:
    """Where executed notebooks are kept: the plugin's key is their own text, the folder's what they import and read."""
    texts = [jupytext.read(path) for path in (docs / "notebooks").glob("*.py")]
    code = [cell["source"] for text in texts for cell in text["cells"] if cell["cell_type"] == "code"]
    data = [path for path in kept.files_in(["snippets"]) if path.suffix != ".py"]
    makers = kept.files_in(["tools/jupyter", "tools/notebook.py", "requirements/site.lock"])
    modules = [ROOT / name for name in sorted(modules_of(code))]
    return kept.folder("notebooks", kept.digest_of([*modules, *data, *makers]))


def on_config(config: MkDocsConfig) -> None:
    """Our templates, this folder's snippets, this Python, Jupyter on its own."""
    settings.templates_dir = str(TEMPLATES)
    config.plugins["mkdocs-jupyter"].config["cache_dir"] = str(_results(Path(config.docs_dir)))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ |= {
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([str(ROOT), *filter(None, paths)])),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_CONFIG_DIR": _own_folder().name,
        "JUPYTER_RUNTIME_DIR": _own_folder().name,
        "IPYTHONDIR": _own_folder().name,
    }


def is_notebook(file: File) -> bool:
    """Whether a file of docs/ is the source of a notebook page."""
    return file.src_uri.startswith("notebooks/") and file.src_uri.endswith(".py")


def download_uri(file: File) -> str:
    """Where the notebook to download lies: beside its source."""
    return file.src_uri.removesuffix(".py") + ".ipynb"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Announce the downloads, so that links to them are checked; they are filled after the run."""
    for file in [file for file in files if is_notebook(file)]:
        files.append(File.generated(config, download_uri(file), content=b""))
    return files


def on_page_content(content: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the page and the download from the executed notebook."""
    if not is_notebook(page.file):
        return content
    cells = json.loads(content)["cells"]
    page.markdown = markdown(cells)
    Page.render(page, config, files)  # the plugin has replaced the page's own render
    download = files.get_file_from_path(download_uri(page.file))
    assert download is not None
    download.content_bytes = notebook(cells, page.file, config, files)
    assert page.content is not None
    return page.content


def has_tag(cell: Cell, tag: str) -> bool:
    """Whether a cell carries a tag."""
    return tag in cell["metadata"].get("tags", [])


def markdown(cells: list[Cell]) -> str:
    """The page: prose as it stands, code as a fence, printed text below it, answers folded."""
    parts: list[str] = []
    folded = False
    for number, cell in enumerate(cells, 1):
        if folded and not has_tag(cell, ANSWER):
            parts.append("</details>")
            folded = False
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
            continue
        ticks = "`" * (1 + max((len(run) for run in re.findall("`+", cell["source"])), default=2))
        parts.append(f"{ticks}python\n{cell['source']}\n{ticks}")
        if summary := cell["metadata"].get(REVEAL):
            parts.append(f'<details class="nb-reveal" markdown="1">\n<summary>{html.escape(summary)}</summary>')
            folded = True
        if text := printed(cell, number):
            # Output may be wider than a phone: it scrolls on its own, by keyboard too.
            parts.append(
                f'<pre class="nb-output" tabindex="0" role="group" aria-label="Output">'
                f"{html.escape(text, quote=False)}</pre>"
            )
    return "\n\n".join([*parts, "</details>"] if folded else parts) + "\n"


def printed(cell: Cell, number: int) -> str:
    """What a cell printed; anything else it shows is refused."""
    for output in cell["outputs"]:
        if output["output_type"] != "stream" or output["name"] != "stdout":
            kind = output.get("name", output["output_type"])
            raise PluginError(f"notebook cell {number} shows {kind}, but a page takes printed text only: use print()")
    return "".join(output["text"] for output in cell["outputs"]).rstrip()


def notebook(cells: list[Cell], file: File, config: MkDocsConfig, files: Files) -> bytes:
    """The executed notebook as .ipynb, with the modules it imports, and without times or random ids."""
    kept = [cell for cell in cells if not has_tag(cell, SITE_ONLY)]
    made = [_for_jupyter(cell, file, config, files) for cell in kept]
    made[1:1] = list(_module_cells(cell["source"] for cell in kept if cell["cell_type"] == "code"))
    for number, cell in enumerate(made, 1):
        cell["id"] = f"cell-{number:02}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {
        "cells": made,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()


def _for_jupyter(cell: Cell, file: File, config: MkDocsConfig, files: Files) -> Cell:
    if cell["cell_type"] == "code":
        outputs = [{key: output[key] for key in ("output_type", "name", "text")} for output in cell["outputs"]]
        folded = {"jupyter": {"outputs_hidden": True}} if cell["metadata"].get(REVEAL) else {}
        return _code(cell["source"], cell["execution_count"], outputs, folded)

    def address(match: re.Match[str]) -> str:
        uri = posixpath.normpath(posixpath.join(posixpath.dirname(file.src_uri), match[1]))
        target = files.get_file_from_path(uri)
        if target is None:
            raise PluginError(f"{file.src_uri} links to {match[1]}, which is not among the pages")
        return f"]({urljoin(config.site_url or '', target.url)}{match[2] or ''})"

    def inline(match: re.Match[str]) -> str:
        return f"${match[2].strip()}$" if match[1] == "math" else figures.parse(match[2])[0]

    text = _LINK.sub(address, _FORMAT.sub(inline, _FORMULA.sub(r"$$\1$$", cell["source"])))
    return _prose(f"<details><summary>Why</summary>\n\n{text}\n\n</details>" if has_tag(cell, ANSWER) else text)


def _prose(text: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(text: str, count: int | None = None, outputs: Iterable[Cell] = (), metadata: Cell | None = None) -> Cell:
    shown = {"execution_count": count, "outputs": list(outputs)}
    return {"cell_type": "code", "metadata": metadata or {}, "source": text, **shown}


def _module_cells(code: Iterable[str]) -> Iterator[Cell]:
    """Cells that write the modules the notebook imports, so that it runs anywhere, alone."""
    modules = sorted(modules_of(code))
    if modules:
        yield _prose("The next cells write the modules that this notebook imports into a folder beside it.")
        yield _code('from pathlib import Path\n\nPath("snippets").mkdir(exist_ok=True)')
    for module in modules:
        yield _code(f"%%writefile {module}\n{(ROOT / module).read_text(encoding='utf-8').rstrip()}")


def modules_of(code: Iterable[str]) -> set[str]:
    """Files of snippets/ that the code imports, and those these import."""
    found: set[str] = set()
    waiting = list(code)
    while waiting:
        for name in _imported(waiting.pop()):
            path = f"snippets/{name}.py"
            if "." in name or not (ROOT / path).is_file():
                raise PluginError(f"a notebook to download cannot take along {name}: only modules right in snippets/")
            if path not in found:
                found.add(path)
                waiting.append((ROOT / path).read_text(encoding="utf-8"))
    return found


def _imported(code: str) -> Iterator[str]:
    """Names below snippets that a piece of code imports."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module == "snippets":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            yield from (name.removeprefix("snippets.") for name in names if name.startswith("snippets."))
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (name.removeprefix("snippets.") for name in names if name.startswith("snippets"))
