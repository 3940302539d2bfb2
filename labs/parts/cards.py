"""Memory in use on the cards, asked through nvidia-smi: a question through CUDA would itself take memory there."""

from __future__ import annotations

import subprocess
import time

from parts.stop import Stop


def nvidia_smi(field: str) -> list[str]:
    """One field of every card; empty without nvidia-smi."""
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def used_mib() -> list[int]:
    """MiB in use on every card, asked without touching the cards; empty where there are none."""
    return [int(text) for text in nvidia_smi("memory.used") if text.isdigit()]


def wait_until_free(before: list[int], patience: float = 60, slack_mib: int = 64) -> None:
    """Wait until the cards hold no more than they did before the engine; Stop when they keep holding it."""
    until = time.monotonic() + patience
    while True:
        left = max((now - then for then, now in zip(before, used_mib(), strict=False)), default=0)
        if left <= slack_mib:
            return
        if time.monotonic() > until:
            raise Stop(
                f"{left:,} MiB of the card are still in use after the engine ended: nvidia-smi lists by which program; "
                "end it and run the lab again, it goes on where it stopped"
            )
        time.sleep(1)
