"""How many bytes the KV cache of a decoder with full attention takes.

Every token leaves a key and a value in every layer, for every KV head:

    bytes per token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes

Not covered here: sliding windows, MLA, state-space layers, rounding up to blocks.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class ModelConfig:
    """The numbers that decide the size; a model's config.json has them."""

    name: str
    num_layers: int
    num_kv_heads: int  # not the query heads: those are never cached
    head_dim: int
    dtype_bytes: int = 2  # per element of the cache: 2 for BF16, 1 for FP8


def kv_bytes_per_token(cfg: ModelConfig) -> int:
    """Bytes one token holds in the cache, over all layers."""
    keys_and_values = 2
    elements = keys_and_values * cfg.num_layers * cfg.num_kv_heads * cfg.head_dim
    return elements * cfg.dtype_bytes


def kv_bytes(cfg: ModelConfig, seq_len: int, batch: int = 1) -> int:
    """Bytes that `batch` sequences of `seq_len` tokens each hold."""
    return kv_bytes_per_token(cfg) * seq_len * batch


def gib(n: float) -> float:
    """Bytes in GiB = 2**30 bytes, the unit vLLM prints."""
    return n / 2**30


QWEN2_5_7B = ModelConfig(
    name="Qwen2.5-7B-Instruct",
    num_layers=28,
    num_kv_heads=4,
    head_dim=128,
)
QWEN2_5_7B_QUERY_HEADS = 28


def main() -> None:
    cfg = QWEN2_5_7B
    per_token = kv_bytes_per_token(cfg)
    print(f"{cfg.name}: {per_token} bytes/token = {per_token // 1024} KiB/token")
    for seq_len in (2048, 8192, 32768):
        print(f"  seq_len={seq_len:>6}: {gib(kv_bytes(cfg, seq_len)):.2f} GiB (1 sequence)")

    # MHA: one KV head for every query head
    mha = replace(cfg, num_kv_heads=QWEN2_5_7B_QUERY_HEADS)
    mha_per_token = kv_bytes_per_token(mha)
    times = mha_per_token // per_token
    print(f"MHA would be {times}x larger: {mha_per_token // 1024} KiB/token")


if __name__ == "__main__":
    main()
