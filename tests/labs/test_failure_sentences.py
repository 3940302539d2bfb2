"""What vLLM 0.26.0 and the libraries below it say when they fail, and the one sentence that a lab makes of it."""

from __future__ import annotations

import pytest
from parts.stop import Stop, explain

MODEL = "Qwen/Qwen2.5-7B-Instruct-AWQ"


@pytest.mark.parametrize(
    ("message", "sentence"),
    [  # messages of vLLM 0.26.0 and of what is below it
        (  # v1/core/kv_cache_utils.py:778, provoked on the CPU build
            "To serve at least one request with the model's max seq len (32768), (1.75 GiB KV cache is needed, which "
            "is larger than the available KV cache memory (1.0 GiB). Based on the available memory, the estimated "
            "maximum model length is 18688. Try increasing `gpu_memory_utilization` (which also controls CPU memory)",
            "one request of 32768 tokens needs 1.75 GiB of KV cache and 1.0 GiB is there: lower --max-model-len to at "
            "most 18688, raise --gpu-memory-utilization, or use --kv-cache-dtype fp8",
        ),
        (  # kv_cache_utils.py:758
            "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing",
            "weights and working memory leave too little for the KV cache: raise --gpu-memory-utilization, lower "
            "--max-num-batched-tokens, or choose a smaller --model",
        ),
        (  # v1/worker/utils.py:434
            "Free memory on device cuda:0 (3.10/23.64 GiB) on startup is less than desired GPU memory utilization "
            "(0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
            "3.10 of 23.64 GiB are free, less than asked for: end the other program, or lower --gpu-memory-utilization",
        ),
        (  # v1/worker/cpu_worker.py:81
            "Available memory on node 0 (12.0/23.4 GiB) on startup is less than desired CPU memory utilization (0.9, "
            "21.1 GiB). On the CPU backend, the `--gpu-memory-utilization` flag controls the fraction",
            "main memory is too small for the share asked for: export VLLM_CPU_KVCACHE_SPACE=1 (GiB for the cache), or "
            "lower --gpu-memory-utilization",
        ),
        (  # config/model.py:2268, provoked on the CPU build
            "1 validation error for ModelConfig\n  Value error, User-specified max_model_len (100000) is greater than "
            "the derived max_model_len (max_position_embeddings=32768 or model_max_length=None in model's config.json)",
            "--max-model-len 100000 is more than the model was made for: 32768 tokens at most",
        ),
        (
            "CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 23.64 GiB",
            "the card ran out of memory: lower --gpu-memory-utilization or --max-num-batched-tokens, add "
            "--enforce-eager, or choose a smaller --model",
        ),
        (
            "[Errno 28] No space left on device",
            "the disk is full: name a folder on a larger one with HF_HOME (on AutoDL: export HF_HOME=~/autodl-tmp/hf)",
        ),
        (
            "Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
            "kernels are compiled at the first start and the CUDA compiler is missing: use --attention-backend "
            "TRITON_ATTN, or --kv-cache-dtype auto",
        ),
        (  # platforms/cuda.py:417
            "Selected backend AttentionBackendEnum.FLASH_ATTN is not valid for this configuration. Reason: "
            "['kv_cache_dtype not supported']",
            "no such attention backend takes these settings on this card: leave --attention-backend and --block-size "
            "out, or use --kv-cache-dtype auto",
        ),
    ],
    ids=[
        "one request too long",
        "no room",
        "card in use",
        "main memory",
        "longer than the model",
        "out of memory",
        "disk",
        "nvcc",
        "backend",
    ],
)
def test_a_failure_becomes_one_sentence_with_the_flag_to_change(message: str, sentence: str) -> None:
    assert explain(ValueError(message), MODEL) == sentence


def test_the_cause_is_found_behind_another_error() -> None:
    error = RuntimeError("Engine core initialization failed. See root cause above.")
    error.__cause__ = ValueError("No available memory for the cache blocks.")
    assert "leave too little for the KV cache" in explain(error, MODEL)


def test_an_unknown_failure_names_the_error_and_the_flag_for_more() -> None:
    assert explain(RuntimeError("something new\nsecond line"), MODEL) == (
        "vLLM stopped with RuntimeError: something new (--debug shows the traceback)"
    )


def test_a_sentence_that_is_one_already_stays() -> None:
    assert explain(Stop("port 8000 is taken"), MODEL) == "port 8000 is taken"
