"""A notebook becomes a page and a download from one run, and shows nothing but printed text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mkdocs.exceptions import PluginError

from tools.notebook import markdown, modules_of, printed


def code(source: str, *outputs: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": metadata}


def prose(source: str, *tags: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {"tags": list(tags)}}


def out(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_printed_text_of_several_outputs_is_joined() -> None:
    assert printed(code("", out("a\n"), out("b\n")), 1) == "a\nb"


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ({"output_type": "stream", "name": "stderr", "text": "a warning"}, "stderr"),
        ({"output_type": "execute_result", "data": {"text/plain": "1"}}, "execute_result"),
        ({"output_type": "display_data", "data": {"text/html": "<b>"}}, "display_data"),
    ],
)
def test_anything_but_printed_text_is_refused_with_the_number_of_the_cell(output: dict[str, Any], kind: str) -> None:
    with pytest.raises(PluginError, match=rf"cell 7 shows {kind}.*print\(\)"):
        printed(code("", output), 7)


def test_page_has_prose_then_code_then_output() -> None:
    page = markdown([prose("# Title"), code("print(1)", out("1\n"))])
    assert page == (
        "# Title\n\n```python\nprint(1)\n```\n\n"
        '<pre class="nb-output" tabindex="0" role="group" aria-label="Output">1</pre>\n'
    )


def test_output_cannot_become_html() -> None:
    assert "&lt;script&gt;&amp;" in markdown([code("", out("<script>&"))])


def test_code_with_a_fence_in_it_gets_a_longer_fence() -> None:
    assert markdown([code('"""\n````\n"""')]).startswith("`````python\n")


def test_answer_is_folded_with_the_output_it_explains() -> None:
    page = markdown([code("f()", out("5"), reveal="Show it"), prose("Because.", "answer"), prose("Next.")])
    fold = page[page.index("<details") : page.index("</details>")]
    assert "<summary>Show it</summary>" in fold
    assert ">5</pre>" in fold
    assert "Because." in fold
    assert "f()" not in fold
    assert "Next." not in fold


def test_fold_at_the_end_is_closed() -> None:
    assert markdown([code("f()", out("5"), reveal="Show it")]).endswith("</details>\n")


def test_modules_of_a_notebook_include_those_its_modules_import() -> None:
    assert modules_of(["import math\nfrom snippets import kv_cache_size\nfrom snippets.sources import load"]) == {
        "snippets/kv_cache_size.py",
        "snippets/sources.py",
    }


def test_modules_of_modules_come_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets" / "upper.py").write_text("from snippets.lower import x\n")
    (tmp_path / "snippets" / "lower.py").write_text("x = 1\n")
    monkeypatch.setattr("tools.notebook.ROOT", tmp_path)
    assert modules_of(["from snippets.upper import x"]) == {"snippets/upper.py", "snippets/lower.py"}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from snippets.catalog.models import model", "catalog.models"),
        ("from snippets.no_such import x", "no_such"),
        ("import snippets", "snippets"),
    ],
)
def test_what_a_download_cannot_take_along_is_refused(code: str, name: str) -> None:
    with pytest.raises(PluginError, match=f"cannot take along {name}: only modules right in snippets/"):
        modules_of([code])
