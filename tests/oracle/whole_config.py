"""A catalog config completed with what vLLM's classes read besides: fields that no cache and no weight depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORWARD_ONLY = {
    "hc_eps": 1e-6,
    "hc_sinkhorn_iters": 20,
    "hidden_act": "silu",
    "layernorm_epsilon": 1e-5,
    "n_group": 1,
    "norm_topk_prob": True,
    "rms_norm_eps": 1e-5,
    "routed_scaling_factor": 1.5,
    "swiglu_limit": 10.0,
    "topk_group": 1,
}
GEMMA4_VISION = {"default_output_length": 280}  # tokens of an image: read for the batch limit
YARN = {"beta_fast": 32.0, "beta_slow": 1.0}


def completed(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as published, and the missing ones of the forward pass."""
    if "text_config" in fields:
        whole = {**fields, "text_config": completed(fields["text_config"])}
        if str(fields.get("model_type", "")).startswith("gemma4"):
            whole["vision_config"] = {**GEMMA4_VISION, **fields.get("vision_config", {})}
        return whole
    whole = {**FORWARD_ONLY, **fields}
    for name in ("rope_scaling", "rope_parameters"):
        rope = fields.get(name)
        if isinstance(rope, dict) and "yarn" in (rope.get("type"), rope.get("rope_type")):
            whole[name] = {**YARN, **rope}
    return whole
