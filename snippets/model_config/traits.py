"""Facts beside the cache: experts, MTP layers, pictures and sound, encoder tokens."""

from __future__ import annotations

from snippets.model_config.fields import MAX_LAYERS, Fields

EXPERT_KEYS = ("num_experts", "moe_num_experts", "n_routed_experts", "num_local_experts")
MTP_KEYS = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "n_predict")
MULTIMODAL_KEYS = (
    "vision_config", "audio_config", "image_token_id", "image_token_index", "mm_vision_tower", "vision_tower",
    "vit_config", "encoder_config", "audio_encoder", "thinker_config", "visual", "speech_config", "perceiver_config",
)  # fmt: skip
MAX_EXPERTS = 1 << 20


def num_experts(text: Fields) -> int:
    """Routed experts by any of their names (get_num_experts); 0 for a dense model."""
    for key in sorted(EXPERT_KEYS, key=lambda name: not text.has(name)):  # what is published before what is assumed
        value = text.raw(key)
        if value is None:
            continue
        if isinstance(value, list | tuple):  # Ernie-VL writes one number per modality; vLLM takes the first
            return (text.integers(key) or (0,))[0]
        return text.integer(key, minimum=0, maximum=MAX_EXPERTS)
    return 0


def mtp_layers(text: Fields) -> int:
    """Multi-token-prediction layers stored in the checkpoint."""
    for key in MTP_KEYS:
        value = text.optional_integer(key, minimum=0, maximum=MAX_LAYERS)
        if value:
            return value
    return 0


def is_multimodal(root: Fields, model_type: str) -> bool:
    """Whether the model takes pictures or sound beside text."""
    if model_type == "whisper":
        return True
    for key in MULTIMODAL_KEYS:
        if root.values.get(key) is not None:
            root.raw(key)
            return True
    return False


def encoder_tokens(text: Fields, root: Fields, model_type: str) -> int:
    """Tokens of the encoder's output that a request caches for cross attention; 0 without."""
    if model_type == "whisper":
        return text.integer("max_source_positions", maximum=1 << 31)
    if model_type == "mllama_text_model":
        return _picture_tokens(root)
    return 0


def _picture_tokens(root: Fields) -> int:
    """Llama 3.2 Vision: tiles times patches and one class token."""
    vision = root.child("vision_config")
    if vision is None:
        raise root.error("vision_config", "is missing: it says how many tokens a picture has.")
    patches = vision.integer("image_size", maximum=1 << 20) // vision.integer("patch_size", maximum=1 << 20)
    tiles = vision.optional_integer("max_num_tiles", maximum=1 << 20) or 1
    return tiles * (patches * patches + 1)
