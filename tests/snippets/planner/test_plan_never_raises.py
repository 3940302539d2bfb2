"""Whatever is typed: a plan or errors, and JSON of either."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpus
from snippets.planner.command.own_flags import CACHE_DTYPES, DTYPES, MAMBA_MODES, STATE_DTYPES
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.plan import make_plan
from snippets.planner.report import serve_command, to_csv, to_explanation, to_json, to_markdown, to_text

SWITCH = st.none() | st.booleans()
BYTES = st.none() | st.integers(-(2**34), 2**40)
MODELS = sorted(config_entries())


def small(low: int = -2, high: int = 9) -> st.SearchStrategy[int]:
    return st.integers(low, high) | st.just(1)


def sizes(high: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(-1, high)


SPECULATIVE = st.none() | st.builds(
    SpeculativeConfig,
    st.sampled_from(["mtp", "eagle", "eagle3", "draft_model", "ngram", "medusa", "telepathy"]),
    small(),
    st.none() | st.sampled_from(MODELS).map(catalog_config),
)
ARGS = st.builds(
    EngineArgs,
    max_model_len=st.none() | st.just("auto") | st.integers(-2, 2**21),
    gpu_memory_utilization=st.just(0.92) | st.floats(-1, 2) | st.just(float("nan")),
    kv_cache_memory_bytes=BYTES,
    max_num_seqs=sizes(5000),
    max_num_batched_tokens=sizes(2**18),
    block_size=sizes(300),
    kv_cache_dtype=st.sampled_from(CACHE_DTYPES),
    dtype=st.sampled_from(DTYPES),
    quantization=st.none() | st.sampled_from(["awq", "fp8", "nonsense"]),
    tensor_parallel_size=small(),
    pipeline_parallel_size=small(),
    data_parallel_size=small(),
    enable_expert_parallel=st.booleans(),
    decode_context_parallel_size=small(),
    speculative=SPECULATIVE,
    enable_prefix_caching=SWITCH,
    enable_chunked_prefill=SWITCH,
    disable_hybrid_kv_cache_manager=st.booleans(),
    num_gpu_blocks_override=sizes(10**6),
    enforce_eager=st.booleans(),
    async_scheduling=SWITCH,
    mamba_cache_mode=st.none() | st.sampled_from(MAMBA_MODES),
    mamba_block_size=sizes(5000),
    mamba_cache_dtype=st.sampled_from(STATE_DTYPES),
    mamba_ssm_cache_dtype=st.sampled_from(STATE_DTYPES),
    attention_backend=st.none() | st.sampled_from(["FLASH_ATTN", "FLASHINFER", "FLASHMLA", "NONE_SUCH"]),
    usage=st.sampled_from(["llm", "server"]),
)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(MODELS),
    st.none() | st.sampled_from(sorted(gpus())),
    ARGS,
    BYTES,
    st.none() | st.integers(0, 2**38),
    BYTES,
)
def test_any_arguments_give_a_plan_or_errors(
    model: str, card: str | None, args: EngineArgs, available: int | None, weights: int | None, free: int | None
) -> None:
    gpu = gpus()[card] if card else None
    made = make_plan(
        catalog_config(model), gpu, args, available_bytes=available, weights_bytes=weights, free_bytes=free
    )
    assert made.cache is not None or made.errors
    json.dumps(to_json(made), allow_nan=False)
    for error in made.errors:
        assert error.field and error.message
    assert to_text(made) and to_markdown(made) and to_csv(made)
    assert isinstance(to_explanation(made), str) and serve_command(made).startswith("vllm serve MODEL")
