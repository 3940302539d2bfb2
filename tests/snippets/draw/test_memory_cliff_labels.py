"""Whatever a reader sets, the labels of the memory cliff's drawings neither touch nor leave the drawing."""

import pytest
from drawn import collisions
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.draw.figure import LAYOUTS
from snippets.kv_shapes import kv_head_choices
from snippets.widgets.declare import Choice, Number
from snippets.widgets.memory_cliff import WIDGET
from snippets.widgets.run import defaults, look

PRESETS = [dict(preset.values) for preset in WIDGET.preset_bars[0].presets]


def doublings(name: str) -> st.SearchStrategy[str]:
    """Values of a whole-number control, short ones as likely as long ones."""
    control = WIDGET.controls[name]
    assert isinstance(control, Number)
    least, most = max(1, int(control.minimum)), int(control.maximum)
    return st.floats(0, most.bit_length()).map(lambda power: str(max(least, min(most, int(2**power)))))


def options(name: str) -> st.SearchStrategy[str]:
    control = WIDGET.controls[name]
    assert isinstance(control, Choice)
    return st.sampled_from([option.value for option in control.options])


SHAPES = st.fixed_dictionaries(
    {name: options(name) for name in ("attention", "weight_format", "base_model")}
    | {name: doublings(name) for name in ("num_layers", "num_attention_heads", "head_dim", "kv_lora_rank")}
    | {name: doublings(name) for name in ("sliding_window", "num_sliding_layers")}
    | {"parameters": st.sampled_from(["", "0.01", "3", "10000"])}
)
LOADS = st.fixed_dictionaries(
    {"seq_len": doublings("seq_len"), "batch": doublings("batch"), "kv_bits": options("kv_bits")}
    | {"gpu_gib": st.sampled_from(["8", "23.64", "79.19", "288"])}
)


def check(state: dict[str, str]) -> None:
    for layout in LAYOUTS:
        found = look(WIDGET, defaults(WIDGET) | state, {}, layout)
        assert not found.errors
        for figure in found.view.figures:
            assert collisions(figure.svg) == [], layout


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PRESETS), LOADS)
def test_labels_never_collide_in_a_preset(preset: dict[str, str], load: dict[str, str]) -> None:
    check(preset | load)


@settings(max_examples=60, deadline=None)
@given(SHAPES, LOADS, st.integers(0, 30))
def test_labels_never_collide_in_any_shape(shape: dict[str, str], load: dict[str, str], choice: int) -> None:
    divisors = kv_head_choices(int(shape["num_attention_heads"]))
    check(shape | load | {"num_kv_heads": str(divisors[choice % len(divisors)])})


@pytest.mark.parametrize("batch", ["1", "53", "1024"])
@pytest.mark.parametrize("seq_len", ["1", "8192", "1048576"])
def test_labels_never_collide_at_the_ends(seq_len: str, batch: str) -> None:
    for preset in PRESETS:
        check(preset | {"seq_len": seq_len, "batch": batch})
