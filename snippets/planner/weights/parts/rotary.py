"""Rotary tables: cosines and sines for every position, on every rank (layers/rotary_embedding/__init__.py get_rope)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import NamedTuple

from snippets.model_config.model_config import AttentionCache, Layer
from snippets.planner.weights.counting import FP32, Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.layers import LayerKind

_WINDOWS = ("sliding", "chunked")
_ROTATED = ("full", "mla", "sliding_mla", *_WINDOWS)
_VIDEO_POSITIONS = 4  # mrope.py:238: times max_position_embeddings
_SPEED = (
    *("max_position_embeddings", "rope_theta", "rope_parameters", "rope_scaling", "rope_local_base_freq"),
    *("partial_rotary_factor", "rotary_pct", "sliding_window"),
)  # fields that decide how fast a head turns, and how far
Rope = Mapping[str, object]


class Table(NamedTuple):
    """One table: layers with an equal one share it."""

    turn: str  # what sets its numbers apart from those of a table of equal size
    rows: int
    columns: int
    number_bytes: int

    @property
    def num_bytes(self) -> int:
        return self.rows * self.columns * self.number_bytes


def rotary_tables(c: Counting, kinds: tuple[LayerKind, ...], is_eager: bool = False) -> frozenset[Table]:
    """The different ones among these layers. `is_eager`: --enforce-eager."""
    positions = c.text.optional_integer("max_position_embeddings")
    if c.recipe.rotary == "none" or positions is None:
        return frozenset()
    return frozenset(table for mixer in {kind.mixer for kind in kinds} for table in _of(c, mixer, positions, is_eager))


def turn_alike(c: Counting, other: Counting) -> bool:
    """Whether equal tables of two models hold the same numbers (get_rope's key: a process keeps one of each)."""
    same = all(c.text.raw(name) == other.text.raw(name) for name in _SPEED)
    return same and c.config.architecture == other.config.architecture


def _of(c: Counting, mixer: Layer, positions: int, is_eager: bool) -> Iterator[Table]:
    caches = [cache for cache in mixer if isinstance(cache, AttentionCache)]
    kinds = {cache.kind for cache in caches}
    for cache in caches:
        if cache.kind not in _ROTATED or _is_still(c, cache):
            continue
        table = _table(c, cache, positions, is_eager)
        if c.recipe.moe == "deepseek_v4":  # compressed and plain layers have bases of their own
            yield table._replace(turn="compressed" if "compressor" in kinds else "plain")
            continue
        yield table
        # the indexer turns halves instead of pairs, unless its config says otherwise (deepseek_v2.py:1110)
        if "indexer" in kinds and not c.text.flag("indexer_rope_interleave"):
            yield table._replace(turn="indexer")


def _is_still(c: Counting, cache: AttentionCache) -> bool:
    """EXAONE 4's full attention beside windows has no positions (models/exaone4.py)."""
    return c.recipe.rotary == "windows" and cache.kind not in _WINDOWS and bool(c.text.raw("sliding_window"))


def _table(c: Counting, cache: AttentionCache, positions: int, is_eager: bool) -> Table:
    own = cache.kind in _WINDOWS and (c.recipe.rotary == "by_kind" or _has_own_base(c))
    rope = _rope(c, cache, own)
    kind = _kind(rope)
    width = c.number("qk_rope_head_dim") if cache.kind in ("mla", "sliding_mla") else cache.head_size
    share = rope.get("partial_rotary_factor", c.text.raw("partial_rotary_factor"))
    if isinstance(share, float) and kind != "proportional":
        if not 0 <= share <= 1:
            raise WeightsError(
                "partial_rotary_factor", f"partial_rotary_factor is {share}: a share from 0 to 1 is due."
            )
        width = int(width * share)
    in_32_bits = c.recipe.moe in ("gpt_oss", "deepseek_v4")  # gpt_oss.py:94, deepseek_scaling_rope.py:240
    if cache.kind == "mla" and kind == "yarn" and is_eager:  # FlashInfer's kernel turns (deepseek_scaling_rope.py:61)
        in_32_bits = True
    size = FP32 if in_32_bits else c.plain_bytes
    return Table("windows" if own else "", _rows(rope, kind, positions), width, size)


def _has_own_base(c: Counting) -> bool:
    """MiMo-V2's windows turn at another speed where the config says so."""
    own = c.text.raw("swa_rope_theta")
    return own is not None and own != c.text.raw("rope_theta")


def _rope(c: Counting, cache: AttentionCache, own: bool) -> Rope:
    """rope_parameters, its part for this kind of layer, or the older rope_scaling, which windows do not share."""
    name = "sliding_attention" if cache.kind in _WINDOWS else "full_attention"
    for key in ("rope_parameters", "rope_scaling"):
        rope = c.text.raw(key)
        if isinstance(rope, Mapping):
            part = rope.get(name)
            if isinstance(part, Mapping):
                return part
            return {} if own else rope
    return {}


def _kind(rope: Rope) -> str:
    kind = rope.get("rope_type", rope.get("type"))
    return kind if isinstance(kind, str) else "default"


def _rows(rope: Rope, kind: str, positions: int) -> int:
    """Positions in the table: scaled ones are counted after scaling."""
    factor, original = rope.get("factor"), rope.get("original_max_position_embeddings")
    scale = factor if isinstance(factor, int | float) else 1
    trained = original if isinstance(original, int) else positions
    if "mrope_section" in rope:
        return positions * _VIDEO_POSITIONS
    if kind == "linear":  # dynamic and ntk change the speed of turning alone
        return ceil(positions * scale)
    if kind == "yarn":
        return ceil(trained * scale)
    return trained + positions if kind == "longrope" else positions
