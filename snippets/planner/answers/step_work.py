"""What one step makes one rank read and compute: weights once, each request's cache, the arithmetic of each token.

Only what cannot be avoided is counted, so that times made from it are lower bounds: activations, the routing of tokens,
communication between ranks, sampling, and empty slots of blocks are left out. A mixture of experts reads the experts
that its tokens chose: at least those of one token, where all tokens choose alike. Even routing is the usual case: the
expected number of different experts when every one is as likely as another.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import AttentionCache, ModelConfig
from snippets.planner.answers.asked import AnswerError
from snippets.planner.cache.pages import spec_of, unpadded_page_size_bytes
from snippets.planner.engine_args import EngineArgs
from snippets.planner.specs import Limits, Stage
from snippets.planner.weights.use import stage_uses

_MULTIPLY_AND_ADD = 2


@dataclass(frozen=True)
class RankWeights:
    """The weights of one rank in one pipeline stage. Tables that a token only looks a row up in do not count."""

    read_bytes: int  # by every step, whatever the batch; routed experts aside
    parameters: int  # that every token is multiplied with
    head_parameters: int = 0  # of them lm_head's: a prompt needs it for its last token only
    expert_bytes: int = 0  # routed experts on this rank
    expert_parameters: int = 0
    num_experts: int = 0  # routed, per layer, over all ranks
    experts_per_token: int = 0

    def least_expert_share(self) -> float:
        """Share of the experts that any number of tokens reads at least: k/n, when all choose the same k of n."""
        return self.experts_per_token / self.num_experts if self.num_experts else 0.0

    def even_expert_share(self, tokens: float) -> float:
        """Expected share that so many tokens choose when every expert is as likely: 1 - (1 - k/n)^tokens."""
        return float(1 - (1 - self.least_expert_share()) ** tokens)

    def bytes_for(self, tokens: float, even_routing: bool = False) -> float:
        """Weight bytes a step with so many tokens reads: at least, or as expected with even routing.

        `tokens` are those of all ranks that share the experts.
        """
        share = self.even_expert_share(tokens) if even_routing else self.least_expert_share()
        return self.read_bytes + self.expert_bytes * share

    def flops_for(self, tokens: float, replicas: int = 1) -> float:
        """Of all matrices, on this rank; the experts' tokens come from all replicas that share them."""
        used = self.experts_per_token / self.num_experts if self.num_experts else 0.0
        return _MULTIPLY_AND_ADD * tokens * (self.parameters + self.expert_parameters * used * replicas)

    def prompt_flops(self, tokens: int, replicas: int = 1) -> float:
        """Of all matrices for a prompt (for one in each replica), on this rank."""
        return self.flops_for(tokens, replicas) - _MULTIPLY_AND_ADD * self.head_parameters * (tokens - 1)


def rank_weights(config: ModelConfig, args: EngineArgs, gpu: Gpu) -> tuple[RankWeights, ...]:
    """One rank of each pipeline stage. Raises WeightsError when the weights cannot be counted, AnswerError when the
    config does not say how many experts a token uses.
    """
    uses, chosen = stage_uses(config, args, gpu.compute_capability), experts_per_token(config)
    if any(use.num_experts for use in uses) and not chosen:
        raise AnswerError(
            "num_experts_per_tok", "num_experts_per_tok is missing, and what a step reads of the experts depends on it"
        )
    if any(0 < use.num_experts < chosen for use in uses):
        raise AnswerError("num_experts_per_tok", f"a token cannot use {chosen} experts where a layer has fewer")
    return tuple(
        RankWeights(
            read_bytes=use.always.num_bytes,
            parameters=use.always.parameters,
            head_parameters=use.head.parameters,
            expert_bytes=use.routed.num_bytes,
            expert_parameters=use.routed.parameters,
            num_experts=use.num_experts,
            experts_per_token=chosen if use.num_experts else 0,
        )
        for use in uses
    )


def cache_bytes_read(
    stage: Stage, limits: Limits, context_tokens: int, sparse_tokens: int = 0, shared_tokens: int = 0
) -> float:
    """Cache bytes one decode step reads for one request of `context_tokens`, on one rank of the stage.

    Recurrent states are read and written. `sparse_tokens` caps what sparse MLA reads (index_topk); 0: no cap.
    The first `shared_tokens` lie once in the cache for all requests, and are not counted here: what is left is the
    least that each further request adds.
    """
    total = 0.0
    for run in stage:
        spec = spec_of(run.spec)
        if spec is None:
            continue
        page = unpadded_page_size_bytes(spec)
        if run.spec.kind == "mamba":
            total += run.count * 2 * page
            continue
        tokens: float = _attended(run.spec.kind, run.spec.sliding_window, run.spec.attention_chunk_size, context_tokens)
        if run.spec.kind == "cross":
            tokens = limits.max_num_encoder_input_tokens
        elif run.spec.kind == "mla" and sparse_tokens and run.spec.cache_dtype is not None:
            # The indexer's own cache is read whole. The tokens chosen may all lie in the prefix.
            tokens = max(min(tokens, sparse_tokens) - shared_tokens, 0)
        else:
            tokens = min(tokens, max(context_tokens - shared_tokens, 0))
        if run.spec.kind in ("full", "mla", "turboquant"):
            tokens /= limits.decode_context_parallel_size
        total += run.count * page / run.spec.block_size * tokens
    return total


def attention_flops(config: ModelConfig, context_tokens: int, tensor_parallel_size: int, stages: int = 1) -> float:
    """Of one new token on one rank: scores and weighted values over what each layer attends to.

    Stages share the layers; the average stage is counted. MLA decodes with its latents.
    """
    heads = config.num_attention_heads / tensor_parallel_size
    total = 0.0
    for cache in _attentions(config):
        tokens = _attended(cache.kind, cache.sliding_window, cache.attention_chunk_size, context_tokens)
        if cache.kind in ("mla", "sliding_mla"):
            per_pair = 2 * cache.head_size - _rope(config)  # scores over latent and position, values over the latent
            tokens = min(tokens, sparse_tokens_of(config) or tokens)
        else:
            per_pair = cache.head_size + cache.head_size_v
        total += _MULTIPLY_AND_ADD * heads * per_pair * tokens
    return total / stages


def prompt_attention_flops(
    config: ModelConfig, prompt_tokens: int, tensor_parallel_size: int, stages: int = 1
) -> float:
    """Of a whole prompt on one rank: token i attends to at most i others, windows to fewer."""
    heads = config.num_attention_heads / tensor_parallel_size
    total = 0.0
    for cache in _attentions(config):
        window = cache.sliding_window or cache.attention_chunk_size or 0
        if cache.kind in ("mla", "sliding_mla"):
            window = sparse_tokens_of(config)
            per_pair = _number(config, "qk_nope_head_dim") + _rope(config) + _number(config, "v_head_dim")
        else:
            per_pair = cache.head_size + cache.head_size_v
        total += _MULTIPLY_AND_ADD * heads * per_pair * pairs(prompt_tokens, window, cache.kind == "chunked")
    return total / stages


def pairs(tokens: int, window: int = 0, chunked: bool = False) -> int:
    """(query, key) pairs of causal attention over a prompt, with a window or in chunks; 0: neither."""
    if not window or tokens <= window:
        return tokens * (tokens + 1) // 2
    full = window * (window + 1) // 2
    if chunked:
        rest = tokens % window
        return tokens // window * full + rest * (rest + 1) // 2
    return full + (tokens - window) * window


def sparse_tokens_of(config: ModelConfig) -> int:
    """Tokens that sparse MLA reads at most (index_topk); 0 for other models."""
    return _number(config, "index_topk")


def experts_per_token(config: ModelConfig) -> int:
    """Routed experts a token uses, under any of the names configs have for it; 0 when none says."""
    names = ("num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_topk", "moe_top_k")
    return next((value for name in names if (value := _number(config, name))), 0)


def _attended(kind: str, sliding_window: int, attention_chunk_size: int, context_tokens: int) -> int:
    if kind in ("sliding", "sliding_mla"):
        return min(context_tokens, sliding_window)
    if kind == "chunked":
        return context_tokens % attention_chunk_size
    return context_tokens


def _attentions(config: ModelConfig) -> Iterable[AttentionCache]:
    for layer in config.layers:
        for cache in layer:
            if isinstance(cache, AttentionCache) and cache.kind not in ("indexer", "cross", "encoder_only"):
                yield cache


def _rope(config: ModelConfig) -> int:
    return _number(config, "qk_rope_head_dim")


def _number(config: ModelConfig, name: str) -> int:
    value = config.text_fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
