"""The direct labels of the memory cliff, each close to its thing and over nothing that matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain

from snippets.draw.cliff.frame import Cliff, Curve, Frame
from snippets.draw.cliff.words import SHORT, WORDS, gpus, kv_goes, requests
from snippets.draw.figure import Layout
from snippets.draw.place import Box, Label, Spot, along, beside, everywhere, gap_to, place
from snippets.draw.scale import memory_text
from snippets.units import count

_ON_LINE, _ON_DROP, _ON_GRID, _ON_AREA = 60.0, 25.0, 4.0, 6.0  # what it costs a label to cover these
_PX_PER_COST = 4.0  # and to stand this much farther off
_GOOD = 15.0  # a label that costs less stays where it is


@dataclass(frozen=True)
class Spots:
    """The points that labels name, in px. None: not in the plot."""

    here: tuple[float, float]
    above: bool  # the reader's place is above the plot, `here` is on its upper edge
    equal: tuple[float, float] | None


def spots(cliff: Cliff, plot: Frame, kv: Curve) -> Spots:
    """Where the reader and the crossing are."""
    x, y = plot.x(cliff.seq_len), plot.y(cliff.kv_bytes(cliff.seq_len))
    weights_y = plot.y(cliff.weight_bytes)
    meets = kv.x_at(weights_y) if cliff.crossing else None
    return Spots((x, max(y, plot.top)), y < plot.top, None if meets is None else (meets, weights_y))


def labels(cliff: Cliff, plot: Frame, kv: Curve, at: Spots, multiples: list[int], layout: Layout) -> str:
    """All labels, the most important first, so that later ones step aside."""
    words, strong = (WORDS, "t-strong") if layout == "wide" else (SHORT, "t-small t-strong")
    inside = Box(plot.left + 4, plot.top + 2, plot.right - 2, plot.bottom - 3)
    taken = [Box(x - 8, y - 8, x + 8, y + 8) for x, y in (at.here, at.equal or at.here, kv.points[-1])]
    covers = _covers(cliff, plot, kv, at, multiples)
    parts = []

    def put(tiers: Iterable[list[Spot]], x: float, cost: Callable[[Box], float]) -> None:
        if chosen := place(tiers, inside, taken, cost, _GOOD):
            label, box = chosen
            parts.append(label.svg(box, "end" if box.right < x else "start"))

    def name(point: tuple[float, float], *versions: tuple[tuple[str, str], ...]) -> None:
        found = [Label(lines) for lines in versions]
        near = (beside(one, *point, inside, *gaps) for gaps in ((9,), (20, 34)) for one in found)
        tiers = chain(near, (everywhere(one, inside) for one in found))
        put(tiers, point[0], lambda box: covers(box) + gap_to(box, *point) / _PX_PER_COST)

    if at.equal and cliff.crossing:
        name(at.equal, ((words["equal"].format(tokens=count(cliff.crossing)), f"{strong} t-limit"),))
    memory = memory_text(cliff.kv_bytes(cliff.seq_len)) + (words["above"] if at.above else "")
    in_one_line = ((f"{words['here']}: {memory}", f"{strong} t-kv"),)
    in_two = ((words["here"], f"{strong} t-kv"), (memory, f"{strong} t-kv"))
    name(at.here, in_one_line, in_two)
    weights = Label(((words["weights"].format(memory=memory_text(cliff.weight_bytes)), f"{strong} t-weights"),))
    weights_y = plot.y(cliff.weight_bytes)
    level = (along(weights, inside.left, inside.right, weights_y, gap) for gap in (5, 16, 30))
    put(
        chain(level, (everywhere(one, inside) for one in (weights,))),
        inside.left,
        lambda box: covers(box) + gap_to(box, box.left, weights_y) / _PX_PER_COST,
    )
    kv_name = words["kv"].format(requests=requests(cliff.batch))
    name(kv.points[-1], ((kv_name, f"{strong} t-kv"), (kv_goes(cliff, kv.leaves), "t-small")))
    if layout == "narrow":
        for n in multiples:
            label = Label(((gpus(n), "t-small"),))
            rightmost = along(label, inside.right - 120, inside.right, plot.y(n * cliff.gpu_bytes), 2)[::-1]
            put([rightmost], plot.right + 1, lambda box: covers(box) // _ON_DROP)
    return "".join(parts)


def _covers(cliff: Cliff, plot: Frame, kv: Curve, at: Spots, multiples: list[int]) -> Callable[[Box], float]:
    """What a box would cover, as a cost: lines most, the soft area under the curve least."""
    weights_y = plot.y(cliff.weight_bytes)
    gpu_ys = [plot.y(n * cliff.gpu_bytes) for n in multiples]
    drops = [*([at.equal] if at.equal else []), *([] if at.above else [at.here])]

    def cost(box: Box) -> float:
        left_y, right_y = kv.y_at(box.left - 4), kv.y_at(box.right + 4)
        found = 0.0
        if left_y > box.top - 2 and right_y < box.bottom + 2:
            found += _ON_LINE
        elif left_y < box.top:
            found += _ON_AREA
        if box.top - 1 < weights_y < box.bottom + 1:
            found += _ON_LINE
        found += _ON_DROP * sum(box.left - 3 < x < box.right + 3 and box.bottom > y for x, y in drops)
        return found + _ON_GRID * sum(box.top < y < box.bottom for y in gpu_ys)

    return cost
