"""The sentences of the paged allocator: what just happened, and by which rules."""

from __future__ import annotations

from snippets.sim.allocation import Setup, Strategy, run_of
from snippets.sim.events import Moment
from snippets.units import count

MEANS = "only the means are from the paper (PagedAttention, Figure 11)."
HOW_DRAWN = {
    "alpaca": f"log-normal around Alpaca's means, 19.31 tokens in and 58.45 out; {MEANS}",
    "sharegpt": f"log-normal around ShareGPT's means, 161.31 tokens in and 337.99 out; {MEANS}",
    "uniform": "every total from 2 tokens to the maximum context is as likely as any other.",
    "maximum": "every request fills the maximum context, a quarter of it with its prompt.",
}
RULES: dict[Strategy, str] = {
    "contiguous": "A request gets in when a piece of the maximum context's length is free, and keeps it to its end.",
    "paged": (
        "A request gets in when its prompt's blocks are free. If a running one needs a block and none is free, the "
        "last to start gives all its blocks back, waits, and computes its tokens again (preemption, as in vLLM). "
        "“Would fit” counts requests at their full length; while they are shorter, more can be in at once."
    ),
}
LEFT_OVER: dict[Strategy, str] = {
    "contiguous": " {} behind the last piece are too few for another: external fragmentation.",
    "paged": " {} of the pool make no whole block.",
}
ORDER = (
    "All requests are there at the start, first come, first served; in one step every running one stores one token. "
    "Blocks are handed out in vLLM 0.26.0's order with prefix caching off. Its null block is left out, and so are its "
    "limits on tokens and requests per step."
)


def plural(n: int, word: str) -> str:
    """A count and its word: 1 block, 2 blocks."""
    return f"{count(n)} {word}" if n == 1 else f"{count(n)} {word}s"


def way(setup: Setup, strategy: Strategy) -> str:
    """A strategy as a heading."""
    return "Reserve the maximum" if strategy == "contiguous" else f"Blocks of {plural(setup.block_size, 'token')}"


def happened(setup: Setup, strategy: Strategy, moment: Moment) -> str:
    """The last event in one sentence."""
    event = moment.event
    if event is None:
        return "Nothing has happened yet."
    who, tokens, blocks = (
        f"sequence {event.sequence}",
        plural(event.tokens, "token"),
        plural(len(event.blocks), "block"),
    )
    paged, one_block = strategy == "paged", run_of(setup, strategy).blocks_per_event == 1
    match event.kind:
        case "admitted" if paged:
            return f"{who} comes in, {blocks} for {tokens}.".capitalize()
        case "admitted":
            return f"{who} comes in with {tokens} and reserves {count(setup.max_context)}.".capitalize()
        case "grew" if one_block and paged:
            return f"{who} writes token {count(event.tokens)} and begins block {event.blocks[0]}.".capitalize()
        case "grew" if one_block:
            return f"{who} writes token {count(event.tokens)} into its own reservation.".capitalize()
        case "grew" if paged:
            return f"All write on and begin {blocks}, the last one for {who}."
        case "grew":
            return f"All write on in their own reservations, {who} last."
        case "wrote":
            return f"All write on, {who} its last token, token {count(event.tokens)}."
        case "finished":
            return f"{who} is done and frees {blocks if paged else 'its reservation'}.".capitalize()
        case "preempted":
            needs = f"Sequence {event.for_sequence} needs a block and none is free"
            last = (
                "it is the last to start, so it"
                if event.for_sequence == event.sequence
                else f"{who}, the last to start,"
            )
            return f"{needs}: {last} gives back {blocks} and will compute {tokens} again."
        case "waits" if paged:
            free = setup.num_blocks - moment.reserved_tokens // setup.block_size
            needs = f"its {tokens} need {plural(setup.blocks_of(event.tokens), 'block')}, {count(free)} free"
            return f"{who} must wait: {needs}.".capitalize()
        case "waits":
            return f"{who} must wait: no piece of {count(setup.max_context)} tokens is free.".capitalize()


def notes(setup: Setup, strategy: Strategy) -> tuple[str, ...]:
    """The rules of this memory, where the lengths come from, and what is left out."""
    run, cut = run_of(setup, strategy), sum(one.cut for one in setup.requests())
    left = setup.pool % (setup.block_size if strategy == "paged" else setup.max_context)
    lengths = f"Lengths: {HOW_DRAWN[setup.lengths]}"
    if cut:
        lengths += f" Cut at the maximum context: {cut} of {setup.sequences}."
    rule = RULES[strategy] + (LEFT_OVER[strategy].format(plural(left, "token")) if left else "")
    if run.preemptions:
        again = f"{count(run.recomputed_tokens)} tokens computed again"
        rule += f" In this run: {plural(run.preemptions, 'preemption')}, {again}."
    order = ORDER
    if run.blocks_per_event > 1:
        order += f" So that this long run ends, one event begins up to {count(run.blocks_per_event)} blocks."
    return (rule, lengths, order)
