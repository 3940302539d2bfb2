"""Rotary tables: cosines and sines for every position, on every rank (layers/rotary_embedding/__init__.py get_rope)."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from snippets.model_config.model_config import AttentionCache
from snippets.planner.weights.counting import FP32, Counting
from snippets.planner.weights.layers import LayerKind

_WINDOWS = ("sliding", "chunked")
_ROTATED = ("full", "mla", "sliding_mla", *_WINDOWS)
_VIDEO_POSITIONS = 4  # mrope.py:238: times max_position_embeddings
Rope = Mapping[str, object]


def rotary_bytes(c: Counting, kinds: tuple[LayerKind, ...], is_eager: bool = False) -> int:
    """The tables of these layers: those that turn alike share one. `is_eager`: --enforce-eager."""
    caches = {cache for kind in kinds for cache in kind.mixer if isinstance(cache, AttentionCache)}
    rotated = [cache for cache in caches if cache.kind in _ROTATED and not _is_still(c, cache)]
    positions = c.text.optional_integer("max_position_embeddings")
    if c.recipe.rotary == "none" or not rotated or positions is None:
        return 0
    tables = {_table(c, cache, positions, is_eager) for cache in rotated}
    # the indexer turns halves instead of pairs; compressed and plain layers of DeepSeek-V4 have bases of their own
    twice = c.recipe.moe == "deepseek_v4" or any(cache.kind == "indexer" for cache in caches)
    return sum(rows * width * size for _, rows, width, size in tables) * (2 if twice else 1)


def _is_still(c: Counting, cache: AttentionCache) -> bool:
    """EXAONE 4's full attention beside windows has no positions (models/exaone4.py)."""
    return c.recipe.rotary == "windows" and cache.kind not in _WINDOWS and bool(c.text.raw("sliding_window"))


def _table(c: Counting, cache: AttentionCache, positions: int, is_eager: bool) -> tuple[bool, int, int, int]:
    """(the windows' own, rows, columns, bytes of a number)."""
    own = cache.kind in _WINDOWS and (c.recipe.rotary == "by_kind" or _has_own_base(c))
    rope = _rope(c, cache, own)
    kind = _kind(rope)
    width = c.number("qk_rope_head_dim") if cache.kind in ("mla", "sliding_mla") else cache.head_size
    share = rope.get("partial_rotary_factor", c.text.raw("partial_rotary_factor"))
    if isinstance(share, float) and kind != "proportional":
        width = int(width * share)
    in_32_bits = c.recipe.moe in ("gpt_oss", "deepseek_v4")  # gpt_oss.py:94, deepseek_scaling_rope.py:240
    if cache.kind == "mla" and kind == "yarn" and is_eager:  # FlashInfer's kernel turns (deepseek_scaling_rope.py:61)
        in_32_bits = True
    return own, _rows(rope, kind, positions), width, FP32 if in_32_bits else c.plain_bytes


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
    if kind in ("linear", "dynamic", "ntk"):
        return ceil(positions * scale)
    if kind == "yarn":
        return ceil(trained * scale)
    return trained + positions if kind == "longrope" else positions
