"""A run beside its prediction: numbers worked out by hand or printed by vLLM itself, and what is said of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_results import result, setting

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.run_check.compare import Comparison, Row, compare
from snippets.run_check.dropped import read
from snippets.run_check.known import card_key, model_key
from snippets.run_check.predict import predict_run
from snippets.units import GIB
from snippets.widgets.checking.example import TEXT

ROOT = Path(__file__).resolve().parents[3]
RESULTS = [path for path in sorted((ROOT / "labs" / "results").glob("*.json")) if '"schema": 2' in path.read_text()]


def compared(text: str, model: str | None = None, card: str | None = None) -> Comparison:
    """The first run of a text, predicted as what it names unless told otherwise."""
    run = read(text).runs[0]
    model, card = model or model_key(run), card or card_key(run)
    return compare(run, predict_run(run, catalog_config(model) if model else None, gpu(card) if card else None))


def row(rows: tuple[Row, ...], name: str) -> Row:
    return next(one for one in rows if one.name == name)


# --- a log ---
def test_a_published_log_of_a_hybrid_on_four_cards_is_met_exactly() -> None:
    """7.47 GiB hold 624 blocks of 16 pages of 802,816 bytes; among 4 groups of 784 tokens they are 122,304 tokens."""
    assert int(7.47 * GIB) // (802_816 * 16) == 624 and 624 // 4 * 784 == 122_304
    found = compared(TEXT, card="rtx-3090")
    assert [(one.name, one.verdict) for one in found.cache] == [("tokens", "equal"), ("concurrency", "equal")]
    assert [(one.name, one.verdict) for one in found.memory] == [
        ("weights", "near"),
        ("other", "inside"),
        ("cache", "inside"),
    ]
    asked = 0.92 * gpu("rtx-3090").visible_bytes
    assert row(found.memory, "other").measured == pytest.approx(asked - 13.01 * GIB - 7.47 * GIB, abs=2)


LOG = """vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8192 --gpu-memory-utilization 0.9
Model loading took 14.25 GiB and 30.0 seconds
Available KV cache memory: 6.16 GiB
GPU KV cache size: {tokens} tokens
Maximum concurrency for 8,192 tokens per request: {concurrency}x
Free memory on device (23.2/23.64 GiB) on startup. Desired GPU memory utilization is (0.9, 21.28 GiB). Actual usage is \
14.25 GiB for weight, 0.8 GiB for peak activation, 0.07 GiB for non-torch memory, and 0.4 GiB for CUDAGraph memory."""
BLOCKS = int(6.16 * GIB) // (16 * 57_344)  # 57,344 bytes a token: 28 layers, 4 heads, 128, keys and values, 2 bytes


def test_a_log_of_one_card_is_compared_part_by_part() -> None:
    found = compared(LOG.format(tokens=f"{BLOCKS * 16:,}", concurrency=f"{BLOCKS * 16 / 8192:.2f}"))
    assert [one.name for one in found.memory] == ["weights", "activations", "context", "cache"]
    assert row(found.cache, "tokens").verdict == "equal"
    weights = row(found.memory, "weights")
    assert weights.measured == round(14.25 * GIB) and weights.verdict == "near"
    assert row(found.memory, "activations").measured == round(0.8 * GIB)


def test_tokens_beyond_what_the_print_of_the_memory_leaves_open_differ() -> None:
    """Half of 0.01 GiB is 5.85 blocks of 917,504 bytes."""
    concurrency = f"{BLOCKS * 16 / 8192:.2f}"
    for more, verdict in ((0, "equal"), (5, "equal"), (7, "outside"), (-7, "outside")):
        found = compared(LOG.format(tokens=f"{(BLOCKS + more) * 16:,}", concurrency=concurrency))
        assert row(found.cache, "tokens").verdict == verdict, more


def test_an_old_version_is_compared_from_its_memory_only() -> None:
    found = compared("vLLM API server version 0.10.1\n" + LOG.format(tokens=BLOCKS * 16, concurrency=6.8))
    assert found.memory[0].verdict == "not predicted" and found.before == ()
    assert row(found.cache, "tokens").verdict == "equal"
    assert any("0.10.1 measured its memory in another way" in note for note in found.prediction.notes)


def test_without_the_card_or_the_model_the_rest_is_compared() -> None:
    short = "\n".join(LOG.format(tokens=BLOCKS * 16, concurrency=6.8).splitlines()[:-1])
    found = compared(short)
    assert row(found.cache, "tokens").verdict == "equal"
    assert any("choose the card" in note for note in found.prediction.notes)
    unknown = compared(short.replace("Qwen/Qwen2.5-7B-Instruct", "/data/mine"))
    assert unknown.cache == ()
    assert any("choose one of the same shape" in note for note in unknown.prediction.notes)
    assert row(compared(short.replace("Qwen/Qwen2.5-7B-Instruct", "/data/mine"), "qwen2.5-7b").cache, "tokens").low


def test_a_refusal_is_compared_too() -> None:
    """32,768 tokens of 57,344 bytes are 1.75 GiB; 1 GiB holds 18,720 tokens in blocks of 16, whole blocks of them."""
    found = compared(
        "vllm serve Qwen/Qwen2.5-7B-Instruct\nTo serve at least one request with the model's max seq len (32768), "
        "(1.75 GiB KV cache is needed, which is larger than the available KV cache memory (1.0 GiB). Based on the "
        "available memory, the estimated maximum model length is 18720."
    )
    assert [(one.name, one.verdict) for one in found.cache] == [("needed", "equal"), ("longest", "equal")]


# --- a result ---
def test_a_result_on_a_card_has_exact_blocks_and_a_predicted_budget() -> None:
    """15,770,000,000 // (16 tokens * 28,672 bytes) = 34,375; they hold 550,000 tokens."""
    found = compared(json.dumps(result()))
    assert found.run.card == "NVIDIA GeForce RTX 4090" and found.prediction.plan is not None
    assert [(one.name, one.verdict) for one in found.cache] == [
        ("blocks", "equal"),
        ("tokens", "equal"),
        ("concurrency", "equal"),
    ]
    assert row(found.cache, "blocks").low == row(found.cache, "blocks").high == 34_375
    assert row(found.memory, "weights").measured == round(5.2 * GIB)
    assert [(pair.name, pair.equal) for pair in found.run.pairs] == [("blocks", False), ("latency", None)]
    assert "a note of the lab" in found.run.notes


def test_one_block_too_many_in_a_result_is_a_difference() -> None:
    off = setting()
    off["measured"] = {**off["measured"], "num_gpu_blocks": {"value": 34_376, "unit": "blocks"}}
    found = compared(json.dumps(result(off)))
    assert (row(found.cache, "blocks").verdict, row(found.cache, "blocks").off) == ("outside", 1)


def test_a_result_of_the_cpu_build_is_compared_from_its_bytes() -> None:
    """vLLM 0.26.0 on a CPU: 1 GiB is 146 blocks of 128 tokens, 18,688 tokens, 2.28 requests of 8,192."""
    measured = {
        "available_bytes": {"value": GIB, "unit": "bytes"},
        "num_gpu_blocks": {"value": 146, "unit": "blocks"},
        "block_size": {"value": 128, "unit": "tokens"},
        "kv_cache_size_tokens": {"value": 18_688, "unit": "tokens"},
        "max_concurrency": {"value": 2.28125, "unit": "requests"},
    }
    shape = {"name": "tiny", "num_layers": 28, "num_kv_heads": 4, "head_dim": 128, "dtype_bytes": 2}
    one = setting(name="BF16", model="tiny-random-llama", shape=shape, startup_lines=[], measured=measured)
    cpu = {**result()["card"], "device": "cpu", "name": "cpu", "total_bytes": None, "free_bytes": None}
    found = compared(json.dumps(result(one, card=cpu)))
    assert {line.verdict for line in found.cache} == {"equal"}
    assert found.memory == ()
    assert any("On a CPU" in note for note in found.prediction.notes)


def test_a_log_of_the_cpu_build_is_compared_with_a_model_of_the_same_shape() -> None:
    """Real lines: blocks of 128 tokens, of which 1 GiB holds 146."""
    text = (
        "Initializing a V1 LLM engine (v0.26.0) with config: model='tiny-random-llama', device_config=cpu\n"
        "Explicitly set (1.0/19.84) GiB for KV cache on node 0.\nGPU KV cache size: 18,688 tokens\n"
        "Maximum concurrency for 8,192 tokens per request: 2.28x"
    )
    found = compared(text, "qwen2.5-7b")
    assert {line.verdict for line in found.cache} == {"equal"} and found.memory == ()


def test_every_recorded_result_can_be_dropped_and_agrees() -> None:
    for path in RESULTS:
        for run in read(path.read_text(encoding="utf-8")).runs:
            key = model_key(run)
            found = compare(run, predict_run(run, catalog_config(key) if key else None, None))
            assert [line.name for line in found.cache if line.verdict == "outside"] == [], (path.name, run.name)
