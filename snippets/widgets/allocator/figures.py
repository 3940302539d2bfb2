"""The two figures of the paged allocator: memory at one moment, and memory over the whole run both ways."""

from __future__ import annotations

from functools import lru_cache

from snippets.draw.cells import Memory, draw_cells
from snippets.draw.cells import Words as CellWords
from snippets.draw.figure import Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.memory_over_time import Level, Panel, draw_memory_over_time, levels
from snippets.sim.allocation import STRATEGIES, Setup, Strategy, run_of
from snippets.sim.events import Moment, Run
from snippets.units import count, percent
from snippets.widgets.allocator.sentences import happened, plural, way

MOST_CELLS = 240


def cell_tokens(setup: Setup) -> int:
    """Tokens in a cell: one block, or the least doubling of it that leaves few enough cells."""
    size = setup.block_size
    while -(-setup.pool // size) > MOST_CELLS:
        size *= 2
    return size


def _sequences(setup: Setup, strategy: Strategy, moment: Moment) -> Table:
    held = {stay.sequence: (stay, tokens) for stay, tokens in moment.held}
    rows = []
    for number, request in enumerate(setup.requests(), 1):
        lengths = (str(number), f"{count(request.prompt_tokens)} + {count(request.output_tokens)}")
        if number not in held:
            rows.append((*lengths, "waits" if number in moment.waiting else "done", "0", "0", ""))
            continue
        stay, tokens = held[number]
        if strategy == "paged":
            blocks = stay.table[: setup.blocks_of(tokens)]
            reserved = len(blocks) * setup.block_size
            place = ", ".join(map(str, blocks[:12])) + (f" … {len(blocks)} in all" if len(blocks) > 12 else "")
        else:
            reserved, start = setup.max_context, stay.table[0] * setup.max_context
            place = f"{count(start)} to {count(start + reserved - 1)}"
        rows.append((*lengths, "in memory", count(tokens), count(reserved), place))
    place = "its blocks, in its own order" if strategy == "paged" else "token slots"
    return Table(("sequence", "tokens in + out", "now", "stored", "reserved", place), tuple(rows))


def memory_figure(setup: Setup, strategy: Strategy, index: int, layout: Layout) -> Figure:
    """The memory after the event of that index, as cells."""
    run = run_of(setup, strategy)
    moment, cell = run.moments[index], cell_tokens(setup)
    memory = Memory(
        pool_tokens=setup.pool,
        cell_tokens=cell,
        pieces=setup.pieces(strategy, moment, cell),
        marked=setup.touched(strategy, moment, cell),
        row_cells=0 if setup.max_context % cell else setup.max_context // cell,
        waiting=moment.waiting,
        done=setup.sequences - len(moment.stays) - len(moment.waiting),
        sequences=setup.sequences,
    )
    if moment.reserved_tokens:
        state = f"{percent(moment.stored_tokens / moment.reserved_tokens, 1)} of the reserved memory holds tokens"
    else:
        state = "the memory is empty" if moment.waiting else "all are done, the memory is empty again"
    blocks = cell // setup.block_size
    block = f"{'one block' if blocks == 1 else plural(blocks, 'block')} of {plural(setup.block_size, 'token')}"
    scale = f"One cell is {block if strategy == 'paged' else plural(cell, 'token')}."
    what = f"Event {count(index)} of {count(len(run.moments) - 1)}: {happened(setup, strategy, moment)}"
    name = "paged_allocator-memory"
    words = CellWords() if strategy == "contiguous" else CellWords(empty_run="")
    svg = draw_cells(name, memory, layout, finding_id(name), words)
    table = _sequences(setup, strategy, moment)
    return Figure(name, f"{way(setup, strategy)}: {state}", svg, f"{what} {scale}", table)


@lru_cache(maxsize=16)
def _levels(setup: Setup, strategy: Strategy) -> tuple[Level, ...]:
    return levels(run_of(setup, strategy))


def over_time_figure(setup: Setup, strategy: Strategy, index: int, layout: Layout) -> Figure:
    """Memory from the first step to the last, both ways; the event of that index is marked in the way chosen."""
    runs: dict[Strategy, Run] = {one: run_of(setup, one) for one in STRATEGIES}
    moment = runs[strategy].moments[index]
    now = Level(moment.step, moment.stored_tokens, moment.reserved_tokens)
    panels = [
        Panel(f"{way(setup, one)}: {count(run.steps)} steps", _levels(setup, one), now if one == strategy else None)
        for one, run in runs.items()
    ]
    whole, paged = runs["contiguous"], runs["paged"]
    finding = (
        f"Over the whole run {percent(whole.utilization, 1)} of the reserved memory holds tokens when the maximum is "
        f"reserved, {percent(paged.utilization, 1)} in blocks"
    )
    steps = f"{count(paged.steps)} steps in blocks, {count(whole.steps)} with the maximum reserved"
    if paged.steps < whole.steps:
        at_once = f"{count(paged.at_once, 1)} ran at once on average, not {count(whole.at_once, 1)}"
        detail = f"The last request is done after {steps}: {at_once}."
    elif whole.moments[whole.opening].waiting:
        detail = f"The last request is done after {steps}."
    else:
        detail = f"All {plural(setup.sequences, 'request')} fit both ways, so blocks save memory here, not steps."
    rows = (
        ("reserved memory that holds tokens, whole run", *(percent(run.utilization, 1) for run in runs.values())),
        ("sequences in memory, on average", *(count(run.at_once, 1) for run in runs.values())),
        ("steps until all are done", *(count(run.steps) for run in runs.values())),
        ("preemptions", *(count(run.preemptions) for run in runs.values())),
        ("tokens computed again", *(count(run.recomputed_tokens) for run in runs.values())),
    )
    name = "paged_allocator-over-time"
    svg = draw_memory_over_time(name, panels, setup.pool, layout, finding_id(name))
    return Figure(name, finding, svg, detail, Table(("over the run", *(way(setup, one) for one in STRATEGIES)), rows))
