"""The frame of every lab: the box is checked, the run is done, and whatever happens ends in one sentence."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from parts.box import check_cards, check_disk, check_out, installed_vllm
from parts.child import Task, ask_child, be_child
from parts.record import Record
from parts.shape import CONFIG_KEYS
from parts.stop import explain


def log_of(args: argparse.Namespace) -> Path:
    """Where the engine's whole output goes: beside the result."""
    return Path(args.out).with_suffix(".log")


def silent(kind: str, data: Any) -> None:
    """For a task that tells nothing on the way."""


def open_lab(lab: str, lab_version: int, args: argparse.Namespace, models: list[str]) -> tuple[dict[str, Any], Record]:
    """Check what there is to run on, then make the result or take up one that was begun."""
    version = installed_vllm(args.any_version)
    check_out(args.out)
    check_disk(models)
    asked = {"models": models, "model": models[0], "config_keys": CONFIG_KEYS, "debug": args.debug}
    box, _ = ask_child("box", asked, log_of(args), silent)
    check_cards(box["card"], args.gpu_memory_utilization, args.tensor_parallel_size)
    return box, Record(args.out, lab, lab_version, version, box, args.quick)


def lab_main(
    lab: str,
    made: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], int],
    tasks: dict[str, Task],
    argv: list[str] | None,
) -> int:
    """What `main` does: the status of the run, 1 with one sentence after a failure, 130 after Ctrl-C."""
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == ["--child"]:
        return be_child(tasks, *given[1:])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "¥" must not stop the lab
    args = made.parse_args(given)
    try:
        for sign in (signal.SIGTERM, signal.SIGHUP):  # a closed SSH session ends the lab as Ctrl-C does
            signal.signal(sign, signal.default_int_handler)
        return run(args)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
        kept = (
            f"; finished settings are in {args.out}, and the lab goes on from there" if Path(args.out).exists() else ""
        )
        print(f"\n{lab}: stopped, the engine is ended and its memory free{kept}", file=sys.stderr)
        return 130
    except Exception as error:
        if args.debug:
            raise
        print(f"\n{lab}: {explain(error, 'the model')}", file=sys.stderr)
        return 1
