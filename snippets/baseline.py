"""The one baseline of the whole site: Qwen2.5-7B-Instruct on one RTX 4090 under vLLM 0.26.0.

Computed, not measured: what else takes memory at start (activations, CUDA context) is the planner's estimate from
start-up logs, a range. It is stated here without the planner's steps, so that a page needs none of them to show it.
"""

from __future__ import annotations

from snippets.catalog.gpus import gpu
from snippets.catalog.models import model
from snippets.kv_shapes import KVShape
from snippets.parameters import published_weight_bytes
from snippets.planner import blocks, budget
from snippets.planner.estimate import Range
from snippets.planner.memory.parts import card_kind
from snippets.planner.memory.profile_run import ProfileRun
from snippets.planner.memory.ranges import other_memory
from snippets.units import GIB

CARD = gpu("rtx-4090")
VISIBLE_BYTES = CARD.visible_bytes  # 23.64 GiB
UTILIZATION = budget.GPU_MEMORY_UTILIZATION  # 0.92
REQUESTED_BYTES = budget.requested_bytes(VISIBLE_BYTES, UTILIZATION)

MODEL = model("qwen2.5-7b")
SHAPE = KVShape.of(MODEL)
WEIGHTS_BYTES = published_weight_bytes(MODEL)  # 15,231,233,024

AWQ_MODEL = model("qwen2.5-7b-awq")
AWQ_WEIGHTS_BYTES = published_weight_bytes(AWQ_MODEL)  # counted: 5.571 GB = 5.188 GiB
AWQ_LOADED_BYTES = round(5.20 * GIB)  # as loaded: vLLM printed 5.20 GiB for a 4-bit Qwen2.5-7B (vllm issue 13882)


def estimated_other(max_num_batched_tokens: int = budget.SERVER_DEFAULTS.max_num_batched_tokens) -> Range:
    """What is neither weights nor cache on this card; the same in BF16 and AWQ, and for any dtype of the cache."""
    run = ProfileRun(
        max_num_batched_tokens=max_num_batched_tokens,
        max_num_seqs=budget.MAX_NUM_SEQS,
        hidden_size=MODEL.hidden_size,
        intermediate_size=MODEL.intermediate_size,
        vocab_size=MODEL.vocab_size,
        num_layers=MODEL.num_layers,
        sampler="v2",  # the V2 model runner, which runs dense models and subtracts nothing for CUDA graphs
    )
    return other_memory(run, card_kind(is_sm90=False, num_cards=1))


_OTHER = estimated_other()
OTHER_LOW_BYTES, OTHER_BYTES, OTHER_HIGH_BYTES = _OTHER.low, _OTHER.expected, _OTHER.high

MAX_MODEL_LEN = 8192
BLOCK_SIZE = blocks.DEFAULT_BLOCK_SIZE
BF16_BYTES, FP8_BYTES = 2, 1  # per element of the KV cache


def available_bytes(
    other_bytes: int = OTHER_BYTES, weights_bytes: int = WEIGHTS_BYTES, utilization: float = UTILIZATION
) -> int:
    """Bytes left for the KV cache."""
    requested = budget.requested_bytes(VISIBLE_BYTES, utilization)
    return budget.available_kv_bytes(requested, weights_bytes, other_bytes)


def num_blocks(
    other_bytes: int = OTHER_BYTES,
    weights_bytes: int = WEIGHTS_BYTES,
    utilization: float = UTILIZATION,
    kv_dtype_bytes: int = BF16_BYTES,
) -> int:
    """Whole blocks of the KV cache, of 16 tokens each."""
    page = blocks.page_size_bytes(SHAPE, BLOCK_SIZE, kv_dtype_bytes)
    return blocks.num_gpu_blocks(available_bytes(other_bytes, weights_bytes, utilization), page, SHAPE.num_layers)


def tokens(
    other_bytes: int = OTHER_BYTES,
    weights_bytes: int = WEIGHTS_BYTES,
    utilization: float = UTILIZATION,
    kv_dtype_bytes: int = BF16_BYTES,
    max_model_len: int = MAX_MODEL_LEN,
) -> int:
    """Tokens as vLLM would print them."""
    found = num_blocks(other_bytes, weights_bytes, utilization, kv_dtype_bytes)
    return blocks.kv_cache_size_tokens(found, BLOCK_SIZE, max_model_len)


def sequences(
    other_bytes: int = OTHER_BYTES,
    weights_bytes: int = WEIGHTS_BYTES,
    utilization: float = UTILIZATION,
    kv_dtype_bytes: int = BF16_BYTES,
    max_model_len: int = MAX_MODEL_LEN,
) -> float:
    """Full-length sequences that fit at once: vLLM's "Maximum concurrency"."""
    found = num_blocks(other_bytes, weights_bytes, utilization, kv_dtype_bytes)
    return blocks.max_concurrency(found, BLOCK_SIZE, max_model_len)
