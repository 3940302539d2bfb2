"""`make labs-gpu`: every lab on a real card, with time and cost so far, a limit, and one archive to send back.

usage: python -m tools.labs_gpu [--limit-yuan 5] [--price 1.88] [--quick] [LAB...]

Run with the Python that has vLLM. A second run goes on where the first one stopped. What is printed as cost is time
times the price given: start-up of the machine, disk and traffic are not in it.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
import time
from pathlib import Path

from tools.lab_index import ordered
from tools.lab_runs import PATIENCE, ROOT, Ran, report, run_lab

RESULTS = ROOT / ".cache/labs-gpu"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "labs_gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = made.add_argument
    add("labs", nargs="*", metavar="LAB", help=f"default: {' '.join(ordered())}")
    add("--limit-yuan", type=float, default=5.0, help="stop when so much is spent (default: %(default)s)")
    add("--price", type=float, default=1.88, help="yuan an hour; look at today's (default: %(default)s)")
    add("--quick", action="store_true", help="the shortest run of each lab")
    return made


def pack(folder: Path) -> Path:
    """One archive with every result and log."""
    archive = folder / "labs-gpu-results.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        for path in sorted(folder.glob("*.result.*")):
            packed.add(path, path.name)
    return archive


def main(argv: list[str]) -> int:
    made = parser()
    args = made.parse_args(argv)
    wanted = args.labs or ordered()
    if unknown := set(wanted) - set(ordered()):
        made.error(f"there is no lab {', '.join(sorted(unknown))}; there are: {', '.join(ordered())}")
    if not (args.price > 0 and args.limit_yuan > 0):
        made.error("--price and --limit-yuan must be above 0")
    RESULTS.mkdir(parents=True, exist_ok=True)
    start, limit = time.monotonic(), args.limit_yuan / args.price * 3600
    ran: list[Ran] = []
    try:
        for lab in wanted:
            spent = time.monotonic() - start
            left = limit - spent - PATIENCE  # an interrupted lab needs time to end its engine
            print(f"\n=== {lab} === {money(spent, args.price)} so far, limit ¥{args.limit_yuan:.2f}", flush=True)
            if left <= 0:
                print(f"the limit is reached: {lab} was not started; raise --limit-yuan and run this again", flush=True)
                break
            ran.append(run_lab(sys.executable, lab, ["--quick"] if args.quick else [], RESULTS, left))
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
    status = report(ran) if ran else 1
    status = status or (0 if len(ran) == len(wanted) else 1)
    print(f"\n{money(time.monotonic() - start, args.price)}; send back: {pack(RESULTS)}")
    return status


def money(seconds: float, price: float) -> str:
    return f"{seconds / 60:.1f} min, about ¥{seconds / 3600 * price:.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
