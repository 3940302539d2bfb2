"""The architectures whose weights are counted, by the name in `architectures`."""

from __future__ import annotations

from dataclasses import replace

from snippets.planner.weights.recipe import Recipe

_LLAMA = Recipe()
_QWEN2 = Recipe(qkv_bias=True, output_bias=False, mlp_bias=False)
_QWEN3 = Recipe(output_bias=False, mlp_bias=False, qk_norm="head")
_QWEN3_NEXT = Recipe(
    qkv_bias=("qkv_bias", False),
    output_bias=False,
    mlp_bias=False,
    qk_norm="head",
    gated_attention=("attn_output_gate", True),
    moe="qwen",
    embedding_on="everywhere",
    head_on="everywhere",
    nextn=True,
)
_QWEN3_5 = replace(_QWEN3_NEXT, head_on="end", tower="qwen3_vl")
_EVERYWHERE = Recipe(embedding_on="everywhere", head_on="everywhere", norm_on="everywhere")
_GEMMA2 = replace(_EVERYWHERE, mlp_bias=False, norms=4, tied=True)
_GEMMA3 = replace(_GEMMA2, qk_norm="head", rotary="by_kind")
_DEEPSEEK = Recipe(moe="deepseek", mlp_bias=False, nextn=True)
_GPT2 = Recipe(
    mlp="plain",
    layer_norm=True,
    qkv_bias=True,
    output_bias=True,
    mlp_bias=True,
    tied=True,
    positions="plain",
    rotary="none",
    embedding_on="everywhere",
    head_on="everywhere",
    norm_on="everywhere",
)
_BERT = replace(_GPT2, positions="bert", final_norm=False, embedding_on="end", head_on="end", norm_on="end")

FAMILIES: dict[str, Recipe] = {
    "LlamaForCausalLM": _LLAMA,
    "LlamaModel": _LLAMA,  # registry.py: names of embedding models, served with the generator's class
    "MistralForCausalLM": _LLAMA,
    "MistralModel": _LLAMA,
    "Ministral3ForCausalLM": _LLAMA,
    "Mistral3ForConditionalGeneration": replace(_LLAMA, tower="pixtral"),
    "Phi3ForCausalLM": replace(_LLAMA, qkv_bias=False, output_bias=False, mlp_bias=False),
    "GraniteForCausalLM": _LLAMA,
    "DeciLMForCausalLM": replace(_LLAMA, moe="nemotron_nas"),
    "MixtralForCausalLM": replace(_EVERYWHERE, moe="mixtral"),
    "Llama4ForConditionalGeneration": replace(_LLAMA, moe="llama4", tower="llama4"),
    "Qwen2ForCausalLM": _QWEN2,
    "Qwen2Model": _QWEN2,
    "MiMoForCausalLM": replace(_QWEN2, nextn=True),
    "Qwen2MoeForCausalLM": replace(_QWEN2, moe="qwen"),
    "Qwen3ForCausalLM": _QWEN3,
    "Qwen3MoeForCausalLM": replace(_EVERYWHERE, output_bias=False, mlp_bias=False, qk_norm="head", moe="qwen"),
    "Qwen3NextForCausalLM": _QWEN3_NEXT,
    "Qwen3_5ForConditionalGeneration": _QWEN3_5,
    "Qwen3_5MoeForConditionalGeneration": _QWEN3_5,
    "Exaone4ForCausalLM": replace(_QWEN3, qkv_bias=False, rotary="windows"),
    "Olmo2ForCausalLM": replace(_EVERYWHERE, qk_norm="whole", output_bias=False, mlp_bias=False),
    "Olmo3ForCausalLM": replace(_EVERYWHERE, qk_norm="whole", output_bias=False, mlp_bias=False, rotary="by_kind"),
    "GemmaForCausalLM": replace(_GEMMA2, norms=2),
    "Gemma2ForCausalLM": _GEMMA2,
    "Gemma2Model": _GEMMA2,
    "Gemma3ForCausalLM": _GEMMA3,
    "Gemma3ForConditionalGeneration": replace(_GEMMA3, tower="siglip"),
    "Gemma4ForConditionalGeneration": replace(_GEMMA3, tower="gemma4"),
    "GptOssForCausalLM": replace(_EVERYWHERE, qkv_bias=True, output_bias=True, sinks="all", moe="gpt_oss"),
    "DeepseekV2ForCausalLM": _DEEPSEEK,
    "DeepseekV3ForCausalLM": _DEEPSEEK,
    "DeepseekV32ForCausalLM": _DEEPSEEK,
    "DeepseekV4ForCausalLM": Recipe(mlp_bias=False, moe="deepseek_v4", nextn=True),
    "GlmMoeDsaForCausalLM": _DEEPSEEK,
    "Glm4MoeForCausalLM": Recipe(output_bias=False, mlp_bias=False, qk_norm="flag", moe="glm4", nextn=True),
    "MiMoV2FlashForCausalLM": Recipe(output_bias=False, mlp_bias=False, sinks="flags", moe="mimo", nextn=True),
    "JambaForCausalLM": replace(
        _EVERYWHERE, qkv_bias=False, output_bias=False, mlp_bias=False, moe="jamba", rotary="none"
    ),
    "FalconH1ForCausalLM": _LLAMA,
    "FalconMambaForCausalLM": replace(_EVERYWHERE, norms=1, mlp="none"),
    "MambaForCausalLM": replace(_EVERYWHERE, norms=1, mlp="none", tied=True),
    "NemotronHForCausalLM": replace(_EVERYWHERE, mlp="plain", norms=1, moe="nemotron_h", rotary="none"),
    "OPTForCausalLM": replace(_GPT2, positions="opt"),
    "GPT2LMHeadModel": _GPT2,
    "BertModel": _BERT,
    "RobertaModel": _BERT,
    "XLMRobertaModel": _BERT,
    "GPTBigCodeForCausalLM": replace(_GPT2, embedding_on="end", head_on="end", norm_on="end", replicated=True),
    "WhisperForConditionalGeneration": replace(
        _GPT2, moe="whisper", tower="whisper", positions="whisper", whole_embedding=True
    ),
}
