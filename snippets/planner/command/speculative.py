"""--speculative-config, its dotted and its split forms, as the part that changes memory."""

from __future__ import annotations

import argparse

from snippets.planner.command.errors import UsageError
from snippets.planner.command.numbers import MOST_DRAFTED_TOKENS
from snippets.planner.command.read_input import Input, read_model
from snippets.planner.engine_args import SpeculativeConfig
from snippets.planner.mtp import NAMES, method_in_force, n_predict

SPLIT = {"spec_method": "method", "spec_model": "model", "spec_tokens": "num_speculative_tokens"}
# They change nothing that is kept in memory between steps.
PASSED_OVER = {
    *("prompt_lookup_max", "prompt_lookup_min", "disable_padded_drafter_batch", "use_local_argmax_reduction"),
    *("rejection_sample_method", "synthetic_acceptance_rates", "synthetic_acceptance_length", "draft_sample_method"),
    *("suffix_decoding_max_tree_depth", "suffix_decoding_max_cached_requests", "suffix_decoding_max_spec_factor"),
    *("suffix_decoding_min_token_prob", "revision", "code_revision", "moe_backend", "enforce_eager"),
}
READ = {"method", "model", "num_speculative_tokens"}


def speculative(values: argparse.Namespace) -> tuple[SpeculativeConfig | None, Input | None]:
    """(the setting, the drafter that was read). Raises UsageError."""
    given: dict[str, object] = dict(values.speculative_config or {})
    for name, key in SPLIT.items():
        value = getattr(values, name)
        if value is not None and key in given:  # engine/arg_utils.py create_speculative_config
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} and --speculative-config['{key}'] are mutually exclusive.")
        if value is not None:
            given[key] = value
    if not given:
        return None, None
    if unknown := sorted(set(given) - READ - PASSED_OVER):
        raise UsageError(f"--speculative-config: {', '.join(unknown)} is not planned for. Read are {', '.join(READ)}.")
    model = given.get("model")
    drafter = read_model(str(model)) if model is not None else None
    method = _method(given.get("method"), drafter)
    tokens = _tokens(given.get("num_speculative_tokens"), method, drafter)
    return SpeculativeConfig(method, tokens, drafter.config if drafter else None), drafter


def _tokens(given: object, method: str, drafter: Input | None) -> int:
    """The number as given; without one what a drafter's config says (config/speculative.py:973)."""
    if given is None and drafter is not None and method_in_force(method, drafter.config) == "mtp":
        given = n_predict(drafter.config) or None
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= MOST_DRAFTED_TOKENS:
        raise UsageError(
            f"--speculative-config: num_speculative_tokens must be a whole number from 1 to {MOST_DRAFTED_TOKENS:,}."
        )
    return given


def _method(method: object, drafter: Input | None) -> str:
    """The method as given; without one vLLM reads it off the drafter (config/speculative.py __post_init__)."""
    if drafter is None:
        if method is None:
            raise UsageError("--speculative-config: give a method, or a model to read it from.")
        return str(method)
    if method is not None and method != "draft_model" and method not in NAMES:
        return str(method)
    name = drafter.name.lower()
    for known in ("eagle3", "eagle", "medusa"):
        if known in name or known in drafter.config.model_type:
            return known
    return "draft_model" if method is None else str(method)
