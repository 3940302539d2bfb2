"""Widths that tensor parallelism must divide: vocabulary, MLPs, experts, a vision tower, and quantization's blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.kind import is_moe

VOCAB_PADDING = 64  # layers/vocab_parallel_embedding.py DEFAULT_VOCAB_PADDING_SIZE
OTHER_EXPERTS = ("deepseek_v4",)  # FP8 elsewhere, but the experts are FP4 without such blocks
SPLIT_VISION = (  # classes that split their vision tower's heads: qwen2_vl.py, siglip.py, clip.py, pixtral.py, …
    "Gemma3ForConditionalGeneration",
    "Lfm2VlForConditionalGeneration",
    "LlavaForConditionalGeneration",
    "Mistral3ForConditionalGeneration",
    "Qwen2VLForConditionalGeneration",
    "Qwen2_5_VLForConditionalGeneration",
    "Qwen3VLForConditionalGeneration",
    "Qwen3VLMoeForConditionalGeneration",
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration",
)


def width_errors(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    """What layers/linear.py divide(), the fused experts and FP8's block check would refuse."""
    yield from _vocabulary(config, args.tensor_parallel_size)
    yield from _vision(config, args.tensor_parallel_size)
    for name, width in dense_widths(config):
        yield from _undivided(name, width, args.tensor_parallel_size)
    experts = expert_width(config)
    if experts:
        yield from _undivided("the experts' intermediate size", experts, expert_ranks(args))
    yield from _blocks(config, args)
    yield from _groups(config, args.tensor_parallel_size)


def expert_ranks(args: EngineArgs) -> int:
    """Ranks that split one expert: TP × DP, or none under expert parallelism (fused_moe/config.py:1213, 1235)."""
    return 1 if args.enable_expert_parallel else args.tensor_parallel_size * args.data_parallel_size


def dense_widths(config: ModelConfig) -> tuple[tuple[str, int], ...]:
    """MLPs that every token passes."""
    if is_moe(config) and not _number(config.text_fields.get("moe_intermediate_size")):
        dense = 0  # Mixtral's kind: intermediate_size is the experts'
    else:
        dense = config.intermediate_size or 0
    shared = _number(config.text_fields.get("shared_expert_intermediate_size"))
    named = (("intermediate_size", dense), ("shared_expert_intermediate_size", shared))
    return tuple((name, width) for name, width in named if width)


def expert_width(config: ModelConfig) -> int:
    """Intermediate size of one routed expert; 0 without experts."""
    if not is_moe(config):
        return 0
    return _number(config.text_fields.get("moe_intermediate_size")) or config.intermediate_size or 0


def _vocabulary(config: ModelConfig, tp: int) -> Iterator[EngineArgsError]:
    """Padded to a multiple of 64, then divided (layers/vocab_parallel_embedding.py)."""
    padded = -(-(config.vocab_size or 0) // VOCAB_PADDING) * VOCAB_PADDING
    if padded % tp:
        yield EngineArgsError(
            "tensor_parallel_size",
            f"{padded} is not divisible by {tp}: the vocabulary ({config.vocab_size}) padded to a multiple of "
            f"{VOCAB_PADDING} is split over the ranks.",
        )


def _vision(config: ModelConfig, tp: int) -> Iterator[EngineArgsError]:
    tower = config.fields.get("vision_config")
    if config.architecture not in SPLIT_VISION or not isinstance(tower, Mapping):
        return
    heads = _number(tower.get("num_heads")) or _number(tower.get("num_attention_heads"))
    if heads % tp:
        yield EngineArgsError(
            "tensor_parallel_size", f"{heads} is not divisible by {tp}: the vision tower's heads are split too."
        )


def _undivided(name: str, width: int, ranks: int) -> Iterator[EngineArgsError]:
    """layers/linear.py and fused_moe/config.py:1328."""
    if width % ranks:
        yield EngineArgsError(
            "tensor_parallel_size", f"{width} is not divisible by {ranks}: {name} is split over the ranks."
        )


def _blocks(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    """FP8 weights with a scale per block: a rank's share must be whole blocks (fp8.py:565, utils/fp8_utils.py:1226)."""
    block = fp8_block(config)
    if block is None:
        return
    block_n, block_k = block
    tp = args.tensor_parallel_size
    share, rest = divmod(expert_width(config), expert_ranks(args))
    if not rest and share % block_n and config.model_type not in OTHER_EXPERTS:
        yield EngineArgsError(
            "tensor_parallel_size",
            f"The output_size of gate's and up's weight = {share} is not divisible by weight quantization "
            f"block_n = {block_n}.",
        )
    columns, rows = _split(config)
    for width in columns:
        if width // tp % block_n:
            yield EngineArgsError(
                "tensor_parallel_size",
                f"Weight output_partition_size = {width // tp} is not divisible by weight quantization "
                f"block_n = {block_n}.",
            )
    for width in rows:
        if tp > 1 and width // tp % block_k:
            yield EngineArgsError(
                "tensor_parallel_size",
                f"Weight input_size_per_partition = {width // tp} is not divisible by weight quantization "
                f"block_k = {block_k}.",
            )


def _groups(config: ModelConfig, tp: int) -> Iterator[EngineArgsError]:
    """Four-bit weights with a scale per group: a rank's rows must be whole groups (auto_awq.py, marlin_utils.py)."""
    group = weight_group(config)
    if group is None or tp == 1:
        return
    for width in _split(config)[1]:
        if width % tp == 0 and width // tp % group:
            yield EngineArgsError("tensor_parallel_size", _misaligned(config, width // tp, group))


def _misaligned(config: ModelConfig, share: int, group: int) -> str:
    if config.quantization is not None and config.quantization.method == "awq":
        return (
            "The input size is not aligned with the quantized weight shape. This can be caused by too large tensor "
            f"parallel size. A rank's {share} rows are no whole number of groups of {group}."
        )
    return f"Weight input_size_per_partition={share} is not divisible by group_size={group}: use fewer ranks."


def weight_group(config: ModelConfig) -> int | None:
    """Group size of AWQ, of GPTQ in activation order, or of packed compressed-tensors; None for the rest."""
    quantization = config.quantization
    if quantization is None:
        return None
    fields = quantization.fields
    if quantization.method == "awq" or (quantization.method == "gptq" and fields.get("desc_act")):
        return quantization.group_size
    if quantization.method == "compressed-tensors" and fields.get("format") == "pack-quantized":
        return quantization.group_size
    return None


def fp8_block(config: ModelConfig) -> tuple[int, int] | None:
    """weight_block_size of an FP8 checkpoint."""
    if config.quantization is None or config.quantization.method != "fp8":
        return None
    block = config.quantization.fields.get("weight_block_size")
    if isinstance(block, list | tuple) and len(block) == 2 and all(isinstance(n, int) and n > 0 for n in block):
        return block[0], block[1]
    return None


def _split(config: ModelConfig) -> tuple[list[int], list[int]]:
    """Widths of column-parallel outputs and of row-parallel inputs, whole model."""
    mlps = [width for _, width in dense_widths(config)]
    text, heads = config.text_fields, config.num_attention_heads
    value = _number(text.get("v_head_dim")) or config.head_size
    if config.use_mla:
        nope, rope = _number(text.get("qk_nope_head_dim")), _number(text.get("qk_rope_head_dim"))
        return [*mlps, heads * (nope + rope), heads * (nope + value)], [*mlps, heads * value]
    return [*mlps, heads * config.head_size], [*mlps, heads * value]


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
