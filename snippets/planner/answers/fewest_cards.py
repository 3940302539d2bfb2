"""What is the fewest cards a model fits on? One line for each number of cards, with the best plain layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.answers.layouts import MOST_CARDS, Layout, divisors, order, row_of
from snippets.planner.engine_args import EngineArgs
from snippets.planner.settings import layout_errors
from snippets.planner.steps.take import Given

USUAL = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class CardCount:
    """One number of cards."""

    cards: int
    best: Layout  # that fits, or where none does the one that comes nearest

    @property
    def fits(self) -> bool:
        """As expected at least."""
        return self.best.state == "fits"


def fewest_cards(config: ModelConfig, card: Gpu, args: EngineArgs, given: Given | None = None) -> tuple[CardCount, ...]:
    """1, 2, 4, 8 and 16 cards, and while nothing fits twice as many, up to MOST_CARDS.

    Tensor, pipeline and data parallelism, and the context shared out over as many ranks as vLLM allows. Experts are
    split, not shared out whole. Parallel sizes in `args` only say which layout given weights are of. Raises
    MissingFactError when the card's memory is not known.
    """
    plain = replace(args, enable_expert_parallel=False, decode_context_parallel_size=1)
    known_bytes = replace(given or Given(), weights_of=args)
    known: dict[tuple[int, int], Layout] = {}
    found = [CardCount(n, _best(config, card, plain, known_bytes, n, known)) for n in USUAL]
    while not found[-1].fits and found[-1].cards < MOST_CARDS:
        n = 2 * found[-1].cards
        found.append(CardCount(n, _best(config, card, plain, known_bytes, n, known)))
    return tuple(found)


def _best(
    config: ModelConfig, card: Gpu, plain: EngineArgs, given: Given, cards: int, known: dict[tuple[int, int], Layout]
) -> Layout:
    rows = sorted(_layouts(config, card, plain, given, cards, known), key=order)
    if rows[0].state == "fits":
        return rows[0]
    return min(rows, key=lambda row: (row.state == "refused", row.weights_bytes or 0))


def _layouts(
    config: ModelConfig, card: Gpu, plain: EngineArgs, given: Given, cards: int, known: dict[tuple[int, int], Layout]
) -> Iterator[Layout]:
    """Without experts a replica does not depend on the others, so those `known` are not planned again."""
    for tp in divisors(cards):
        for pp in divisors(cards // tp):
            dp = cards // (tp * pp)
            if config.num_experts == 0 and (tp, pp) in known:
                yield replace(known[tp, pp], data_parallel_size=dp)
                continue
            asked = replace(plain, tensor_parallel_size=tp, pipeline_parallel_size=pp, data_parallel_size=dp)
            known[tp, pp] = row_of(config, card, _context_shared(config, asked), given)
            yield known[tp, pp]


def _context_shared(config: ModelConfig, asked: EngineArgs) -> EngineArgs:
    """With the largest decode_context_parallel_size before the first that is refused."""
    for size in divisors(asked.tensor_parallel_size)[1:]:
        larger = replace(asked, decode_context_parallel_size=size)
        if layout_errors(config, larger):
            break
        asked = larger
    return asked
