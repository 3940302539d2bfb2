"""Ours against vLLM 0.26.0's own code: `make oracle`. Runs every `*_compare.py` beside this file.

usage: PYTHONPATH=. python tests/oracle/compare.py ORACLE_PYTHON [NAME…]
Each has `compare(oracle_python) -> Tally`. Exit status 1 when a case differs.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path


def main(oracle_python: str, *names: str) -> int:
    different = 0
    for path in sorted(Path(__file__).parent.glob("*_compare.py")):
        if names and path.stem.removesuffix("_compare") not in names:
            continue
        started = time.monotonic()
        tally = importlib.import_module(path.stem).compare(Path(oracle_python))
        print(f"{tally.report()} ({time.monotonic() - started:.0f} s)", flush=True)
        print(*tally.different, sep="\n")
        different += len(tally.different)
    print(f"different: {different}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
