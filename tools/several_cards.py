"""One server on several cards: the commands and what the planner says about each, for the page about it."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan, make_plan
from snippets.planner.report.serve_command import serve_command
from snippets.planner.report.simultaneous import requests_at_once
from snippets.units import count, gib

CARD = "rtx-4090"
MAX_MODEL_LEN = 8192
HEAD = ("cards", "layout", "weights on each", "left for the cache, each", "tokens in all", "requests at once")
MOST_CHARACTERS = 90  # of a line that a page shows whole
HEAD_ADDRESS = "HEAD"  # stands for the first machine's address


@dataclass(frozen=True)
class Layout:
    """How one replica is spread: tensor parallel inside a machine, pipeline stages over machines."""

    model: str
    tensor_parallel_size: int
    pipeline_parallel_size: int = 1

    @property
    def cards(self) -> int:
        """Cards in all."""
        return self.tensor_parallel_size * self.pipeline_parallel_size

    @property
    def args(self) -> EngineArgs:
        """The engine's arguments; everything else is vLLM's default."""
        return EngineArgs(
            max_model_len=MAX_MODEL_LEN,
            tensor_parallel_size=self.tensor_parallel_size,
            pipeline_parallel_size=self.pipeline_parallel_size,
        )

    def plan(self) -> Plan:
        """The planner's answer on RTX 4090 cards."""
        return make_plan(catalog_config(self.model), gpu(CARD), self.args)


ONE_MACHINE = (*(Layout("qwen2.5-7b", n) for n in (1, 2, 4, 8)),)
LARGER = (*(Layout("qwen2.5-32b", n) for n in (2, 4)),)
TWO_MACHINES = (Layout("qwen2.5-72b", 4, 2), Layout("qwen2.5-72b", 8), Layout("qwen2.5-72b", 4, 3))


def _cells(layout: Layout) -> tuple[str, ...]:
    plan = layout.plan()
    words = f"TP {layout.tensor_parallel_size}"
    if layout.pipeline_parallel_size > 1:
        words += f" × PP {layout.pipeline_parallel_size}"
    start = (count(layout.cards), words)
    budget, low, cache, high = plan.budget, plan.cache_low, plan.cache, plan.cache_high
    if budget is None or cache is None or low is None or high is None:
        return (*start, gib(plan.weights_bytes) if plan.weights_bytes else "–", "–", "–", "refused")
    ends = [end.requests_at_once(2**30) for end in (low, cache, high)]
    return (
        *start,
        gib(budget.weights_bytes),
        f"{gib(budget.available.expected)} ({budget.available.low / 2**30:.2f} to {budget.available.high / 2**30:.2f})",
        f"{count(cache.kv_cache_size_tokens)}",
        f"{count(ends[1])} ({count(ends[0])} to {count(ends[2])})",
    )


def table(layouts: tuple[Layout, ...]) -> str:
    """Markdown: one row for each layout, and below it why one is refused, in vLLM's words or PyTorch's."""
    rows = [HEAD, ("---:", "---", "---:", "---:", "---:", "---:"), *map(_cells, layouts)]
    refused = [(layout, plan.errors[0].message) for layout in layouts if (plan := layout.plan()).errors]
    said = [f"With {layout.cards} cards: “{message}”" for layout, message in refused]
    return "\n\n".join(["\n".join(f"| {' | '.join(row)} |" for row in rows), *said])


def command(layout: Layout, *more: str) -> str:
    """The `vllm serve` line of a layout, with flags that change where it runs and not what fits."""
    line = serve_command(layout.plan(), config_entries()[layout.model].repository)
    return " ".join([line, *more])


def block(*lines: str) -> str:
    """Lines as a code block for a shell; long ones are broken before their flags."""
    whole = (line if len(line) <= MOST_CHARACTERS else line.replace(" --", " \\\n    --") for line in lines)
    return "\n".join(["```bash", *whole, "```"])


def through_ray(layout: Layout) -> str:
    """The command on the first machine of a Ray cluster."""
    return command(layout, "--distributed-executor-backend ray")


def without_ray(layout: Layout, node_rank: int) -> str:
    """The same by vLLM's own processes: once on each machine."""
    machines = layout.pipeline_parallel_size
    more = [f"--nnodes {machines}", f"--node-rank {node_rank}", f"--master-addr {HEAD_ADDRESS}"]
    return command(layout, *more, *(["--headless"] if node_rank else []))


def ratio(layout: Layout, base: Layout) -> float:
    """How many times as many requests fit at once."""
    return (requests_at_once(layout.plan()) or 0) / (requests_at_once(base.plan()) or 1)
