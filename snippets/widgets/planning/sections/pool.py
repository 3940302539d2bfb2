"""Layers, groups and blocks: how one pool serves all layers, why the block is as large as it is, what can be reused."""

from __future__ import annotations

from snippets.draw.figure import Figure, Layout
from snippets.draw.planner.pool import Group, PoolShape, pool_figure
from snippets.draw.scale import memory_text
from snippets.planner.answers.block_size import BlockSize, block_size
from snippets.planner.specs import CacheLayout
from snippets.units import count
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, el, paragraphs, table, words
from snippets.widgets.planning.question import answered

WORDS = {
    "no layout": "Nothing is laid out yet: see above.",
    "none": "No layer of this model keeps a cache.",
    "block": "A block of {tokens} tokens, and why",
    "waste": "On average {waste} of a request's last blocks stay empty.",
    "reuse": "What prefix caching takes over when a prompt comes again",
    "no reuse": "Prefix caching is off: nothing is taken over.",
    "smallest": "Two prompts must share {tokens} tokens before anything is taken over.",
    "never": "No shared prefix is ever taken over with these blocks.",
    "prompt": "prompt, tokens",
    "cached": "taken over",
    "again": "computed again",
}
NAME = "planner-pool"
PROMPTS = (100, 1000, 4000, 16000, 64000)


def _shape(cache: CacheLayout) -> PoolShape:
    groups = tuple(
        Group(
            group.kind,
            group.num_layers,
            group.block_size,
            group.page_size_bytes,
            group.blocks_per_request,
            group.spec.kind == "mamba",
        )
        for group in cache.groups
    )
    return PoolShape(groups, cache.bytes_per_block)


def pool_section(values: Values, layout: Layout) -> Shown:
    """The drawing, the block size as a result, and reuse."""
    found = answered(values)
    cache = found.plan.layout if found else None  # known without memory or weights too
    if found is None or cache is None or not cache.groups or found.plan.resolved is None:
        said = WORDS["none" if cache is not None else "no layout"]
        return Shown((words(said),), (Figure(NAME, "", ""),))
    blocks = block_size(found.plan.resolved, cache, found.question.args.speculative)
    return Shown((), (pool_figure(_shape(cache), NAME, layout),), (*_why(blocks), *_reuse(blocks, cache)))


def _why(blocks: BlockSize) -> tuple[Node, ...]:
    head = el("p", el("strong", WORDS["block"].format(tokens=count(blocks.block_size))))
    waste = WORDS["waste"].format(waste=memory_text(blocks.mean_waste_bytes))
    return (head, *paragraphs(blocks.reasons), words(waste))


def _reuse(blocks: BlockSize, cache: CacheLayout) -> tuple[Node, ...]:
    reuse = blocks.reuse
    if not reuse.enabled:
        return (words(WORDS["no reuse"]),)
    smallest = reuse.smallest_prefix
    said = words(WORDS["smallest"].format(tokens=count(smallest)) if smallest else WORDS["never"])
    prompts = [n for n in PROMPTS if n <= cache.max_model_len]
    rows = [(count(n), count(reuse.cached_tokens(n)), count(n - reuse.cached_tokens(n))) for n in prompts]
    head = (WORDS["prompt"], WORDS["cached"], WORDS["again"])
    return (said, table(WORDS["reuse"], head, rows, (0, 1, 2), (), f"{NAME}-reuse"))
