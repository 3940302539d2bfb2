"""How unlike layers share one pool: groups as rows, their layers as cells, places without a layer hatched."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.legend import legend
from snippets.draw.scale import memory_column, memory_text
from snippets.draw.svg import el, hatch, rect, svg, text, text_width
from snippets.units import count

WORDS = {
    "one": "All {layers} layers cache alike: one group, {block} a block",
    "many": "{groups} groups take turns in one pool of {wide} layers' pages, {block} a block",
    "padding": "{n} places hold no layer and still take a page: groups share blocks, so all are equally wide.",
    "no padding": "Every place holds a layer.",
    "alike": "A block holds {tokens} tokens in each of them.",
    "layer": "a layer's page of {page}",
    "empty": "no layer: padding",
    "tokens": "{tokens} tokens a block",
    "state": "a state a block",
    "times": "{n} × {kind}",
    "layers": "{n} layers",
    "layer one": "1 layer",
}
HEAD = ("group", "layers", "tokens a block", "page", "blocks a request")
_MOST_ROWS = 14
_ROW = 34.0


@dataclass(frozen=True)
class Group:
    """One group: layers of one kind that share a block table."""

    kind: str
    layers: int
    block_tokens: int
    page_bytes: int
    blocks_per_request: int
    is_state: bool = False


@dataclass(frozen=True)
class PoolShape:
    """All groups in vLLM's order; `wide` is the number of layers in the largest."""

    groups: tuple[Group, ...]
    bytes_per_block: int

    @property
    def wide(self) -> int:
        return max(group.layers for group in self.groups)

    @property
    def padding(self) -> int:
        """Places without a layer."""
        return sum(self.wide - group.layers for group in self.groups)


def _rows(shape: PoolShape) -> list[tuple[int, Group]]:
    """Groups with how often they come in a row."""
    return [(len(list(same)), group) for group, same in groupby(shape.groups)]


def _label(times: int, group: Group) -> str:
    return group.kind if times == 1 else WORDS["times"].format(n=times, kind=group.kind)


def _words(group: Group) -> str:
    layers = WORDS["layer one"] if group.layers == 1 else WORDS["layers"].format(n=count(group.layers))
    tokens = WORDS["state"] if group.is_state else WORDS["tokens"].format(tokens=count(group.block_tokens))
    return f"{layers}, {tokens}"


def _drawn(shape: PoolShape, name: str, layout: Layout) -> tuple[float, str]:
    width = float(WIDTH_PX[layout])
    hatch_id = f"{name}-{layout}-hatch"
    gap = 2.0 if shape.wide * 6 <= width else 1.0 if shape.wide * 3 <= width else 0.0
    pitch = min((width + gap) / shape.wide, 44.0)
    parts, y = [hatch(hatch_id)], 0.0
    for times, group in _rows(shape)[:_MOST_ROWS]:
        parts.append(text(0, y + 12, _label(times, group), "t-strong t-kv"))
        beside = text_width(_label(times, group), 13, True) + 12
        if beside + text_width(_words(group), 12) > width:
            beside, y = 0.0, y + 16
        parts.append(text(beside, y + 12, _words(group), "t-small"))
        tone = 1 if group.kind in ("FullAttentionSpec", "MLAAttentionSpec") else 4 if group.is_state else 3
        for place in range(shape.wide):
            x = place * pitch
            if place < group.layers:
                parts.append(rect(x, y + 18, pitch - gap, 14, f"f-kv-{tone}", 2))
            else:
                fill = f"url(#{hatch_id})"
                parts.append(el("rect", x=x, y=y + 18, width=pitch - gap, height=14, rx=2, fill=fill))
        y += _ROW + 10
    page = memory_text(shape.groups[0].page_bytes)
    parts.append(legend(y + 4, hatch_id, WORDS["layer"].format(page=page), WORDS["empty"] if shape.padding else ""))
    return y + 22, "".join(parts)


def pool_figure(shape: PoolShape, name: str, layout: Layout) -> Figure:
    """The drawing for one width; `name` is unique on the page."""
    height, drawing = _drawn(shape, name, layout)
    block = memory_text(shape.bytes_per_block)
    if len(shape.groups) == 1:
        finding = WORDS["one"].format(layers=count(shape.groups[0].layers), block=block)
    else:
        finding = WORDS["many"].format(groups=count(len(shape.groups)), wide=count(shape.wide), block=block)
    detail = WORDS["padding"].format(n=count(shape.padding)) if shape.padding else WORDS["no padding"]
    if len(shape.groups) == 1 and not shape.groups[0].is_state:
        detail = WORDS["alike"].format(tokens=count(shape.groups[0].block_tokens))
    pages = memory_column([group.page_bytes for _, group in _rows(shape)])
    rows = tuple(
        (
            _label(times, group),
            count(group.layers),
            count(group.block_tokens),
            page,
            count(group.blocks_per_request),
        )
        for (times, group), page in zip(_rows(shape), pages, strict=True)
    )
    whole = svg(WIDTH_PX[layout], height, drawing, labelled_by=finding_id(name))
    return Figure(name, finding, whole, detail, Table(HEAD, rows))
