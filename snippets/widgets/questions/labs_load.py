"""Questions of the lab pages about batching and about load."""

from __future__ import annotations

from snippets import baseline, decode_step
from snippets.sim.batching import continuous, one_at_a_time, static_batches
from snippets.sim.lengths import draw_requests
from snippets.units import count, milliseconds, percent
from snippets.widgets.question import Question

REQUESTS, LENGTHS, MAX_MODEL_LEN, MAX_NUM_SEQS, ROOM = 64, "sharegpt", 1024, 16, 2048  # the lab's defaults
_TRACE = draw_requests(LENGTHS, REQUESTS, MAX_MODEL_LEN, seed=0)
OUTPUT_TOKENS = sum(one.output_tokens for one in _TRACE)
_LONGEST = [
    max(one.output_tokens for one in _TRACE[first : first + MAX_NUM_SEQS]) for first in range(0, REQUESTS, MAX_NUM_SEQS)
]
ALONE = one_at_a_time(_TRACE, ROOM)
STATIC = static_batches(_TRACE, MAX_NUM_SEQS, ROOM)
CONTINUOUS = continuous(_TRACE, MAX_NUM_SEQS, ROOM)  # as if all were there at the start

STATIC_STEPS = Question(
    name="lab_continuous_batching_steps",
    prompt=(
        f"{REQUESTS} requests make {count(OUTPUT_TOKENS)} tokens in all. They are served in {len(_LONGEST)} static "
        f"batches of {MAX_NUM_SEQS}, and the longest answers of these batches have "
        f"{', '.join(map(count, _LONGEST[:-1]))} and {count(_LONGEST[-1])} tokens. How many steps does the engine take?"
    ),
    unit="steps",
    answer=STATIC.steps,
    answer_text=f"{count(STATIC.steps)} steps",
    minimum=1,
    maximum=10_000_000,
    whole=True,
    mistakes=(
        (OUTPUT_TOKENS // MAX_NUM_SEQS, "every slot full in every step: a slot stays empty once its answer is done"),
        (OUTPUT_TOKENS, "one request at a time: a step makes a token for every request in it"),
        (max(_LONGEST), "one batch: there are four, one after the other"),
        (sum(_LONGEST) * MAX_NUM_SEQS, "slots times steps: all the slots of a step are one step"),
    ),
)

INPUT_LEN = 512
_FLOPS = decode_step.prefill_flops(baseline.MODEL, INPUT_LEN)
PREFILL_SECONDS = decode_step.prefill_seconds(_FLOPS, baseline.CARD.flops_per_second)

PROMPTS_PER_SECOND = Question(
    name="lab_load_knee_prompts",
    prompt=(
        f"Computing a prompt of {INPUT_LEN} tokens takes Qwen2.5-7B {_FLOPS / 10**12:.2f} × 10^12 floating-point "
        f"operations, and an RTX 4090 does {baseline.CARD.flops_per_second / 10**12:.1f} × 10^12 a second at its peak. "
        "How many such prompts a second can it compute at most?"
    ),
    unit="prompts/s",
    answer=1 / PREFILL_SECONDS,
    answer_text=f"{count(1 / PREFILL_SECONDS, 1)} prompts/s",
    minimum=0.001,
    maximum=1_000_000,
    near=0.05,
    mistakes=(
        (PREFILL_SECONDS, "the seconds of one prompt: asked is how many fit into a second"),
        (PREFILL_SECONDS * 1000, "the milliseconds of one prompt: asked is how many fit into a second"),
        (INPUT_LEN / PREFILL_SECONDS, "tokens a second: each prompt has 512"),
    ),
)

WORKING = {  # HTML under "Show the answer"
    STATIC_STEPS.name: (
        f"<p><strong>{count(STATIC.steps)}.</strong> A batch lasts as long as its longest answer: "
        f"{' + '.join(map(count, _LONGEST))} = {count(sum(_LONGEST))}. One step more, because the prompts of a batch "
        f"are longer than one step of {count(ROOM)} tokens. Only {percent(STATIC.slot_use(MAX_NUM_SEQS))} of the slots "
        f"make a token. Without static batches {count(CONTINUOUS.steps)} steps would do, were all requests there at "
        "the start.</p>"
    ),
    PROMPTS_PER_SECOND.name: (
        f"<p><strong>{count(1 / PREFILL_SECONDS, 1)}.</strong> One prompt takes "
        f"{milliseconds(PREFILL_SECONDS, 1)} at best, and the answers come on top. So wherever the knee is, it is "
        "below that.</p>"
    ),
}

QUESTIONS = (STATIC_STEPS, PROMPTS_PER_SECOND)
