"""Every way to lay a model out on a number of cards: tensor × pipeline × data parallel, experts and context on top.

A replica takes tensor × pipeline cards; data parallel replicas multiply the requests. What vLLM refuses stands in the
table too, with its reason, and so does what starts nowhere for lack of memory. Of unequal cards the smallest decides:
ranks of a layout hold equal parts, and vLLM takes the smallest number of blocks of all workers
(v1/core/kv_cache_utils.py:2155).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from snippets.catalog.gpus import Gpu, MissingFactError
from snippets.model_config.model_config import ModelConfig
from snippets.planner.answers.asked import AnswerError
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.resolved import Resolved
from snippets.planner.settings import layout_errors
from snippets.planner.steps.take import Given, Steps, take
from snippets.planner.steps.ways_out import failure_at

MOST_CARDS = 64
MACHINE_CARDS = 8  # that one machine has: tensor parallelism beyond it goes over the network in every layer
State = Literal["fits", "too small", "refused", "not known"]


@dataclass(frozen=True)
class Layout:
    """One line of the table. Bytes are of one rank, of the stage that has least left."""

    tensor_parallel_size: int
    pipeline_parallel_size: int
    data_parallel_size: int
    enable_expert_parallel: bool
    decode_context_parallel_size: int
    state: State
    reason: str = ""  # vLLM's words where it refuses; "" when it fits
    weights_bytes: int | None = None
    kv_bytes: int | None = None  # available for the cache, expected
    tokens: int | None = None  # kv_cache_size_tokens of a replica
    memory_concurrency: float | None = None  # requests of max_model_len in a replica's memory
    max_num_seqs: int | None = None  # of a replica
    is_sure: bool = False  # starts at the low end of the estimated memory too
    resolved: Resolved | None = field(default=None, repr=False, compare=False)
    max_model_len: int | None = None  # after auto-fit

    def args(self, asked: EngineArgs) -> EngineArgs:
        """The question's arguments with this layout's parallel sizes."""
        return replace(
            asked,
            tensor_parallel_size=self.tensor_parallel_size,
            pipeline_parallel_size=self.pipeline_parallel_size,
            data_parallel_size=self.data_parallel_size,
            enable_expert_parallel=self.enable_expert_parallel,
            decode_context_parallel_size=self.decode_context_parallel_size,
        )

    @property
    def crosses_machines(self) -> bool:
        """One layer's ranks are on more than one machine."""
        return self.tensor_parallel_size > MACHINE_CARDS

    @property
    def requests_per_replica(self) -> float | None:
        """Memory's number or max_num_seqs, the smaller."""
        if self.memory_concurrency is None or self.max_num_seqs is None:
            return None
        return min(self.memory_concurrency, self.max_num_seqs)

    @property
    def requests(self) -> int | None:
        """Of all replicas: whole ones of each, since no request is spread over two."""
        each = self.requests_per_replica
        return None if each is None else int(each) * self.data_parallel_size


@dataclass(frozen=True)
class Layouts:
    """The table: what fits first, most requests on top; then what does not, and why."""

    num_cards: int
    gpu: Gpu  # the card that decides
    rows: tuple[Layout, ...]
    weights_given: bool = False  # of the layout that was asked about; those of the others are counted
    memory_given: bool = False  # for the cache of a rank, the same in every layout

    @property
    def best(self) -> Layout | None:
        """Most requests in all, of layouts that surely start inside machines where there are any; see order()."""
        return self.rows[0] if self.rows and self.rows[0].state == "fits" else None


def layouts(config: ModelConfig, cards: Sequence[Gpu], args: EngineArgs, given: Given | None = None) -> Layouts:
    """All layouts on these cards. Parallel sizes in `args` only say which layout given weights are of.

    Raises AnswerError for no cards or more than MOST_CARDS, and MissingFactError when a card's memory is not known.
    """
    if not 1 <= len(cards) <= MOST_CARDS:
        raise AnswerError("cards", f"{len(cards)} cards; the table is made for 1 to {MOST_CARDS}")
    given = replace(given or Given(), weights_of=args)
    card = cards[0] if given.total is not None else min(cards, key=lambda one: one.visible_bytes)
    rows = list(_rows(config, card, len(cards), args, given))
    are_given = (given.weights is not None, given.available is not None)
    return Layouts(len(cards), card, tuple(sorted(rows, key=order)), *are_given)


def order(row: Layout) -> tuple[object, ...]:
    """What fits first. Of it, what starts surely, then what keeps a layer in one machine, then most requests; of equals
    the fewest pipeline stages, then the plainest.
    """
    states = ("fits", "too small", "not known", "refused")
    plain = (row.enable_expert_parallel, row.decode_context_parallel_size, row.tensor_parallel_size)
    first = (states.index(row.state), not row.is_sure, row.crosses_machines)
    return (*first, -(row.requests or 0), row.pipeline_parallel_size, *plain)


def divisors(n: int) -> tuple[int, ...]:
    """1 to n, those that leave no rest."""
    return tuple(i for i in range(1, n + 1) if n % i == 0)


def _rows(config: ModelConfig, card: Gpu, num_cards: int, args: EngineArgs, given: Given) -> Iterator[Layout]:
    has_experts = config.num_experts > 0
    replicas: dict[tuple[int, ...], Layout] = {}  # without experts a replica does not depend on the others
    context_refused: set[int] = set()  # tensor parallel sizes for which that was said
    for tp in divisors(num_cards):
        for pp in divisors(num_cards // tp):
            dp = num_cards // (tp * pp)
            plain = replace(
                args,
                tensor_parallel_size=tp,
                pipeline_parallel_size=pp,
                data_parallel_size=dp,
                enable_expert_parallel=False,
                decode_context_parallel_size=1,
            )
            for asked in _variants(config, plain, has_experts):
                dcp = asked.decode_context_parallel_size
                if dcp > 1 and layout_errors(config, asked):
                    if tp in context_refused:
                        continue
                    context_refused.add(tp)
                key = (tp, pp, dcp)
                if not has_experts and key in replicas:
                    yield replace(replicas[key], data_parallel_size=dp)
                    continue
                row = row_of(config, card, asked, given)
                replicas[key] = row
                yield row


def _variants(config: ModelConfig, plain: EngineArgs, has_experts: bool) -> Iterator[EngineArgs]:
    """The plain layout; experts shared out whole; context shared out, up to the first size that is refused."""
    yield plain
    if layout_errors(config, plain):
        return
    ranks = plain.tensor_parallel_size * plain.data_parallel_size
    bases = [plain, replace(plain, enable_expert_parallel=True)] if has_experts and ranks > 1 else [plain]
    yield from bases[1:]
    for base in bases:
        for dcp in divisors(plain.tensor_parallel_size)[1:]:
            asked = replace(base, decode_context_parallel_size=dcp)
            refused = layout_errors(config, asked)
            if not refused or base is plain:
                yield asked
            if refused:
                break


def row_of(config: ModelConfig, card: Gpu, asked: EngineArgs, given: Given) -> Layout:
    """One layout, planned."""
    row = Layout(
        asked.tensor_parallel_size,
        asked.pipeline_parallel_size,
        asked.data_parallel_size,
        asked.enable_expert_parallel,
        asked.decode_context_parallel_size,
        state="refused",
    )
    errors = layout_errors(config, asked)
    if errors:
        return replace(row, reason=str(errors[0]))
    steps = take(config, card, asked, given)
    row = replace(
        row,
        weights_bytes=max(steps.weights, default=None),
        kv_bytes=min(steps.available, default=None),
        max_num_seqs=steps.resolved.max_num_seqs if steps.resolved else None,
    )
    if steps.cache is None or steps.failures:
        return replace(row, state=_state(steps), reason=str(steps.failures[0]) if steps.failures else "")
    return replace(
        row,
        state="fits",
        tokens=steps.cache.kv_cache_size_tokens,
        memory_concurrency=steps.cache.max_concurrency,
        is_sure=failure_at("low", steps) is None,
        resolved=steps.resolved,
        max_model_len=steps.cache.max_model_len,
    )


def _state(steps: Steps) -> State:
    first = steps.failures[0] if steps.failures else None
    if isinstance(first, EngineArgsError):
        return "refused"
    if isinstance(first, MissingFactError) or steps.resolved is None or not steps.weights:
        return "not known"
    return "too small"
