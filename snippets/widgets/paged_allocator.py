"""The paged allocator: the same requests in memory reserved whole, or given out in blocks as they grow."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.sim.allocation import STRATEGIES, Setup, Strategy, run_of
from snippets.sim.events import Moment
from snippets.units import count, percent
from snippets.widgets.allocator.figures import memory_figure, over_time_figure
from snippets.widgets.allocator.sentences import notes, plural
from snippets.widgets.declare import (
    Action,
    Choice,
    ControlState,
    Group,
    Number,
    Option,
    Preset,
    PresetBar,
    Readout,
    Values,
    View,
    Widget,
)

NAME = "paged_allocator"
MOST_PLAY_TICKS = 50  # about 20 seconds
OPENING = "Opens where most tokens are stored before a sequence leaves. Clear the field to come back here."
BLOCK_STOPS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTEXT_STOPS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
POOL_STOPS = (64, 128, 256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 15728, 24576, 32768, 65536)


def _readouts(setup: Setup, strategy: Strategy, moment: Moment) -> tuple[Readout, ...]:
    stored, reserved = moment.stored_tokens, moment.reserved_tokens
    used = percent(stored / reserved, 1).removesuffix(" %") if reserved else "–"
    fits = {way: setup.would_fit(way) for way in STRATEGIES}
    other: Strategy = "contiguous" if strategy == "paged" else "paged"
    whole_run = percent(run_of(setup, strategy).utilization, 1)
    instead = "if reserved whole" if strategy == "paged" else f"in blocks of {count(setup.block_size)}"
    return (
        Readout("used", "tokens stored", count(stored), "", "kv", f"{percent(stored / setup.pool)} of the pool"),
        Readout("reserved", "reserved", count(reserved), "", "", f"{percent(reserved / setup.pool)} of the pool"),
        Readout("utilization", "utilization", used, "%", "", f"{whole_run} over the run"),
        Readout("fit", "would fit", count(fits[strategy]), "at once", "", f"{count(fits[other])} {instead}"),
    )


def view(values: Values, layout: Layout) -> View:
    """Everything shown for one state."""
    setup, strategy = _setup(values), _strategy(values)
    run = run_of(setup, strategy)
    last = len(run.moments) - 1
    step = values["step"]
    index = run.opening if step is None else min(int(step), last)
    ticks = max(1, -(-last // MOST_PLAY_TICKS))
    return View(
        readouts=_readouts(setup, strategy, run.moments[index]),
        figures=(memory_figure(setup, strategy, index, layout), over_time_figure(setup, strategy, index, layout)),
        notes=notes(setup, strategy),
        controls={
            "block_size": ControlState(stops=tuple(n for n in BLOCK_STOPS if _block_fits(n, setup))),
            "max_context": ControlState(stops=tuple(n for n in CONTEXT_STOPS if n <= setup.longest_context)),
            "pool": ControlState(stops=tuple(n for n in POOL_STOPS if n >= setup.smallest_pool)),
            "step": ControlState(
                shown=f"{count(index)} of {count(last)}", stops=tuple(range(last + 1)), if_empty=run.opening
            ),
        },
        actions={
            "step": {"step": str(index + 1)} if index < last else None,
            "play": {"step": str(min(index + ticks, last))} if index < last else None,
            "start": {"step": "0"} if index else None,
            "back": {"step": str(index - 1)} if index else None,
        },
    )


def _setup(values: Values) -> Setup:
    sizes = {name: value for name in Setup._fields if isinstance(value := values[name], int)}
    return Setup(**sizes, lengths=str(values["lengths"]))


def _strategy(values: Values) -> Strategy:
    return "paged" if values["strategy"] == "paged" else "contiguous"


def _block_fits(block_size: int, setup: Setup) -> bool:
    return setup._replace(block_size=block_size).smallest_pool <= setup.pool


def check(values: Values) -> dict[str, str]:
    """One request of the maximum context has to fit into the empty pool, in whole blocks."""
    setup = _setup(values)
    if setup.smallest_pool <= setup.pool:
        return {}
    context, size = plural(setup.max_context, "token"), plural(setup.block_size, "token")
    takes = f"a context of {context} takes {plural(setup.blocks_of(setup.max_context), 'block')} of {size}"
    has = f"a pool of {plural(setup.pool, 'token')} has {plural(setup.num_blocks, 'block')} of {size}"
    errors = {"pool": f"Pool takes {_range(setup.smallest_pool, POOL_STOPS[-1])} here: {takes}."}
    if setup.longest_context >= CONTEXT_STOPS[0]:
        errors["max_context"] = f"Maximum context takes {_range(CONTEXT_STOPS[0], setup.longest_context)} here: {has}."
    fits = next((n for n in range(1, BLOCK_STOPS[-1] + 1) if not _block_fits(n, setup)), 1) - 1
    if fits:
        errors["block_size"] = f"Block size takes {_range(1, fits)} here: {has}, and {takes}."
    return errors


def _range(low: int, high: int) -> str:
    return f"a whole number from {count(low)} to {count(high)} tokens"


def _preset(name: str, label: str, **values: str) -> Preset:
    return Preset(name, label, {**DEFAULTS, **values, "step": ""})


DEFAULTS = {
    "sequences": "6", "block_size": "16", "max_context": "256", "pool": "1536", "lengths": "alpaca", "seed": "98",
}  # fmt: skip
WIDGET = Widget(
    name=NAME,
    title="The paged allocator",
    groups=(
        Group(
            "Memory",
            (
                Choice(
                    "strategy",
                    "Strategy",
                    "contiguous",
                    (Option("contiguous", "Reserve the maximum"), Option("paged", "Paged")),
                ),
                Number("block_size", "Block size", 16, 1, BLOCK_STOPS[-1], "tokens", stops=BLOCK_STOPS),
                Number("max_context", "Maximum context", 256, CONTEXT_STOPS[0], 4096, "tokens", stops=CONTEXT_STOPS),
                Number("pool", "Pool", 1536, POOL_STOPS[0], POOL_STOPS[-1], "tokens", stops=POOL_STOPS),
            ),
        ),
        Group(
            "Requests",
            (
                Number("sequences", "Sequences", 6, 1, 64),
                Choice(
                    "lengths",
                    "Lengths",
                    "alpaca",
                    (
                        Option("alpaca", "Short, Alpaca-like"),
                        Option("sharegpt", "Long, ShareGPT-like"),
                        Option("uniform", "Any, up to the maximum"),
                        Option("maximum", "All at the maximum"),
                    ),
                    style="select",
                ),
                Number("seed", "Seed", 98, 0, 9999, slider=False, help="Another seed draws other lengths."),
            ),
        ),
        Group(
            "Time",
            (Number("step", "Event", None, 0, 9999, optional=True, momentary=True, help=OPENING),),
        ),
    ),
    view=view,
    check=check,
    preset_bars=(
        PresetBar(
            "Settings",
            (
                _preset("six", "Six short requests"),
                _preset("queue", "A queue at the door", sequences="24"),
                _preset("small_pool", "Pool too small", sequences="12", pool="512"),
                _preset("big_blocks", "Blocks too big", block_size="128"),
                _preset(
                    "paper", "OPT-13B on one A100", sequences="64", max_context="2048", pool="15728", lengths="sharegpt"
                ),
            ),
        ),
    ),
    actions=(
        Action("start", "Start over", "start"),
        Action("back", "Step back", "back"),
        Action("step", "Step", "step"),
        Action("play", "Play", "play", repeats=True, restart="start"),
    ),
    source=f"{NAME}-python",
)
