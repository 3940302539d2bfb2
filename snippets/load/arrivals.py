"""When requests come: a Poisson process from a seed, as `vllm bench serve --request-rate` makes it.

Only `random.Random(seed).random()` is used, so that any Python gets the same trace; vLLM draws with numpy, so the same
seed gives other moments there. Gaps are exponential and then stretched until the last request comes at
count / rate, which vLLM does too (`get_request` in vllm/benchmarks/serve.py): the offered rate is exact.
"""

from __future__ import annotations

import math
from itertools import accumulate
from random import Random


def arrival_seconds(count: int, request_rate: float, seed: int) -> tuple[float, ...]:
    """Moments at which `count` requests come, at `request_rate` a second on average, in order."""
    if count < 1 or not 0 < request_rate < math.inf:
        raise ValueError(f"need at least 1 request at a rate above 0, not {count} at {request_rate} a second")
    random = Random(seed)
    moments = tuple(accumulate(-math.log(1 - random.random()) for _ in range(count)))
    return tuple(moment * (count / request_rate) / moments[-1] for moment in moments)
