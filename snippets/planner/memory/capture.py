"""Which CUDA graphs vLLM captures: one per batch size, for mixed batches piece by piece, for decode whole."""

from __future__ import annotations

LARGEST = 512  # config/vllm.py `_set_cudagraph_sizes`
SMALL_SIZES = (1, 2, 4)
FINE_STEP, COARSE_FROM, COARSE_STEP = 8, 256, 16


def capture_sizes(max_num_seqs: int, max_num_batched_tokens: int, num_speculative_tokens: int = 0) -> list[int]:
    """Batch sizes in tokens, smallest first (config/vllm.py:1788 `_set_cudagraph_sizes`)."""
    per_request = 1 + num_speculative_tokens
    largest = min(max_num_seqs * per_request * 2, LARGEST, max_num_batched_tokens)
    sizes = {size for size in SMALL_SIZES if size <= largest}
    sizes.update(range(FINE_STEP, min(largest + 1, COARSE_FROM), FINE_STEP))
    sizes.update(range(COARSE_FROM, largest + 1, COARSE_STEP))
    if max_num_batched_tokens <= largest:
        sizes.add(max_num_batched_tokens)
    return sorted(sizes)


def num_graphs(max_num_seqs: int, max_num_batched_tokens: int, num_speculative_tokens: int = 0) -> int:
    """Graphs under the default mode FULL_AND_PIECEWISE: every size once for mixed batches, once more for decode.

    Decode graphs go up to what all requests together decode in one step (v1/cudagraph_dispatcher.py).
    """
    sizes = capture_sizes(max_num_seqs, max_num_batched_tokens, num_speculative_tokens)
    most_decoded = max_num_seqs * (1 + num_speculative_tokens)
    return len(sizes) + sum(size <= most_decoded for size in sizes)
