"""The memory cliff: KV cache against context, over the flat line of the weights."""

from snippets.draw.cliff.drawing import memory_cliff
from snippets.draw.cliff.frame import Cliff

__all__ = ["Cliff", "memory_cliff"]
