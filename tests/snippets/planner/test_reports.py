"""A plan taken away: JSON, Markdown, CSV, text and the command."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.model_config.read import read_config
from snippets.planner.command.other_flags import vllm_flags
from snippets.planner.command.own_flags import engine_args
from snippets.planner.command.parse import parse
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.estimate import Budget, Range
from snippets.planner.plan import Plan, make_plan
from snippets.planner.report import serve_command, to_csv, to_explanation, to_json, to_markdown, to_text
from snippets.planner.report.answer import budget_rows
from snippets.planner.report.as_json import SCHEMA, schema_markdown
from snippets.units import GIB

# The keys that the planner promises; more may come.
PROMISED = (
    *("num_gpu_blocks", "block_size", "bytes_per_block", "kv_cache_size_tokens", "max_concurrency"),
    *("kv_bytes_per_token", "groups", "available_kv_cache_bytes", "weights_bytes", "budget", "log_lines", "errors"),
)


def plan(key: str = "llama-3.1-8b", available: int | None = 4 * GIB, **args: Any) -> Plan:
    return make_plan(catalog_config(key), gpu("rtx-4090"), EngineArgs(**args), available_bytes=available)


STARTS = plan(max_model_len=8192)
REFUSED = plan()
ESTIMATED = plan(available=None, max_model_len=8192)
KINDS = pytest.mark.parametrize("made", [STARTS, REFUSED, ESTIMATED], ids=["starts", "refused", "estimated"])


@KINDS
def test_json_has_the_promised_keys_first_and_every_key_is_documented(made: Plan) -> None:
    keys = list(to_json(made))
    assert keys == [key.name for key in SCHEMA]
    assert tuple(keys[: len(PROMISED)]) == PROMISED


@KINDS
def test_json_is_json(made: Plan) -> None:
    assert json.loads(json.dumps(to_json(made), allow_nan=False)) == to_json(made)


def test_json_of_a_hand_computed_plan() -> None:
    made = to_json(STARTS)
    assert made["num_gpu_blocks"] == 2048  # 4 GiB / (32 layers × 64 KiB)
    assert made["groups"] == [
        {
            "num_layers": 32,
            "kind": "FullAttentionSpec",
            "block_size": 16,
            "page_size_bytes": 65_536,  # 16 × 8 × (128 + 128) × 2
            "max_bytes_per_request": 512 * 65_536,
            "blocks_per_request": 512,
        }
    ]
    assert made["log_lines"] == [
        "GPU KV cache size: 32,768 tokens",
        "Maximum concurrency for 8,192 tokens per request: 4.00x",
    ]
    assert made["requests_at_once"] == 4


def test_the_scheduler_limits_requests_that_memory_would_hold() -> None:
    assert to_json(plan(max_model_len=8192, max_num_seqs=2))["requests_at_once"] == 2
    text = to_text(plan(max_model_len=8192, max_num_seqs=2))
    assert text.startswith(
        "vLLM 0.26.0 would start: 32,768 tokens of KV cache, 2 requests of 8,192 tokens at once (max_num_seqs)."
    )


def test_json_of_a_refusal_has_nulls_and_the_error() -> None:
    made = to_json(REFUSED)
    assert (made["num_gpu_blocks"], made["log_lines"]) == (None, [])
    assert made["settings"] is not None
    assert made["bytes_per_block"] == 32 * 65_536  # a layout needs no memory: 32 layers × 16 × 8 × (128 + 128) × 2
    assert json.dumps(made["errors"]).count('"field"') == 1


def test_without_weights_the_cache_is_laid_out_and_the_report_says_what_to_give() -> None:
    """Kimi-K2.5's class has DeepSeek-V3's decoder, whose cache vLLM's own classes confirm."""
    fields: dict[str, Any] = {"architectures": ["KimiK25ForConditionalGeneration"], "model_type": "kimi_k25"}
    fields["text_config"] = dict(catalog_config("deepseek-v3").fields)
    made = make_plan(read_config(fields), gpu("h200"), EngineArgs(tensor_parallel_size=8))
    assert made.cache is None and made.budget is None and made.weights_bytes is None
    assert [(error.field, error.from_vllm) for error in made.errors] == [("architectures", False)]
    counted = make_plan(catalog_config("deepseek-v3"), gpu("h200"), EngineArgs(tensor_parallel_size=8))
    assert made.layout == counted.layout is not None
    assert made.kv_bytes_per_token == 61 * 576 * 2  # layers × (kv_lora_rank + qk_rope_head_dim) × BF16
    text = to_text(made)
    assert "--weights-gib" in text and "bytes per block" in text and "MLAAttentionSpec" in text
    assert {"bytes_per_block", "kv_bytes_per_token"} <= {number.name for number in made.explained}


def test_the_estimate_shows_its_ends_in_every_form() -> None:
    assert ESTIMATED.budget is not None and ESTIMATED.cache_low is not None
    low = f"{ESTIMATED.cache_low.kv_cache_size_tokens:,}"
    assert low in to_text(ESTIMATED) and low in to_markdown(ESTIMATED)
    assert to_json(ESTIMATED)["low"] != to_json(ESTIMATED)["high"]


@KINDS
def test_csv_has_rows_of_one_width(made: Plan) -> None:
    rows = list(csv.reader(io.StringIO(to_csv(made))))
    assert {len(row) for row in rows} == {5}
    assert len({row[0] for row in rows if row[2]}) == sum(1 for row in rows if row[2])


@KINDS
def test_markdown_tables_keep_their_columns(made: Plan) -> None:
    lines = to_markdown(made).splitlines()
    for above, line in pairwise(lines):
        if above.startswith("|") and line.startswith("|"):
            assert above.replace("\\|", "").count("|") == line.replace("\\|", "").count("|")


def test_a_refusal_reads_as_one_in_text_and_markdown() -> None:
    for text in (to_text(REFUSED), to_markdown(REFUSED)):
        assert "vLLM 0.26.0 would refuse to start." in text
        assert "--max-model-len 32768" in text


def test_an_explanation_has_four_lines_a_number() -> None:
    assert len(to_explanation(STARTS).splitlines()) == 4 * len(STARTS.explained)


def test_the_command_has_only_what_differs_from_the_defaults() -> None:
    assert serve_command(plan(max_model_len=8192), "org/model") == "vllm serve org/model --max-model-len 8192"
    assert serve_command(plan(), "org/model") == "vllm serve org/model"


def test_the_command_is_quoted_for_a_shell() -> None:
    speculative = SpeculativeConfig("ngram", 3)
    command = serve_command(plan(max_model_len=8192, speculative=speculative), "my models/it's")
    words = shlex.split(command)
    assert words[2] == "my models/it's"
    assert json.loads(words[-1]) == {"method": "ngram", "num_speculative_tokens": 3}


def test_the_drafter_stands_in_the_command() -> None:
    speculative = SpeculativeConfig("draft_model", 3, catalog_config("llama-3.2-1b"))
    words = shlex.split(serve_command(plan(max_model_len=8192, speculative=speculative), "org/model", "org/small"))
    assert json.loads(words[-1])["model"] == "org/small"


ALL_CHANGED = EngineArgs(
    max_model_len=8192,
    gpu_memory_utilization=0.9,
    kv_cache_memory_bytes=2**33,
    max_num_seqs=3,
    max_num_batched_tokens=4096,
    block_size=32,
    kv_cache_dtype="fp8",
    dtype="float16",
    quantization="awq",
    tensor_parallel_size=2,
    pipeline_parallel_size=3,
    data_parallel_size=4,
    enable_expert_parallel=True,
    decode_context_parallel_size=2,
    num_gpu_blocks_override=7,
    enforce_eager=True,
    mamba_cache_mode="align",
    mamba_block_size=64,
    mamba_cache_dtype="float32",
    mamba_ssm_cache_dtype="float32",
    attention_backend="FLASHINFER",
    disable_hybrid_kv_cache_manager=True,
)
SWITCHES = [
    EngineArgs(enable_prefix_caching=a, enable_chunked_prefill=b, async_scheduling=c)
    for a, b, c in product((None, True, False), repeat=3)
]


@pytest.mark.parametrize("args", [ALL_CHANGED, EngineArgs(max_model_len="auto"), *SWITCHES], ids=repr)
def test_the_command_read_back_is_the_same_request(args: EngineArgs) -> None:
    # vLLM 0.26.0's own parser took each of these commands too, and gave these values.
    made = make_plan(catalog_config("llama-3.1-8b"), gpu("rtx-4090"), args, available_bytes=4 * GIB)
    words = shlex.split(serve_command(made, "org/model"))
    assert engine_args(parse(words)) == args
    known = {spelling for spellings, _ in vllm_flags() for spelling in spellings}
    assert {word for word in words if word.startswith("--")} <= known


def test_memory_that_is_missing_is_a_positive_number() -> None:
    gib = GIB
    part, left = Range(gib, 2 * gib, 4 * gib), Range(-26 * gib, -22 * gib, -20 * gib)
    short = Budget(80 * gib, 72 * gib, 90 * gib, False, part, part, cuda_graphs=Range(0, 0, 0), available=left)
    rows = {row[0]: row[1:] for row in budget_rows(short)}
    assert rows["missing for a KV cache"] == ("22.00 GiB", "20.00 GiB to 26.00 GiB") and "KV cache" not in rows
    assert rows["CUDA graphs"] == ("0.00 GiB", "not subtracted")
    between = replace(short, available=Range(-gib, gib, 2 * gib))
    assert budget_rows(between)[-1] == ("KV cache", "1.00 GiB", "1.00 GiB too little to 2.00 GiB")
    hardly = replace(short, available=Range(-2 * gib, -gib, gib))
    assert budget_rows(hardly)[-1] == ("missing for a KV cache", "1.00 GiB", "nothing to 2.00 GiB")


def test_the_table_of_keys_has_a_row_a_key() -> None:
    assert len(schema_markdown().splitlines()) == 2 + len(SCHEMA)
