"""labs/kv_quality.py with an engine whose answers are known: what it asks, compares, keeps and refuses."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from lab_runs import CPU, Runs, fake_runs

from snippets.lab_results.schema import faults
from tools import lab_box

TOKEN_BYTES = {"auto": 57_344, "fp8": 28_672}


class Tokenizer:
    """One token a letter."""

    def encode(self, text: str, add_special_tokens: bool) -> list[int]:
        assert not add_special_tokens
        return [ord(letter) for letter in text]


class Engine:
    """Finds every code and answers each question with 1, 2, 3, …; a test changes what FP8 does."""

    def __init__(self, given: dict[str, Any], lab: ModuleType) -> None:
        self.given, self.lab = given["engine_args"], lab
        self.fork_at: int | None = None  # from this token of the first answer on, another text
        self.drift, self.loses_depth = 0.0, None  # type: float, float | None
        self.backend = self.given.get("attention_backend", "FLASH_ATTN")
        self.block_size = self.given.get("block_size", 16)
        self.llm_engine = self
        self.prompts: list[str] = []

    @property
    def vllm_config(self) -> Any:
        layer = SimpleNamespace(attn_backend=SimpleNamespace(get_name=lambda: self.backend))
        cache = SimpleNamespace(
            num_gpu_blocks=1000,
            block_size=self.block_size,
            kv_cache_size_tokens=1000 * self.block_size,
            kv_cache_max_concurrency=1.0,
            enable_prefix_caching=False,
        )
        return SimpleNamespace(
            cache_config=cache,
            scheduler_config=SimpleNamespace(max_num_batched_tokens=1024, max_num_seqs=256),
            compilation_config=SimpleNamespace(static_forward_context={"layers.0": layer}),
        )

    @property
    def engine_core(self) -> Any:
        blocks = 1000 * self.block_size * TOKEN_BYTES[self.given["kv_cache_dtype"]]
        return SimpleNamespace(engine_core=SimpleNamespace(available_gpu_memory_for_kv_cache=blocks))

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def chat(self, chats: list[Any], params: dict[str, Any], use_tqdm: bool) -> list[Any]:
        contents = [chat[0]["content"] for chat in chats]
        self.prompts += contents
        made = []
        for number, content in enumerate(contents):
            ids = list(range(1, params["max_tokens"] + 1))
            if number == 0 and self.fork_at is not None:
                ids[self.fork_at :] = [-1] * (len(ids) - self.fork_at)
            text = self.find(content) if "access code" in content else "An answer."
            prompt = SimpleNamespace(text=text, token_ids=ids)
            made.append(SimpleNamespace(prompt_token_ids=list(content), outputs=[prompt]))
        return made

    def find(self, content: str) -> str:
        text, _, question = content.rpartition("\n\n")
        place = question.partition("code of the ")[2].partition("?")[0]
        before, _, after = text.partition(f"The access code of the {place} is ")
        if self.loses_depth is not None and abs(len(before) / len(text) - self.loses_depth) < 0.1:
            return "I do not know."
        return f"It is {after[:5]}."

    def generate(self, prompts: list[Any], params: dict[str, Any], use_tqdm: bool) -> list[Any]:
        assert params["prompt_logprobs"] == 0
        (ids,) = (prompt["prompt_token_ids"] for prompt in prompts)
        said = [{token: SimpleNamespace(logprob=-2.0 + self.drift)} for token in ids]
        return [SimpleNamespace(prompt_logprobs=[None, *said[1:]])]


@pytest.fixture
def lab() -> ModuleType:
    """labs/kv_quality.py as it stands."""
    return lab_box.module("kv_quality")


@pytest.fixture
def fp8() -> dict[str, Any]:
    """What the FP8 engine does otherwise; a test adds to it."""
    return {"backend": "FLASHINFER"}


@pytest.fixture
def runs(lab: ModuleType, fp8: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    def start(given: dict[str, Any]) -> Engine:
        made = Engine(given, lab)
        if made.given["kv_cache_dtype"] == "fp8":
            vars(made).update(fp8)
        return made

    return fake_runs(lab, start, monkeypatch, tmp_path)


def setting(runs: Runs, name: str, which: int = 0) -> dict[str, Any]:
    found: list[dict[str, Any]] = [one for one in runs.result()["settings"] if one["name"] == name]
    return found[which]


SMALL = ("--prompts", "2", "--max-tokens", "8", "--texts", "1", "--text-tokens", "64", "--lengths", "900")


# --- what is asked ---
def test_a_code_lies_at_its_depth_in_a_prompt_that_is_no_longer_than_asked(lab: ModuleType) -> None:
    args = lab.parser().parse_args(["--lengths", "900", "--depths", "0,0.5,1", "--repeats", "2"])
    made = lab.hidden_codes(Tokenizer(), lab.asked_of(args))
    assert [(one.length, one.depth) for one in made] == [(900, d) for d in (0, 0, 0.5, 0.5, 1, 1)]
    for one in made:
        assert 900 - 2 * lab.ROOM - 60 < len(one.content) <= 900  # a sentence has up to 60 letters
        text = one.content.rpartition("\n\n")[0]
        assert text.find(one.asked.sentence) / (len(text) - len(one.asked.sentence)) == pytest.approx(
            one.depth, abs=0.1
        )
        assert text.count("access code") == 4  # the one asked for, and three others
    assert len({one.asked.code for one in made}) == 6


def test_a_seed_asks_the_same_questions_again_and_another_seed_others(lab: ModuleType) -> None:
    def asked(*words: str) -> Any:
        return lab.questions(lab.asked_of(lab.parser().parse_args(words)))

    assert asked() == asked()
    assert asked() != asked("--seed", "2")
    assert len(set(asked("--prompts", "64"))) == 64


def test_by_default_requests_are_as_long_as_the_longest_prompt_needs(lab: ModuleType) -> None:
    ((_, _, bf16), (_, _, fp8)) = lab.settings(lab.parser().parse_args([]))
    assert bf16["max_model_len"] == 16_384 + 24
    assert (bf16["kv_cache_dtype"], fp8["kv_cache_dtype"], bf16["dtype"]) == ("auto", "fp8", "bfloat16")
    assert bf16 | {"kv_cache_dtype": "fp8"} == fp8


# --- what is compared ---
def test_on_a_card_three_engines_and_the_control_has_the_backend_of_fp8(runs: Runs) -> None:
    assert runs(*SMALL)[0] == 0
    assert [one["engine_args"].get("attention_backend") for one in runs.asked] == [None, None, "FLASHINFER"]
    assert [one["engine_args"]["kv_cache_dtype"] for one in runs.asked] == ["auto", "fp8", "auto"]
    assert faults(runs.result()) == []


def test_where_fp8_keeps_the_backend_the_control_has_blocks_of_another_size(fp8: dict[str, Any], runs: Runs) -> None:
    fp8["backend"] = "FLASH_ATTN"
    runs(*SMALL)
    assert runs.asked[-1]["engine_args"]["block_size"] == 32


def test_a_fork_a_drift_and_a_lost_code_are_counted(fp8: dict[str, Any], runs: Runs) -> None:
    fp8 |= {"fork_at": 6, "drift": -0.5, "loses_depth": 0.5}
    out = runs(*SMALL, "--depths", "0,0.5,1", "--repeats", "2")[1]
    found = {name: one["value"] for name, one in setting(runs, "FP8")["measured"].items()}
    assert (found["answers_equal"], found["answers_compared"], found["first_difference_median"]) == (1, 2, 6)
    assert found["tokens_equal"] == (6 / 8 + 1) / 2
    assert (found["logprob_tokens"], found["logprob_mean_difference"], found["logprob_largest"]) == (63, -0.5, 0.5)
    # e^2 = 7.3891 and e^2.5 = 12.1825
    assert (found["perplexity_reference"], found["perplexity"]) == (7.3891, 12.1825)
    assert (found["codes_found_reference"], found["codes_found"], found["codes_lost"], found["codes_won"]) == (
        6,
        4,
        2,
        0,
    )
    assert ["900", "tokens,", "depth", "0.50", "2", "of", "2", "0", "of", "2", "2", "of", "2"] in [
        line.split() for line in out.splitlines()
    ]


def test_no_answer_forks_is_said_with_a_dash(runs: Runs) -> None:
    out = runs(*SMALL)[1]
    row = next(line for line in out.splitlines() if line.startswith("first difference"))
    assert row.split()[-2:] == ["-", "-"]


def test_fp8_sizes_its_cache_with_half_the_bytes(runs: Runs) -> None:
    runs(*SMALL)
    for name, size in (("BF16", 57_344), ("FP8", 28_672)):
        one = setting(runs, name)
        assert one["predicted"]["bytes_a_token"]["value"] == size
        assert all(check["equal"] for check in one["checks"])


def test_requests_that_do_not_fit_at_once_are_told_because_batches_then_differ(fp8: dict[str, Any], runs: Runs) -> None:
    # 1,000 blocks of 16 are 16,000 tokens; 16 requests of at most 924 tokens are 14,784, and of 1,924 more than that
    runs(*SMALL, "--seed", "1")
    assert [len(one["notes"]) for one in runs.result()["settings"]] == [1, 1, 1]
    runs(*SMALL[:-1], "1900")
    assert "16 requests of 1,924 tokens do not fit 16,000 tokens of cache" in setting(runs, "FP8", -1)["notes"][1]


def test_quick_starts_two_engines_and_says_what_is_missing(runs: Runs) -> None:
    out = runs("--quick", *SMALL)[1]
    assert len(runs.asked) == 2
    assert "without the control (--quick) nobody can say how much of this another kernel alone would change" in out


# --- on the CPU build ---
def test_on_the_cpu_build_fp8_is_skipped_by_name_and_two_equal_settings_are_compared(runs: Runs) -> None:
    runs.card = CPU
    status, out, _ = runs("--quick", *SMALL)
    assert status == 0
    assert "FP8: skipped, the CPU build sizes an FP8 KV cache but crashes when it writes to it" in out
    assert setting(runs, "FP8")["skipped"].startswith("the CPU build sizes an FP8 KV cache")
    assert [one["engine_args"].get("block_size") for one in runs.asked] == [None, 64]
    assert {one["invariant"] for one in setting(runs, "BF16 control")["checks"]} > {
        "answers equal",
        "largest drift of a log-probability",
        "codes found",
    }


def test_settings_that_must_be_equal_and_are_not_are_found(
    runs: Runs, lab: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs.card = CPU

    def start(given: dict[str, Any]) -> Engine:
        made = Engine(given, lab)
        made.drift = 0.01 if "block_size" in made.given else 0.0
        return made

    monkeypatch.setattr(lab, "start_engine", lambda given, **more: (start(given), 12.0))
    runs("--quick", *SMALL)
    unequal = [one["invariant"] for one in setting(runs, "BF16 control")["checks"] if not one["equal"]]
    assert unequal == ["largest drift of a log-probability"]


# --- it goes on, and it fails in one sentence ---
def test_what_is_done_is_not_done_again(runs: Runs) -> None:
    runs(*SMALL)
    started = len(runs.asked)
    status, out, _ = runs(*SMALL)
    assert (status, len(runs.asked)) == (0, started)
    assert "answers equal to the end" in out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--max-model-len", "1000"], "--max-model-len 1000 is too short: 16408 tokens, or leave it out"),
        (["--prompts", "65"], "--prompts 65 is more than there are: 64"),
        (["--lengths", "100"], "--lengths 100 leaves no room for text: 193 tokens at least"),
        (["--kv-cache-dtype", "fp8"], "this lab sets --kv-cache-dtype itself, BF16 and FP8 in turn: leave it out"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_start(runs: Runs, argv: list[str], sentence: str) -> None:
    status, _, err = runs(*argv)
    assert (status, err.strip()) == (1, f"kv_quality: {sentence}")
    assert runs.asked == []


@pytest.mark.parametrize("text", ["1.5", "-1,0"])
def test_a_depth_outside_the_text_is_refused_by_the_parser(
    lab: ModuleType, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        lab.parser().parse_args([f"--depths={text}"])
    assert "a depth is 0 for the beginning of the text to 1 for its end" in capsys.readouterr().err
