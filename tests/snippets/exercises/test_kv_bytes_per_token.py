"""The exercise of the KV-cache lesson: its own solution passes, and each slip is named."""

from __future__ import annotations

import pytest

from snippets.cells.run import run_cell
from snippets.exercises.kv_bytes_per_token import EXERCISE, KEYS, SOLUTION, expected_bytes


def graded(body: str) -> tuple[bool, str]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    found = run_cell(f"def kv_bytes_per_token(config):\n{lines}", EXERCISE.name)["graded"]
    return found["passed"], found["message"]


FULL = """h = config["num_attention_heads"]
kv = config.get("num_key_value_heads", h)
d = config.get("head_dim", config["hidden_size"] // h)
L = config["num_hidden_layers"]
return """


def test_the_expected_values_are_the_published_ones() -> None:
    # Layers and KV heads: Qwen2.5-7B 28 and 4, Llama-2-13B 40 and 40, Qwen3-4B 36 and 8; heads of 128 in all.
    by_hand = [2 * 28 * 4 * 128 * 2, 2 * 40 * 40 * 128 * 2, 2 * 36 * 8 * 128 * 2]
    assert [expected_bytes(key) for key in KEYS] == by_hand == [57_344, 819_200, 147_456]


def test_the_solution_passes() -> None:
    ran = run_cell(SOLUTION, EXERCISE.name)
    assert ran["error"] == ""
    assert ran["graded"]["passed"], ran["graded"]["message"]
    assert "Qwen2.5-7B-Instruct (57,344)" in ran["graded"]["message"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (FULL + "L * kv * d * 2", "28,672 bytes for Qwen2.5-7B-Instruct is 2 times too small. Either a key or a value"),
        (FULL + "L * kv * d", "4 times too small. A key and a value are two, and an element has two bytes."),
        (FULL + "2 * kv * d * 2", "28 times too small. That is one layer."),
        (FULL + "2 * L * h * d * 2", "401,408 bytes for Qwen2.5-7B-Instruct is 7 times too large. It counts"),
        (FULL + "2 * L * kv * d * 2 // 1024", "That is in KiB; bytes are asked for."),
        (FULL + "2 * L * kv * (config['hidden_size'] // h) * 2", "for Qwen3-4B is 1.60 times too small. This config"),
        (FULL + "57344", "57,344 bytes for Llama-2-13B is 14.29 times too small."),
        (FULL + "-1", "-1 bytes for Qwen2.5-7B-Instruct is not a size."),
        (FULL + "7", "8,192 times too small."),
        ("pass", "returns None for Qwen2.5-7B-Instruct: a function without a return line does that."),
        ("return '56 KiB'", "returns '56 KiB' for Qwen2.5-7B-Instruct: a number of bytes is asked for."),
        ("return True", "returns True"),
        ("return float('nan')", "bytes come whole"),
        ("return 10**400", "more bytes than there are"),
        ("return 1e309", "bytes come whole"),
        ("return config['head_dim']", "stops in line 2 for Qwen2.5-7B-Instruct: KeyError: 'head_dim'."),
        ("raise SystemExit", "stops in line 2 for Qwen2.5-7B-Instruct: SystemExit"),
    ],
)  # fmt: skip
def test_a_slip_is_named(body: str, said: str) -> None:
    passed, message = graded(body)
    assert not passed
    assert said in message


def test_other_arguments_and_other_names_are_told() -> None:
    ran = run_cell("def kv_bytes_per_token(): return 1", EXERCISE.name)
    assert "takes 0 positional arguments but 1 was given" in ran["graded"]["message"]
    assert "not a function" in run_cell("kv_bytes_per_token = 57344", EXERCISE.name)["graded"]["message"]
