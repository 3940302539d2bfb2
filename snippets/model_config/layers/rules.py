"""Which rule lays out which model: one entry per model_type (of the decoder), each naming what vLLM's class does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from snippets.model_config.decoder import Decoder
from snippets.model_config.layers import encoders, linear, mamba, mla, repeated, sparse, unequal, windows
from snippets.model_config.layers.windows import PLAIN, Windows, every, fixed
from snippets.model_config.model_config import Layer

Rule = Callable[[Decoder], tuple[Layer, ...]]

BY_LAYER = Windows()  # the class reads layer_types
ENCODER = encoders.encoder_only
QWEN = Windows(by_layer=False, derive=windows.from_max_window_layers, gated=True, all_or_none=True)


def _each(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


RULES: Mapping[str, Rule] = {
    **_each(
        "aquila arcee arctic aria_text baichuan bailing_moe bloom chatglm codegen cohere dbrx dots1 "
        "emu3_text_model ernie4_5 ernie4_5_moe ernie4_5_vl_moe_text exaone falcon gemma glm glm4 glm4_moe glm4v "
        "glm4v_moe_text glm4v_text glm_ocr_text gpt2 gpt_bigcode gpt_neox gptj granite granitemoe "
        "granitemoeshared grok-1 hunyuan hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl_text hy_v3 hyperclovax "
        "internlm internlm2 jais kimi_vl_text llava_llama minicpm minimax_m2 mixtral mpt nemotron olmo olmo2 "
        "olmoe opt orion param2moe persimmon phi phi3 phi3_v phi4 phi4mm phimoe qwen qwen3_omni_moe_text "
        "qwen3_vl_moe_text qwen3_vl_text RefinedWeb RefinedWebModel sarvam_moe seed_oss solar stablelm starcoder2 "
        "step1 step3_text telechat xverse",
        PLAIN,
    ),
    # LlamaAttention reads layer_types where the config has them
    **_each(
        "llama mistral ministral ministral3 internlm3 fairseq2_llama iquestcoder telechat3 teleflm apertus "
        "flex_olmo mellum",
        BY_LAYER,
    ),
    **_each("qwen2 qwen3 qwen2_vl_text qwen2_5_vl_text qwen2_5_omni_text mimo", QWEN),
    "gpt_oss": windows.gpt_oss,
    "gemma2": Windows(derive=fixed(2, 1)),
    "gemma3_text": windows.gemma3,
    "gemma3n_text": unequal.gemma3n,
    **_each("gemma4_text gemma4_unified_text", unequal.gemma4),
    "llama4_text": unequal.llama4,
    "cohere2": Windows(derive=every(4)),
    "cohere2_moe": Windows(derive=windows.cohere2_moe),
    "qwen2_moe": Windows(by_layer=False, derive=windows.qwen2_moe, gated=True),
    "qwen3_moe": Windows(by_layer=False, gated=True),
    "smollm3": Windows(derive=windows.smollm3),
    **_each("exaone4 exaone_moe", Windows(derive=every(4))),
    "laguna": Windows(takes_one=False),
    "afmoe": Windows(derive=windows.afmoe),
    "olmo3": Windows(derive=fixed(4, 3)),
    **_each("jais2 PanguEmbedded pangu_embedded", windows.interleaved),
    "cwm": Windows(derive=fixed(4, 0)),
    **_each("mimo_v2_flash mimo_v2", unequal.mimo_v2),
    **_each("step3p5 step3p7", unequal.step3p5),
    "nemotron-nas": unequal.nemotron_nas,
    **_each(
        "deepseek deepseek_v2 deepseek_v3 deepseek_v32 kimi_k2 axk1 glm_moe_dsa glm4_moe_lite pangu_ultra_moe",
        mla.deepseek,
    ),
    "minicpm3": mla.minicpm3,
    **_each("longcat_flash longcat_flash_ngram", repeated.longcat),
    "ouro": repeated.ouro,
    "iquestloopcoder": repeated.loop_coder,
    **_each("minimax_m3 minimax_m3_text minimax_m3_vl_text", sparse.minimax_m3),
    "deepseek_v4": sparse.deepseek_v4,
    "kimi_linear": linear.kimi_linear,
    **_each("mamba falcon_mamba", mamba.mamba1),
    "mamba2": mamba.mamba2,
    "jamba": mamba.jamba,
    "bamba": mamba.bamba,
    "falcon_h1": mamba.falcon_h1,
    "granitemoehybrid": mamba.granite_hybrid,
    "zamba2": mamba.zamba2,
    "plamo2": mamba.plamo2,
    "bailing_hybrid": linear.bailing_hybrid,
    "nemotron_h": mamba.nemotron_h,
    **_each("qwen3_next qwen3_5_text qwen3_5_moe_text olmo_hybrid", linear.gated_delta_net),
    **_each("lfm2 lfm2_moe", linear.lfm2),
    **_each("bert roberta xlm-roberta nomic_bert gte new modernbert electra distilbert", ENCODER),
    "mllama_text_model": encoders.mllama,
    "whisper": encoders.encoder_decoder,
}
