"""labs/decode_roofline.py with an engine whose steps take a known time: what it counts, fits, keeps and refuses."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from lab_runs import CPU, RTX_4090, Runs, fake_runs

from snippets.lab_results.schema import faults
from tools import lab_box

EMBEDDING = 152_064 * 3_584 * 2
READ = 4_480_752_640  # of Qwen2.5-7B-Instruct-AWQ, with lm_head, which is as large as the embedding, and without that
WEIGHTS = {
    "model.embed_tokens.weight": EMBEDDING,
    "model.layers.0.mlp.weight": READ - EMBEDDING,
    "lm_head.weight": EMBEDDING,
}
TOKEN_BYTES = 57_344


class TimedEngine:
    """Prefills one prompt a step. A step takes 2 ms, and 1 ms for each GB that it reads: 1,000 GB/s."""

    def __init__(self, blocks: int = 20_000) -> None:
        self.clock, self.waiting, self.running = 0.0, {}, {}  # type: float, dict[str, int], dict[str, list[int]]
        self.seconds_per_byte, self.slow_first_steps, self.preemptions = 1e-12, 0.0, 0
        self.blocks, self.aborted = blocks, 0
        pool = SimpleNamespace(num_gpu_blocks=blocks, get_num_free_blocks=self.free)
        core = SimpleNamespace(
            scheduler=SimpleNamespace(kv_cache_manager=SimpleNamespace(block_pool=pool)),
            available_gpu_memory_for_kv_cache=blocks * 16 * TOKEN_BYTES,
        )
        cache = SimpleNamespace(
            num_gpu_blocks=blocks,
            block_size=16,
            kv_cache_size_tokens=blocks * 16,
            kv_cache_max_concurrency=1.0,
            enable_prefix_caching=False,
        )
        self.llm_engine = self
        self.engine_core = SimpleNamespace(engine_core=core)
        self.vllm_config = SimpleNamespace(
            cache_config=cache,
            scheduler_config=SimpleNamespace(max_num_batched_tokens=2048, max_num_seqs=256),
            compilation_config=SimpleNamespace(static_forward_context={}),
        )

    def free(self) -> int:
        return self.blocks - 1 - sum(-(-(prompt + made) // 16) for prompt, made in self.running.values())

    def get_metrics(self) -> list[Any]:
        return [SimpleNamespace(name="vllm:num_preemptions", value=self.preemptions)]

    def apply_model(self, ask: Any) -> list[Any]:
        tensors = {n: SimpleNamespace(numel=lambda b=b: b // 2, element_size=lambda: 2) for n, b in WEIGHTS.items()}
        return [ask(SimpleNamespace(named_parameters=lambda: tensors.items()))]

    def add_request(self, name: str, prompt: dict[str, Any], params: dict[str, Any]) -> None:
        assert params["ignore_eos"]
        self.waiting[name] = len(prompt["prompt_token_ids"])

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting or self.running)

    def abort_request(self, names: list[str]) -> None:
        self.aborted += len(names)
        self.waiting, self.running = {}, {}

    def step(self) -> list[Any]:
        read = READ + TOKEN_BYTES * sum(prompt + made for prompt, made in self.running.values())
        self.clock += 0.002 + read * self.seconds_per_byte
        for state in self.running.values():
            state[1] += 1
        if self.waiting:
            name = next(iter(self.waiting))
            self.running[name] = [self.waiting.pop(name), 1]
            self.clock += 1  # a prefill: must not be timed
        elif self.slow_first_steps and max(made for _, made in self.running.values()) < 8:
            self.clock += self.slow_first_steps
        one = SimpleNamespace(token_ids=[7])
        return [SimpleNamespace(request_id=name, outputs=[one]) for name in self.running]


@pytest.fixture
def lab() -> ModuleType:
    """labs/decode_roofline.py as it stands."""
    return lab_box.module("decode_roofline")


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> TimedEngine:
    made = TimedEngine()
    monkeypatch.setattr(time, "perf_counter", lambda: made.clock)
    return made


@pytest.fixture
def runs(lab: ModuleType, engine: TimedEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    return fake_runs(lab, lambda given: engine, monkeypatch, tmp_path)


def point(runs: Runs, name: str) -> dict[str, Any]:
    return next(one for one in runs.result()["settings"] if one["name"] == name)


# --- what is predicted ---
def test_by_default_three_contexts_at_four_batches_and_room_for_the_longest_request(lab: ModuleType) -> None:
    args = lab.parser().parse_args([])
    assert [one.name for one in lab.plan(args)][:5] == [
        "1 x 1,024",
        "4 x 1,024",
        "16 x 1,024",
        "64 x 1,024",
        "1 x 4,096",
    ]
    # 64 × 16,384 tokens are prefilled in 529 steps of 2,048 − 64, then 8 + 32 steps and 8 to spare
    assert args.max_model_len == 16_384 + 529 + 8 + 32 + 8


def test_the_bound_on_a_4090_is_bytes_over_1008_gb_a_second(lab: ModuleType) -> None:
    text = lab.announce([lab.Point(16, 4096)], lab.weights_read("Qwen/Qwen2.5-7B-Instruct-AWQ"), TOKEN_BYTES, 1008e9)
    # by hand: 4,480,752,640 + 16 × 4,096 × 57,344 = 8,238,848,... bytes, / 1,008e9
    assert 4_480_752_640 + 16 * 4096 * 57_344 == 8_238_849_024
    assert ["16", "x", "4,096", "8.24", "8.17"] in [line.split() for line in text.splitlines()]


def test_what_is_not_known_before_the_start_is_said(lab: ModuleType) -> None:
    text = lab.announce([lab.Point(1, 512)], None, TOKEN_BYTES, None)
    assert ["1", "x", "512", "-", "-"] in [line.split() for line in text.splitlines()]
    assert "the checkpoint is not here yet" in text
    assert "give --bandwidth-gb-per-s" in text


def test_the_peak_is_the_4090s_or_what_is_given_and_no_other_cards(lab: ModuleType) -> None:
    def args(*words: str) -> Any:
        return lab.parser().parse_args(words)

    assert lab.peak_bandwidth({"name": "NVIDIA GeForce RTX 4090"}, args()) == 1008e9
    assert lab.peak_bandwidth({"name": "NVIDIA GeForce RTX 4090 Laptop GPU"}, args()) is None
    assert lab.peak_bandwidth({"name": "cpu"}, args("--bandwidth-gb-per-s", "50")) == 50e9


@pytest.mark.parametrize(("with_lm_head", "read"), [(True, 8 + 6), (False, 6 + 8)], ids=["untied", "tied"])
def test_the_embedding_of_a_checkpoint_is_read_only_where_it_is_the_lm_head(
    lab: ModuleType, tmp_path: Path, with_lm_head: bool, read: int
) -> None:
    tensors = {"model.embed_tokens.weight": [0, 8], "model.layers.0.mlp.weight": [8, 14]}
    if with_lm_head:
        tensors["lm_head.weight"] = [14, 22]
    header = json.dumps({"__metadata__": {"format": "pt"}} | {n: {"data_offsets": at} for n, at in tensors.items()})
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(header)) + header.encode() + bytes(22))
    assert lab.weights_read(str(tmp_path)) == read


# --- what is measured ---
def test_prefills_and_the_first_steps_are_not_timed(lab: ModuleType, engine: TimedEngine, runs: Runs) -> None:
    engine.slow_first_steps = 5.0
    found = lab.time_steps(engine, lab.Point(3, 100), steps=4, max_tokens=99)
    assert len(found["seconds"]) == 4
    assert max(found["seconds"]) < 0.01  # 2 ms, and 4.5 GB in 4.5 ms
    assert engine.aborted == 3


def test_a_step_reads_every_cached_token_of_every_sequence(lab: ModuleType, engine: TimedEngine, runs: Runs) -> None:
    found = lab.time_steps(engine, lab.Point(2, 100), steps=2, max_tokens=99)
    # The second prompt is prefilled when the first has made its second token, so they are one apart. The first step in
    # which both decode is the clock's start; then 8 steps are thrown away, and the first timed one comes to 2 × 100
    # tokens of prompt, and 11 and 10 made before.
    assert found["tokens_read"] == [200 + 11 + 10, 200 + 12 + 11]


def test_the_known_law_of_the_engine_is_what_the_lab_fits(runs: Runs) -> None:
    status, out, _ = runs("--quick", "--bandwidth-gb-per-s", "2000")
    assert status == 0
    assert "fit: 2.00 ms + bytes / 1,000.0 GB/s, 50 % of the peak of 2,000" in out
    fit = point(runs, "fit")["measured"]
    assert fit["bandwidth"] == {"value": pytest.approx(1000), "unit": "GB/s"}
    assert fit["fixed"] == {"value": pytest.approx(2), "unit": "ms"}
    assert fit["without_cache"]["value"] == pytest.approx(2 + 4.480752640)
    assert abs(fit["largest_residual"]["value"]) < 0.001


def test_points_that_hold_the_same_tokens_are_set_side_by_side(runs: Runs) -> None:
    assert "the same bytes: 2,048 tokens as 4 x 512: " in runs("--quick")[1]


def test_every_invariant_holds_and_the_result_has_the_schemas_form(runs: Runs) -> None:
    runs("--quick")
    result = runs.result()
    assert faults(result) == []
    checks = [one for setting in result["settings"] for one in setting["checks"]]
    assert len(checks) > 10
    assert all(one["equal"] for one in checks)
    assert [one["name"] for one in result["settings"]] == ["1 x 512", "4 x 512", "1 x 2,048", "4 x 2,048", "fit"]


def test_a_step_faster_than_the_peak_allows_and_a_preemption_are_found(engine: TimedEngine, runs: Runs) -> None:
    engine.seconds_per_byte = 1e-13
    out = runs("--quick", "--bandwidth-gb-per-s", "1008")[1]
    assert "points faster than the peak allows" in out
    (check,) = [one for one in point(runs, "fit")["checks"] if one["invariant"] == "points faster than the peak allows"]
    assert (check["measured"], check["equal"]) == (4, False)


def test_steps_that_do_not_grow_with_what_they_read_have_no_fit(engine: TimedEngine, runs: Runs) -> None:
    engine.seconds_per_byte = -1e-13
    status, out, _ = runs("--quick")
    assert status == 0
    assert "no fit: steps that read more did not take longer" in out
    fit = point(runs, "fit")
    assert "bandwidth" not in fit["measured"]
    assert "no fit: steps that read more did not take longer" in fit["notes"][1]


def test_a_point_that_does_not_fit_the_cache_is_skipped_by_name(engine: TimedEngine, runs: Runs) -> None:
    engine.blocks = engine.vllm_config.cache_config.num_gpu_blocks = 400
    # 4 × (2,048 tokens and at most 38 new ones) are 4 × 131 blocks; one of the 400 is vLLM's null block
    out = runs("--quick")[1]
    assert "4 x 2,048: skipped, needs 524 blocks and the cache has 399" in out
    assert point(runs, "4 x 2,048")["skipped"].startswith("needs 524 blocks")
    assert [row[0] for row in point(runs, "fit")["series"]["points"]["rows"]] == ["1 x 512", "4 x 512", "1 x 2,048"]


def test_on_the_cpu_build_the_weights_are_the_checkpoints_and_the_count_is_skipped_by_name(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.card = CPU
    monkeypatch.setitem(WEIGHTS, "model.layers.0.mlp.weight", 0)  # packed away, as the CPU build does
    assert runs("--quick")[0] == 0
    fit = point(runs, "fit")
    assert fit["measured"]["weights_read"]["value"] == READ
    assert "weights in memory to be read" not in {one["invariant"] for one in fit["checks"]}
    assert fit["notes"][-1].startswith("skipped: weights in memory")


# --- it goes on, and it fails in one sentence ---
def test_a_lab_that_was_killed_times_only_what_is_left(runs: Runs) -> None:
    runs.dies_after = 2
    assert runs("--quick")[0] == 1
    assert [one["name"] for one in runs.result()["settings"]] == ["1 x 512", "4 x 512"]
    runs.dies_after = None
    assert runs("--quick")[0] == 0
    assert runs.asked[-1]["points"] == [[1, 2048], [4, 2048]]
    assert len(point(runs, "fit")["series"]["points"]["rows"]) == 4
    started = len(runs.asked)
    assert runs("--quick")[0] == 0
    assert len(runs.asked) == started  # all is done: no engine


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--max-model-len", "1000"], "--max-model-len 1000 is too short for these points: "),
        (["--batches", "2048"], "a batch of 2048 fills a step: raise --max-num-batched-tokens, or lower --batches"),
        (["--tensor-parallel-size", "2"], "this lab times one card: leave --tensor-parallel-size out"),
    ],
)
def test_settings_that_cannot_be_timed_are_refused_before_the_start(runs: Runs, argv: list[str], sentence: str) -> None:
    status, _, err = runs(*argv)
    assert status == 1
    assert err.strip().startswith(f"decode_roofline: {sentence}")
    assert runs.asked == []


def test_fp8_on_the_cpu_build_is_refused_with_the_flag(runs: Runs) -> None:
    runs.card = CPU
    status, _, err = runs("--kv-cache-dtype", "fp8")
    assert status == 1
    assert "the CPU build sizes an FP8 KV cache" in err
    assert "use --kv-cache-dtype auto" in err


def test_the_card_of_the_fake_is_known_by_its_name(runs: Runs) -> None:
    assert runs.card is RTX_4090
    assert f"on {RTX_4090['name']}, {TOKEN_BYTES:,} bytes of cache a token" in runs("--quick")[1]
