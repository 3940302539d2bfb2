"""How sizes are divided over ranks (distributed/utils.py divide, layers/linear.py, fused_moe/config.py)."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights.errors import ANOTHER_SPLIT, WeightsError

_VOCAB_PADDING = 64  # vocab_parallel_embedding.py DEFAULT_VOCAB_PADDING_SIZE


@dataclass(frozen=True)
class Split:
    """Tensor parallel ranks of plain layers, and how experts are shared out."""

    tensor: int = 1
    expert_ranks: int = 1  # ranks that share out whole experts
    expert_tensor: int = 1  # ranks that split each expert
    shared_experts: int = 1  # ranks that split the shared expert
    vocab_padding: int = _VOCAB_PADDING

    @classmethod
    def of(cls, args: EngineArgs) -> Split:
        """fused_moe/config.py FusedMoEParallelConfig.make: data parallel ranks take part in the experts' split."""
        tensor, ranks = args.tensor_parallel_size, args.tensor_parallel_size * args.data_parallel_size
        if not args.enable_expert_parallel or ranks == 1:
            return cls(tensor, 1, ranks, tensor)
        # config/parallel.py use_sequence_parallel_moe: tokens are split instead, so each rank holds the shared expert
        by_tokens = tensor > 1 and args.data_parallel_size > 1
        return cls(tensor, ranks, 1, 1 if by_tokens else tensor)

    def of_rank(self, size: int, field: str) -> int:
        """One rank's part of something that must divide."""
        return divided(size, self.tensor, field)

    def kv_heads(self, total: int) -> int:
        """KV heads on one rank: with more ranks than heads every rank holds a copy of one."""
        if total >= self.tensor:
            return divided(total, self.tensor, "num_key_value_heads")
        if self.tensor % total:
            message = f"{self.tensor} ranks cannot hold equally many copies of {total} KV heads."
            raise WeightsError("num_key_value_heads", message, ANOTHER_SPLIT)
        return 1

    def vocabulary(self, size: int) -> int:
        """Rows of an embedding or lm_head on one rank, padded first."""
        padded = -(-size // self.vocab_padding) * self.vocab_padding
        return divided(padded, self.tensor, "vocab_size")

    def experts(self, total: int) -> int:
        """Experts on the fullest rank (expert_map_manager.py determine_expert_map)."""
        return -(-total // self.expert_ranks)


CHECKPOINT = Split(vocab_padding=1)  # one rank, nothing padded: the checkpoint's own count


def divided(size: int, ranks: int, field: str) -> int:
    """size / ranks, refused when it leaves a rest."""
    if size % ranks:
        message = f"{field} is {size:,}, which {ranks} ranks cannot share equally."
        raise WeightsError(field, message, ANOTHER_SPLIT)
    return size // ranks
