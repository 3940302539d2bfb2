"""What sort of model vLLM takes a config for: these few answers decide most defaults."""

from __future__ import annotations

from snippets.model_config.model_config import ModelConfig, StateCache

# Classes without SupportsPP (model_executor/models/*.py)
NO_PIPELINE = """
AriaForConditionalGeneration BertForMaskedLM BertForSequenceClassification BertForTokenClassification BertModel
BertSpladeSparseEmbeddingModel BgeM3EmbeddingModel CLIPModel ColBERTJinaRobertaModel ColBERTLfm2Model
ColBERTModernBertModel ColModernVBertForRetrieval FireRedASR2ForConditionalGeneration
FireRedLIDForConditionalGeneration GPT2ForSequenceClassification Gemma3TextModel Gemma3nForCausalLM
Gemma3nForConditionalGeneration GteModel GteNewForSequenceClassification GteNewModel HF_ColBERT HrmTextForCausalLM
IQuestLoopCoderForCausalLM Idefics3ForConditionalGeneration JinaForRanking Mamba2ForCausalLM
ModernBertForSequenceClassification ModernBertForTokenClassification ModernBertModel
NemotronH_Nano_Omni_Reasoning_V3 NemotronH_Nano_VL_V2 NemotronH_Super_Omni_Reasoning_V3
NemotronParseForConditionalGeneration NomicBertModel OpenAIPrivacyFilterForTokenClassification OuroForCausalLM
PaddleOCRVLForConditionalGeneration Phi4MMForCausalLM RobertaForMaskedLM RobertaForSequenceClassification
RobertaForTokenClassification RobertaModel SiglipModel SmolVLMForConditionalGeneration
VoyageQwen3BidirectionalEmbedModel WhisperForConditionalGeneration XLMRobertaForSequenceClassification
XLMRobertaForTokenClassification XLMRobertaModel Zamba2ForCausalLM
"""
WITHOUT_PIPELINE = frozenset(NO_PIPELINE.split())

# Multimodal classes that build their decoder from a text_config that names no class
NAMELESS_TEXT = ("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration")

MM_PREFIX_MODELS = ("bagel", "gemma3", "molmo2", "moondream3", "paligemma", "umm")
GEMMA4_TYPES = ("gemma4", "gemma4_text", "gemma4_unified", "gemma4_unified_text")

SINK_ARCHITECTURES = ("GptOssForCausalLM",)  # every layer has sinks: models/gpt_oss.py
MAMBA_PREFIX_CACHING = (
    "FalconH1ForCausalLM",
    "GraniteMoeHybridForCausalLM",
    "JambaForCausalLM",
    "MambaForCausalLM",
    "FalconMambaForCausalLM",
    "Mamba2ForCausalLM",
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
    "Zamba2ForCausalLM",
)  # classes with SupportsMambaPrefixCaching: cache mode "all"; the rest of the hybrids get "align"


def is_encoder_only(config: ModelConfig) -> bool:
    """Every attention sees both directions and keeps nothing."""
    kinds = {cache.kind for layer in config.layers for cache in layer}
    return kinds == {"encoder_only"}


def is_attention_free(config: ModelConfig) -> bool:
    """Recurrent layers only."""
    kinds = {isinstance(cache, StateCache) for layer in config.layers for cache in layer}
    return kinds == {True}


def has_state(config: ModelConfig) -> bool:
    """Recurrent layers, alone or beside attention."""
    return config.is_hybrid or is_attention_free(config)


def is_moe(config: ModelConfig) -> bool:
    """Any routed experts (config/model.py is_moe)."""
    return config.num_experts > 0


def is_mm_prefix_lm(config: ModelConfig) -> bool:
    """Image tokens see each other in both directions (transformers_utils/model_arch_config_convertor.py:322)."""
    model_type = str(config.fields.get("model_type", config.model_type))
    if model_type in GEMMA4_TYPES:
        return config.text_fields.get("use_bidirectional_attention") == "vision"
    declared = config.fields.get("is_mm_prefix_lm")
    return bool(declared) if declared is not None else model_type in MM_PREFIX_MODELS


def has_chunked_attention(config: ModelConfig) -> bool:
    """Attention in chunks of the text anywhere (Llama 4)."""
    return any(cache.kind == "chunked" for layer in config.layers for cache in layer)
