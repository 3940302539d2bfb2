"""Memory over a whole run, one panel per way of giving it out: tokens stored against memory reserved in the pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from snippets.draw.figure import WIDTH_PX, Layout
from snippets.draw.legend import legend
from snippets.draw.scale import Linear, linear_ticks
from snippets.draw.svg import el, hatch, line, points, svg, text, text_width
from snippets.sim.events import Run
from snippets.units import count

PANEL_PX = 84
TITLE_PX = 24
AXIS_PX = 40
TICKS: dict[Layout, int] = {"wide": 6, "narrow": 4}


class Level(NamedTuple):
    """Memory at one step, in tokens."""

    step: int
    stored: int
    reserved: int


def levels(run: Run) -> tuple[Level, ...]:
    """Memory at every moment of a run. What comes or goes at once has a level just before it, too."""
    found: list[Level] = []
    for moment in run.moments:
        event = moment.event
        sign = {"admitted": -1, "finished": 1, "preempted": 1}.get(event.kind, 0) if event else 0
        if event and sign:
            found.append(Level(moment.step, moment.stored_tokens + sign * event.tokens, found[-1].reserved))
        found.append(Level(moment.step, moment.stored_tokens, moment.reserved_tokens))
    return tuple(found)


@dataclass(frozen=True)
class Panel:
    """One run from empty to empty."""

    title: str
    levels: tuple[Level, ...]
    now: Level | None = None  # the level to mark

    @property
    def last_step(self) -> int:
        """The step at which everyone is done."""
        return self.levels[-1].step


@dataclass(frozen=True)
class Words:
    """What stands in the drawing."""

    stored: str = "tokens stored"
    empty: str = "reserved, empty"
    pool: tuple[str, str] = ("pool {tokens} tokens", "pool {tokens}")  # the shorter one where the room is short
    axis: str = "steps"


def _thinned(path: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The path without points that lie in the same pixel as the one before and the one after."""
    kept = list(path[:1])
    for before, here, after in zip(path, path[1:], path[2:], strict=False):
        if abs(here[0] - kept[-1][0]) + abs(here[1] - kept[-1][1]) >= 1 or abs(after[1] - before[1]) >= 2:
            kept.append(here)
    return kept + list(path[-1:])


def _stairs(levels: Sequence[Level]) -> list[tuple[int, int]]:
    """Reserved memory changes at once and then stays."""
    corners = [(levels[0].step, levels[0].reserved)]
    for level in levels[1:]:
        if level.reserved != corners[-1][1]:
            corners += [(level.step, corners[-1][1]), (level.step, level.reserved)]
    return [*corners, (levels[-1].step, levels[-1].reserved)]


def _area(x: Linear, y: Linear, corners: Sequence[tuple[int, int]]) -> str:
    path = _thinned([(x(step), y(tokens)) for step, tokens in corners])
    return points([(path[0][0], y(0)), *path, (path[-1][0], y(0))])


@lru_cache(maxsize=16)
def _areas(levels: tuple[Level, ...], x: Linear, y: Linear) -> tuple[str, str]:
    """Corners of what is reserved and of what is stored; kept, since stepping through a run changes neither."""
    return _area(x, y, _stairs(levels)), _area(x, y, [(one.step, one.stored) for one in levels])


def draw_memory_over_time(
    name: str,
    panels: Sequence[Panel],
    pool_tokens: int,
    layout: Layout,
    labelled_by: str,
    words: Words = Words(),
) -> str:
    """The panels one below the other, on the same steps and the same tokens, as SVG."""
    width = WIDTH_PX[layout]
    hatch_id = f"{name}-{layout}-hatch"
    x = Linear(0, max(1, *(panel.last_step for panel in panels)), 0, width - 2)
    parts = [hatch(hatch_id)]
    longest = max(text_width(panel.title, 12, bold=True) for panel in panels)
    pools = [form.format(tokens=count(pool_tokens)) for form in words.pool]
    pool = pools[0] if longest + text_width(pools[0], 12) + 10 <= width else pools[1]
    bottom = 0.0
    for panel in panels:
        top, bottom = bottom + TITLE_PX, bottom + TITLE_PX + PANEL_PX
        y = Linear(0, pool_tokens, bottom, top + 6)
        reserved, stored = _areas(panel.levels, x, y)
        parts += [
            text(0, top - 7, panel.title, "t-small t-strong"),
            text(width, top - 7, pool, "t-small t-limit", "end"),
            el("polygon", points=reserved, fill=f"url(#{hatch_id})"),
            el("polygon", points=stored, class_="f-kv"),
            line(0, y(pool_tokens), width, y(pool_tokens), "s-limit"),
            line(0, bottom, width, bottom, "axis"),
        ]
        if panel.now is not None:
            at = x(panel.now.step)
            parts.append(line(at, top + 1, at, bottom, "s-ink w-2"))
            parts.append(el("circle", cx=at, cy=y(panel.now.stored), r=4.5, class_="f-kv s-ink w-2"))
        bottom += 6
    most = max(panel.last_step for panel in panels)
    ticks = linear_ticks(most, TICKS[layout]) if most else (0.0,)
    for tick in ticks:
        label = count(tick)
        middle = min(max(x(tick), text_width(label, 12) / 2), width - text_width(label, 12) / 2)
        parts.append(text(middle, bottom + 12, label, "t-small", "middle"))
    parts.append(text(width, bottom + 30, words.axis, "t-small", "end"))
    parts.append(legend(bottom + 19, hatch_id, words.stored, words.empty))
    return svg(width, bottom + AXIS_PX, *parts, labelled_by=labelled_by)
