"""The traffic assumed until somebody gives their own, in tokens: one set for the page and the command."""

from __future__ import annotations

PROMPT_TOKENS = 1024
PROMPT_DEVIATION = 512
OUTPUT_TOKENS = 256
OUTPUT_DEVIATION = 256
SHARED_PREFIX_TOKENS = 0
