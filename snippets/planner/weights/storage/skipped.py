"""Which modules a quantised checkpoint leaves in 16 bits: ignore, exclude_modules, modules_to_not_convert."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import translate

from snippets.model_config.model_config import Quantization
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.storage.scheme import exclusions

_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.(\d+)\.(.+)$")
_NUMBER = re.compile(r"\.\d+\.")
_OTHER_PARTS = re.compile(r"vis(?:ion|ual)|audio|projector|mtp", re.IGNORECASE)


@dataclass(frozen=True)
class Skipped:
    """`by_layer` holds names below one layer ("mlp.gate"); `patterns` fit any layer."""

    by_layer: Mapping[int, frozenset[str]]
    patterns: tuple[re.Pattern[str], ...]
    names_head: bool = False  # lm_head is on the list
    names_towers: bool = False  # and the matrices of a vision tower
    exact: bool = False  # fp8: an entry names one module, not what is below it
    substrings: tuple[str, ...] = ()  # awq: a module is skipped when its name contains one
    known: dict[tuple[str, frozenset[str]], bool] = field(default_factory=dict, compare=False)  # answers so far

    def of_layer(self, layer: int) -> frozenset[str]:
        """What is named for this layer alone."""
        return self.by_layer.get(layer, frozenset())

    def skips(self, module: str, layer_names: frozenset[str]) -> bool:
        """Whether a module ("self_attn.q_proj") of a layer with these names stays in 16 bits."""
        key = (module, layer_names)
        if key not in self.known:
            self.known[key] = self._skips(module, layer_names)
        return self.known[key]

    def _skips(self, module: str, layer_names: frozenset[str]) -> bool:
        if any(module == name or (not self.exact and module.startswith(f"{name}.")) for name in layer_names):
            return True
        if any(text in module for text in self.substrings):
            return True
        return any(pattern.fullmatch(form) for pattern in self.patterns for form in _forms(module))


NONE = Skipped({}, ())


def skipped_of(quantization: Quantization | None) -> Skipped:
    """The lists of a quantization_config, in vLLM's and ModelOpt's forms."""
    if quantization is None:
        return NONE
    by_layer: dict[int, set[str]] = {}
    patterns: list[re.Pattern[str]] = []
    substrings: list[str] = []
    entries = exclusions(quantization.fields)
    for entry in entries:
        found = _LAYER.search(entry)
        if entry.startswith("re:"):
            patterns.append(_compiled(entry[3:]))
        elif found and "*" not in entry:
            if not _OTHER_PARTS.search(entry):
                by_layer.setdefault(int(found[1]), set()).add(found[2])
        elif quantization.method == "awq":
            substrings.append(entry)
        elif "*" in entry:
            patterns.append(re.compile(translate(entry)))
            patterns.append(re.compile(translate(f"{entry}.*")))
    frozen = {layer: frozenset(names) for layer, names in by_layer.items()}
    exact = quantization.method == "fp8"
    towers = any(_OTHER_PARTS.search(entry) and (not exact or _NUMBER.search(entry)) for entry in entries)
    head = any(entry.endswith("lm_head") or entry == "*lm_head*" for entry in entries)
    return Skipped(frozen, tuple(patterns), head, towers, exact, tuple(substrings))


def _compiled(expression: str) -> re.Pattern[str]:
    try:
        return re.compile(f"(?:{expression}).*")
    except re.error:
        message = f"“{expression[:40]}” is no regular expression."
        raise WeightsError("quantization_config.ignore", message) from None


def _forms(module: str) -> tuple[str, ...]:
    """The names under which a list may know a module; any layer's number stands for all."""
    return tuple(
        f"{root}layers.0.{module}" for root in ("model.", "language_model.model.", "model.language_model.", "")
    )
