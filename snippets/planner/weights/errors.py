"""Weights that cannot be counted."""

from __future__ import annotations

WAY_OUT = (
    "Give the weights' size instead (--weights-gib of the command, “Weights” on the page): the figure in the log line "
    "“Model loading took … GiB”, or before there is a log an estimate: total_size in the checkpoint's "
    "model.safetensors.index.json, in bytes, divided by the cards of a replica (tensor × pipeline parallel). What "
    "every card holds whole comes on top of that."
)

ANOTHER_SPLIT = "vLLM refuses it too: choose another number of ranks."


class WeightsError(ValueError):
    """What is missing or unknown (`told`), and the way out; `field` is the config field or the setting at fault."""

    def __init__(self, field: str, message: str, way_out: str = WAY_OUT) -> None:
        super().__init__(f"{message} {way_out}".strip())
        self.field = field
        self.told = message
        self.way_out = way_out
