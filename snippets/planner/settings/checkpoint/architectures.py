"""Model classes that vLLM 0.26.0 serves; a name of none of them is not planned, one that was dropped is refused."""

from __future__ import annotations

from snippets.model_config.model_config import ModelConfig
from snippets.model_config.nesting import class_defaults
from snippets.model_config.registry import DROPPED, FALLS_BACK
from snippets.planner.engine_args import EngineArgsError

NAMED_BY_TYPE = ("deepseek_vl_v2",)  # vLLM's own config class names the architecture


def verify_architecture(config: ModelConfig) -> None:
    """Refuse a class vLLM 0.26.0 dropped (registry.py _raise_for_unsupported), and do not plan one it does not have."""
    name = config.architecture
    if name in class_defaults().served or (not name and config.fields.get("model_type") in NAMED_BY_TYPE):
        return
    if name in DROPPED and name not in FALLS_BACK:
        raise EngineArgsError(
            "architectures",
            f"Model architecture {name} was supported in vLLM until v{DROPPED[name]}, and is not supported anymore. "
            "Please use an older version of vLLM if you want to use this model architecture.",
        )
    if not name:
        raise EngineArgsError("architectures", "No model architectures are specified: add architectures to the config")
    raise EngineArgsError(
        "architectures",
        f"{name} is not planned here: vLLM 0.26.0 has no class of that name. Whether its Transformers fallback takes "
        "the model, and what that would cache, is not in config.json.",
        from_vllm=False,
    )
