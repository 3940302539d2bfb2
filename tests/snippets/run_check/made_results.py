"""Results as a lab writes them, for tests of what reads them."""

from __future__ import annotations

from typing import Any


def setting(**changed: Any) -> dict[str, Any]:
    """A setting of a result, as a lab writes it."""
    whole: dict[str, Any] = {
        "name": "FP8 KV",
        "model": "Qwen/Qwen2.5-7B-Instruct-AWQ",
        "engine_args": {"max_model_len": 8192, "gpu_memory_utilization": 0.9, "kv_cache_dtype": "fp8"},
        "asked": {},
        "shape": {"name": "m", "num_layers": 28, "num_kv_heads": 4, "head_dim": 128, "dtype_bytes": 1},
        "start_seconds": 61.5,
        "startup_lines": ["Model loading took 5.20 GiB and 21.1 seconds", "Available KV cache memory: 14.69 GiB"],
        "predicted": {"latency": {"value": [1.0, 2.5], "unit": "s"}},
        "measured": {
            "available_bytes": {"value": 15_770_000_000, "unit": "bytes"},
            "num_gpu_blocks": {"value": 34_375, "unit": "blocks"},
            "block_size": {"value": 16, "unit": "tokens"},
            "kv_cache_size_tokens": {"value": 550_000, "unit": "tokens"},
            "max_concurrency": {"value": 67.138671875, "unit": "requests"},
            "max_num_batched_tokens": {"value": 2048, "unit": "tokens"},
            "latency": {"value": 1.5, "unit": "s"},
        },
        "series": {},
        "checks": [{"invariant": "blocks", "predicted": 9, "measured": 8, "unit": "blocks", "equal": False}],
        "notes": ["a note of the lab"],
        "skipped": None,
    }
    return whole | changed


def result(*settings: dict[str, Any], **changed: Any) -> dict[str, Any]:
    """A result of a lab on a card."""
    card = {
        "device": "cuda",
        "name": "NVIDIA GeForce RTX 4090",
        "count": 1,
        "driver": "580.95.05",
        "compute_capability": "8.9",
        "total_bytes": 25_383_256_719,
        "free_bytes": 24_910_810_316,
        "cpu_kv_space_gib": None,
    }
    versions = {"vllm": "0.26.0", "torch": "2.11.0", "python": "3.12.3"}
    head = {"schema": 2, "lab": "serve_kv", "lab_version": 3, "date": "2026-11-30", "quick": False}
    return {**head, "versions": versions, "card": card, "settings": list(settings or [setting()]), **changed}
