"""Which classes vLLM 0.26.0 serves (model_executor/models/registry.py), and which it runs as poolers."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.model_config.nesting import class_defaults

# _PREVIOUSLY_SUPPORTED_MODELS: the last version that served them
LAST_SERVED: Mapping[str, str] = {
    "0.10.2": "MotifForCausalLM Phi4FlashForCausalLM DonutForConditionalGeneration MllamaForConditionalGeneration",
    "0.9.2": "Phi3SmallForCausalLM",
    "0.12.0": "Phi4MultimodalForCausalLM",
    "0.22.0": "JAISLMHeadModel",
    "0.23.0": (
        "ErnieModel ErnieForSequenceClassification ErnieForTokenClassification InternLM2VEForCausalLM "
        "QWenLMHeadModel QwenVLForConditionalGeneration InternLMForCausalLM XverseForCausalLM "
        "Dots1ForCausalLM BambaForCausalLM MiniMaxForCausalLM MiniMaxText01ForCausalLM MiniMaxM1ForCausalLM "
        "MiniMaxVL01ForConditionalGeneration BaiChuanForCausalLM BaichuanForCausalLM "
        "Tarsier2ForConditionalGeneration"
    ),
    "0.24.0": (
        "AquilaModel AquilaForCausalLM Grok1ModelForCausalLM Grok1ForCausalLM TarsierForConditionalGeneration "
        "MantisForConditionalGeneration MusicFlamingoForConditionalGeneration "
        "AyaVisionForConditionalGeneration"
    ),
    "0.25.0": "TeleChatForCausalLM PersimmonForCausalLM FuyuForCausalLM",
}
DROPPED: Mapping[str, str] = {name: version for version, names in LAST_SERVED.items() for name in names.split()}
# Of them, those that Transformers 5.14 has a class for, compatible with vLLM's backend: vLLM tries that first
# (registry.py inspect_model_cls), so it does not refuse them in these words.
FALLS_BACK = frozenset(
    (
        *("MllamaForConditionalGeneration", "Phi4MultimodalForCausalLM", "Dots1ForCausalLM", "MiniMaxForCausalLM"),
        *("ErnieModel", "ErnieForSequenceClassification", "ErnieForTokenClassification", "PersimmonForCausalLM"),
        *("FuyuForCausalLM", "AyaVisionForConditionalGeneration", "MusicFlamingoForConditionalGeneration"),
    )
)
# _SUFFIX_TO_DEFAULTS of config/model.py, in its order
GENERATE = ("ForCausalLM", "ForConditionalGeneration", "ChatModel", "LMHeadModel")
POOLING = (
    "ForTextEncoding", "EmbeddingModel", "ForSequenceClassification", "ForTokenClassification",
    "ForAudioClassification", "ForImageClassification", "ForVideoClassification", "ClassificationModel",
    "ForRewardModeling", "RewardModel", "Model",
)  # fmt: skip


def stranger(architecture: str) -> str:
    """A sentence when vLLM 0.26.0 has no class of its own for an architecture; "" when it has one."""
    if architecture in class_defaults().served or unsupported(architecture):
        return ""
    return f"vLLM 0.26.0 has no class for {architecture}: it would try its Transformers backend, or refuse."


# Names of embedding models that registry.py serves with a generator's class, which says so itself
GENERATORS = ("Gemma2Model", "LlamaModel", "MistralModel", "Qwen2Model")
OTHER_GENERATORS = ("ChatGLMModel", "MossAudioModel", "Qwen2_5OmniModel", "UltravoxModel")
# Classes with is_pooling_model whose names end otherwise
POOLERS = (
    *("BertForMaskedLM", "RobertaForMaskedLM", "GritLM", "HF_ColBERT", "ColModernVBertForRetrieval"),
    *("ColPaliForRetrieval", "ColQwen3", "ColQwen3_5", "JinaForRanking", "JinaVLForRanking"),
)


def is_pooling(architecture: str) -> bool:
    """Whether --runner auto becomes pooling, by the class and, where it does not say, by its name's ending.

    config/model.py:934 _get_default_runner_type, but for the files that lie beside config.json.
    """
    if architecture in POOLERS:
        return True
    if architecture in (*GENERATORS, *OTHER_GENERATORS) or architecture.endswith(GENERATE):
        return False
    return architecture.endswith(POOLING)


def beside_the_config(architecture: str) -> str:
    """A sentence where the runner may depend on a file that is not config.json; "" elsewhere."""
    if architecture not in GENERATORS:
        return ""
    return (
        f"From config.json alone vLLM 0.26.0 runs {architecture} as a generator, and so does this plan. Where "
        "modules.json beside it names a pooling layer, as embedding models have it, vLLM takes --runner pooling: "
        "fewer tokens are in flight then, and no lm_head is loaded."
    )


def unsupported(architecture: str) -> str:
    """Why vLLM 0.26.0 would refuse the architecture; "" when it would not."""
    last = DROPPED.get(architecture)
    if last is None or architecture in FALLS_BACK:
        return ""
    return f"vLLM 0.26.0 no longer serves {architecture}: {last} was the last version that did."
