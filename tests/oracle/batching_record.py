# mypy: ignore-errors
"""Record in which steps vLLM 0.26.0's own scheduler serves requests that come over time; `batching_of_vllm.json`.

usage: VLLM_LOGGING_LEVEL=CRITICAL python tests/oracle/batching_record.py MODEL_DIR > tests/data/batching_of_vllm.json
Needs what block_tables.py needs. Loads are drawn from a seed; the pool holds them all, so that nothing is preempted.
"""

import json
import sys
from random import Random
from typing import Any

from block_tables import answer, scheduler  # quiets the log and chooses the platform: before vllm

# isort: split
import vllm
from vllm import SamplingParams
from vllm.v1.request import Request

LOADS = 80


def serve(model: str, lengths: list[tuple[int, int]], after: list[int], seqs: int, tokens: int) -> dict[str, Any]:
    """Hand each request over once so many steps were taken, or when nobody else is there; an idle engine takes none."""
    sched = scheduler(model, 16, 2000, max_num_seqs=seqs, max_num_batched_tokens=tokens)
    coming = list(zip(range(len(lengths)), lengths, after, strict=True))
    requests, handed_over, first, last = {}, [], {}, {}
    steps = sequence_steps = 0
    while coming or sched.has_unfinished_requests():
        while coming and (coming[0][2] <= steps or not sched.has_unfinished_requests()):
            number, (prompt, output), _ = coming.pop(0)
            handed_over.append(steps)
            params = SamplingParams(max_tokens=output, ignore_eos=True)
            requests[str(number)] = Request(
                request_id=str(number), prompt_token_ids=[number + 3] * prompt, sampling_params=params,
                pooling_params=None,
            )  # fmt: skip
            sched.add_request(requests[str(number)])
        out = sched.schedule()
        steps += 1
        sequence_steps += len(out.num_scheduled_tokens)
        for name in out.num_scheduled_tokens:
            if requests[name].num_computed_tokens >= requests[name].num_tokens:
                first.setdefault(int(name), steps)
                last[int(name)] = steps
        answer(sched, out, requests)
    numbers = range(len(lengths))
    return {
        "max_num_seqs": seqs, "max_num_batched_tokens": tokens, "requests": lengths, "handed_over": handed_over,
        "steps": steps, "sequence_steps": sequence_steps, "first": [first[n] for n in numbers],
        "last": [last[n] for n in numbers],
    }  # fmt: skip


def loads(model: str) -> list[dict[str, Any]]:
    random, made = Random(5), []
    for _ in range(LOADS):
        count, seqs = random.randint(1, 14), random.choice([1, 2, 3, 4, 8])
        tokens = max(random.choice([8, 16, 64, 256]), seqs)  # vLLM asks for at least max_num_seqs
        lengths = [(random.randint(1, 60), random.randint(1, 20)) for _ in range(count)]
        late = random.random() < 0.6
        after = sorted(random.randint(0, 40) if late else 0 for _ in range(count))
        made.append(serve(model, lengths, after, seqs, tokens))
    return made


if __name__ == "__main__":
    found = ",\n".join(json.dumps(one, separators=(",", ":")) for one in loads(sys.argv[1]))
    print(f'{{"vllm":{json.dumps(vllm.__version__)},"loads":[\n{found}\n]}}')
