"""The question of the page about several cards."""

from __future__ import annotations

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import make_plan
from snippets.units import count, gib
from snippets.widgets.question import Question

CARDS, LENGTH = 4, 8192
_ONE, _FOUR = (
    make_plan(
        catalog_config("qwen2.5-7b"), gpu("rtx-4090"), EngineArgs(max_model_len=LENGTH, tensor_parallel_size=cards)
    )
    for cards in (1, CARDS)
)
assert _ONE.cache and _FOUR.cache and _ONE.budget and _FOUR.budget
ONE, FOUR = int(_ONE.cache.max_concurrency), int(_FOUR.cache.max_concurrency)

FOUR_CARDS = Question(
    name="lab_four_cards_requests",
    prompt=(
        f"Qwen2.5-7B-Instruct in BF16 on one RTX 4090 holds {ONE} requests of {count(LENGTH)} tokens. The same model "
        f"on {CARDS} such cards, tensor parallel: how many requests at once?"
    ),
    unit="requests",
    answer=FOUR,
    answer_text=f"{FOUR} requests",
    minimum=1,
    maximum=100_000,
    whole=True,
    near=0.1,
    mistakes=(
        (CARDS * ONE, "four times the cards taken for four times the room: the weights are not held four times"),
    ),
)

WORKING = {  # HTML under "Show the answer"
    FOUR_CARDS.name: (
        f"<p><strong>About {FOUR}.</strong> One card holds all {gib(_ONE.budget.weights_bytes)} of the weights and has "
        f"{gib(_ONE.budget.available.expected)} left. Of {CARDS} cards each holds "
        f"{gib(_FOUR.budget.weights_bytes)} and has {gib(_FOUR.budget.available.expected)} left. Together that is "
        f"{_FOUR.budget.available.expected * CARDS / _ONE.budget.available.expected:.1f} times as much cache.</p>"
    ),
}

QUESTIONS = (FOUR_CARDS,)
