"""Two upper bounds of decoding beside a layout: one request alone, and all that fit, each of full length."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.bounds import Server, decode_bound
from snippets.planner.answers.layouts import Layout
from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights import WeightsError


@dataclass(frozen=True)
class LayoutSpeed:
    """Tokens a second at most, by the vendor's peaks; links between cards cost nothing. None: a fact is missing."""

    alone: float | None  # of one request, one in each replica: latency
    together: float | None  # of all requests that fit, all replicas: throughput


UNKNOWN = LayoutSpeed(None, None)


def speed_of(config: ModelConfig, card: Gpu, args: EngineArgs, row: Layout) -> LayoutSpeed:
    """The bounds of a layout that fits. `args`: the question's; its parallel sizes are replaced by the row's."""
    if row.state != "fits" or row.resolved is None or not row.requests_per_replica or not row.max_model_len:
        return UNKNOWN
    try:
        server = Server.of(config, card, row.args(args), row.resolved)
        one = decode_bound(server, 1, row.max_model_len)
        every = decode_bound(server, int(row.requests_per_replica), row.max_model_len)
    except (AnswerError, ConfigError, WeightsError):
        return UNKNOWN
    return LayoutSpeed(one.tokens_per_second_per_request, every.tokens_per_second)
