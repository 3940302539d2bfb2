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

MTP_TYPES = {  # model_type → where the checkpoint counts its MTP layers (config/speculative.py hf_config_override)
    "deepseek_v3": "num_nextn_predict_layers",
    "deepseek_v32": "num_nextn_predict_layers",
    "glm_moe_dsa": "num_nextn_predict_layers",
    "glm4_moe": "num_nextn_predict_layers",
    "glm4_moe_lite": "num_nextn_predict_layers",
    "mimo": "num_nextn_predict_layers",
    "ernie4_5_moe": "num_nextn_predict_layers",
    "qwen3_next": "num_nextn_predict_layers",
    "qwen3_5": "mtp_num_hidden_layers",
    "qwen3_5_moe": "mtp_num_hidden_layers",
    "qwen3_5_text": "mtp_num_hidden_layers",
    "qwen3_5_moe_text": "mtp_num_hidden_layers",
    "hy_v3": "num_nextn_predict_layers",
    "nemotron_h": "num_nextn_predict_layers",
    "nemotron_h_puzzle": "num_nextn_predict_layers",
    "mimo_v2_flash": "one, in vLLM 0.26.0",
    "mimo_v2": "one, in vLLM 0.26.0",
    "deepseek_v4": "num_nextn_predict_layers",
}
# Classes that build one layer where the text's config does not count them (qwen3_next_mtp.py:59, qwen3_5_mtp.py:80)
ONE_BY_DEFAULT = ("qwen3_next", "qwen3_5", "qwen3_5_moe", "qwen3_5_text", "qwen3_5_moe_text")


def drafts_by_mtp(config: ModelConfig) -> bool:
    """Whether vLLM makes an MTP drafter of this config, whatever it was given for."""
    model_type, fields = _decisive(config)
    if model_type in _WITH_COUNT:
        count = fields.get("num_nextn_predict_layers")
        return isinstance(count, int) and count > 0
    return model_type in NAMES | TYPES or config.architecture in CLASSES or "exaone4_5" in model_type


def _decisive(config: ModelConfig) -> tuple[str, Mapping[str, object]]:
    """model_type and fields that hf_config_override looks at: of the whole config, but for one class."""
    if config.architecture == "NemotronH_Super_Omni_Reasoning_V3":  # its text_config decides
        return config.model_type, config.text_fields
    return str(config.fields.get("model_type", "")), config.fields


def n_predict(config: ModelConfig) -> int:
    """The count that vLLM reads off a drafter's config; 0 where it finds none, such as Qwen3.5's in its text_config."""
    if _is_mimo_v2(config):
        return 1
    name = MTP_TYPES.get(config.model_type)
    if name in config.text_fields and name not in _decisive(config)[1]:
        return 0
    return config.num_nextn_predict_layers


def num_mtp_layers(config: ModelConfig) -> int:
    """MTP layers that the drafter's class builds; vLLM 0.26.0 takes the first alone of MiMo-V2's."""
    if _is_mimo_v2(config):
        return 1
    is_counted = MTP_TYPES.get(config.model_type) in config.text_fields
    if not config.num_nextn_predict_layers and not is_counted and config.model_type in ONE_BY_DEFAULT:
        return 1
    return config.num_nextn_predict_layers


def _is_mimo_v2(config: ModelConfig) -> bool:
    return config.model_type.startswith("mimo_v2")


def method_in_force(method: str, draft: ModelConfig | None) -> str:
    """The method that vLLM goes on with: a drafter's config outweighs draft_model (config/speculative.py:686, 914)."""
    if method in NAMES or (method == "draft_model" and draft is not None and drafts_by_mtp(draft)):
        return "mtp"
    return method
