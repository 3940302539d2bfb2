"""Programs that run where they are shown."""

import subprocess
import sys

import pytest

from snippets.widgets.program import PROGRAMS, run_program
from snippets.widgets.program_html import program_html


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_button_prints_what_the_command_line_prints(name: str) -> None:
    command = [sys.executable, "-m", f"snippets.{name}"]
    assert run_program(name)["printed"] == subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_nothing_else_can_be_run() -> None:
    for name in ("os", "figures", "kv_cache_size; import os", ""):
        with pytest.raises(ValueError, match="there are: kv_cache_size"):
            run_program(name)
        with pytest.raises(ValueError, match="there are: kv_cache_size"):
            program_html(name)
