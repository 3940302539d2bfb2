"""What the page opens with: a published log, with the settings that its repository states in the form of a command."""

from __future__ import annotations

# Log L066 of snippets/planner/evidence/startup_logs.json, from the public repository LAMBO; a test compares its lines.
TEXT = """vLLM API server version 0.19.0
vllm serve Qwen/Qwen3.5-27B --dtype bfloat16 --tensor-parallel-size 4 --max-model-len 32768 \
--gpu-memory-utilization 0.92 --enforce-eager
Model loading took 13.01 GiB memory and 647.519817 seconds
Available KV cache memory: 7.47 GiB
GPU KV cache size: 122,304 tokens
Maximum concurrency for 32,768 tokens per request: 13.87x"""
CARD = "rtx-3090"
