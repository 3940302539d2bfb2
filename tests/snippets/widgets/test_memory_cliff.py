"""The memory cliff as a widget: published sizes, worked by hand from each model's config, and what it refuses."""

from __future__ import annotations

import pytest

from snippets.catalog.gpus import gpus
from snippets.catalog.models import model
from snippets.draw.figure import LAYOUTS, same_text
from snippets.widgets.cliff.controls import quarter_doublings
from snippets.widgets.declare import Number, Readout
from snippets.widgets.memory_cliff import WIDGET
from snippets.widgets.run import Answer, defaults, look

MODELS, CARDS = WIDGET.preset_bars
PRESETS = {preset.name: dict(preset.values) for preset in MODELS.presets}


def state(preset: str = "llama-3-70b", **changed: object) -> dict[str, str]:
    return defaults(WIDGET) | PRESETS[preset] | {name: str(value) for name, value in changed.items()}


def answer(preset: str = "llama-3-70b", **changed: object) -> Answer:
    return look(WIDGET, state(preset, **changed), {}, "wide")


def readouts(preset: str = "llama-3-70b", **changed: object) -> dict[str, str]:
    found = answer(preset, **changed)
    assert not found.errors
    return {one.name: f"{one.value} {one.unit}".strip() for one in found.view.readouts}


def readout(name: str, preset: str = "llama-3-70b", **changed: object) -> Readout:
    return next(one for one in answer(preset, **changed).view.readouts if one.name == name)


def test_it_opens_with_llama_3_70b_at_8192_tokens_and_8_requests_on_an_h100() -> None:
    opens = defaults(WIDGET)
    assert PRESETS["llama-3-70b"].items() <= opens.items()
    wanted = {"seq_len": "8192", "batch": "8", "kv_bits": "16", "weight_format": "bf16", "gpu_gib": "79.19"}
    assert wanted.items() <= opens.items()


def test_llama_3_70b_holds_320_kib_per_token_and_20_gib_at_8_times_8192() -> None:
    # 2 × 80 layers × 8 heads × 128 × 2 B = 327,680 B; 70,553,706,496 parameters × 2 B = 141.1 GB = 131.4 GiB.
    assert readouts() == {
        "per_token": "320 KiB",
        "kv": "20 GiB",
        "weights": "131.4 GiB",
        "ratio": "0.15",
        "crossing_context": "53,829 tokens",
        "crossing_batch": "53 requests",
        "kv_heads": "8",
        "parameters": "70.55 billion",
    }
    assert readout("kv_heads").detail == "each shared by 8 query heads"
    assert readout("parameters").detail == "70,553,706,496, exact"


@pytest.mark.parametrize(("batch", "first"), [(1, "430,626"), (8, "53,829"), (32, "13,458")])
def test_the_crossing_is_the_first_whole_context(batch: int, first: str) -> None:
    # 141,107,412,992 ÷ 327,680 = 430,625.6; ÷ 8 = 53,828.2; ÷ 32 = 13,457.05.
    found = answer(batch=batch)
    assert found.view.figures[0].finding == f"KV passes the weights at {first} tokens"
    assert readouts(batch=batch)["crossing_context"] == f"{first} tokens"


def test_at_8192_tokens_batch_53_is_past_the_weights_and_52_is_not() -> None:
    # 20 GiB ÷ 8 = 2.5 GiB each; 131.4 ÷ 2.5 = 52.6.
    assert readouts(batch=53)["ratio"] == "1.01"
    assert readouts(batch=52)["ratio"] == "0.99"
    assert readouts(batch=32)["ratio"] == "0.61"


def test_as_mha_kv_grows_8_times_and_weights_13_percent_so_the_crossing_comes_7_06_times_sooner() -> None:
    # 80 layers × K and V × hidden 8,192 × (64 − 8) heads × 128 = 9,395,240,960 parameters more, 13.3 %.
    mha = readouts(attention="mha")
    assert (mha["per_token"], mha["kv"], mha["weights"]) == ("2,560 KiB", "160 GiB", "148.9 GiB")
    assert readout("parameters", attention="mha").detail == "79,948,947,456, counted from the shape"
    assert mha["crossing_context"] == "7,625 tokens"
    assert readouts()["crossing_context"] == "53,829 tokens"  # 7.06 times as far


@pytest.mark.parametrize(
    ("preset", "per_token", "kv_heads", "weights"),
    [
        ("qwen2.5-7b", "56 KiB", "4", "14.19 GiB"),
        ("qwen2.5-7b-awq", "56 KiB", "4", "5.19 GiB"),  # 3.390 GB of 4-bit matrices and 2.180 GB of embeddings
        ("llama-3-8b", "128 KiB", "8", "14.96 GiB"),
        ("llama-2-7b", "512 KiB", "32", "12.55 GiB"),
        ("llama-2-70b", "320 KiB", "8", "128.5 GiB"),  # GQA with 8 KV heads, not the 2.5 MiB of a model with 64
        ("opt-13b", "800 KiB", "40", "23.9 GiB"),  # 819,200 B: section 3 of the PagedAttention paper
        ("deepseek-v3", "68.6 KiB", "1", "626.8 GiB"),  # 61 layers × (512 + 64) × 2 B = 70,272 B
    ],
)
def test_presets_show_published_sizes(preset: str, per_token: str, kv_heads: str, weights: str) -> None:
    found = readouts(preset)
    assert (found["per_token"], found["kv_heads"], found["weights"]) == (per_token, kv_heads, weights)
    assert readout("parameters", preset).detail.endswith(", exact")


def test_mistral_7b_v0_1_stops_growing_at_its_window_of_4096() -> None:
    # 128 KiB × 4,096 = 512 MiB.
    sizes = [readouts("mistral-7b-v0.1", batch=1, seq_len=n)["kv"] for n in (2048, 4096, 8192, 2**20)]
    assert sizes == ["0.25 GiB", "0.50 GiB", "0.50 GiB", "0.50 GiB"]
    assert readouts("mistral-7b-v0.1")["crossing_context"] == "never"


def test_8_bit_kv_halves_the_cache_and_4_bit_weights_bring_the_crossing_nearer() -> None:
    assert readouts(kv_bits=8)["kv"] == "10 GiB"
    assert readouts(kv_bits=8)["crossing_context"] == "107,657 tokens"  # 141,107,412,992 ÷ (8 × 163,840) = 107,656.4
    tokens = readouts(weight_format="int4")["crossing_context"].removesuffix(" tokens")
    assert int(tokens.replace(",", "")) < 53829


def test_a_typed_parameter_count_overrules_the_count_and_an_empty_one_counts_again() -> None:
    typed = readouts(parameters="100")
    assert (typed["parameters"], typed["weights"]) == ("100.00 billion", "186.3 GiB")  # 200 GB ÷ 2^30
    assert readout("parameters", parameters="100").detail == "as typed; counted: 70,553,706,496"
    assert readouts(parameters="")["parameters"] == "70.55 billion"


def test_kv_heads_stop_at_the_divisors_of_the_query_heads() -> None:
    assert answer("qwen2.5-7b").view.controls["num_kv_heads"].stops == (1, 2, 4, 7, 14, 28)
    assert answer().view.controls["num_kv_heads"].shown == "8 of 64"


def test_a_typed_non_divisor_is_refused_with_the_divisors_and_the_rest_goes_on() -> None:
    found = answer(num_kv_heads=5, batch=32)
    assert found.errors == {
        "num_kv_heads": "5 does not divide 64 query heads evenly. Take one of 1, 2, 4, 8, 16, 32 or 64."
    }
    assert (found.accepted["num_kv_heads"], found.accepted["batch"]) == ("8", "32")
    assert "13,458" in found.view.figures[0].finding


def test_query_heads_that_the_kv_heads_cannot_share_are_refused_where_they_were_typed() -> None:
    found = answer(num_attention_heads=63)
    assert set(found.errors) == {"num_attention_heads"}
    assert "multiple of 8" in found.errors["num_attention_heads"]
    assert found.view.controls["num_attention_heads"].stops == tuple(range(8, 257, 8))


def test_mha_with_odd_heads_can_still_be_turned_into_gqa() -> None:
    odd = state(attention="mha", num_attention_heads=36)
    found = look(WIDGET, odd, {}, "wide")
    assert not found.errors
    assert not found.view.controls["num_kv_heads"].hidden  # 8 does not divide 36: it can be mended first
    refused = look(WIDGET, odd | {"attention": "gqa"}, found.accepted, "wide")
    assert set(refused.errors) == {"attention"}
    mended = look(WIDGET, odd | {"attention": "gqa", "num_kv_heads": "9"}, found.accepted, "wide")
    assert not mended.errors


def test_what_does_not_apply_is_put_away() -> None:
    def hidden(preset: str) -> set[str]:
        return {name for name, control in answer(preset).view.controls.items() if control.hidden}

    assert hidden("llama-3-70b") == {"kv_lora_rank", "qk_rope_head_dim", "sliding_window"}
    assert hidden("deepseek-v3") == {"num_kv_heads", "sliding_window"}
    assert hidden("opt-13b") == {"num_kv_heads", "kv_lora_rank", "qk_rope_head_dim", "sliding_window"}
    assert "sliding_window" not in hidden("mistral-7b-v0.1")


def test_windows_on_more_layers_than_there_are_mean_all_of_them_and_a_note_says_so() -> None:
    found = answer("mistral-7b-v0.1", num_layers=20)
    assert not found.errors
    assert found.view.notes == ("Windows are set on 32 layers; the model has 20, so all of them slide.",)
    assert found.view.controls["num_sliding_layers"].shown == "20 of 20"


@pytest.mark.parametrize(
    ("name", "typed", "allowed"),
    [
        ("num_layers", "0", "from 1 to 200"),
        ("num_attention_heads", "257", "from 1 to 256"),
        ("head_dim", "15", "from 16 to 512"),
        ("seq_len", "-1", "from 1 to 1,048,576 tokens"),
        ("batch", "1e9", "from 1 to 1,024"),
        ("gpu_gib", "7.9", "from 8 to 288 GiB"),
        ("parameters", "-3", "or nothing"),
        ("base_model", "gpt-5", "Llama-3-70B"),
    ],
)
def test_bad_input_names_what_is_allowed_and_leaves_the_numbers(name: str, typed: str, allowed: str) -> None:
    found = answer(**{name: typed})
    assert set(found.errors) == {name}
    assert allowed in found.errors[name]
    assert found.view.figures[0].finding == "KV passes the weights at 53,829 tokens"


def test_every_model_preset_is_accepted_and_keeps_load_and_card() -> None:
    for preset in MODELS.presets:
        assert set(preset.values).isdisjoint({"seq_len", "batch", "kv_bits", "gpu_gib"})
        found = answer(preset.name)
        assert not found.errors
        assert preset.values.items() <= found.accepted.items()
        assert model(preset.values["base_model"]).name in {model(preset.name).name, "Qwen2.5-7B-Instruct"}


def test_every_card_sets_the_memory_its_driver_shows() -> None:
    assert {card.name for card in CARDS.presets} == {key for key, gpu in gpus().items() if gpu.visible_gib}
    for card in CARDS.presets:
        assert float(card.values["gpu_gib"]) == gpus()[card.name].visible_gib
        assert not answer(**card.values).errors


def test_sliders_over_tokens_and_requests_stop_four_times_a_doubling() -> None:
    assert quarter_doublings(16) == (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)
    context = WIDGET.controls["seq_len"]
    assert isinstance(context, Number) and {1, 8192, 2**20} <= set(context.stops) and len(context.stops) < 90


def test_both_widths_say_the_same_in_every_preset() -> None:
    for preset in PRESETS:
        views = [look(WIDGET, state(preset), {}, layout).view for layout in LAYOUTS]
        assert views[0].readouts == views[1].readouts and views[0].controls == views[1].controls
        for drawn in zip(*(view.figures for view in views), strict=True):
            assert same_text(drawn)


def test_a_control_that_does_not_apply_refuses_nothing() -> None:
    for state in ({"attention": "mha", "num_kv_heads": ""}, {"kv_lora_rank": "abc"}, {"sliding_window": "0"}):
        assert look(WIDGET, state, {}, "wide").errors == {}
    assert "num_kv_heads" in look(WIDGET, {"num_kv_heads": ""}, {}, "wide").errors  # GQA: it applies
