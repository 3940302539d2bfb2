"""Ours against vLLM 0.26.0: `make oracle`. Runs `compare(oracle_python) -> Tally` of the files beside this one.

usage: PYTHONPATH=. python tests/oracle/compare.py ORACLE_PYTHON [NAME…]
NAME is "spec", "held", …: only these `*_compare.py` run. Exit status 1 when a case differs.
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
        module = importlib.import_module(path.stem)
        if not hasattr(module, "compare"):
            continue
        tally = module.compare(Path(oracle_python))
        print(f"{tally.report()} ({time.monotonic() - started:.0f} s)", flush=True)
        print(*tally.different, sep="\n")
        different += len(tally.different)
    print(f"different: {different}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
