"""The lesson's program, run by a reader."""

from __future__ import annotations

import subprocess
import sys

from conftest import Opens, until


def test_run_it_here_prints_what_the_command_line_prints(site: str, opens: Opens) -> None:
    page = opens(f"{site}lessons/kv-cache/")
    page.click("run-program button")
    until(page, "!document.querySelector('run-program pre').hidden")
    expected = subprocess.run([sys.executable, "-m", "snippets.kv_cache_size"], capture_output=True, text=True).stdout
    assert page.text_content("run-program pre") == expected
    assert "Printed just now by Python 3." in (page.text_content("run-program .program-state") or "")
