"""The data type vLLM runs a model with under --dtype auto, on cards that have BF16 (compute capability 8.0 and up)."""

from __future__ import annotations

from snippets.model_config.fields import Fields, shown

SUPPORTED = ("bfloat16", "float16", "float32")  # platforms/cuda.py supported_dtypes, the preferred one first
# config/model.py _FLOAT16_NOT_SUPPORTED_MODELS: numerically unstable in float16
NOT_FLOAT16 = ("gemma2", "gemma3", "gemma3_text", "plamo2", "glm4")
OTHERS = ("float8_e4m3fn", "float8_e5m2", "float64", "half", "float", "double", "int8", "uint8")


def published_dtype(root: Fields, text: Fields) -> str | None:
    """The dtype the config names: at the top, in the decoder's part, else in an encoder's (get_torch_dtype)."""
    encoders = [child for key in ("vision_config", "encoder_config") if (child := _object(root, key)) is not None]
    for fields in (root, text, *encoders):
        for key in ("dtype", "torch_dtype"):
            value = fields.raw(key)
            if value is None:
                continue
            name = value.removeprefix("torch.") if isinstance(value, str) else ""
            if name not in SUPPORTED and name not in OTHERS:
                raise fields.error(key, f"is {shown(value)}: {', '.join(SUPPORTED)} are data types vLLM runs.")
            return {"half": "float16", "float": "float32"}.get(name, name)
    return None


def _object(root: Fields, key: str) -> Fields | None:
    return root.child(key) if isinstance(root.values.get(key), dict) else None


def auto_dtype(root: Fields, text: Fields, model_type: str, is_pooling: bool) -> str:
    """What --dtype auto gives (config/model.py _resolve_auto_dtype)."""
    published = published_dtype(root, text)
    supported = [name for name in SUPPORTED if not (name == "float16" and model_type in NOT_FLOAT16)]
    preferred = "float16" if is_pooling and "float16" in supported else supported[0]
    if published is None:
        root.note(f"The config names no dtype: vLLM reads it from the weights; {preferred} stands for it.")
        return preferred
    if published == "float32":  # vLLM runs float32 checkpoints in 16 bits
        return preferred
    return published if published in supported else preferred
