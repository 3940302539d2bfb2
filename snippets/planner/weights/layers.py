"""Which mixer and which MLP every decoder layer has: what vLLM's model classes decide per layer index."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from snippets.model_config.fields import Fields
from snippets.model_config.model_config import Layer
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.once import OncePerConfig
from snippets.planner.weights.parts.feed_forward import Experts

Mlp = Experts | int  # a mixture, or a dense MLP's intermediate size; 0 for none
Rule = Callable[[Counting, int], Mlp]


@dataclass(frozen=True, eq=False)
class LayerKind:
    """Layers of one kind take the same bytes, and are one object."""

    mixer: Layer
    mlp: Mlp
    norms: int
    names: frozenset[str]  # modules that this layer's checkpoint leaves in 16 bits


_KINDS: OncePerConfig[tuple[LayerKind, ...]] = OncePerConfig()


def layer_kinds(c: Counting) -> tuple[LayerKind, ...]:
    """One per decoder layer."""
    return _KINDS.get(c.config, lambda: _layer_kinds(c))


def _layer_kinds(c: Counting) -> tuple[LayerKind, ...]:
    rule = RULES[c.recipe.moe]
    known: dict[tuple[Layer, Mlp, frozenset[str]], LayerKind] = {}
    kinds: list[LayerKind] = []
    for index, mixer in enumerate(c.config.layers):
        mlp, names = rule(c, index), c.skipped.of_layer(index)
        key = (mixer, mlp, names)
        if key not in known:
            known[key] = LayerKind(mixer, mlp, _norms(c, mixer, mlp), names)
        kinds.append(known[key])
    return tuple(kinds)


def _norms(c: Counting, mixer: Layer, mlp: Mlp) -> int:
    """Nemotron-NAS layers without attention or MLP lack that one's norm."""
    return bool(mixer) + bool(mlp) if c.recipe.moe == "nemotron_nas" else c.recipe.norms


def dense_size(c: Counting) -> int:
    """Intermediate size of a dense MLP; GPT-2's is four times hidden_size unless n_inner says otherwise."""
    if c.recipe.mlp == "none":
        return 0
    if c.config.intermediate_size:
        return c.config.intermediate_size
    if c.config.model_type in ("gpt2", "gpt_bigcode"):
        return 4 * c.hidden
    raise WeightsError("intermediate_size", "intermediate_size is missing, and the weights depend on it.")


def _dense(c: Counting, index: int) -> Mlp:
    return dense_size(c)


def _mixtral(c: Counting, index: int) -> Mlp:
    return Experts(c.number("num_local_experts"), dense_size(c), "block_sparse_moe")


def _qwen(c: Counting, index: int) -> Mlp:
    """qwen3_moe.py:388; without experts the same class is dense."""
    count = c.number("num_experts", 0)
    only_mlp = c.text.integers("mlp_only_layers") or ()
    if not count or index in only_mlp or (index + 1) % c.number("decoder_sparse_step", 1):
        return dense_size(c)
    shared = c.number("shared_expert_intermediate_size", 0)
    size = c.number("moe_intermediate_size")
    return Experts(count, size, shared_intermediate_size=shared, shared_name="shared_expert", shared_gate=bool(shared))


def _deepseek(c: Counting, index: int) -> Mlp:
    """deepseek_v2.py:1219."""
    count = c.number("n_routed_experts", 0)
    if not count or index < c.number("first_k_dense_replace", 0) or index % c.number("moe_layer_freq", 1):
        return dense_size(c)
    size = c.number("moe_intermediate_size")
    shared = size * c.number("n_shared_experts", 0)
    chosen = c.text.text("topk_method")
    corrected = chosen == "noaux_tc" or (chosen is None and c.config.model_type == "glm_moe_dsa")
    return Experts(count, size, shared_intermediate_size=shared, correction_bias=corrected)


def _glm4(c: Counting, index: int) -> Mlp:
    """glm4_moe.py:356."""
    if index < c.number("first_k_dense_replace", 0):
        return dense_size(c)
    size = c.number("moe_intermediate_size")
    shared = size * c.number("n_shared_experts", 0)
    count = c.number("n_routed_experts")
    return Experts(
        count,
        size,
        shared_intermediate_size=shared,
        shared_always_split=True,
        router_fp32=True,
        correction_bias=True,
    )


def _mimo(c: Counting, index: int) -> Mlp:
    """mimo_v2.py:457."""
    frequencies = c.text.integers("moe_layer_freq", len(c.config.layers))
    if frequencies is None or not frequencies[index]:
        return dense_size(c)
    return Experts(
        c.number("n_routed_experts"), c.number("moe_intermediate_size"), router_fp32=True, correction_bias=True
    )


def _llama4(c: Counting, index: int) -> Mlp:
    """llama4.py:341: other layers have a dense MLP of its own size."""
    step = c.number("interleave_moe_layer_step", 1)
    if not step or (index + 1) % step:
        return c.number("intermediate_size_mlp")
    size = dense_size(c)
    count = c.number("num_local_experts")
    return Experts(count, size, "feed_forward", shared_intermediate_size=size, shared_name="shared_expert")


def _jamba(c: Counting, index: int) -> Mlp:
    """transformers' JambaConfig.layers_num_experts."""
    period, offset = c.number("expert_layer_period", 2), c.number("expert_layer_offset", 1)
    if index % period != offset or c.number("num_experts", 16) == 1:
        return dense_size(c)
    return Experts(c.number("num_experts", 16), dense_size(c), "feed_forward")


def _gpt_oss(c: Counting, index: int) -> Mlp:
    return Experts(c.number("num_local_experts"), dense_size(c), router_bias=True, expert_bias=True)


def _nemotron_h(c: Counting, index: int) -> Mlp:
    """nemotron_h.py: M and * have no MLP, - is dense, E a mixture."""
    kind = _pattern(c.text)[index]
    if kind in ("-", "mlp"):
        return dense_size(c)
    if kind not in ("E", "moe"):
        return 0
    shared = c.number("moe_shared_expert_intermediate_size", 0) * c.number("n_shared_experts", 0)
    return Experts(
        c.number("n_routed_experts"),
        c.number("moe_intermediate_size"),
        "mixer",
        gated=False,
        shared_intermediate_size=shared,
        correction_bias=True,
        latent_size=c.number("moe_latent_size", 0),
    )


def _pattern(text: Fields) -> tuple[object, ...]:
    letters = text.text("hybrid_override_pattern")
    found = tuple(letters) if letters else text.items("layers_block_type")
    if found is None:
        raise WeightsError("hybrid_override_pattern", "hybrid_override_pattern is missing: it names every layer.")
    return found


def _nemotron_nas(c: Counting, index: int) -> Mlp:
    """nemotron_nas.py: each block has its own multiple of hidden_size, or no MLP at all."""
    blocks = c.text.items("block_configs", len(c.config.layers))
    block = blocks[index] if blocks else None
    ffn = block.get("ffn") if isinstance(block, Mapping) else None
    if not isinstance(ffn, Mapping):
        raise WeightsError("block_configs", "block_configs does not say how wide the MLPs are.")
    if ffn.get("no_op") is True:
        return 0
    multiple = ffn.get("ffn_mult")
    if ffn.get("replace_with_linear") is True or not isinstance(multiple, int | float):
        raise WeightsError("block_configs", f"The MLP of block {index} is of a kind that is not counted here.")
    size = int(2 * multiple * c.hidden / 3)
    return -(-size // 256) * 256


def _whisper(c: Counting, index: int) -> Mlp:
    return c.number("decoder_ffn_dim")


def _deepseek_v4(c: Counting, index: int) -> Mlp:
    """The first layer that is like this one: same compression ratio, same way of choosing experts."""
    ratios, hashed = c.text.integers("compress_ratios"), c.number("num_hash_layers", 0)
    if ratios is None or len(ratios) < len(c.config.layers):
        raise WeightsError("compress_ratios", "compress_ratios does not give every layer's ratio.")
    kinds = [(ratios[i], i < hashed) for i in range(index + 1)]
    return kinds.index(kinds[index])


RULES: dict[str, Rule] = {
    "": _dense,
    "mixtral": _mixtral,
    "qwen": _qwen,
    "deepseek": _deepseek,
    "deepseek_v4": _deepseek_v4,
    "glm4": _glm4,
    "mimo": _mimo,
    "llama4": _llama4,
    "jamba": _jamba,
    "gpt_oss": _gpt_oss,
    "nemotron_h": _nemotron_h,
    "nemotron_nas": _nemotron_nas,
    "whisper": _whisper,
}
