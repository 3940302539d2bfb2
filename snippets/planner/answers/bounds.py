"""The most a layout can do: tokens a second by reading and by arithmetic, and the least a million tokens can cost.

    a step takes at least   max(bytes read / bandwidth,  operations / (operations a second))

with the vendor's peaks, which no program reaches. So a rate made from it is an upper bound and a cost a lower one, and
neither is a forecast. What is not known of a card is named, and no number stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.answers.asked import AnswerError, at_least
from snippets.planner.answers.step_work import (
    RankWeights,
    attention_flops,
    cache_bytes_read,
    prompt_attention_flops,
    rank_weights,
    sparse_tokens_of,
)
from snippets.planner.engine_args import EngineArgs
from snippets.planner.resolved import Resolved
from snippets.planner.settings.dtypes import SIXTEEN_BIT
from snippets.units import GB

_HOUR = 3600  # seconds
_MILLION = 10**6
SIXTEEN_BIT_ARITHMETIC = ("awq", "gptq", "auto_awq", "auto_gptq", "awq_marlin", "gptq_marlin", "bitsandbytes", "gguf")
EIGHT_BIT_FLOAT_ARITHMETIC = ("fp8", "modelopt")
FP8_UNITS = (8, 9)  # the first compute capability that has them; below, FP8 weights are widened to 16 bits (Marlin)

FORMATS = {"gpt_oss_mxfp4": "MXFP4", "mxfp4": "MXFP4", "fp8": "FP8", "modelopt": "FP8", "modelopt_fp4": "NVFP4"}


@dataclass(frozen=True)
class Server:
    """What is asked about: a model on cards, its settings and its weights, one RankWeights per pipeline stage."""

    config: ModelConfig
    gpu: Gpu
    args: EngineArgs
    resolved: Resolved
    weights: Sequence[RankWeights]

    @classmethod
    def of(cls, config: ModelConfig, gpu: Gpu, args: EngineArgs, resolved: Resolved) -> Server:
        """With weights counted from the config. Raises what rank_weights() raises."""
        return cls(config, gpu, args, resolved, rank_weights(config, args, gpu))

    @property
    def num_cards(self) -> int:
        """Of all replicas."""
        args = self.args
        return args.tensor_parallel_size * args.pipeline_parallel_size * args.data_parallel_size


@dataclass(frozen=True)
class DecodeBound:
    """Decoding `batch` requests of `context_tokens` in each replica. Rates are upper bounds, times lower bounds.

    Of a mixture of experts: whatever the tokens choose. `even_routing` is the same where they choose evenly, which is
    what to expect and no bound.
    """

    batch: int
    context_tokens: int
    step_seconds: float | None  # None: the card's bandwidth is not known
    reading_seconds: float | None
    computing_seconds: float | None  # None: the rate of its arithmetic is not known, and is left out of step_seconds
    tokens_per_second: float | None  # all replicas together
    tokens_per_second_per_request: float | None
    weight_bytes: float  # read per step by a rank of the fullest stage
    cache_bytes: float
    not_known: tuple[str, ...]  # facts of the card that are missing
    tokens_per_step: int = 1  # of a request: with a drafter also all it drafted, if all are accepted
    shared_tokens: int = 0  # of each context, read once for all requests
    even_routing: DecodeBound | None = None  # None: no experts to choose from

    @property
    def limited_by(self) -> str:
        """ "reading", "arithmetic", or "" when nothing is known."""
        if self.reading_seconds is None:
            return ""
        return "arithmetic" if (self.computing_seconds or 0.0) > self.reading_seconds else "reading"


@dataclass(frozen=True)
class PrefillBound:
    """Computing a prompt. The rate is an upper bound, the time a lower bound; None: not known."""

    prompt_tokens: int
    seconds: float | None  # of one prompt alone, through all stages
    tokens_per_second: float | None  # all replicas together, stages all busy
    not_known: tuple[str, ...]


def decode_bound(server: Server, batch: int, context_tokens: int, shared_tokens: int = 0) -> DecodeBound:
    """Upper bound of decoding. The first `shared_tokens` of every context lie in the cache once.

    Raises AnswerError for a batch or context below 1 or beyond max_model_len, or a prefix below 0.
    """
    at_least("batch", batch, 1)
    at_least("shared_tokens", shared_tokens, 0)
    _check_length("context_tokens", context_tokens, server)
    bound = _decoding(server, batch, context_tokens, shared_tokens, even_routing=False)
    if not any(weights.num_experts for weights in server.weights):
        return bound
    return replace(bound, even_routing=_decoding(server, batch, context_tokens, shared_tokens, even_routing=True))


def _decoding(server: Server, batch: int, context_tokens: int, shared_tokens: int, even_routing: bool) -> DecodeBound:
    args, resolved, gpu = server.args, server.resolved, server.gpu
    stages, replicas = args.pipeline_parallel_size, args.data_parallel_size
    sparse, shared = sparse_tokens_of(server.config), min(shared_tokens, context_tokens)
    alone = [cache_bytes_read(stage, resolved.limits, context_tokens, sparse) for stage in resolved.stages]
    own = [cache_bytes_read(stage, resolved.limits, context_tokens, sparse, shared) for stage in resolved.stages]
    attention = _attention_flops(server, context_tokens)

    def cache_read(stage: int, requests: float) -> float:
        return alone[stage] + own[stage] * (requests - 1)

    def weights_read(stage: int, requests: float) -> float:
        return server.weights[stage].bytes_for(requests * replicas, even_routing)

    def bytes_read(stage: int, requests: float) -> float:
        return weights_read(stage, requests) + cache_read(stage, requests)

    def operations(stage: int, requests: float) -> float:
        return server.weights[stage].flops_for(requests, replicas) + attention * requests

    flops = _peak_flops(server)
    reading = computing = None
    if gpu.bandwidth_gb_per_s is not None:
        reading = _least(stages, batch, bytes_read) / (gpu.bandwidth_gb_per_s * GB)
    if flops is not None:
        computing = _least(stages, batch, operations) / flops
    step = None if reading is None else max(reading, computing or 0.0)
    # A drafter's own step and the checking of its tokens cost time too; without them the bound still holds.
    tokens = 1 + (args.speculative.num_speculative_tokens if args.speculative else 0)
    fullest = max(range(stages), key=lambda stage: bytes_read(stage, batch))
    return DecodeBound(
        batch=batch,
        context_tokens=context_tokens,
        step_seconds=step,
        reading_seconds=reading,
        computing_seconds=computing,
        tokens_per_second=None if step is None else replicas * batch * tokens / step,
        tokens_per_second_per_request=None if step is None else tokens / step,
        weight_bytes=weights_read(fullest, batch),
        cache_bytes=cache_read(fullest, batch),
        not_known=_not_known(server),
        tokens_per_step=tokens,
        shared_tokens=shared,
    )


def prefill_bound(server: Server, prompt_tokens: int) -> PrefillBound:
    """Upper bound of computing prompts, from their arithmetic alone."""
    _check_length("prompt_tokens", prompt_tokens, server)
    flops, args = _peak_flops(server), server.args
    if flops is None:
        return PrefillBound(prompt_tokens, None, None, _not_known(server))
    attention = 0.0
    if _attends_in_16_bits(server):
        attention = prompt_attention_flops(
            server.config, prompt_tokens, args.tensor_parallel_size, args.pipeline_parallel_size
        )
    alone = [(weights.prompt_flops(prompt_tokens) + attention) / flops for weights in server.weights]
    replicas = args.data_parallel_size
    busy = [(weights.prompt_flops(prompt_tokens, replicas) + attention) / flops for weights in server.weights]
    return PrefillBound(prompt_tokens, sum(alone), replicas * prompt_tokens / max(busy), _not_known(server))


def cost_per_million_tokens(server: Server, bound: DecodeBound, price_per_card_hour: float) -> float | None:
    """Lower bound, in the currency of the price; None when no rate is known. Prompts cost extra."""
    at_least("price_per_card_hour", price_per_card_hour, 0)
    if bound.tokens_per_second is None:
        return None
    return price_per_card_hour * server.num_cards / (bound.tokens_per_second * _HOUR) * _MILLION


def _least(stages: int, batch: int, work_of: Callable[[int, float], float]) -> float:
    """Least work, one after the other, until each request of a pipeline has got a token.

    The batch can be cut into up to `stages` parts that follow each other: a part passes through all stages, and a stage
    works on all parts. The best number of parts counts.
    """
    found = []
    for parts in range(1, min(stages, batch) + 1):
        work = [work_of(stage, batch / parts) for stage in range(stages)]
        found.append(max(sum(work), parts * max(work)))
    return min(found)


def _peak_flops(server: Server) -> float | None:
    """Operations a second of one card; None when not known for this model's arithmetic.

    Some matrices of an FP8 checkpoint are computed in 16 bits; with the faster rate for all of them the bound holds.
    """
    rate = _rate(server)
    tflops = None if rate is None else getattr(server.gpu, rate)
    return None if tflops is None else tflops * 10**12


def _rate(server: Server) -> str | None:
    """Which rate of the card bounds the arithmetic; None: a format whose rate the catalog does not have."""
    method = server.resolved.quantization
    if method is None or method in SIXTEEN_BIT_ARITHMETIC:
        return "bf16_dense_tflops"
    if method not in EIGHT_BIT_FLOAT_ARITHMETIC:
        return None
    return "fp8_dense_tflops" if server.gpu.compute_capability >= FP8_UNITS else "bf16_dense_tflops"


def _attends_in_16_bits(server: Server) -> bool:
    """A cache of fewer bits lets attention run on faster units: its operations then bound no time, and are left out."""
    return server.resolved.kv_cache_dtype in SIXTEEN_BIT


def _attention_flops(server: Server, context_tokens: int) -> float:
    """Of one new token on one rank, where they take 16-bit units; else 0, which bounds nothing."""
    args = server.args
    if not _attends_in_16_bits(server):
        return 0.0
    return attention_flops(server.config, context_tokens, args.tensor_parallel_size, args.pipeline_parallel_size)


def in_words(not_known: Sequence[str]) -> str:
    """The facts of `not_known` for a sentence: "the card's memory bandwidth"."""
    words = {
        "bandwidth_gb_per_s": "the card's memory bandwidth",
        "bf16_dense_tflops": "the card's rate of arithmetic",
        "fp8_dense_tflops": "the card's rate of arithmetic in FP8",
    }
    methods = [fact.removesuffix(" tflops") for fact in not_known]
    return " and ".join(
        words.get(method) or f"the card's rate of arithmetic with {FORMATS.get(method, method)} weights"
        for method in methods
    )


def _not_known(server: Server) -> tuple[str, ...]:
    rate = _rate(server)
    facts = ("bandwidth_gb_per_s", *((rate,) if rate else ()))
    missing = [name for name in facts if getattr(server.gpu, name) is None]
    if rate is None:
        missing.append(f"{server.resolved.quantization} tflops")
    return tuple(missing)


def _check_length(field: str, tokens: int, server: Server) -> None:
    at_least(field, tokens, 1)
    if tokens > server.resolved.max_model_len:
        raise AnswerError(field, f"{field} is {tokens:,}, beyond max_model_len = {server.resolved.max_model_len:,}")
