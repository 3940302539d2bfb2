# mypy: ignore-errors
"""Record what vLLM 0.26.0's own scheduler counts: preemptions of loads, hits of prompts; `scheduler_answers.json`.

usage: python tests/oracle/scheduler_record.py MODEL_DIR > tests/oracle/scheduler_answers.json
Needs what block_tables.py needs. Loads are drawn from a seed, within the limits that labs vary; all their requests
wait when the first step begins. Here num_gpu_blocks counts the null block, as vLLM does.
"""

import json
import sys
from random import Random
from typing import Any

from block_tables import answer, scheduler  # quiets the log and chooses the platform: before vllm

# isort: split
import vllm
from vllm import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.request import Request

LOADS = 120
# name: block size, requests at once (0: one after the other), each prompt as (token, how many times)
PREFIXES: dict[str, tuple[int, bool, list[list[tuple[int, int]]]]] = {
    "the same prompt twice": (16, False, [[(7, 402)], [(7, 402)]]),
    "whole blocks, and one token more": (16, False, [[(7, 64)], [(7, 64)], [(7, 65)], [(7, 48)]]),
    "shared beginning": (16, False, [[(7, 100), (i, 200)] for i in range(10, 16)]),
    "shared beginning, all at once": (16, True, [[(7, 100), (i, 200)] for i in range(10, 16)]),
    "shared beginning, all at once, blocks of 128": (128, True, [[(7, 500), (i, 90)] for i in range(10, 16)]),
    "first token differs": (16, False, [[(i, 1), (7, 400)] for i in range(10, 14)]),
    "differs at the end of the beginning": (16, False, [[(7, 400), (i, 1), (8, 60)] for i in range(10, 14)]),
    "branches": (16, False, [[(1, 32), (2, 32)], [(1, 32), (3, 32)], [(1, 32), (2, 32), (3, 32)], [(1, 96)]]),
    "shorter than a block": (32, False, [[(7, 20)], [(7, 20)], [(7, 32)], [(7, 33)]]),
}


def serve(sched: Any, requests: list[Any]) -> dict[str, Any]:
    """Serve them to the end, all there at the start."""
    by_name = {one.request_id: one for one in requests}
    for one in requests:
        sched.add_request(one)
    steps, first, scheduled, most, queries, hits = 0, None, 0, 0, 0, 0
    before = sum(one.num_preemptions for one in requests)
    while sched.has_unfinished_requests():
        out = sched.schedule()
        steps += 1
        if first is None and sum(one.num_preemptions for one in requests) > before:
            first = steps
        scheduled += out.total_num_scheduled_tokens
        most = max(most, len(sched.running))
        for outputs in answer(sched, out, by_name).values():
            if stats := outputs.scheduler_stats:
                queries += stats.prefix_cache_stats.queries
                hits += stats.prefix_cache_stats.hits
    return {
        "steps": steps, "preemptions": sum(one.num_preemptions for one in requests), "first_preemption_step": first,
        "scheduled_tokens": scheduled, "most_running": most, "queries": queries, "hits": hits,
    }  # fmt: skip


def request(name: int, prompt: list[int], output: int, hasher: Any = None) -> Any:
    params = SamplingParams(max_tokens=output, ignore_eos=True)
    return Request(
        request_id=str(name), prompt_token_ids=prompt, sampling_params=params, pooling_params=None, block_hasher=hasher
    )


def loads(model: str) -> list[dict[str, Any]]:
    random, made = Random(0), []
    while len(made) < LOADS:
        size, count = random.choice([1, 16, 16, 32, 128]), random.randint(1, 24)
        longest = random.choice([40, 200, 400])
        alike = random.random() < 0.4
        one = (random.randint(1, longest), random.randint(1, longest))
        lengths = [one if alike else (random.randint(1, longest), random.randint(1, longest)) for _ in range(count)]
        most = max(-(-(p + o - 1) // size) for p, o in lengths)
        case = {
            "block_size": size, "num_gpu_blocks": 1 + most + random.randint(0, 5 * most),
            "max_num_seqs": random.choice([1, 2, 5, 12, 64]),
            "max_num_batched_tokens": random.choice([64, 256, 2048]),  # vLLM asks for at least max_num_seqs
            "watermark": random.choice([0.0, 0.0, 0.01, 0.2]),
        }  # fmt: skip
        limits = {key: case[key] for key in ("max_num_seqs", "max_num_batched_tokens", "watermark")}
        sched = scheduler(model, size, case["num_gpu_blocks"] - 1, **limits)
        found = serve(sched, [request(n, [n] * p, o) for n, (p, o) in enumerate(lengths)])
        made.append({**case, "requests": lengths, **{key: found[key] for key in list(found)[:5]}})
    return made


def prefixes(model: str) -> list[dict[str, Any]]:
    init_none_hash(sha256)
    made = []
    for name, (size, at_once, prompts) in PREFIXES.items():
        sched = scheduler(model, size, 400, max_num_batched_tokens=256, enable_prefix_caching=True)
        hasher = get_request_block_hasher(size, sha256)
        tokens = [[token for token, times in prompt for _ in range(times)] for prompt in prompts]
        requests = [request(n, ids, 1, hasher) for n, ids in enumerate(tokens)]
        for one in requests:
            one.prefill_stats_kept = one.prefill_stats
        found = [serve(sched, batch) for batch in ([requests] if at_once else [[one] for one in requests])]
        made.append({
            "name": name, "block_size": size, "prompts": prompts,
            "queries": sum(one["queries"] for one in found), "hits": sum(one["hits"] for one in found),
            "cached_tokens": [one.prefill_stats_kept.num_local_cached_tokens for one in requests],
        })  # fmt: skip
    return made


def waits(model: str) -> dict[str, Any]:
    """Two prompts of 13 blocks over 20 blocks: the second is looked up at every step and waits for the first to end."""
    sched = scheduler(model, 16, 20, enable_prefix_caching=True)
    hasher = get_request_block_hasher(16, sha256)
    found = serve(sched, [request(n, [n] * 200, 5, hasher) for n in range(2)])
    return {"prompt_tokens": [200, 200], "output_tokens": [5, 5], **{key: found[key] for key in ("steps", "queries")}}


def lines(found: list[dict[str, Any]]) -> str:
    return ",\n".join(json.dumps(one, separators=(",", ":")) for one in found)


if __name__ == "__main__":
    model = sys.argv[1]
    print(f'{{"vllm": {json.dumps(vllm.__version__)},\n"loads": [\n{lines(loads(model))}\n],')
    print(f'"prefixes": [\n{lines(prefixes(model))}\n],\n"waits": {json.dumps(waits(model))}}}')
