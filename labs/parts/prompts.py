"""Prompts from a seed, as token ids: the same on every machine, and no two alike unless asked."""

from __future__ import annotations

import random


def seeded_tokens(seed: str, length: int, low: int = 300, high: int = 500) -> list[int]:
    """Token ids from `low` to below `high`; ordinary tokens of Qwen2.5's vocabulary and of a tiny model's 512."""
    made = random.Random(seed)
    return [made.randrange(low, high) for _ in range(length)]
