"""`make labs-cpu`: every lab with --quick against real vLLM 0.26.0 on a CPU, with a tiny model of the real cache shape.

usage: python -m tools.labs_cpu PYTHON [LAB...]

PYTHON is that of the environment with the CPU build, with the tiny model beside it. The status is 1 when a lab fails or
an invariant does not hold. Results stay in .cache/labs-results.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tools.lab_index import ordered
from tools.lab_runs import ROOT, report, run_lab

RESULTS = ROOT / ".cache/labs-results"
OPTIONS = {  # what a lab is given besides, so that its trial run is short
    "kv_knobs": "--max-num-batched-tokens 512 --change max_model_len=4096 gpu_memory_utilization=0.80 "
    "max_num_batched_tokens=1024 block_size=32",
    "decode_roofline": "--max-num-batched-tokens 512 --contexts 256,1024",
    "kv_quality": "--max-num-batched-tokens 512",
}
SECONDS = 1200  # for one lab: two starts take 2 to 3 minutes on two cores


def environment(python: Path) -> dict[str, str]:
    """No network is asked, and the cache gets 1 GiB, whatever else the machine holds."""
    bin_folder = str(python.parent.absolute())  # a lab may start `vllm`
    return dict(os.environ) | {
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
    }


def main(argv: list[str]) -> int:
    python, wanted = Path(argv[0]).absolute(), argv[1:] or ordered()
    if unknown := set(wanted) - set(ordered()):
        print(f"there is no lab {', '.join(sorted(unknown))}; there are: {', '.join(ordered())}", file=sys.stderr)
        return 2
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    model = python.parent.parent / "tiny-model"
    ran = []
    for lab in wanted:
        print(f"\n=== {lab} ===", flush=True)
        options = ["--quick", "--enforce-eager", "--model", str(model)]  # compiling would take minutes
        options += OPTIONS.get(lab, "").split()
        ran.append(run_lab(str(python), lab, options, RESULTS, SECONDS, environment(python)))
        print(f"{lab}: {ran[-1].seconds:.0f} s", flush=True)
    return report(ran)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
