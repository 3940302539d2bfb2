"""The profile run of a model under given settings, from its config: vLLM 0.26.0's."""

from __future__ import annotations

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import AttentionCache, ModelConfig
from snippets.planner.engine_args import EngineArgs
from snippets.planner.memory.capture import num_graphs
from snippets.planner.memory.parts import card_kind
from snippets.planner.memory.profile_run import INDEXER_LOGITS_BYTES, ProfileRun, Sampler
from snippets.planner.resolved import Resolved
from snippets.planner.settings.batching import uses_v2_model_runner

USUAL_MLP = 4  # times the hidden size, where the config names none or it differs by layer
ELEMENT_BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
MOE_SIZES = ("moe_intermediate_size", "expert_intermediate_size", "ffn_hidden_size")  # of one expert
PER_TOKEN = ("num_experts_per_tok", "experts_per_token", "moe_topk", "moe_k", "top_k_experts")
SHARED_SIZES = ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size")
SHARED_COUNTS = ("n_shared_experts", "num_shared_experts")
DENSE_LAYERS = ("first_k_dense_replace", "mlp_only_layers", "moe_layer_start_index", "num_dense_layers")
MLA_CONTEXT_TOKENS = 64 * 1024  # model_executor/layers/attention/mla_attention.py
DATA_CENTRE = (9, 10)  # major compute capabilities with multicast between cards: Hopper, data-centre Blackwell


def profile_run(config: ModelConfig, args: EngineArgs, resolved: Resolved, pp_rank: int | None = None) -> ProfileRun:
    """What vLLM runs before it makes the cache: on that pipeline stage, or without one where it takes most."""
    v2 = uses_v2_model_runner(config, args)
    tp = args.tensor_parallel_size
    draft = args.speculative.num_speculative_tokens if args.speculative else 0
    graphs = num_graphs(resolved.max_num_seqs, resolved.max_num_batched_tokens, draft)
    per_token, expert, dense = _experts(config)
    has_indexer = any(c.kind == "indexer" for layer in config.layers for c in layer if isinstance(c, AttentionCache))
    sampler: Sampler = "none" if config.is_pooling else "v2" if v2 else "v1"
    return ProfileRun(
        max_num_batched_tokens=resolved.max_num_batched_tokens,
        max_num_seqs=resolved.max_num_seqs,
        hidden_size=config.hidden_size,
        intermediate_size=dense,
        vocab_size=config.vocab_size or 0,
        num_layers=-(-len(config.layers) // args.pipeline_parallel_size),
        sampler=sampler,
        element_bytes=ELEMENT_BYTES.get(resolved.dtype, 2),
        tensor_parallel_size=tp,
        pipeline_parallel_size=args.pipeline_parallel_size,
        is_last_stage=pp_rank is None or pp_rank == args.pipeline_parallel_size - 1,
        experts_per_token=per_token,
        moe_intermediate_size=expert if args.enable_expert_parallel else expert // tp,
        indexer_tokens=resolved.max_model_len if has_indexer else 0,
        attention_bytes=INDEXER_LOGITS_BYTES if has_indexer else _mla_context_bytes(config, args, resolved),
        residual_streams=_first(config, ("hc_mult",)) or 1,
        profiles_encoder=config.is_multimodal and not v2,  # the V2 runner does not (v1/worker/gpu/mm/encoder_cache.py)
        has_gdn=any(cache.kind == "gdn" for layer in config.layers for cache in layer),
        num_graphs=0 if v2 or not resolved.uses_cuda_graphs else graphs,
    )


def kind_of_card(gpu: Gpu, args: EngineArgs) -> str:
    """Which non-torch memory applies. A card of unknown capability counts as one without large buffers."""
    experts_apart = args.data_parallel_size if args.enable_expert_parallel else 1
    many = args.tensor_parallel_size * experts_apart  # stages of a pipeline only hand on: no such buffers
    is_sm90 = gpu.vendor == "nvidia" and gpu.compute_capability[0] in DATA_CENTRE
    return card_kind(is_sm90, many, gpu.unified_memory)


def _experts(config: ModelConfig) -> tuple[int, int, int]:
    """Experts per token, intermediate size of one, and of the dense or shared MLP beside them."""
    dense = config.intermediate_size or 0
    per_token = _first(config, PER_TOKEN)
    if not config.num_experts or not per_token:  # some classes default to experts that no layer has (Nemotron-H)
        return 0, 0, dense or USUAL_MLP * config.hidden_size
    expert = _first(config, MOE_SIZES)
    shared = _first(config, SHARED_SIZES) or _first(config, SHARED_COUNTS) * expert
    has_dense = any(config.text_fields.get(name) for name in DENSE_LAYERS)
    return per_token, expert or dense, max(shared, dense if has_dense else 0)


def _mla_context_bytes(config: ModelConfig, args: EngineArgs, resolved: Resolved) -> int:
    """MLA expands cached context before a prefill attends to it: keys and values of up to 64K tokens at once.

    model_executor/layers/attention/mla_attention.py `determine_chunked_prefill_workspace_size` and `forward_impl`.
    """
    if not config.use_mla:
        return 0
    block = resolved.max_num_seqs * resolved.block_size
    tokens = max(min(max(8 * resolved.max_model_len, 4 * block), MLA_CONTEXT_TOKENS), block)
    heads = config.num_attention_heads // args.tensor_parallel_size
    per_head = _first(config, ("qk_nope_head_dim",)) + _first(config, ("v_head_dim",))
    return tokens * heads * per_head * ELEMENT_BYTES.get(resolved.dtype, 2)


def _first(config: ModelConfig, names: tuple[str, ...]) -> int:
    """The first of the fields that is a whole number above zero, or 0."""
    for name in names:
        value = config.text_fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
    return 0
