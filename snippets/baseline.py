"""The one baseline of the whole site: Qwen2.5-7B-Instruct on one RTX 4090 under vLLM 0.26.0.

Computed, not measured: what else takes memory at start (activations, CUDA context, graphs) is a range here until a
start-up log replaces it.
"""

from __future__ import annotations

from snippets.catalog.gpus import gpu
from snippets.catalog.models import model
from snippets.kv_shapes import KVShape
from snippets.parameters import published_weight_bytes
from snippets.planner import blocks, budget
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

OTHER_GIB_LOW, OTHER_GIB, OTHER_GIB_HIGH = 1.0, 1.4, 2.0  # assumed range, and the value in worked examples

MAX_MODEL_LEN = 8192
BLOCK_SIZE = blocks.DEFAULT_BLOCK_SIZE
BF16_BYTES, FP8_BYTES = 2, 1  # per element of the KV cache


def available_bytes(
    other_gib: float = OTHER_GIB, weights_bytes: int = WEIGHTS_BYTES, utilization: float = UTILIZATION
) -> int:
    """Bytes left for the KV cache."""
    requested = budget.requested_bytes(VISIBLE_BYTES, utilization)
    return budget.available_kv_bytes(requested, weights_bytes, round(other_gib * GIB))


def num_blocks(
    other_gib: float = OTHER_GIB,
    weights_bytes: int = WEIGHTS_BYTES,
    utilization: float = UTILIZATION,
    kv_dtype_bytes: int = BF16_BYTES,
) -> int:
    """Whole blocks of the KV cache, of 16 tokens each."""
    page = blocks.page_size_bytes(SHAPE, BLOCK_SIZE, kv_dtype_bytes)
    return blocks.num_gpu_blocks(available_bytes(other_gib, weights_bytes, utilization), page, SHAPE.num_layers)


def tokens(
    other_gib: float = OTHER_GIB,
    weights_bytes: int = WEIGHTS_BYTES,
    utilization: float = UTILIZATION,
    kv_dtype_bytes: int = BF16_BYTES,
    max_model_len: int = MAX_MODEL_LEN,
) -> int:
    """Tokens as vLLM would print them."""
    found = num_blocks(other_gib, weights_bytes, utilization, kv_dtype_bytes)
    return blocks.kv_cache_size_tokens(found, BLOCK_SIZE, max_model_len)


def sequences(
    other_gib: float = OTHER_GIB,
    weights_bytes: int = WEIGHTS_BYTES,
    utilization: float = UTILIZATION,
    kv_dtype_bytes: int = BF16_BYTES,
    max_model_len: int = MAX_MODEL_LEN,
) -> float:
    """Full-length sequences that fit at once: vLLM's "Maximum concurrency"."""
    found = num_blocks(other_gib, weights_bytes, utilization, kv_dtype_bytes)
    return blocks.max_concurrency(found, BLOCK_SIZE, max_model_len)
