"""make_plan joins the steps: what it gives, what it says when one fails, and that its ways out work."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import replace
from typing import Any

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.model_config.read import read_config
from snippets.planner.command.own_flags import engine_args
from snippets.planner.command.parse import parse
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.plan import Plan, make_plan
from snippets.planner.report import to_text
from snippets.planner.steps.take import cache_at
from snippets.units import GIB

LLAMA = catalog_config("llama-3.1-8b")
RTX_4090 = gpu("rtx-4090")
LLAMA_PARAMETERS = 16_060_522_496  # bytes: vLLM's own model class on the meta device
LLAMA_WEIGHTS = LLAMA_PARAMETERS + 131_072 * 128 * 2  # with its rotary table: 14.9888 GiB, as log L095 prints


def plan(given: dict[str, int] | None = None, **args: Any) -> Plan:
    return make_plan(LLAMA, RTX_4090, EngineArgs(**args), **(given or {}))


def ways(made: Plan, said: str) -> list[EngineArgs]:
    """The arguments that each way out in a sentence gives."""
    flags = re.findall(r"(?:leave )?--[^;]+?(?= out|;|\.$|\. | asks)", said)
    changed = []
    for text in flags:
        if text.startswith("leave"):
            name = text.removeprefix("leave --").replace("-", "_")
            changed.append(replace(made.args, **{name: getattr(EngineArgs(), name)}))
        else:
            words = shlex.split(text.split(" or ")[0])
            given = engine_args(parse(["c", *words]))
            names = [word.removeprefix("--").replace("-", "_") for word in words if word.startswith("--")]
            changed.append(replace(made.args, **{name: getattr(given, name) for name in names}))
    return changed


def test_llama_3_1_8b_on_a_4090_starts_with_8192_tokens() -> None:
    made = plan(max_model_len=8192)
    assert made.errors == ()
    assert made.cache is not None and made.budget is not None
    assert made.weights_bytes == LLAMA_WEIGHTS
    assert made.budget.requested_bytes == math.ceil(round(23.64 * GIB) * 0.92)  # worker/utils.py:430
    assert made.cache.num_gpu_blocks == made.available_bytes // (32 * 65_536)  # type: ignore[operator]
    assert made.kv_bytes_per_token == 131_072


def test_the_ends_of_the_estimate_enclose_the_expected_plan() -> None:
    made = plan(max_model_len=4096)
    assert made.cache and made.cache_low and made.cache_high
    assert made.cache_low.num_gpu_blocks < made.cache.num_gpu_blocks < made.cache_high.num_gpu_blocks


def test_given_memory_is_not_estimated() -> None:
    made = plan({"available_bytes": 4 * GIB}, max_model_len=8192)
    assert (made.budget, made.available_bytes) == (None, 4 * GIB)
    assert made.cache is not None and made.cache == made.cache_low == made.cache_high
    assert made.cache.num_gpu_blocks == 2048  # 4 GiB / 2 MiB


def test_kv_cache_memory_bytes_is_taken_as_it_is_and_the_utilization_is_not() -> None:
    low, high = (plan(max_model_len=8192, kv_cache_memory_bytes=2 * GIB, gpu_memory_utilization=u) for u in (0.5, 0.99))
    assert low.cache is not None and low.cache.num_gpu_blocks == 1024
    assert low.cache == high.cache


def test_kv_cache_memory_of_0_is_as_not_given() -> None:
    # gpu_worker.py:462 asks `if kv_cache_memory_bytes := …`
    assert plan(max_model_len=8192, kv_cache_memory_bytes=0).cache == plan(max_model_len=8192).cache


def test_a_cache_of_fixed_size_beyond_the_card_is_out_of_memory() -> None:
    made = plan(max_model_len=8192, kv_cache_memory_bytes=16 * GIB)
    assert made.errors[0].field == "kv_cache_memory_bytes"
    assert "CUDA out of memory: weights and KV cache take 30.99 GiB of a card with 23.64 GiB." in made.errors[0].message
    assert made.cache is made.cache_low is made.cache_high is None  # a server that ends so holds nothing
    assert all(not make_plan(LLAMA, RTX_4090, args).errors for args in ways(made, made.errors[0].way_out))


def rest(made: Plan) -> list[int]:
    """Low, expected and high bytes of what is neither weights nor cache."""
    assert made.budget is not None
    parts = (made.budget.activation, made.budget.non_torch, made.budget.cuda_graphs)
    return [sum(getattr(part, end) for part in parts) for end in ("low", "expected", "high")]


def test_a_cache_of_fixed_size_stands_beside_weights_and_what_a_step_needs() -> None:
    beside = rest(plan(max_model_len=8192))
    made = plan(max_model_len=8192, kv_cache_memory_bytes=8 * GIB)  # 14.99 + 8 GiB leave 0.65 of 23.64
    assert made.fit is not None
    held = [made.fit.held.low, made.fit.held.expected, made.fit.held.high]
    assert held == [LLAMA_WEIGHTS + 8 * GIB + size for size in beside]
    assert held[1] <= made.fit.room_bytes < held[2]
    assert made.cache is not None and made.cache_low is None and made.cache_high == made.cache  # may fit


@pytest.mark.parametrize("size", [0.5 * GIB, 7 * GIB, 8 * GIB, 8.6 * GIB, 9 * GIB])
@pytest.mark.parametrize("by_blocks", [False, True])
def test_a_fixed_cache_surely_fits_may_fit_or_does_not(size: float, by_blocks: bool) -> None:
    blocks = int(size) // 2**21
    override, num_bytes = (blocks, None) if by_blocks else (None, blocks * 2**21)
    made = plan(max_model_len=2048, num_gpu_blocks_override=override, kv_cache_memory_bytes=num_bytes)
    _, expected, high = (LLAMA_WEIGHTS + blocks * 2**21 + more for more in rest(plan(max_model_len=2048)))
    total = round(23.64 * GIB)
    assert (made.cache is None) == (expected > total)
    assert (made.cache_low is None) == (high > total)
    for each in ways(made, made.errors[0].way_out) if made.errors else []:
        again = make_plan(LLAMA, RTX_4090, each)
        assert again.errors == () and again.cache_low is not None, each


def test_a_larger_cache_is_no_way_out_where_it_leaves_nothing_for_a_step() -> None:
    made = plan(max_model_len=70_700, kv_cache_memory_bytes=GIB)  # 8.63 GiB beside 14.99 of 23.64
    assert made.errors and "--kv-cache-memory-bytes" not in made.errors[0].way_out
    for each in ways(made, made.errors[0].way_out):
        assert make_plan(LLAMA, RTX_4090, each).cache_low is not None, each


def test_64_gib_of_cache_do_not_fit_an_h100_beside_15_gib_of_weights() -> None:
    made = make_plan(LLAMA, gpu("h100-80gb"), EngineArgs(kv_cache_memory_bytes=64 * GIB))
    assert made.errors[0].message.startswith("CUDA out of memory, at the start or in the first full step")
    found = re.search(r"--kv-cache-memory-bytes (\d+)", made.errors[0].way_out)
    assert found is not None and 60 * GIB < int(found[1]) < 64 * GIB


def test_what_others_hold_is_no_room_for_a_fixed_cache() -> None:
    made = plan({"free_bytes": 20 * GIB}, max_model_len=8192, kv_cache_memory_bytes=6 * GIB, gpu_memory_utilization=0.8)
    assert made.errors[0].message == (
        "CUDA out of memory: weights and KV cache take 20.99 GiB of a card with 20.0 GiB free."
    )


def test_a_fixed_cache_on_an_unknown_card_is_said_to_be_unmeasured() -> None:
    made = make_plan(LLAMA, None, EngineArgs(max_model_len=8192, kv_cache_memory_bytes=2 * GIB))
    assert made.cache is not None
    assert any(note.startswith("Whether weights, cache and the rest fit the card is not known") for note in made.notes)


def test_blocks_beyond_the_card_are_out_of_memory_and_no_plan() -> None:
    made = plan(max_model_len=8192, num_gpu_blocks_override=10**6)  # of 2 MiB each
    assert made.errors[0].field == "num_gpu_blocks_override"
    assert made.cache is made.cache_low is made.cache_high is None


def test_too_long_a_context_is_refused_in_vllms_words() -> None:
    made = plan({"available_bytes": 4 * GIB})
    assert made.errors[0].message == (
        "To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is needed, which is "
        "larger than the available KV cache memory (4.0 GiB). Based on the available memory, the estimated maximum "
        "model length is 32768. Try increasing `gpu_memory_utilization` (which also controls CPU memory on the CPU "
        "backend) or decreasing `max_model_len` when initializing the engine. See "
        "https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details."
    )
    assert "--max-model-len 32768" in made.errors[0].way_out


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"max_model_len": 100_000},
        {"gpu_memory_utilization": 0.3, "max_model_len": 8192},
        {"gpu_memory_utilization": 0.66},
        {"num_gpu_blocks_override": 5, "max_model_len": 8192},
        {"max_model_len": 200_000},
        {"tensor_parallel_size": 3, "max_model_len": 8192},
        {"kv_cache_memory_bytes": 2**20, "max_model_len": 8192},
        {"max_model_len": 8192, "num_gpu_blocks_override": 100_000},
    ],
    ids=str,
)
def test_every_way_out_was_tried_and_starts(args: dict[str, Any]) -> None:
    made = plan(**args)
    assert made.errors, "refused"
    surely, _, if_lucky = made.errors[0].way_out.partition("Not at the low end of the estimated memory")
    changed = ways(made, surely)
    assert changed
    for each in changed:
        again = make_plan(LLAMA, RTX_4090, each)
        assert again.errors == () and again.cache_low is not None, each
    for each in ways(made, if_lucky):
        again = make_plan(LLAMA, RTX_4090, each)
        assert again.errors == () and again.cache_low is None, each


def test_a_length_that_starts_as_expected_alone_is_not_offered_as_one_that_starts() -> None:
    """vLLM's own estimate is of the expected memory; with the least of it the server would refuse that length."""
    made = plan()
    asked_by_vllm = re.search(r"estimated maximum model length is (\d+)", made.errors[0].message)
    offered = re.search(r"--max-model-len (\d+)", made.errors[0].way_out)
    assert asked_by_vllm is not None and offered is not None
    assert int(offered[1]) < int(asked_by_vllm[1])
    assert plan(max_model_len=int(offered[1])).cache_low is not None
    assert plan(max_model_len=int(offered[1]) + 16).cache_low is None  # one block more


def test_a_split_that_is_taken_but_too_small_is_not_said_to_work() -> None:
    made = make_plan(catalog_config("llama-3.1-70b"), RTX_4090, EngineArgs(tensor_parallel_size=3, max_model_len=8192))
    surely, _, if_lucky = made.errors[0].way_out.partition("Not at the low end of the estimated memory")
    assert "1 or" not in surely + if_lucky and "8" in surely  # 35 GiB a card with 4; 131.4 GiB in all


def test_more_of_the_card_than_95_percent_is_not_advised() -> None:
    made = plan(max_model_len=8192 * 8)  # 8 GiB: 1.5 more than are left at 0.92 of 23.64
    assert "--gpu-memory-utilization" not in made.errors[0].way_out
    assert "--max-model-len" in made.errors[0].way_out


def test_the_smallest_utilization_is_named_when_it_is_too_low() -> None:
    made = plan(gpu_memory_utilization=0.66, max_model_len=8192)
    found = re.search(r"--gpu-memory-utilization (0\.\d\d)", made.errors[0].way_out)
    assert found is not None
    named = float(found[1])
    assert plan(gpu_memory_utilization=named, max_model_len=8192).cache_low is not None
    assert plan(gpu_memory_utilization=named - 0.01, max_model_len=8192).cache_low is None


def test_a_refused_plan_still_gives_the_settings_the_weights_and_the_budget() -> None:
    made = plan()
    assert made.errors and made.cache is None
    assert made.resolved is not None and made.budget is not None and made.weights_bytes == LLAMA_WEIGHTS
    assert any(number.name == "budget.requested_bytes" for number in made.explained)


def test_a_card_in_use_is_refused_in_vllms_words_with_the_share_that_is_free() -> None:
    made = plan({"free_bytes": 20 * GIB}, max_model_len=8192)
    assert made.errors[0].message == (
        "Free memory on device cuda:0 (20.0/23.64 GiB) on startup is less than desired GPU memory utilization (0.92, "
        "21.75 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )
    assert made.errors[0].way_out == "--gpu-memory-utilization 0.84 asks for no more than is free."


def test_weights_beyond_the_card_are_out_of_memory_before_any_cache() -> None:
    made = make_plan(catalog_config("llama-3.1-70b"), RTX_4090, EngineArgs(max_model_len=8192))
    assert (made.errors[0].field, made.cache) == ("tensor_parallel_size", None)
    assert "CUDA out of memory: the weights take" in made.errors[0].message
    assert "--tensor-parallel-size 8" in made.errors[0].way_out  # 17.6 GiB of weights a card; 4 cards are too few


@pytest.mark.parametrize("utilization", [0, 1.5, -1, math.nan])
def test_a_utilization_that_is_no_share_is_refused(utilization: float) -> None:
    made = plan(gpu_memory_utilization=utilization, max_model_len=8192)
    assert made.errors[0].field == "gpu_memory_utilization"
    assert made.resolved is None


def test_heads_that_do_not_divide_name_the_sizes_that_do() -> None:
    made = plan(tensor_parallel_size=3, max_model_len=8192)
    assert made.errors[0].message == (
        "Total number of attention heads (32) must be divisible by tensor parallel size (3)."
    )  # config/model.py:1219
    assert made.errors[0].way_out == "This works: --tensor-parallel-size 1 or 2 or 4 or 8 or 16."


def test_the_stage_with_the_fewest_blocks_decides_for_a_pipeline() -> None:
    made = make_plan(LLAMA, RTX_4090, EngineArgs(pipeline_parallel_size=3, max_model_len=8192), available_bytes=4 * GIB)
    assert made.cache is not None
    assert made.cache.num_gpu_blocks == 4 * GIB // (11 * 65_536)  # stages of 11, 11 and 10 layers


def test_without_a_named_card_the_plan_says_what_it_assumes() -> None:
    made = make_plan(LLAMA, None, EngineArgs(max_model_len=8192), available_bytes=4 * GIB)
    assert made.errors == ()
    assert made.gpu is None
    assert "No card was named" in made.notes[0]


def test_without_a_cards_memory_the_plan_asks_for_it() -> None:
    made = make_plan(LLAMA, None, EngineArgs(max_model_len=8192))
    assert [(error.field, error.from_vllm) for error in made.errors] == [("gpu", False)]


def test_total_memory_stands_for_the_cards_own() -> None:
    made = plan({"total_bytes": 40 * GIB}, max_model_len=8192)
    assert made.budget is not None and made.budget.total_bytes == 40 * GIB


def test_more_cards_do_not_each_hold_the_weights_given_for_one() -> None:
    args = EngineArgs(max_model_len=8192)
    made = make_plan(catalog_config("llama-3.1-70b"), gpu("h100-80gb"), args, weights_bytes=131 * GIB)
    assert "--tensor-parallel-size 2" in made.errors[0].way_out  # 65.7 GiB a card


def test_given_weights_stand_for_the_counted() -> None:
    made = plan({"weights_bytes": 10 * GIB}, max_model_len=8192)
    assert made.weights_bytes == 10 * GIB
    assert made.budget is not None and made.budget.weights_given


def test_a_model_without_a_cache_starts_whatever_its_weights() -> None:
    encoder = {
        "architectures": ["XLMRobertaModel"],
        "model_type": "xlm-roberta",
        "num_hidden_layers": 24,
        "hidden_size": 1024,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
        "vocab_size": 250002,
        "max_position_embeddings": 8194,
        "torch_dtype": "float16",
    }
    made = make_plan(read_config(encoder), RTX_4090, EngineArgs())
    assert made.errors == ()
    assert made.cache is not None and made.cache.groups == ()
    # models/roberta.py:80: position_ids + padding_idx + 1, in a table of 8,194 rows
    assert any("the table serves 8,192, and a longer text reads past its end" in note for note in made.notes)
    safe = make_plan(read_config(encoder), RTX_4090, EngineArgs(max_model_len=8192))
    assert not any("the table" in note for note in safe.notes)
    assert "left over" in to_text(made) and "KV cache  " not in to_text(made)


def test_auto_takes_the_longest_context_that_fits() -> None:
    made = plan({"available_bytes": 4 * GIB}, max_model_len="auto")
    assert made.cache is not None and made.cache.max_model_len == 32_768


def test_an_unsupported_speculative_method_is_refused_by_name() -> None:
    made = plan(speculative=SpeculativeConfig("telepathy", 3), max_model_len=8192)
    assert "telepathy" in made.errors[0].message
    assert made.errors[0].way_out == "This works: leave --speculative-config out."


def test_a_field_that_the_weights_need_is_named_where_it_is_missing() -> None:
    """Reduced copies of multimodal configs lack the tower's sizes."""
    entry = json.loads(json.dumps(dict(config_entries()["gemma-3-27b"].config)))
    del entry["vision_config"]["hidden_size"]
    made = make_plan(read_config(entry), RTX_4090, EngineArgs(max_model_len=8192))
    assert (made.errors[0].field, made.cache) == ("vision_config.hidden_size", None)
    assert "vision_config.hidden_size is missing" in made.errors[0].message
    assert not made.errors[0].from_vllm and made.layout is not None


def test_the_same_question_gets_the_same_answer() -> None:
    first = plan(max_model_len=8192)
    plan(max_model_len=4096)
    assert plan(max_model_len=8192) == first


@pytest.mark.parametrize("key", list(config_entries()))
@pytest.mark.parametrize("share", [0.5, 0.999, 1.7])
def test_scaling_a_plan_to_other_memory_is_planning_with_it(key: str, share: float) -> None:
    made = make_plan(catalog_config(key), RTX_4090, EngineArgs(max_model_len=2048), available_bytes=8 * GIB)
    if made.cache is not None and made.resolved is not None:
        other = [int(share * 8 * GIB)]
        assert cache_at(made.resolved, other, made.cache) == cache_at(made.resolved, other)


def test_a_drafters_weights_stand_beside_the_models() -> None:
    drafter = catalog_config("llama-3.2-1b")
    made = plan(speculative=SpeculativeConfig("draft_model", 3, drafter), max_model_len=8192)
    # meta-llama/Llama-3.2-1B: 1,235,814,400 parameters in BF16, its output matrix tied to the input; a rotary table
    assert made.weights_bytes == LLAMA_WEIGHTS + 2 * 1_235_814_400 + 131_072 * 64 * 2


def test_drafting_from_the_prompt_has_no_weights() -> None:
    assert plan(speculative=SpeculativeConfig("ngram", 3), max_model_len=8192).weights_bytes == LLAMA_WEIGHTS


def test_a_split_that_vllm_cannot_make_of_fp8_blocks_names_the_ones_it_can() -> None:
    made = make_plan(catalog_config("qwen3-30b-a3b-fp8"), gpu("h200"), EngineArgs(tensor_parallel_size=8))
    assert [error.from_vllm for error in made.errors] == [True]
    assert made.errors[0].way_out.startswith("This works: --tensor-parallel-size 1 or 2")


def test_mtp_layers_stand_beside_the_weights_and_give_a_plan() -> None:
    """DeepSeek-V3's classes on the meta device: 85,140,130,848 bytes, its drafter 2,124,387,488 of each of 8 ranks."""
    args = EngineArgs(tensor_parallel_size=8, max_model_len=8192, speculative=SpeculativeConfig("mtp", 1))
    drafting = make_plan(catalog_config("deepseek-v3"), gpu("h200"), args)
    alone = make_plan(catalog_config("deepseek-v3"), gpu("h200"), replace(args, speculative=None))
    assert drafting.errors == alone.errors == ()
    shared = 2 * (129_280 // 8) * 7168 * 2  # embedding and lm_head of its own give way to the target's
    assert drafting.weights_bytes is not None and alone.weights_bytes is not None
    copy = 512 * 16 * (128 + 128) * 2  # kv_b_proj of its one layer in 16 bits: latent × heads × (key + value)
    assert drafting.weights_bytes - alone.weights_bytes == 2_124_387_488 - shared + copy


@pytest.mark.parametrize("method", ["medusa", "mlp_speculator", "eagle3", "draft_model"])
def test_a_method_with_a_model_of_its_own_is_refused_without_one_in_vllms_words(method: str) -> None:
    made = plan(speculative=SpeculativeConfig(method, 3), max_model_len=8192)
    assert [(error.field, error.from_vllm) for error in made.errors] == [("speculative", True)]
    assert made.errors[0].message == "num_speculative_tokens was provided but without speculative model."


def test_a_method_that_is_not_planned_here_is_not_said_to_be_refused_by_vllm() -> None:
    made = plan(speculative=SpeculativeConfig("dspark", 3), max_model_len=8192)
    assert [(error.field, error.from_vllm) for error in made.errors] == [("speculative", False)]


def test_a_card_without_bf16_holds_gemma_in_32_bits() -> None:
    """vLLM's class under --dtype auto on a T4 (tests/data/weights_of_vllm.jsonl)."""
    made = make_plan(catalog_config("gemma-2-2b"), gpu("t4"), EngineArgs(max_model_len=4096))
    assert made.resolved is not None and made.resolved.dtype == "float32"
    assert made.weights_bytes is not None and made.weights_bytes >= 10_457_367_552


def test_what_loading_leaves_beside_the_parameters_is_counted_and_opened() -> None:
    """DeepSeek-V3 on 8 ranks: 85,140,130,848 bytes of parameters; its kv_b_proj is FP8 and is kept in 16 bits too."""
    made = make_plan(catalog_config("deepseek-v3"), gpu("h200"), EngineArgs(tensor_parallel_size=8, max_model_len=8192))
    copies = 61 * 512 * 16 * (128 + 128) * 2  # layers × latent × heads × (key + value) × 2 bytes
    tables = 4096 * 40 * 64 * 2  # original positions × factor × rotary numbers × 2 bytes
    assert made.weights_bytes == 85_140_130_848 + copies + tables
    assert made.budget is not None and made.budget.weights_bytes == made.weights_bytes
    opened = {number.name: number for number in made.explained}
    assert opened["weights.mla_copies"].numbers == f"{copies:,} bytes"
    assert opened["weights_bytes"].numbers == f"85,140,130,848 + {tables:,} + {copies:,}"


def test_the_whole_card_is_refused_for_the_cuda_context_alone() -> None:
    made = plan(max_model_len=8192, gpu_memory_utilization=1.0)
    assert [error.field for error in made.errors] == ["gpu_memory_utilization"]
    assert "less than desired GPU memory utilization (1.0, 23.64 GiB)" in made.errors[0].message
    assert any(note.startswith("What is free at the start is assumed") for note in made.notes)
    (works,) = ways(made, made.errors[0].way_out)
    assert make_plan(LLAMA, RTX_4090, works).cache_low is not None


def test_nearly_the_whole_card_may_be_refused_and_the_note_says_what_passes() -> None:
    made = plan(max_model_len=8192, gpu_memory_utilization=0.99)  # 0.24 GiB are left for a context of 0.1 to 0.5
    assert made.cache is not None and made.cache_low is None and made.cache_high is not None
    assert any("vLLM may refuse" in note and "0.97 surely passes" in note for note in made.notes)
    sure = plan(max_model_len=8192, gpu_memory_utilization=0.97)
    assert sure.cache_low is not None and not any("refuse" in note for note in sure.notes)


def test_free_memory_that_is_known_is_not_assumed() -> None:
    made = plan({"free_bytes": round(23.5 * GIB)}, max_model_len=8192, gpu_memory_utilization=0.99)  # asks for 23.41
    assert made.cache_low is not None and made.errors == ()
