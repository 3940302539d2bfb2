"""Encoders of images that vLLM loads beside the decoder; on every pipeline stage, as vLLM builds them there too."""

from __future__ import annotations

from collections.abc import Callable

from snippets.model_config.fields import Fields
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.storage.matrices import linear
from snippets.planner.weights.storage.scheme import PLAIN
from snippets.planner.weights.storage.size import NOTHING, Size, total

Tower = Callable[[Counting, Fields], Size]


def tower(c: Counting) -> Size:
    """The encoder of images, 16-bit. Raises WeightsError for one that is not counted here."""
    if not c.recipe.tower or c.recipe.tower == "whisper":
        return NOTHING
    vision = c.root.child("vision_config")
    if vision is None:
        raise WeightsError("vision_config", "vision_config is missing, and the vision tower's weights depend on it.")
    if c.root.child("audio_config") is not None:
        raise WeightsError("audio_config", "The weights of the audio tower are not counted.")
    quantised = c.scheme.kind != "plain" and not c.scheme.experts_only and not c.skipped.names_towers
    if quantised and c.recipe.tower != "pixtral":
        raise WeightsError("quantization_config", "How the vision tower is stored is not said.")
    return TOWERS[c.recipe.tower](c, vision)


def _siglip(c: Counting, vision: Fields) -> Size:
    """Gemma 3 (models/siglip.py, gemma3_mm.py Gemma3MultiModalProjector)."""
    hidden, patch = vision.integer("hidden_size"), vision.integer("patch_size")
    patches = (vision.integer("image_size") // patch) ** 2
    size = c.numbers(3 * patch * patch * hidden + hidden + patches * hidden)
    size += _biased_layer(c, vision) * vision.integer("num_hidden_layers")
    size += c.numbers(2 * hidden)  # post_layernorm
    return size + c.numbers(hidden * c.hidden + hidden)  # projector and its norm


def _biased_layer(c: Counting, vision: Fields, heads: str = "num_attention_heads") -> Size:
    """LayerNorm, attention and a two-matrix MLP, all with biases, split over the ranks."""
    hidden = vision.integer("hidden_size")
    wide = c.split.of_rank(vision.integer(heads), f"vision_config.{heads}") * (hidden // vision.integer(heads))
    inner = c.split.of_rank(vision.integer("intermediate_size"), "vision_config.intermediate_size")
    attention = 3 * wide * (hidden + 1) + wide * hidden + hidden
    return c.numbers(attention + inner * (hidden + 1) + inner * hidden + hidden + 4 * hidden)


def _llama4(c: Counting, vision: Fields) -> Size:
    """models/mllama4.py Llama4VisionModel."""
    hidden, patch = vision.integer("hidden_size"), vision.integer("patch_size")
    patches = (vision.integer("image_size") // patch) ** 2
    size = c.numbers(hidden + (patches + 1) * hidden + 4 * hidden)  # class token, positions, two LayerNorms
    size += c.numbers(c.split.of_rank(hidden, "vision_config.hidden_size") * 3 * patch * patch)
    size += _biased_layer(c, vision) * vision.integer("num_hidden_layers")
    middle = c.split.of_rank(vision.integer("projector_input_dim"), "vision_config.projector_input_dim")
    size += c.numbers(middle * (vision.integer("intermediate_size") + vision.integer("projector_output_dim")))
    return size + c.numbers(vision.integer("vision_output_dim") * c.split.of_rank(c.hidden, "hidden_size"))


def _qwen3_vl(c: Counting, vision: Fields) -> Size:
    """models/qwen3_vl.py Qwen3_VisionTransformer; Qwen3.5 has no deepstack mergers."""
    hidden, patch = vision.integer("hidden_size"), vision.integer("patch_size")
    voxel = vision.integer("in_channels") * vision.integer("temporal_patch_size") * patch * patch
    size = c.numbers(voxel * hidden + hidden + vision.integer("num_position_embeddings") * hidden)
    size += _biased_layer(c, vision, "num_heads") * vision.integer("depth")
    if vision.items("deepstack_visual_indexes"):
        raise WeightsError("vision_config.deepstack_visual_indexes", "The deepstack mergers' weights are not counted.")
    merged = hidden * vision.integer("spatial_merge_size") ** 2
    inner = c.split.of_rank(merged, "vision_config.hidden_size")
    out = vision.integer("out_hidden_size")
    return size + c.numbers(2 * hidden + inner * (merged + 1) + inner * out + out)


def _gemma4(c: Counting, vision: Fields) -> Size:
    """transformers' Gemma4VisionModel: every rank holds all of it."""
    hidden, inner = vision.integer("hidden_size"), vision.integer("intermediate_size")
    heads, patch = vision.integer("num_attention_heads"), vision.integer("patch_size")
    head_dim = vision.optional_integer("head_dim") or hidden // heads
    size = c.numbers(2 * vision.integer("position_embedding_size") * hidden + 3 * patch * patch * hidden)
    layer = 4 * hidden * heads * head_dim + 2 * head_dim + 3 * hidden * inner + 4 * hidden
    return size + c.numbers(layer) * vision.integer("num_hidden_layers") + c.numbers(hidden * c.hidden)


def _pixtral(c: Counting, vision: Fields) -> Size:
    """models/pixtral.py PixtralHFVisionModel, mistral3.py Mistral3MultiModalProjector.

    fp8 skips the modules that its list names, not what is below them: with “vision_tower” alone vLLM makes the
    tower's matrices 8-bit too.
    """
    hidden, patch = vision.integer("hidden_size"), vision.integer("patch_size")
    inner = c.split.of_rank(vision.integer("intermediate_size"), "vision_config.intermediate_size")
    heads = vision.integer("num_attention_heads")
    wide = c.split.of_rank(heads, "vision_config.num_attention_heads") * (hidden // heads)
    scheme = PLAIN if c.skipped.names_towers else c.scheme
    stored = [(hidden, (wide, wide, wide)), (wide, (hidden,)), (hidden, (inner, inner)), (inner, (hidden,))]
    layer = total([linear(scheme, inputs, outputs, c.plain_bytes) for inputs, outputs in stored])
    layer += c.numbers(2 * hidden)
    size = c.numbers(3 * patch * patch * hidden + hidden) + layer * vision.integer("num_hidden_layers")
    size += c.numbers(hidden + c.root.integer("spatial_merge_size") ** 2 * hidden * hidden)
    own = c.split.of_rank(c.hidden, "hidden_size")
    up, down = linear(scheme, hidden, (own,), c.plain_bytes), linear(scheme, own, (c.hidden,), c.plain_bytes)
    return size + up + down


TOWERS: dict[str, Tower] = {
    "siglip": _siglip,
    "llama4": _llama4,
    "qwen3_vl": _qwen3_vl,
    "gemma4": _gemma4,
    "pixtral": _pixtral,
}
