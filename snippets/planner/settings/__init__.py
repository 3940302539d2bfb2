"""What vLLM 0.26.0 decides between the command line and the KV cache specs; each answer with its source."""

from snippets.planner.settings.lengths import parse_human_int, parse_max_model_len
from snippets.planner.settings.parallel.layout import layout_errors
from snippets.planner.settings.resolve import resolve

__all__ = ["layout_errors", "parse_human_int", "parse_max_model_len", "resolve"]
