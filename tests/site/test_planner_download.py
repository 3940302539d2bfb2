"""planner.pyz goes out with the site, and runs."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

from tools.planner_pyz import archive


def test_the_downloaded_file_is_the_one_built_from_the_sources_and_answers(site: str, tmp_path: Path) -> None:
    with urllib.request.urlopen(f"{site}assets/planner.pyz") as answer:
        content = answer.read()
    assert content == archive()
    (tmp_path / "planner.pyz").write_bytes(content)
    words = [sys.executable, "-I", "-S", "planner.pyz", "llama-3.1-8b", "--gpu", "rtx-4090", "--max-model-len", "8k"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, env={"PATH": os.environ["PATH"]}, check=False
    )
    assert done.returncode == 0 and "GPU KV cache size: " in done.stdout
