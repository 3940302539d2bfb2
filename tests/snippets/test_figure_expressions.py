"""What an expression on a page may name, and what happens when it prints something else."""

import pytest

from snippets import figures


def test_every_documented_name_is_there() -> None:
    by_bare_name = {"kib", "mib", "gib", "gb", "percent", "times", "count", "milliseconds", "GIB", "GB"}
    lesson = {"kv_bytes_per_token", "kv_bytes", "QWEN2_5_7B", "ModelConfig"}
    modules = {"baseline", "blocks", "budget", "decode_step", "kv_shapes", "parameters"}
    also = {"model", "gpu", "KVShape", "count_parameters", "weight_bytes"}
    assert by_bare_name | lesson | modules | also <= figures.names().keys()


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("56 KiB", "kib(kv_bytes_per_token(QWEN2_5_7B))"),
        ("0.44 GiB", "gib(kv_bytes(QWEN2_5_7B, 8192))"),
        ("14.09×", "times(baseline.sequences(round(1.4 * GIB)), 2)"),
        ("246,604", "count(decode_step.tokens_where_kv_reads_equal_weight_reads(baseline.MODEL))"),
        ("320 KiB", 'kib(kv_shapes.kv_bytes_per_token(KVShape.of(model("llama-2-70b")), 2))'),
        ("163.9", 'count(decode_step.critical_intensity(gpu("rtx-4090")), 1)'),
        ("5.571 GB", 'gb(weight_bytes(count_parameters(model("qwen2.5-7b-awq")), "int4"), 3)'),
    ],
)
def test_an_expression_prints_its_figure(text: str, expression: str) -> None:
    figures.check(text, expression)


def test_gib_formats_although_the_lesson_has_a_gib_too() -> None:
    assert figures.evaluate("gib(2**30)") == "1.00 GiB"


def test_a_figure_splits_at_its_first_equals_sign() -> None:
    assert figures.parse(" 14.09× = times(f(a=1), 2) ") == ("14.09×", "times(f(a=1), 2)")


@pytest.mark.parametrize("source", ["56 KiB", "= kib(1)", "56 KiB = ", "56 KiB=kib(57344)"])
def test_a_figure_without_text_or_expression_is_refused(source: str) -> None:
    with pytest.raises(figures.FigureError, match="a figure is written TEXT = EXPRESSION"):
        figures.parse(source)


def test_a_figure_that_prints_something_else_is_refused() -> None:
    with pytest.raises(figures.FigureError, match=r"the page says '57 KiB', but .* makes '56 KiB'"):
        figures.check("57 KiB", "kib(kv_bytes_per_token(QWEN2_5_7B))")


def test_an_expression_that_fails_says_how() -> None:
    with pytest.raises(figures.FigureError, match=r"model\('gpt-5'\): UnknownModelError: model 'gpt-5' is not in"):
        figures.evaluate("model('gpt-5')")
