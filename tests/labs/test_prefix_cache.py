"""labs/prefix_cache.py with a made-up engine that keeps every beginning: what it predicts, compares and refuses."""

from __future__ import annotations

import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from lab_runs import CPU, Runs, fake_runs
from sized_engine import llm_engine

from snippets.lab_results.schema import faults
from tools import lab_box


class KeepingEngine:
    """Keeps whole blocks by all the tokens up to their end; computing a token takes 0.1 ms."""

    def __init__(self, given: dict[str, Any], blocks: int = 20_000) -> None:
        self.given, self.kept, self.clock = given["engine_args"], set[tuple[int, ...]](), 0.0
        self.queries = self.hits = 0
        self.template: str | None = "a template"
        self.llm_engine = llm_engine(self.given, blocks)

    def get_tokenizer(self) -> Any:
        return SimpleNamespace(
            chat_template=self.template,
            apply_chat_template=lambda messages, **_: "".join(f"<{one['role']}>{one['content']}" for one in messages),
            encode=lambda text, add_special_tokens: list(text.encode()),
        )

    def reset_prefix_cache(self) -> None:
        self.kept.clear()

    def generate(self, prompts: list[Any], params: dict[str, Any], use_tqdm: bool) -> list[Any]:
        assert params["max_tokens"] == 1
        found = []
        for prompt in prompts:
            ids, size, cached = tuple(prompt["prompt_token_ids"]), self.given["block_size"], 0
            if self.given["enable_prefix_caching"]:
                while cached + size < len(ids) and ids[: cached + size] in self.kept:
                    cached += size
                self.kept |= {ids[:end] for end in range(size, len(ids) + 1, size)}
                self.queries += len(ids)
            self.hits += cached
            self.clock += 1e-4 * (len(ids) - cached)
            found.append(SimpleNamespace(num_cached_tokens=cached))
        return found

    def get_metrics(self) -> list[Any]:
        counted = {"vllm:prefix_cache_queries": self.queries, "vllm:prefix_cache_hits": self.hits}
        return [SimpleNamespace(name=name, value=value) for name, value in counted.items()]


@pytest.fixture
def lab() -> ModuleType:
    """labs/prefix_cache.py as it stands."""
    return lab_box.module("prefix_cache")


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[KeepingEngine]:
    made: list[KeepingEngine] = []
    monkeypatch.setattr(time, "perf_counter", lambda: sum(one.clock for one in made))
    return made


@pytest.fixture
def runs(lab: ModuleType, engines: list[KeepingEngine], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    def start(given: dict[str, Any]) -> KeepingEngine:
        engines.append(KeepingEngine(given))
        return engines[-1]

    return fake_runs(lab, start, monkeypatch, tmp_path)


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def checks(runs: Runs) -> dict[str, Any]:
    return {one["invariant"]: one["measured"] for one in runs.result()["settings"][-1]["checks"]}


def test_hits_are_predicted_before_the_start_and_counted_after_it(runs: Runs) -> None:
    # 1,010 tokens begin alike: 63 whole blocks, 1,008 tokens, for three of four prompts. A prompt of 1,008 tokens finds
    # 62 blocks of itself, 992; with one token more, all 63.
    status, out, _ = runs("--quick")
    assert status == 0
    said = rows(out)
    assert ["same", "beginning", "4", "4,240", "3,024"] in said
    assert ["first", "token", "differs", "4", "4,240", "0"] in said
    assert ["whole", "blocks", "3", "3,025", "2,000"] in said
    found = checks(runs)
    assert found["whole blocks: hits of each"] == "0 992 1008"
    assert found["same beginning: hits"] == found["same beginning, all at once: hits"] == 3024
    assert found["first token differs: hits of each"] == "0 0 0 0"


def test_without_caching_nobody_looks(runs: Runs) -> None:
    runs("--quick")
    off = runs.result()["settings"][0]
    assert off["name"] == "caching off"
    assert {one["invariant"]: one["measured"] for one in off["checks"]} == {
        "same beginning: queries": 0,
        "same beginning: hits": 0,
        "same beginning: hits of each": "0 0 0 0",
    }


def test_time_to_the_first_token_stands_beside_the_tokens_computed(runs: Runs) -> None:
    # 1,060 tokens at 0.1 ms; later ones compute 1,060 - 1,008 = 52.
    _, out, _ = runs("--quick")
    said = rows(out)
    for row in ("off, first prompt 1,060 106.0", "off, later prompt 1,060 106.0", "on, later prompt 52 5.2"):
        assert ["caching", *row.split()] in said


def rules_length(prompt: int) -> int:
    """Bytes of the rules and of the date up to its last digit, in a chat of so many."""
    return prompt - len("<system>" + "9." + "<user>Where is my order?")


def test_a_chat_loses_its_beginning_when_the_date_stands_at_its_head(runs: Runs) -> None:
    runs("--quick")
    on = runs.result()["settings"][1]
    prompts = on["series"]["chat with a date"]["rows"]
    length, _, hits, _ = prompts[1]
    assert hits == (length - 1) // 16 * 16
    assert prompts[2][2] == 16  # "<system>Today is" are 16 bytes; the date comes behind them
    assert prompts[3][2] == 0
    before = (len("<system>") + rules_length(prompts[3][0])) // 16 * 16  # whole blocks before the date's last digit
    assert prompts[4][2] == before


def test_a_model_without_a_chat_template_is_not_asked_a_chat(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeepingEngine, "get_tokenizer", lambda self: SimpleNamespace(chat_template=None))
    status, _, _ = runs("--quick")
    assert status == 0
    assert "skipped: chat with a date: the model has no chat template" in runs.result()["settings"][1]["notes"]


def test_the_result_is_of_the_schema_and_all_is_equal(runs: Runs) -> None:
    runs("--quick")
    found = runs.result()
    assert faults(found) == []
    assert all(one["equal"] for setting in found["settings"] for one in setting["checks"])


def test_a_token_too_few_is_not_equal(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KeepingEngine, "reset_prefix_cache", lambda self: None)  # the first prompts find something too
    _, out, _ = runs("--quick")
    assert any(row[-1:] == ["NO"] for row in rows(out))


def test_a_finished_engine_is_not_started_again(runs: Runs) -> None:
    runs("--quick")
    assert [one["engine_args"]["enable_prefix_caching"] for one in runs.asked] == [False, True]
    runs.asked = []
    assert runs("--quick")[0] == 0
    assert runs.asked == []


def test_prompts_that_do_not_fit_the_cache_are_refused_with_the_flags(
    lab: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    runs = fake_runs(lab, lambda given: KeepingEngine(given, blocks=200), monkeypatch, tmp_path)
    status, _, err = runs("--quick")
    assert status == 1
    assert err.strip() == (
        "prefix_cache: the group 'same beginning' fills 268 blocks and the cache has 199: lower --prefix-tokens or "
        "--requests, or raise --gpu-memory-utilization (on a CPU VLLM_CPU_KVCACHE_SPACE)"
    )


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--prefix-tokens", "16"], "--prefix-tokens 16 fills no block of 16 that could be found"),
        (["--prefix-tokens", "9000"], "a prompt of 9,052 tokens is longer than --max-model-len 8192: raise it"),
        (
            ["--no-enable-prefix-caching"],
            "this lab runs with prefix caching and without: leave --no-enable-prefix-caching out",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(runs: Runs, argv: list[str], sentence: str) -> None:
    status, _, err = runs(*argv)
    assert (status, err.strip()) == (1, f"prefix_cache: {sentence}")


def test_fp8_on_the_cpu_build_is_refused(runs: Runs) -> None:
    runs.card = CPU
    _, _, err = runs("--quick", "--kv-cache-dtype", "fp8")
    assert "the CPU build sizes an FP8 KV cache but crashes when it writes to it: use --kv-cache-dtype auto" in err
