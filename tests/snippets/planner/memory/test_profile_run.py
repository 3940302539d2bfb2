"""What is live at the profile run's peak, against logs that print it and sums written out."""

from __future__ import annotations

from dataclasses import replace

from pytest import approx

from snippets.planner.memory.profile_run import (
    ProfileRun,
    forward_bytes,
    graph_context_bytes,
    logit_bytes_v2,
    sampler_bytes,
    workspace_bytes,
)
from snippets.units import GIB, KIB, MIB

LLAMA_8B = ProfileRun(
    max_num_batched_tokens=8192,
    max_num_seqs=1024,
    hidden_size=4096,
    intermediate_size=14336,
    vocab_size=128256,
    num_layers=32,
    sampler="v1",
)


def test_llama_8b_takes_110592_bytes_a_token_as_two_logs_of_one_card_differ() -> None:
    # vllm issue 10517, V0, one sequence of max_model_len: peak 17.06 GiB at 20,000 tokens and 17.98 GiB at 29,000.
    runs = [replace(LLAMA_8B, max_num_batched_tokens=tokens) for tokens in (20000, 29000)]
    short, long = (forward_bytes(run) for run in runs)
    assert (long - short) // 9000 == (3 * 4096 + 3 * 14336) * 2 == 110592
    assert (long - short) / GIB == approx(17.98 - 17.06, abs=0.01)
    assert short / GIB == approx(17.06 - 14.99, abs=0.02)  # weights: 14.9888 GiB


def test_the_mlp_is_split_over_ranks_and_the_hidden_states_are_not() -> None:
    assert forward_bytes(replace(LLAMA_8B, tensor_parallel_size=4)) == 8192 * (3 * 4096 + 3 * 14336 // 4) * 2


def test_a_pipeline_stage_also_holds_what_the_stage_before_handed_on() -> None:
    more = forward_bytes(replace(LLAMA_8B, pipeline_parallel_size=2)) - forward_bytes(LLAMA_8B)
    assert more == 8192 * 2 * 4096 * 2


def test_the_sampler_sees_one_row_per_sequence_and_no_more_rows_than_tokens() -> None:
    hidden = 8192 * 4096 * 2
    assert sampler_bytes(LLAMA_8B, 14) == hidden + 1024 * 128256 * 14
    few = replace(LLAMA_8B, max_num_batched_tokens=512)
    assert sampler_bytes(few, 14) == 512 * 4096 * 2 + 512 * 128256 * 14


def test_fp32_weights_make_logits_two_bytes_larger() -> None:
    wide = replace(LLAMA_8B, element_bytes=4)
    assert sampler_bytes(wide, 14) == 8192 * 4096 * 4 + 1024 * 128256 * 16


def test_pooling_models_and_early_stages_sample_nothing() -> None:
    assert sampler_bytes(replace(LLAMA_8B, sampler="none"), 14) == 0
    assert sampler_bytes(replace(LLAMA_8B, is_last_stage=False), 14) == 0


def test_the_v2_runner_keeps_bf16_logits_and_gathers_them_over_ranks() -> None:
    assert logit_bytes_v2(LLAMA_8B) == 2
    assert logit_bytes_v2(replace(LLAMA_8B, tensor_parallel_size=2)) == 2 * 0.5 + 2 + 2


def test_experts_need_two_buffers_per_chosen_expert() -> None:
    # Qwen3-30B-A3B: 8 experts a token, each 768 wide, hidden size 2048; caches 1 and 3 share the larger buffer.
    run = replace(LLAMA_8B, experts_per_token=8, moe_intermediate_size=768, hidden_size=2048)
    assert workspace_bytes(run) == 8192 * 8 * (2048 + 768) * 2


def test_the_indexer_keeps_forty_times_the_context() -> None:
    # v1/attention/backends/mla/indexer.py: "40 * 163840 * 132 = 865075200 bytes = 825 MB" for DeepSeek-V3.2.
    assert workspace_bytes(replace(LLAMA_8B, indexer_tokens=163840)) == 865075200 == 825 * MIB


def test_gdn_context_counts_only_where_graphs_are_profiled() -> None:
    run = replace(LLAMA_8B, has_gdn=True)
    assert graph_context_bytes(run) == 0
    assert graph_context_bytes(replace(run, num_graphs=102)) == 8192 * 128 * KIB == GIB
