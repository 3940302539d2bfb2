"""What stands behind a number makes that number, and names a line of vLLM."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.explain.sources import NEEDS, OURS, PAGES, SOURCES
from snippets.planner.plan import Plan, make_plan
from snippets.units import GIB

PLENTY = 2000 * GIB
OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
CALLS: dict[str, Callable[..., float]] = {"cdiv": lambda a, b: -(-a // b), "min": min, "int": int}


def computed(numbers: str) -> float:
    """The value of a line of numbers as the page shows it."""
    return _value(ast.parse(re.sub(r"(?<=\d),(?=\d{3})", "", numbers).replace("×", "*"), mode="eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        return node.value
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return CALLS[node.func.id](*(_value(argument) for argument in node.args))


def plan(key: str, **args: object) -> Plan:
    return make_plan(catalog_config(key), gpu("h100-80gb"), EngineArgs(**args), available_bytes=PLENTY)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", list(config_entries()))
def test_pages_needs_and_blocks_come_out_of_the_numbers_shown(key: str) -> None:
    made = plan(key, kv_cache_dtype="fp8" if key.startswith("deepseek-v4") else "auto")  # V4 stores nothing else
    assert made.cache is not None, made.errors
    opened = {number.name: number for number in made.explained}
    first = [i for i in range(len(made.cache.groups)) if f"groups[{i}].page_size_bytes" in opened]
    assert bool(first) == bool(made.cache.groups)
    for index, group in ((i, made.cache.groups[i]) for i in first):
        if not group.members:
            unpadded = opened[f"groups[{index}].page_size_bytes"].numbers.split(";")[0]
            page = group.page_size_bytes
            assert computed(unpadded) == page or group.spec.page_size_padded == page > computed(unpadded)
        assert computed(opened[f"groups[{index}].blocks_per_request"].numbers) == group.blocks_per_request
    if made.cache.groups:
        assert computed(opened["bytes_per_block"].numbers) == made.cache.bytes_per_block
        assert computed(opened["blocks_per_request"].numbers) == made.cache.blocks_per_request
        assert computed(opened["num_gpu_blocks"].numbers) == made.cache.num_gpu_blocks
        assert computed(opened["max_concurrency"].numbers) == made.cache.max_concurrency
        assert computed(opened["kv_bytes_per_token"].numbers) == pytest.approx(made.kv_bytes_per_token, abs=0.5)


@pytest.mark.parametrize(
    "cache_dtype", ["fp8", "int8_per_token_head", "int4_per_token_head", "fp8_per_token_head", "turboquant_4bit_nc"]
)
def test_packed_pages_come_out_of_the_numbers_shown(cache_dtype: str) -> None:
    made = plan("llama-3.1-8b", kv_cache_dtype=cache_dtype)
    assert made.cache is not None, made.errors
    opened = {number.name: number for number in made.explained}
    for index, group in enumerate(made.cache.groups):
        if not group.members:
            shown = opened[f"groups[{index}].page_size_bytes"].numbers.split(";")[0]
            assert computed(shown) == group.page_size_bytes


def test_each_part_of_the_budget_is_opened() -> None:
    made = make_plan(catalog_config("llama-3.1-8b"), gpu("rtx-4090"), EngineArgs(max_model_len=8192))
    names = [number.name for number in made.explained]
    assert {"budget.requested_bytes", "weights_bytes", "budget.activation", "available_kv_cache_bytes"} <= set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("source", [*SOURCES.values(), *PAGES.values(), *NEEDS.values()])
def test_a_source_is_a_file_a_line_and_a_function_of_vllm(source: str) -> None:
    # Checked against the 0.26.0 wheel when it was written: the line lies in the function of that name.
    assert re.fullmatch(r"vllm/[a-z0-9_/]+\.py:\d+ [A-Za-z_][A-Za-z0-9_.]*", source)


def test_what_vllm_does_not_print_is_marked_as_ours() -> None:
    sources = {number.name: number.source for number in plan("llama-3.1-8b").explained}
    assert [name for name, source in sources.items() if source == OURS] == ["kv_bytes_per_token"]
