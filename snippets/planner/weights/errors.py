"""Weights that cannot be counted."""

from __future__ import annotations

WAY_OUT = (
    "Give the weights' size instead, the figure in the log line “Model loading took … GiB”: --weights-gib of the "
    "command, “Weights” on the page."
)


ANOTHER_SPLIT = "vLLM refuses it too: choose another number of ranks."


class WeightsError(ValueError):
    """What is missing or unknown, with the way out; `field` is the config field or the setting at fault."""

    def __init__(self, field: str, message: str, way_out: str = WAY_OUT) -> None:
        super().__init__(f"{message} {way_out}".strip())
        self.field = field
