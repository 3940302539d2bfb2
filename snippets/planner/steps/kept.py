"""Answers kept for the next question: a slider changes one setting, and most steps do not read it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Generic, TypeVar

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs

T = TypeVar("T")
KEPT = 128  # a table of layouts for 8 or 16 cards asks for some 80


class Kept(Generic[T]):
    """The last answers by config, card and the arguments that were read.

    A config holds mappings, which cannot be keys: its identity is, and it is held so that no other takes that identity.
    """

    def __init__(self, reads: Callable[[EngineArgs], Hashable]) -> None:
        self._reads = reads
        self._answers: OrderedDict[Hashable, tuple[ModelConfig, ModelConfig | None, T]] = OrderedDict()

    def get(self, config: ModelConfig, gpu: Gpu, args: EngineArgs, make: Callable[[], T]) -> T:
        """The kept answer, or the one that `make` gives; what it raises is not kept."""
        speculative = args.speculative
        draft = speculative.draft if speculative else None
        drafting = (speculative.method, speculative.num_speculative_tokens, id(draft)) if speculative else None
        key = (id(config), drafting, gpu, self._reads(args))
        if key in self._answers:
            self._answers.move_to_end(key)
            return self._answers[key][2]
        made = make()
        self._answers[key] = (config, draft, made)
        if len(self._answers) > KEPT:
            self._answers.popitem(last=False)
        return made


def all_but_memory(args: EngineArgs) -> Hashable:
    """What resolve() reads: everything but the amount of memory."""
    return replace(args, speculative=None, gpu_memory_utilization=1.0, kv_cache_memory_bytes=None)


def layout(args: EngineArgs) -> Hashable:
    """What the weights depend on."""
    return (
        args.dtype,
        args.quantization,
        args.tensor_parallel_size,
        args.pipeline_parallel_size,
        args.data_parallel_size,
        args.enable_expert_parallel,
        args.decode_context_parallel_size,
    )
