"""A whole run of labs/continuous_batching.py, with an engine that is not there: predictions, result, failures."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from fake_vllm import FakeVllm, fake_lab

from snippets.lab_results.schema import faults
from snippets.sim.batching import continuous
from snippets.sim.lengths import Request, draw_requests
from tools import lab_box, lab_results

QUICK = ("--quick", "--request-rate", "2000")


class Engine:
    """An engine by the rule alone: in a step the first `max_num_seqs` requests get a token each."""

    def __init__(self, max_num_seqs: int) -> None:
        self.slots = max_num_seqs
        self.waiting: list[SimpleNamespace] = []
        self.late = 0  # steps in which nobody gets anything: an engine that is not as predicted

    def add_request(self, request_id: str, prompt: dict[str, Any], params: dict[str, Any]) -> None:
        assert params["ignore_eos"] and params["temperature"] == 0
        assert len(prompt["prompt_token_ids"]) + params["max_tokens"] <= 256
        self.waiting.append(SimpleNamespace(name=request_id, wanted=params["max_tokens"], made=0))

    def step(self) -> list[Any]:
        if self.late:
            self.late -= 1
            return []
        served = self.waiting[: self.slots]
        for one in served:
            one.made += 1
        self.waiting = [one for one in self.waiting if one.made < one.wanted]
        return [
            SimpleNamespace(
                request_id=one.name,
                outputs=[SimpleNamespace(token_ids=[1] * one.made)],
                finished=one.made == one.wanted,
            )
            for one in served
        ]


class Fake(FakeVllm):
    """A fake whose engine can be stepped."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = Engine(1)

    def llm(self, **given: Any) -> Any:
        found, self.engine = super().llm(**given), Engine(given["max_num_seqs"])
        found.llm_engine.add_request, found.llm_engine.step = self.engine.add_request, self.engine.step
        return found


@pytest.fixture
def lab() -> ModuleType:
    return lab_box.module("continuous_batching")


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def run(
    lab: ModuleType,
    fake: Fake,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Any:
    return fake_lab(lab, fake, monkeypatch, capsys, tmp_path)


def result() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("continuous_batching.result.json").read_text())
    return found


def test_quick_predicts_and_counts_the_steps_of_three_rules(run: Any) -> None:
    status, out, err = run(*QUICK)
    assert (status, err) == (0, "")
    # 16 requests of seed 0: 718 tokens of answers, each its own step when alone.
    rows = [line.split() for line in out.splitlines()]
    assert ["one", "at", "a", "time", "718", "100%", "of", "1"] in rows
    assert ["static", "batches", "399", "45%", "of", "4"] in rows
    assert ["continuous", "180", "to", "718", "-"] in rows
    assert "NO" not in out
    found = result()
    assert faults(found) == []
    assert [one["name"] for one in found["settings"]] == ["one at a time", "static batches", "continuous"]
    assert [one["measured"]["steps"]["value"] for one in found["settings"]][:2] == [718, 399]
    assert all(check["equal"] for one in found["settings"] for check in one["checks"])


def test_the_engine_is_given_what_makes_steps_countable(run: Any, fake: Fake) -> None:
    run(*QUICK)
    assert len(fake.started) == 1
    assert fake.asked["async_scheduling"] is False
    assert fake.asked["enable_prefix_caching"] is False
    assert fake.asked["max_num_seqs"] == 4


def test_a_step_more_than_predicted_is_said(
    run: Any, fake: Fake, lab: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = vars(lab)["play"]

    def slow(engine: Any, policy: str, given: dict[str, Any]) -> Any:
        fake.engine.late = 1 if policy == "static batches" else 0
        return plain(engine, policy, given)

    monkeypatch.setattr(lab, "play", slow)
    _, out, _ = run(*QUICK)
    assert next(line for line in out.splitlines() if "NO" in line).split()[-3:] == ["399", "400", "NO"]


def test_what_is_done_is_not_run_again(run: Any, fake: Fake) -> None:
    run(*QUICK)
    found = result()
    found["settings"] = found["settings"][:2]  # killed before the last rule
    Path("continuous_batching.result.json").write_text(json.dumps(found))
    _, out, _ = run(*QUICK)
    assert "continuous ..." in out
    assert "one at a time ..." not in out
    assert len(result()["settings"]) == 3
    assert run(*QUICK)[0] == 0
    assert len(fake.started) == 2  # the third run starts nothing


def test_a_cache_too_small_for_all_slots_is_refused_with_the_number_that_fits(run: Any, fake: Fake) -> None:
    fake.blocks = 49  # 48 to use, 16 for each request of 256 tokens
    status, _, err = run(*QUICK)
    assert status == 1
    assert err.strip() == (
        "continuous_batching: the cache holds 3 requests of 256 tokens and the lab counts on 4: pass --max-num-seqs 3, "
        "or a smaller --max-model-len"
    )


def test_a_step_with_less_room_than_slots_is_refused(run: Any) -> None:
    status, _, err = run("--max-num-seqs", "64", "--max-num-batched-tokens", "32")
    assert status == 1
    assert "a step of 32 tokens has no room for 64 requests: raise --max-num-batched-tokens" in err


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "many"])
def test_a_rate_that_is_none_is_refused(run: Any, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        run("--request-rate", text)
    assert f"'{text}' is not a rate above 0" in capsys.readouterr().err


def test_a_static_batch_waits_until_it_is_full_and_the_engine_empty(lab: ModuleType) -> None:
    coming = lab.deque(range(10))
    assert lab.may_start("static batches", coming, arrived=3, inside=0, max_num_seqs=4) == 0
    assert lab.may_start("static batches", coming, arrived=6, inside=1, max_num_seqs=4) == 0
    assert lab.may_start("static batches", coming, arrived=6, inside=0, max_num_seqs=4) == 4
    assert lab.may_start("static batches", lab.deque([8, 9]), arrived=2, inside=0, max_num_seqs=4) == 2
    assert lab.may_start("one at a time", coming, arrived=6, inside=0, max_num_seqs=4) == 1
    assert lab.may_start("continuous", coming, arrived=6, inside=3, max_num_seqs=4) == 6


def test_the_full_run_is_of_64_requests_in_16_slots(lab: ModuleType) -> None:
    args = lab.parser().parse_args([])
    (_, model, given), *_ = lab.settings(args)
    assert model == "Qwen/Qwen2.5-7B-Instruct-AWQ"
    assert (args.requests, args.request_rate, given["max_num_seqs"], given["max_model_len"]) == (64, 4.0, 16, 1024)
    assert lab.serve_command(model, given) == (
        "vllm serve Qwen/Qwen2.5-7B-Instruct-AWQ --max-model-len 1024 --gpu-memory-utilization 0.90 --kv-cache-dtype "
        "auto --no-enable-prefix-caching --max-num-batched-tokens 2048 --max-num-seqs 16 --no-async-scheduling"
    )


def test_in_the_recorded_run_vllm_took_the_predicted_steps_and_no_others(lab: ModuleType) -> None:
    alone, static, joined = lab_results.load("continuous_batching.cpu")["settings"]
    rows = joined["series"]["requests"]["rows"]
    requests = [Request(prompt, output) for _, prompt, output, *_ in rows]
    assert requests == list(draw_requests("alpaca", 16, 256, seed=0))
    handed_over = [row[4] for row in rows]
    run = continuous(requests, 4, 2048, handed_over)
    assert [row[5:7] for row in rows] == [
        list(steps) for steps in zip(run.first_token_step, run.last_token_step, strict=True)
    ]
    assert joined["measured"]["steps"]["value"] == run.steps
    assert alone["measured"]["steps"]["value"] == sum(one.output_tokens for one in requests)
    longest = [max(one.output_tokens for one in requests[first : first + 4]) for first in (0, 4, 8, 12)]
    assert static["measured"]["steps"]["value"] == sum(longest)
    # Few requests come at a time: continuous batching takes more steps than static batches, and is done sooner.
    assert joined["measured"]["steps"]["value"] > static["measured"]["steps"]["value"]
    assert joined["measured"]["duration"]["value"] < static["measured"]["duration"]["value"]
