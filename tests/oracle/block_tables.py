# ruff: noqa: E402
# mypy: ignore-errors
"""Record what vLLM 0.26.0's own scheduler does with a few small pools, as `block_tables.json` beside this file.

usage: python tests/oracle/block_tables.py MODEL_DIR > tests/oracle/block_tables.json
Needs an environment with vllm 0.26.0 (CPU) and a directory with any decoder's config.json; no GPU, no weights.
Prefix caching is off and the token budget is larger than any prompt. vLLM sets block 0 aside (the null block), so a
pool of n blocks here has n + 1 there, and 1 is taken from every block number.
"""

import json
import os
import sys
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import vllm.platforms as platforms
from vllm.platforms.cpu import CpuPlatform

platforms._current_platform = CpuPlatform()
import vllm
from vllm import SamplingParams
from vllm.config import CacheConfig, DeviceConfig, ModelConfig, ParallelConfig, SchedulerConfig, VllmConfig
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.outputs import ModelRunnerOutput
from vllm.v1.request import Request
from vllm.v1.structured_output import StructuredOutputManager

# name: block size, blocks, (tokens in, tokens out) of each request
CASES: dict[str, tuple[int, int, list[tuple[int, int]]]] = {
    "one sequence, block of 4, prompt of 7": (4, 8, [(7, 6)]),
    "room for all": (16, 96, [(21, 85), (15, 128), (20, 52), (9, 60), (15, 82), (31, 67)]),
    "holes are filled again": (4, 40, [(9, 3), (5, 30), (6, 12), (11, 2), (3, 25), (8, 20)]),
    "pool runs full": (
        16, 32, [(21, 85), (15, 128), (20, 52), (9, 60), (15, 82), (31, 67),
                 (9, 64), (28, 29), (16, 83), (17, 69), (14, 133), (19, 98)],
    ),
    "pool runs full, blocks of one token": (1, 40, [(3, 20), (8, 30), (5, 12), (9, 9), (2, 25), (7, 18)]),
    "prompts wait at the door": (8, 12, [(40, 30), (50, 20), (8, 8), (33, 40), (1, 1), (64, 32)]),
}  # fmt: skip


def scheduler(model: str, block_size: int, num_blocks: int) -> Any:
    """The real scheduler over a pool of that size."""
    model_config = ModelConfig(model=model, skip_tokenizer_init=True, dtype="bfloat16", max_model_len=2048)
    cache = CacheConfig(block_size=block_size, enable_prefix_caching=False)
    sched = SchedulerConfig(
        max_num_seqs=64, max_num_batched_tokens=8192, max_model_len=2048, enable_chunked_prefill=True,
        is_encoder_decoder=False, async_scheduling=False,
    )  # fmt: skip
    config = VllmConfig(
        model_config=model_config, cache_config=cache, scheduler_config=sched,
        parallel_config=ParallelConfig(), device_config=DeviceConfig("cpu"),
    )  # fmt: skip
    cache.num_gpu_blocks = num_blocks + 1
    spec = FullAttentionSpec(block_size=block_size, num_kv_heads=1, head_size=1, dtype=torch.float32)
    kv = KVCacheConfig(
        num_blocks=num_blocks + 1, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)]
    )
    return Scheduler(
        vllm_config=config, kv_cache_config=kv, structured_output_manager=StructuredOutputManager(config),
        block_size=block_size, log_stats=True,
    )  # fmt: skip


def trace(model: str, block_size: int, num_blocks: int, lengths: list[tuple[int, int]]) -> dict[str, Any]:
    """Block tables after each step's scheduling, as changes, and who was preempted when."""
    sched = scheduler(model, block_size, num_blocks)
    requests = {}
    for number, (prompt, output) in enumerate(lengths, 1):
        params = SamplingParams(max_tokens=output, ignore_eos=True)
        one = Request(
            request_id=str(number), prompt_token_ids=[number] * prompt, sampling_params=params, pooling_params=None
        )
        requests[one.request_id] = one
        sched.add_request(one)
    before: dict[str, list[int]] = {}
    changes, preempted, step = [], [], 0
    while sched.has_unfinished_requests():
        out = sched.schedule()
        tables = {}
        for name in requests:
            found = sched.kv_cache_manager.get_block_ids(name)[0] if name in sched.requests else []
            if found:
                tables[name] = [block - 1 for block in found]
        changed = {name: tables.get(name) for name in {*tables, *before} if tables.get(name) != before.get(name)}
        if changed:
            changes.append([step, dict(sorted(changed.items(), key=lambda item: int(item[0])))])
        preempted += [[step, int(name)] for name in sorted(out.preempted_req_ids or (), key=int)]
        before = tables
        ids = list(out.num_scheduled_tokens)
        tokens = [[1] if requests[i].num_computed_tokens >= requests[i].num_tokens else [] for i in ids]
        sched.update_from_output(
            out,
            ModelRunnerOutput(
                req_ids=ids, req_id_to_index={r: k for k, r in enumerate(ids)}, sampled_token_ids=tokens,
                logprobs=None, prompt_logprobs_dict={}, pooler_output=[],
            ),
        )  # fmt: skip
        step += 1
    return {
        "block_size": block_size, "num_blocks": num_blocks, "requests": lengths,
        "steps": step, "preempted": preempted, "changes": changes,
    }  # fmt: skip


if __name__ == "__main__":
    found = {name: trace(sys.argv[1], *case) for name, case in CASES.items()}
    cases = ",\n".join(f"{json.dumps(name)}: {json.dumps(one, separators=(',', ':'))}" for name, one in found.items())
    print(f'{{"vllm": {json.dumps(vllm.__version__)},\n"cases": {{\n{cases}\n}}}}')
