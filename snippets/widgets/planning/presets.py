"""Questions to begin with. Each sets the whole question, so that nothing is left over from the one before."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.widgets.declare import Preset, PresetBar


def _case(model: str, gpu: str, cards: int, length: str) -> dict[str, str]:
    return {"model": model, "gpu": gpu, "tensor_parallel_size": str(cards), "max_model_len": length}


LABEL = "Try"
PASTED = ("config", "draft_config")  # not in sight while a model of the list is chosen: they stay as they are
# name, label, and what differs from how the page opens
CASES: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("baseline", "Qwen2.5-7B on RTX 4090", {}),
    ("llama-70b", "Llama-3.1-70B on 4 × H100", _case("llama-3.1-70b", "h100-80gb", 4, "32768")),
    ("deepseek-v3", "DeepSeek-V3 on 8 × H200", _case("deepseek-v3", "h200", 8, "65536")),
    ("gpt-oss", "gpt-oss-20b on RTX 4090", _case("gpt-oss-20b", "rtx-4090", 1, "32768")),
    ("gemma-3", "Gemma-3-27B on A100", _case("gemma-3-27b", "a100-80gb", 1, "32768")),
    ("qwen3-next", "Qwen3-Next-80B on 4 × H100", _case("qwen3-next-80b-a3b", "h100-80gb", 4, "65536")),
    ("too-small", "One that is refused", _case("llama-3.1-8b", "rtx-4090", 1, "")),
)


def preset_bar(defaults: Mapping[str, str], whole: tuple[str, ...]) -> PresetBar:
    """The row. `whole` names the controls that make the question; each preset sets them all but what was pasted."""
    presets = (
        Preset(
            name,
            label,
            {control: changed.get(control, defaults[control]) for control in whole if control not in PASTED},
        )
        for name, label, changed in CASES
    )
    return PresetBar(LABEL, tuple(presets))
