"""A rented box that is not there: commands on a PATH of their own, for tests of labs/autodl.sh."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "labs/autodl.sh"
REAL = ("awk", "bash", "cat", "chmod", "cp", "date", "dirname", "find", "gzip", "head", "mkdir", "rm", "sed", "sort")
MORE = ("tail", "tar", "tee", "touch", "tr")
CARD = "NVIDIA GeForce RTX 4090, 580.65.06, 24564, 24080"

# A Python that makes environments like itself; what pip installed it notes in a file.
PYTHON = """#!/usr/bin/env bash
root=$(dirname "$(dirname "$0")") words="$*"
case $words in
  *ensurepip*) exit "${FAKE_PYTHON_UNFIT:-0}" ;;
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  *importlib.metadata*) cat "$root/vllm" 2>/dev/null ;;
  "-m pip install"*) echo "pip $PIP_INDEX_URL $*" >>"$FAKE_LOG"; [ -z "${FAKE_PIP_FAILS:-}" ] || exit 1
    tool=modelscope
    case $words in *vllm==*) tool=hf && echo "${words##*vllm==}" >"$root/vllm" ;; esac
    cp "$FAKE_TOOLS/fetcher" "$root/bin/$tool" ;;
  *) echo "ran $*" ;;
esac
"""
FETCHER = """#!/usr/bin/env bash
echo "${0##*/} ${HF_ENDPOINT:-} $*" >>"$FAKE_LOG"
[ -z "${FAKE_FETCH_FAILS:-}" ] || exit 1
name="${*: -1}"
folder=$MODELSCOPE_CACHE
[ "${0##*/}" != hf ] || folder=$HF_HOME/hub/models--${name//\\//--}/snapshots/abc
mkdir -p "$folder" && echo '{}' >"$folder/config.json"
"""


class Box:
    """A box with a data disk, a card and the usual commands; a test takes away or changes what it is about."""

    def __init__(self, root: Path) -> None:
        self.root, self.tools, self.log = root, root / "tools", root / "log"
        self.home = root / "box"
        self.disk = self.home / "autodl-tmp"
        for folder in (self.tools, self.home, self.disk):
            folder.mkdir()
        for name in REAL + MORE:
            found = shutil.which(name)
            assert found, name
            (self.tools / name).symlink_to(found)
        self.environment: dict[str, str] = {}
        self.free_gb(50)
        self.card(CARD)
        self.command(
            "uname", 'case $1 in -s) echo "${FAKE_SYSTEM:-Linux}" ;; *) echo "${FAKE_MACHINE:-x86_64}" ;; esac'
        )
        self.command("tmux", 'echo "tmux $*" >>"$FAKE_LOG"; [ "$1" != has-session ] || exit "${FAKE_SESSION:-1}"')
        self.command("shutdown", 'echo "shutdown $*" >>"$FAKE_LOG"')
        self.command("cc", "true")
        self.write("python3.12", PYTHON)
        self.write("fetcher", FETCHER)

    @property
    def dir(self) -> Path:
        """Where the script puts everything on AutoDL."""
        return self.disk / "llm-labs"

    def write(self, name: str, text: str) -> None:
        path = self.tools / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def command(self, name: str, body: str) -> None:
        self.write(name, f"#!/usr/bin/env bash\n{body}\n")

    def free_gb(self, gb: int) -> None:
        """What df says is free, in GB of 10^9 bytes."""
        kb = gb * 10**9 // 1024 + 1
        self.command(
            "df", f"printf 'Filesystem 1024-blocks Used Available Capacity Mounted\\n/dev/x 1 1 {kb} 1%% /\\n'"
        )

    def not_autodl(self) -> None:
        """A box of someone else's, which has no such data disk."""
        self.disk.rmdir()

    def card(self, line: str) -> None:
        self.command("nvidia-smi", f"printf '%s\\n' '{line}'")

    def lab(self, name: str = "serve_kv") -> None:
        """A lab in the folder that the script is called from."""
        (self.home / f"{name}.py").write_text("print('a lab')\n", encoding="utf-8")

    def results(self, name: str = "serve_kv.result.json") -> None:
        (self.dir / "results").mkdir(parents=True, exist_ok=True)
        (self.dir / "results" / name).write_text("{}", encoding="utf-8")

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        """A copy of the script, as it lies alone on a box."""
        alone = self.home / "autodl.sh"
        shutil.copy(SCRIPT, alone)
        bash = shutil.which("bash")
        assert bash
        environment = {
            "PATH": str(self.tools),
            "HOME": str(self.home),
            "FAKE_LOG": str(self.log),
            "FAKE_TOOLS": str(self.tools),
            **self.environment,
        }
        return subprocess.run(
            [bash, str(alone), *argv], cwd=self.home, capture_output=True, text=True, env=environment, timeout=30
        )

    def called(self) -> list[str]:
        """What the script had others do, in order."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def without(self, name: str) -> None:
        os.remove(self.tools / name)
