"""What each pipeline stage caches on each of its ranks: layer specs, run-length encoded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from snippets.model_config.model_config import AttentionCache, Cache, Layer, ModelConfig, StateCache
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.attention.backends import Backend
from snippets.planner.settings.dtypes import storage_dtype
from snippets.planner.settings.pages import deepseek_v4
from snippets.planner.settings.pages.block_size import Blocks, CacheSettings, kv_heads_per_rank
from snippets.planner.settings.pages.mamba_state import BYTES, MAMBA_TYPES, state_bytes, state_dtypes, state_shapes
from snippets.planner.settings.pages.turboquant import slot_bytes
from snippets.planner.specs import LayerRun, LayerSpec, Stage


@dataclass(frozen=True)
class SpecMaker:
    """Turns a cache of the config into a spec on one rank. `backends` are by cache and whether it is skipped."""

    config: ModelConfig
    args: EngineArgs
    cache: CacheSettings
    blocks: Blocks
    backends: dict[tuple[AttentionCache, bool], Backend]

    def spec(self, cache: Cache, skipped: bool = False) -> LayerSpec | None:
        """The spec, None for a cache vLLM does not allocate. `skipped`: left out of quantization."""
        if isinstance(cache, StateCache):
            return self._state(cache)
        if deepseek_v4.is_deepseek_v4(self.config):
            return deepseek_v4.spec(cache, self.cache.kv_cache_dtype, self.cache.stored_dtype)
        unreached = self.config.model_type.startswith("mimo_v2")  # its layers get no cache_config (mimo_v2.py:397)
        kv_cache_dtype = "auto" if skipped or unreached else self.cache.kv_cache_dtype
        match cache.kind:
            case "encoder_only":
                return None
            case "full":
                if kv_cache_dtype.startswith("turboquant_"):
                    return self._turboquant(cache, kv_cache_dtype)
                return self._attention(cache, "full", kv_cache_dtype, skipped)
            case "sliding":
                return self._sliding(cache, kv_cache_dtype, skipped)
            case "chunked" if kv_cache_dtype.startswith("turboquant_"):
                raise EngineArgsError(
                    "kv_cache_dtype",
                    "Unknown TurboQuant cache dtype: 'auto': chunked local attention does not pass the flag on "
                    "(attention/chunked_local_attention.py). Choose another kv_cache_dtype for this model.",
                )
            case "chunked":
                return self._attention(cache, "chunked", kv_cache_dtype, skipped)
            case "cross":
                return self._attention(cache, "cross", kv_cache_dtype, skipped)
            case "mla":
                return LayerSpec(
                    "mla",
                    self.blocks.block_size,
                    1,
                    cache.head_size,
                    cache.head_size,
                    dtype=storage_dtype(kv_cache_dtype, self.cache.dtype),
                    cache_dtype=kv_cache_dtype,
                    indexes_kv_by_block_stride=self.backends[cache, skipped].block_stride,
                )
            case "indexer":
                size = cache.head_size
                return LayerSpec("mla", self.blocks.block_size, 1, size, size, dtype="uint8", cache_dtype=None)
            case other:
                raise EngineArgsError(
                    "config", f"layers of kind {other!r} are not planned here; {self.config.architecture} needs them"
                )

    def _attention(self, cache: AttentionCache, kind: str, kv_cache_dtype: str, skipped: bool) -> LayerSpec:
        assert kind in ("full", "chunked", "cross")
        return LayerSpec(
            kind,  # type: ignore[arg-type]  # the assert narrows it
            self.blocks.block_size,
            kv_heads_per_rank(cache.num_kv_heads, self.args.tensor_parallel_size),
            cache.head_size,
            cache.head_size_v,
            dtype=storage_dtype(kv_cache_dtype, self.cache.dtype),
            cache_dtype=kv_cache_dtype,
            attention_chunk_size=cache.attention_chunk_size,
            indexes_kv_by_block_stride=self.backends[cache, skipped].block_stride,
        )

    def _sliding(self, cache: AttentionCache, kv_cache_dtype: str, skipped: bool) -> LayerSpec:
        """Windows take their own block size, the smallest the kernel knows (attention/attention.py:634)."""
        backend = self.backends[cache, skipped]
        heads = kv_heads_per_rank(cache.num_kv_heads, self.args.tensor_parallel_size)
        dtype = storage_dtype(kv_cache_dtype, self.cache.dtype)
        shared = self.blocks.skip_page_size_padded
        per_token = heads * (cache.head_size + cache.head_size_v) * BYTES[dtype]
        if shared is not None and backend.smallest_block * per_token > shared:
            raise EngineArgsError(
                "kv_cache_dtype",
                f"{kv_cache_dtype if kv_cache_dtype != 'auto' else self.cache.kv_cache_dtype} leaves pages of {shared} "
                f"bytes, and a window's smallest block needs {backend.smallest_block * per_token} (vLLM asserts the "
                "opposite, v1/kv_cache_interface.py:199). Choose another kv_cache_dtype for this model.",
            )
        fitting = [size for size in backend.block_sizes if shared is not None and size * per_token <= shared]
        return LayerSpec(
            "sliding",
            max(fitting) if fitting else backend.smallest_block,
            heads,
            cache.head_size,
            cache.head_size_v,
            dtype=dtype,
            cache_dtype=kv_cache_dtype,
            sliding_window=cache.sliding_window,
            page_size_padded=shared,
            indexes_kv_by_block_stride=backend.block_stride,
        )

    def _turboquant(self, cache: AttentionCache, kv_cache_dtype: str) -> LayerSpec:
        return LayerSpec(
            "turboquant",
            self.blocks.block_size,
            kv_heads_per_rank(cache.num_kv_heads, self.args.tensor_parallel_size),
            cache.head_size,
            cache.head_size,
            dtype=storage_dtype(kv_cache_dtype, self.cache.dtype),
            cache_dtype=kv_cache_dtype,
            tq_slot_size=slot_bytes(kv_cache_dtype, cache.head_size),
            indexes_kv_by_block_stride=self.backends[cache, False].block_stride,
        )

    def _state(self, cache: StateCache) -> LayerSpec:
        """layers/mamba/abstract.py:42 MambaBase.get_kv_cache_spec."""
        assert self.blocks.mamba_block_size is not None
        spec_tokens = self.cache.num_speculative_tokens
        shapes = state_shapes(cache, self.args.tensor_parallel_size, spec_tokens)
        dtypes = state_dtypes(self.config, self.args, cache, self.cache.dtype)
        padded = self.blocks.mamba_page_size_padded
        if padded is not None and padded < state_bytes(shapes, dtypes):
            raise EngineArgsError(
                "speculative",
                f"{self.config.architecture} sizes its pages without the {spec_tokens} speculative tokens that its "
                f"states hold: {state_bytes(shapes, dtypes)} bytes in a page of {padded} (vLLM asserts the opposite, "
                "v1/kv_cache_interface.py:706). Plan without speculative decoding.",
            )
        return LayerSpec(
            "mamba",
            self.blocks.mamba_block_size,
            shapes=shapes,
            dtypes=dtypes,
            page_size_padded=padded,
            num_speculative_blocks=spec_tokens,
            mamba_cache_mode=self.cache.mamba_cache_mode,
            mamba_type=MAMBA_TYPES[cache.kind],
        )


def partition(num_layers: int, pipeline_parallel_size: int) -> tuple[int, ...]:
    """Layers per stage; a remainder goes to the stages before the last (distributed/utils.py:111 get_pp_indices)."""
    sizes = [num_layers // pipeline_parallel_size] * pipeline_parallel_size
    for i in range(2, num_layers % pipeline_parallel_size + 2):
        sizes[-i] += 1
    return tuple(sizes)


def stages_of(maker: SpecMaker, skipped: frozenset[int], drafter: tuple[LayerRun, ...] = ()) -> tuple[Stage, ...]:
    """Runs of equal specs per stage, in the order vLLM registers the layers; the drafter stands in the last stage."""
    layers = maker.config.layers
    known: dict[tuple[int, bool], tuple[LayerSpec, ...]] = {}
    stages: list[Stage] = []
    start = 0
    for size in partition(len(layers), maker.args.pipeline_parallel_size):
        specs = (spec for i in range(start, start + size) for spec in _specs(maker, layers[i], i in skipped, known))
        stages.append(tuple(runs(specs)))
        start += size
    return (*stages[:-1], (*stages[-1], *drafter)) if drafter else tuple(stages)


def _specs(
    maker: SpecMaker, layer: Layer, skipped: bool, known: dict[tuple[int, bool], tuple[LayerSpec, ...]]
) -> tuple[LayerSpec, ...]:
    """Specs of one layer, made once per distinct layer object."""
    key = (id(layer), skipped)
    if key not in known:
        made = (maker.spec(cache, skipped) for cache in in_order(layer))
        known[key] = tuple(spec for spec in made if spec is not None)
    return known[key]


def in_order(layer: Layer) -> Layer:
    """Caches of one layer as vLLM registers them: an indexer is built before the attention that reads it."""
    if len(layer) < 2:
        return layer
    if any(cache.kind == "sliding_mla" for cache in layer):
        return deepseek_v4.in_order(layer)
    return tuple(sorted(layer, key=lambda cache: cache.kind != "indexer"))


def runs(specs: Iterable[LayerSpec]) -> Iterator[LayerRun]:
    """Equal neighbours as one run."""
    current: LayerSpec | None = None
    count = 0
    for spec in specs:
        if current is not None and (spec is current or spec == current):
            count += 1
            continue
        if current is not None:
            yield LayerRun(count, current)
        current, count = spec, 1
    if current is not None:
        yield LayerRun(count, current)
