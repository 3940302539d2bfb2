"""The measures of the memory cliff: what it is given, how far its axes reach, and the curve in px."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from math import floor

from snippets.draw.figure import WIDTH_PX, Layout
from snippets.draw.scale import Linear, Log2, nice_step

CURVE_POINTS = 48
FIRST_TOKENS = (1024, 32, 1)  # where the token axis may start
HEIGHT_PX: dict[Layout, float] = {"wide": 340, "narrow": 330}
GPU_LINES = 5
_ABOVE, _BELOW = 30.0, 46.0  # px above and below the plot


@dataclass(frozen=True)
class Cliff:
    """What is drawn. Sizes are bytes, contexts are tokens of each request."""

    kv_bytes: Callable[[int], int]  # of all requests, for a context; it never falls
    weight_bytes: float
    gpu_bytes: float  # of one GPU
    seq_len: int  # where the reader is
    batch: int
    crossing: int | None  # the first whole context at which KV is at least the weights; None: not up to `limit`
    crossing_batch: int  # the first number of requests of seq_len tokens at which it is
    limit: int = 2**20
    window: int | None = None  # tokens at which the layers with a sliding window are full
    flat: bool = False  # every layer has one


@dataclass(frozen=True)
class Frame:
    """The plot: two scales, whose ends are its edges in px."""

    x: Log2
    y: Linear

    @property
    def left(self) -> float:
        return self.x.start

    @property
    def right(self) -> float:
        return self.x.end

    @property
    def top(self) -> float:
        return self.y.end

    @property
    def bottom(self) -> float:
        return self.y.start


@dataclass(frozen=True)
class Curve:
    """The KV line in px, from left to right; y never grows, since upwards is less."""

    points: list[tuple[float, float]]
    leaves: bool  # through the top of the plot, at the last point

    def y_at(self, x: float) -> float:
        """The height of the line at a px, of its nearer end outside it."""
        right = bisect_right(self.points, (x, float("inf")))
        if right in (0, len(self.points)):
            return self.points[min(right, len(self.points) - 1)][1]
        (x0, y0), (x1, y1) = self.points[right - 1 : right + 1]
        return y0 + (y1 - y0) * (x - x0) / (x1 - x0)

    def x_at(self, y: float) -> float | None:
        """Where the line rises through a height; None if it starts above or stays below."""
        for (x0, y0), (x1, y1) in zip(self.points, self.points[1:], strict=False):
            if y0 > y >= y1:
                return x0 + (x1 - x0) * (y0 - y) / (y0 - y1)
        return None


def first_token(cliff: Cliff) -> int:
    """Where the token axis starts: at 1k, or further left when the reader or the crossing stands there."""
    leftmost = min(cliff.seq_len, cliff.crossing or cliff.limit)
    return next(first for first in FIRST_TOKENS if first <= leftmost)


def highest_bytes(cliff: Cliff) -> float:
    """Where the memory axis ends: the weights stay between a ninth and three quarters of its height if they can."""
    weights, here, last = cliff.weight_bytes, cliff.kv_bytes(cliff.seq_len), cliff.kv_bytes(cliff.limit)
    highest = 2.4 * weights if last >= 2.4 * weights else max(1.3 * weights, 1.1 * last)
    highest = max(highest, min(1.25 * here, 9 * weights), 1.25 * cliff.kv_bytes(first_token(cliff)))
    one_gpu = 1.06 * cliff.gpu_bytes
    return one_gpu if highest < one_gpu < 9 * weights else highest


def gpu_multiples(cliff: Cliff, highest: float) -> list[int]:
    """How many GPUs the lines across the plot stand for: all up to the top, or every second, fifth, tenth …"""
    fitting = floor(highest / cliff.gpu_bytes)
    step = max(1, round(nice_step(fitting, GPU_LINES))) if fitting else 1
    return list(range(step, fitting + 1, step))


def frame(cliff: Cliff, layout: Layout, highest: float, left: float, right: float) -> Frame:
    """The plot between two margins, up to so many bytes."""
    x = Log2(first_token(cliff), cliff.limit, left, WIDTH_PX[layout] - right)
    return Frame(x, Linear(0, highest, HEIGHT_PX[layout] - _BELOW, _ABOVE))


def _last_inside(cliff: Cliff, first: int, highest: float) -> int:
    """The last whole context whose KV is not above the plot."""
    low, high = first, cliff.limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if cliff.kv_bytes(middle) <= highest else (low, middle - 1)
    return low


def curve(cliff: Cliff, plot: Frame) -> Curve:
    """The KV line, at whole contexts about equally far apart, and at the bend where windows are full."""
    first, highest = round(plot.x.low), plot.y.high
    last = _last_inside(cliff, first, highest)
    step = (plot.x(last) - plot.left) / (CURVE_POINTS - 1)
    contexts = {first, last, *(round(plot.x.value(plot.left + n * step)) for n in range(1, CURVE_POINTS - 1))}
    if cliff.window and first < cliff.window < last:
        contexts.add(cliff.window)
    pairs = [(plot.x(tokens), plot.y(cliff.kv_bytes(tokens))) for tokens in sorted(contexts) if tokens <= last]
    if last == cliff.limit:
        return Curve(pairs, leaves=False)
    inside, above = cliff.kv_bytes(last), cliff.kv_bytes(last + 1)
    at = last + (highest - inside) / (above - inside)
    return Curve([*pairs, (plot.x(at), plot.top)] if at > last else pairs, leaves=True)
