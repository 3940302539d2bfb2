"""What vLLM takes for a drafter of MTP layers: names of the method, and configs (config/speculative.py)."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.model_config.model_config import ModelConfig

# MTPModelTypes: as a method they are deprecated names of mtp; a config's model_type may be one of them too
_NAMES = """
deepseek_mtp mimo_mtp mimo_v2_mtp glm4_moe_mtp glm4_moe_lite_mtp glm_ocr_mtp ernie_mtp nemotron_h_mtp
exaone_moe_mtp exaone4_5_mtp qwen3_next_mtp qwen3_5_mtp longcat_flash_mtp minimax_m3_mtp bailing_hybrid_mtp mtp
pangu_ultra_moe_mtp step3p5_mtp hy_v3_mtp gemma4_mtp inkling_mtp
"""
NAMES = frozenset(_NAMES.split())
# hf_config_override renames these into one of NAMES: by the whole config's model_type …
_TYPES = """
deepseek_v3 deepseek_v32 glm_moe_dsa deepseek_v4 pangu_ultra_moe ernie4_5_moe qwen3_next bailing_hybrid exaone_moe
qwen3_5 qwen3_5_moe intern_s2_preview longcat_flash longcat_flash_ngram step3p5 step3p7 hy_v3 inkling_mm_model
inkling_model gemma4_assistant gemma4_unified_assistant minimax_m3_vl
"""
TYPES = frozenset(_TYPES.split())
# … or by its class
_CLASSES = """
MiMoForCausalLM MiMoV2ForCausalLM MiMoV2OmniForCausalLM MiMoV2FlashForCausalLM Glm4MoeForCausalLM
Glm4MoeLiteForCausalLM GlmOcrForConditionalGeneration BailingMoeV2_5ForCausalLM Step3p5ForCausalLM
Step3p7ForConditionalGeneration MiniMaxM3SparseForConditionalGeneration MiniMaxM3MTP
"""
CLASSES = frozenset(_CLASSES.split())
_WITH_COUNT = ("nemotron_h", "nemotron_h_puzzle")  # only where the config counts MTP layers


def drafts_by_mtp(config: ModelConfig) -> bool:
    """Whether vLLM makes an MTP drafter of this config, whatever it was given for."""
    model_type = str(config.fields.get("model_type", ""))
    fields: Mapping[str, object] = config.fields
    if config.architecture == "NemotronH_Super_Omni_Reasoning_V3":  # its text_config decides
        model_type, fields = config.model_type, config.text_fields
    if model_type in _WITH_COUNT:
        count = fields.get("num_nextn_predict_layers")
        return isinstance(count, int) and count > 0
    return model_type in NAMES | TYPES or config.architecture in CLASSES or "exaone4_5" in model_type


def method_in_force(method: str, draft: ModelConfig | None) -> str:
    """The method that vLLM goes on with: a drafter's config outweighs draft_model (config/speculative.py:686, 914)."""
    if method in NAMES or (method == "draft_model" and draft is not None and drafts_by_mtp(draft)):
        return "mtp"
    return method
