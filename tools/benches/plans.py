"""How long plans take here, beside vLLM's own planning code where its environment is built.

The same lines of layer specs go to both, in one process each, one after the other. Ours is timed from the line (a JSON
object) to the answer; vLLM's only while its planning runs, without reading the line or making the specs.
"""

from __future__ import annotations

import json
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snippets.planner.cache.spec_lines import answer

PLANS = 10_000
SEED = 26
ORACLE = Path(__file__).resolve().parents[2] / "tests" / "oracle" / "spec_oracle.py"
BAR = 0.1  # ours may take this share of vLLM's time

Line = dict[str, Any]
Layers = list[dict[str, Any]]


def attention(n: int, kv_heads: int, head_size: int, **fields: object) -> dict[str, Any]:
    return {"n": n, "block_size": 16, "kv_heads": kv_heads, "head_size": head_size, **fields}


def pattern(times: int, *layers: dict[str, Any]) -> Layers:
    return [dict(layer) for _ in range(times) for layer in layers]


def latent(n: int, head_size: int, **fields: object) -> dict[str, Any]:
    return {"n": n, "kind": "mla", "block_size": 64, "head_size": head_size, **fields}


GDN = {"kind": "mamba", "block_size": 544, "shapes": [[8192, 3], [32, 128, 128]], "dtypes": ["bfloat16", "float32"]}
V4 = {"cache_dtype": "fp8_ds_mla", "alignment": 576, "model_version": "deepseek_v4", "head_size": 512}
MODELS: dict[str, Layers] = {
    "Llama-3.1-8B": [attention(32, 8, 128)],
    "Qwen2.5-72B, TP 8, FP8": [attention(80, 1, 128, cache_dtype="fp8")],
    "Qwen3-32B, NVFP4": [attention(64, 8, 128, cache_dtype="nvfp4")],
    "Mistral-7B": [attention(32, 8, 128, kind="sliding", window=4096)],
    "Gemma-3-27B": [
        *pattern(10, attention(5, 16, 128, kind="sliding", window=1024), attention(1, 16, 128)),
        attention(2, 16, 128, kind="sliding", window=1024),
    ],
    "gpt-oss-120b": pattern(18, attention(1, 8, 64, kind="sliding", window=128), attention(1, 8, 64)),
    "Gemma-4-31B": pattern(10, attention(5, 16, 256, kind="sliding", window=1024), attention(1, 4, 512)),
    "Llama-4-Scout": pattern(12, attention(3, 8, 128, kind="chunked", chunk=8192), attention(1, 8, 128)),
    "DeepSeek-V3": [latent(61, 576)],
    "DeepSeek-V3.2": pattern(
        61, latent(1, 576, cache_dtype="fp8_ds_mla"), latent(1, 132, dtype="uint8", cache_dtype=None)
    ),
    "DeepSeek-V4": [
        {"n": 21, "kind": "mla", "block_size": 256, "compress_ratio": 4, **V4},
        {"n": 20, "kind": "mla", "block_size": 256, "compress_ratio": 128, **V4},
        {"n": 43, "kind": "sliding_mla", "block_size": 64, "window": 128, **V4},
    ],
    "Qwen3-Next": pattern(
        12, {"n": 3, "page_size_padded": 4 * 544 * 2 * 512 * 2, **GDN}, attention(1, 8, 256, block_size=544)
    ),
    "Whisper": [attention(32, 20, 64), attention(32, 20, 64, kind="cross")],
    "Llama-3.1-8B, TurboQuant": [
        attention(2, 8, 128, block_size=32),
        attention(28, 8, 128, kind="turboquant", block_size=32, cache_dtype="turboquant_4bit_nc", tq_slot_size=134),
        attention(2, 8, 128, block_size=32),
    ],
}


def sharded(layers: Layers, tensor_parallel_size: int, deeper: int) -> Layers:
    """A rank's share of the heads, and several times the layers, so that few lines are alike."""
    return [
        {**layer, "n": layer["n"] * deeper, "kv_heads": -(-layer.get("kv_heads", 1) // tensor_parallel_size)}
        for layer in layers
    ]


def lines(number: int = PLANS) -> Iterator[Line]:
    """Mixed models under mixed limits; about one in seven does not fit or fits only shortened."""
    draw = random.Random(SEED)
    models = list(MODELS.values())
    for _ in range(number):
        line: Line = {
            "max_model_len": draw.choice([4096, 8192, 32768, 131072, 262144]),
            "available_bytes": draw.randrange(2**30, 2**36),
            "max_in_flight_tokens": draw.choice([2048, 8192, 16384]),
            "layers": sharded(draw.choice(models), draw.choice([1, 2, 4]), draw.choice([1, 1, 2, 3])),
        }
        if draw.random() < 0.1:
            line["num_gpu_blocks_override"] = draw.randrange(1000, 20000)
        if draw.random() < 0.1:
            line["original_max_model_len"] = -1
        if draw.random() < 0.2:
            half = len(line["layers"]) // 2 or 1
            line["stages"] = [stage for stage in (line["layers"][:half], line.pop("layers")[half:]) if stage]
            line["available_bytes"] = [line["available_bytes"]] * len(line["stages"])
        yield line


def ours(questions: list[Line]) -> float:
    """CPU seconds for all questions, the slowest of three runs."""
    times = []
    for _ in range(3):
        started = time.process_time()
        for question in questions:
            answer(question)
        times.append(time.process_time() - started)
    return max(times)


def vllms(questions: list[Line], oracle_python: Path) -> float:
    """Seconds that vLLM's planning code took for all questions."""
    text = "".join(json.dumps(question) + "\n" for question in questions)
    run = subprocess.run([oracle_python, ORACLE, "--time"], input=text, capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    assert len(answers) == len(questions) + 1
    return float(json.loads(answers[-1])["seconds"])
