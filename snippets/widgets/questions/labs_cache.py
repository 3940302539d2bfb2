"""Questions of the lab pages about prefix caching and about preemption."""

from __future__ import annotations

from snippets.kv_cache_size import QWEN2_5_7B, kv_bytes_per_token
from snippets.planner.blocks import num_gpu_blocks
from snippets.sim.lengths import Request
from snippets.sim.prefix_hits import predicted_hits
from snippets.sim.scheduler import Limits, most_without_preemption
from snippets.units import count, kib
from snippets.widgets.question import Question

BLOCK, PROMPT = 16, 64
_HITS = predicted_hits([range(PROMPT), range(PROMPT)], BLOCK)[1]

WHOLE_PROMPT = Question(
    name="lab_prefix_cache_whole",
    prompt=(
        f"A prompt of exactly {PROMPT} tokens is sent twice, with blocks of {BLOCK} tokens and nothing else in the "
        "cache. How many tokens of the second one does vLLM find?"
    ),
    unit="tokens",
    answer=_HITS,
    answer_text=f"{_HITS} tokens",
    minimum=1,
    maximum=10_000,
    whole=True,
    mistakes=(
        (PROMPT, "every token: the last one is computed again, and its whole block with it"),
        (PROMPT - 1, "every token but the last: only whole blocks are found"),
    ),
)

CACHE_BYTES, REQUEST = 2**29, Request(128, 256)  # the lab's defaults
_BLOCKS = num_gpu_blocks(CACHE_BYTES, kv_bytes_per_token(QWEN2_5_7B) * BLOCK // QWEN2_5_7B.num_layers, 28)
_LIMITS = Limits(_BLOCKS, BLOCK, max_num_seqs=48, max_num_batched_tokens=2048)
_GROWN, _ADMITTED = (-(-tokens // BLOCK) for tokens in (REQUEST.stored_tokens, REQUEST.prompt_tokens))
_SAFE = most_without_preemption(REQUEST, _LIMITS)

SAFE_REQUESTS = Question(
    name="lab_preemption_safe",
    prompt=(
        f"The cache has 512 MiB, a token of Qwen2.5-7B takes {kib(kv_bytes_per_token(QWEN2_5_7B))}, a block holds "
        f"{BLOCK} tokens. Requests have {REQUEST.prompt_tokens} tokens and answer with {REQUEST.output_tokens}. How "
        "many may run at once so that none is ever preempted?"
    ),
    unit="requests",
    answer=_SAFE,
    answer_text=f"{_SAFE} requests",
    minimum=1,
    maximum=10_000,
    whole=True,
    exact=_LIMITS.usable_blocks / _GROWN,
    exact_is="what the blocks would hold",
    mistakes=(
        (_LIMITS.usable_blocks // _ADMITTED, "the prompts alone: so many are let in, and then they grow"),
        (2 * _LIMITS.usable_blocks // _GROWN, "an FP8 cache: BF16 has two bytes a number"),
        (
            _LIMITS.usable_blocks // ((_GROWN + _ADMITTED) // 2),
            "halfway through their answers: they started together, so they all reach the end together",
        ),
    ),
)

WORKING = {  # HTML under "Show the answer"
    WHOLE_PROMPT.name: (
        f"<p><strong>{_HITS}.</strong> {PROMPT} tokens fill {PROMPT // BLOCK} blocks, and all of them are in the "
        "cache. But the first new token is drawn from the output of the last prompt token, and an output is not kept. "
        f"So that token is computed again. Hits end where a block ends, so its whole block is: {PROMPT} − {BLOCK} = "
        f"{_HITS}. With one token more, {PROMPT} would be found.</p>"
    ),
    SAFE_REQUESTS.name: (
        f"<p><strong>{_SAFE}.</strong> A block takes {BLOCK} × {kib(kv_bytes_per_token(QWEN2_5_7B))}, so there are "
        f"{count(_BLOCKS)}, one of which vLLM sets aside. A request ends with {REQUEST.prompt_tokens} + "
        f"{REQUEST.output_tokens} − 1 tokens in the cache (the last one is sent and never stored), in {_GROWN} blocks. "
        f"{_LIMITS.usable_blocks} ÷ {_GROWN} = {_LIMITS.usable_blocks / _GROWN:.2f}. vLLM does not stop there: it "
        f"looks at the prompt's {_ADMITTED} blocks and lets {_LIMITS.usable_blocks // _ADMITTED} in, if "
        "<code>max_num_seqs</code> allows.</p>"
    ),
}

QUESTIONS = (WHOLE_PROMPT, SAFE_REQUESTS)
