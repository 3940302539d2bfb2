"""The profile run: one dummy batch at full size before the cache is made; its peak is the activation memory.

vLLM runs the model once on `max_num_batched_tokens` tokens and then its sampler on `max_num_seqs` rows of logits
(v1/worker/gpu_model_runner.py `profile_run`, `_dummy_sampler_run`; the V2 runner's in v1/worker/gpu/model_runner.py).
The two do not overlap, so the larger decides. What is live at each is counted here from the shapes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from snippets.units import KIB, MIB

Sampler = Literal["sort", "v1", "v2", "none"]  # to 0.16; 0.17 on; the V2 model runner; pooling

HIDDEN_COPIES = 3  # the layer's input, its residual, its output
STREAM_COPIES = 2  # hyper-connections: all residual streams, before and after the layer (models/deepseek_v4)
HANDED_ON = 2  # hidden states and residual, received from the stage before
MLP_COPIES = 3  # gate and up side by side, then their product
LOGITS_BYTES_V2 = 2  # the V2 runner's dummy requests ask for no top-k or top-p: the BF16 logits are all there is
FP16_BYTES = 2
INDEXER_ENTRIES = 40  # v1/attention/backends/mla/indexer.py `get_max_prefill_buffer_size`: times max_model_len
INDEXER_BYTES = 132  # 128 FP8 values and one FP32 scale
GDN_CONTEXT_BYTES = 128 * KIB  # per batched token, measured on 0.26: github.com/vllm-project/vllm issue 50780
INDEXER_LOGITS_BYTES = 512 * MIB  # envs.py VLLM_SPARSE_INDEXER_MAX_LOGITS_MB


@dataclass(frozen=True)
class ProfileRun:
    """One rank's dummy batch. Sizes are the model's, before the split over `tensor_parallel_size`."""

    max_num_batched_tokens: int
    max_num_seqs: int
    hidden_size: int
    intermediate_size: int  # of a dense MLP or a shared expert; 0 without
    vocab_size: int
    num_layers: int  # on this rank
    sampler: Sampler
    element_bytes: int = FP16_BYTES
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    is_last_stage: bool = True  # samples
    experts_per_token: int = 0
    moe_intermediate_size: int = 0  # of one expert on this rank
    keeps_workspace: bool = True  # the experts' scratch space stays allocated (v1/worker/workspace.py)
    indexer_tokens: int = 0  # max_model_len of a model with a sparse-attention indexer
    attention_bytes: int = 0  # attention's own in the dummy batch: MLA's expanded context, indexer logits
    residual_streams: int = 1  # more than one with hyper-connections (hc_mult)
    profiles_encoder: bool = False  # a multimodal encoder runs first, and its outputs stay
    has_gdn: bool = False  # gated DeltaNet layers: the first graph's dummy batch takes more
    num_graphs: int = 0  # CUDA graphs whose memory vLLM subtracts; 0 where it subtracts none


def forward_bytes(run: ProfileRun) -> int:
    """Live inside a layer: the hidden states, and the larger of the MLP's intermediates and attention's scratch."""
    streams = run.residual_streams
    copies = HIDDEN_COPIES if streams == 1 else HIDDEN_COPIES - 1 + STREAM_COPIES * streams
    hidden = (copies + HANDED_ON * (run.pipeline_parallel_size > 1)) * run.hidden_size
    mlp = MLP_COPIES * run.intermediate_size // run.tensor_parallel_size
    tokens_bytes = run.max_num_batched_tokens * run.element_bytes
    return tokens_bytes * hidden + max(tokens_bytes * mlp, run.attention_bytes)


def sampler_bytes(run: ProfileRun, bytes_per_logit: float) -> int:
    """Live in the sampler: the hidden states, and per sequence and vocabulary entry `bytes_per_logit` (in 16 bit)."""
    if run.sampler == "none" or not run.is_last_stage:
        return 0
    rows = min(run.max_num_seqs, run.max_num_batched_tokens)
    per_logit = bytes_per_logit + run.element_bytes - FP16_BYTES
    hidden = run.max_num_batched_tokens * run.hidden_size * run.element_bytes
    return hidden + round(rows * run.vocab_size * per_logit)


def logit_bytes_v2(run: ProfileRun) -> float:
    """The V2 runner's logits: with tensor parallelism the rank's own part, the gathered ones and their reordered copy.

    distributed/device_communicators/base_device_communicator.py `all_gather`.
    """
    tp = run.tensor_parallel_size
    return LOGITS_BYTES_V2 * (2 + 1 / tp) if tp > 1 else LOGITS_BYTES_V2


def workspace_bytes(run: ProfileRun) -> int:
    """Scratch space of the experts or of the sparse-attention indexer: one buffer for both, so the larger counts.

    model_executor/layers/fused_moe/experts/triton_moe.py `workspace_shapes`;
    model_executor/layers/sparse_attn_indexer.py.
    """
    per_expert = max(2 * run.moe_intermediate_size, run.hidden_size) + run.moe_intermediate_size
    experts = run.max_num_batched_tokens * run.experts_per_token * per_expert * run.element_bytes
    return max(experts, run.indexer_tokens * INDEXER_ENTRIES * INDEXER_BYTES)


def graph_context_bytes(run: ProfileRun) -> int:
    """What vLLM takes for graphs though it is scratch space of the one dummy batch that profiles them, full of context.

    v1/worker/gpu_model_runner.py `profile_cudagraph_memory`: `profile_seq_lens`.
    """
    return run.max_num_batched_tokens * GDN_CONTEXT_BYTES if run.has_gdn and run.num_graphs else 0
