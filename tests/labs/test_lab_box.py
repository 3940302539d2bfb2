"""What a page shows of a lab is what the lab's own file says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tools import assets, lab_box
from tools.lab_box import LabError

ROOT = Path(__file__).resolve().parents[2]
NAMES = lab_box.names()
GOOD = (
    '''# /// script
# requires-python = ">=3.10"
# dependencies = ["vllm==0.26.0"]
# ///
"""One sentence.

'''
    + "\n".join(f"{field}: Some text,\n    and more." for field in lab_box.REQUIRED)
    + '\n"""\n'
)


@pytest.mark.parametrize("name", NAMES)
def test_a_lab_pins_vllm_and_has_every_field(name: str) -> None:
    found = lab_box.lab(name)
    assert found.dependencies == ("vllm==0.26.0",)
    assert found.requires_python == ">=3.10,<3.15"  # what vLLM 0.26.0's wheel asks for
    assert set(found.fields) >= set(lab_box.REQUIRED)


@pytest.mark.parametrize("name", NAMES)
def test_a_lab_has_a_page(name: str) -> None:
    assert (ROOT / "docs/labs" / f"{lab_box.lab(name).page}.md").is_file()


def test_a_field_goes_on_over_indented_lines() -> None:
    assert lab_box.parse("x", GOOD.encode()).fields["Card"] == "Some text, and more."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (GOOD.replace("Cost: ", "Price: "), "labs/x.py: the docstring has no field Cost"),
        (GOOD.replace("# /// script", "# script"), "labs/x.py must begin with a `# /// script` header"),
        (GOOD.replace("# dependencies", "# needs"), "the header needs requires-python and dependencies"),
    ],
)
def test_a_lab_without_what_its_page_needs_is_refused(text: str, reason: str) -> None:
    with pytest.raises(LabError) as caught:
        lab_box.parse("x", text.encode())
    assert reason in str(caught.value)


def test_an_unknown_lab_is_refused_with_those_there_are() -> None:
    with pytest.raises(LabError, match=r"no labs/nothing\.py; there are: .*serve_kv"):
        lab_box.lab("nothing")


def test_the_published_copy_has_the_checksum_on_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "DOCS", tmp_path)
    assets.copies()
    published = (tmp_path / "labs/serve_kv.py").read_bytes()
    assert f"<code>{hashlib.sha256(published).hexdigest()}</code>" in lab_box.lab_box("serve_kv")
    assert hashlib.sha256(published).hexdigest() in lab_box.check_and_run("serve_kv")


def test_the_box_needs_no_inline_style_and_links_from_two_folders_deep() -> None:
    html = lab_box.lab_box("serve_kv")
    assert "style=" not in html
    assert 'href="../../labs/serve-kv/"' in html
    assert 'href="../../labs/serve_kv.py" download' in html
    assert html.startswith("<div ")  # a block element, or Markdown would wrap it in a paragraph


def test_the_box_on_the_labs_own_page_does_not_link_to_that_page() -> None:
    html = lab_box.lab_box("serve_kv", on_own_page=True)
    assert "labs/serve-kv/" not in html
    assert 'href="../../labs/serve_kv.py" download' in html


@pytest.mark.parametrize("name", NAMES)
def test_a_lab_has_one_name(name: str) -> None:
    title = lab_box.lab(name).title
    page = (ROOT / "docs/labs" / f"{lab_box.lab(name).page}.md").read_text(encoding="utf-8")
    assert f"\n# {title}\n" in page
    assert f'title: "{title}"' in page
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"- '{title}': labs/{lab_box.lab(name).page}.md" in navigation


@pytest.mark.parametrize("address", ["https://example.org/serving", "https://example.org/serving/"])
def test_the_command_takes_its_address_from_the_sites(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_URL", address)
    block = lab_box.command_block("serve_kv")
    assert "curl -fsSO https://example.org/serving/labs/serve_kv.py && echo " in block
    assert "sha256sum -c && python serve_kv.py" in block
    assert "scp" not in block


@pytest.mark.parametrize("address", [None, ""])
def test_a_site_without_a_public_address_has_the_file_copied(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SITE_URL", raising=False)
    if address is not None:
        monkeypatch.setenv("SITE_URL", address)
    block = lab_box.command_block("serve_kv")
    assert block.index("(serve_kv.py){ download }") < block.index("scp serve_kv.py HOST:") < block.index("sha256sum -c")
    assert "curl" not in block
    assert "127.0.0.1" not in block


def test_the_python_form_on_the_page_is_valid_and_has_the_labs_settings() -> None:
    tabs = lab_box.settings_tabs("serve_kv")
    python = tabs.partition("```python\n")[2].partition("```")[0]
    compile("\n".join(line[4:] for line in python.splitlines()), "tab", "exec")
    for setting in ("max_model_len=8192", "gpu_memory_utilization=0.9", 'kv_cache_dtype="fp8"', "llm.chat("):
        assert setting in python
    assert "--gpu-memory-utilization 0.90 \\" in tabs
