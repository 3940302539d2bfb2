"""Plain decoders that state their heads in their own way: ChatGLM, Falcon, MPT, DBRX, MiniCPM3, GPT-BigCode."""

from __future__ import annotations

from snippets.model_config.decoder import total_num_kv_heads
from snippets.model_config.fields import Fields

MAX_HEADS = 1 << 20
# Model classes of vLLM that never read head_dim and divide hidden_size by the heads
DIVIDE = frozenset({
    "arctic", "bloom", "chatglm", "cohere", "cohere2", "dbrx", "falcon", "gpt2", "gpt_neox", "gptj", "granitemoe",
    "granitemoehybrid", "granitemoeshared", "internlm2", "jamba", "lfm2", "lfm2_moe", "mpt", "olmo3", "olmoe",
    "opt", "orion", "ouro", "phi", "qwen2", "qwen2_moe", "RefinedWeb", "RefinedWebModel", "stablelm", "step1",
})  # fmt: skip

# Model classes of vLLM whose attention has no grouped KV heads
ALL_HEADS = ("gpt2", "gptj", "gpt_neox", "bloom", "opt", "phi", "codegen")


def divided_head_size(text: Fields, hidden_size: int, num_heads: int) -> int:
    """hidden_size over the heads, for the classes of DIVIDE; a head_dim that says otherwise is refused."""
    size = hidden_size // num_heads
    given = text.optional_integer("head_dim", minimum=0, maximum=MAX_HEADS) if text.has("head_dim") else None
    if given and given != size:
        raise text.error("head_dim", f"is {given}, but vLLM's class takes hidden_size / num_attention_heads = {size}.")
    if size < 1:
        raise text.error("hidden_size", f"is {hidden_size}, less than one element for each of {num_heads} heads.")
    return size


def kv_heads(model_type: str, text: Fields, num_heads: int) -> int:
    """KV heads over all ranks, with the exceptions of vLLM's model_arch_config_convertor.py."""
    if model_type in ("falcon", "RefinedWeb", "RefinedWebModel"):
        return _falcon(model_type, text, num_heads)
    if model_type in ("mpt", "dbrx"):
        attention = text.child("attn_config")
        given = attention.optional_integer("kv_n_heads", maximum=MAX_HEADS) if attention is not None else None
        return given or (1 if model_type == "dbrx" else num_heads)
    if model_type == "nemotron-nas":
        return next(count for count in nas_heads(text, num_heads) if count)
    if model_type == "gpt_bigcode":
        return 1 if text.flag("multi_query", default=True) else num_heads
    if model_type == "chatglm" and not text.flag("multi_query_attention"):
        return num_heads
    if model_type == "step3_text":
        return 1
    found = total_num_kv_heads(text, num_heads)
    if model_type in ALL_HEADS and found != num_heads:
        raise text.error("num_key_value_heads", f"is {found}, but vLLM's class keeps all {num_heads} heads.")
    return found


def _block_heads(block: Fields, num_heads: int) -> int | None:
    attention = block.child("attention")
    if attention is None:
        raise block.error("attention", "is missing.")
    if attention.flag("no_op"):
        return None
    group = attention.integer("n_heads_in_group", maximum=MAX_HEADS)
    if num_heads % group:
        raise attention.error("n_heads_in_group", f"is {group}, which does not divide {num_heads} heads.")
    return num_heads // group


def nas_heads(text: Fields, num_heads: int) -> list[int | None]:
    """KV heads block by block of a searched architecture; None where its attention is left out."""
    blocks = text.blocks("block_configs")
    if blocks is None:
        raise text.error("block_configs", "is missing: it says what each layer keeps.")
    heads = [_block_heads(block, num_heads) for block in blocks]
    if not any(heads):
        raise text.error("block_configs", "leaves attention out of every layer.")
    return heads


def _falcon(model_type: str, text: Fields, num_heads: int) -> int:
    """new_decoder_architecture overrules multi_query (Falcon-40B says both); RW configs of 8192 are Falcon-40B."""
    new = text.flag("new_decoder_architecture")
    if model_type != "falcon" and text.integer("hidden_size") == 8192:
        new = True
    if new:
        return total_num_kv_heads(text, num_heads)
    return 1 if text.flag("multi_query", default=True) else num_heads
