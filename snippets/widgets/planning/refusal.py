"""Why there is no plan: vLLM's own words, and buttons for the ways out that were tried and work."""

from __future__ import annotations

import re
from collections.abc import Mapping

from snippets.planner.plan import Plan, PlanError
from snippets.planner.steps.ways_out import DOUBTFUL, TAKEN
from snippets.planner.weights.errors import WAY_OUT
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Element, Node, el, words

WORDS = {
    "said": "vLLM says",
    "missing": "Missing here",
    "no load": "It does not load",
    "works": "Planned again with one change, this starts, at the low end of the error bar too:",
    "works given": "Planned again with one change, this starts:",
    "doubtful": "This starts only if the memory comes out as expected, not at the low end:",
    "taken": "vLLM takes this, but the memory is then too small; set it, and see what helps:",
    "fewer bits": "Or take a checkpoint of it in 8 or 4 bits (FP8, AWQ, GPTQ): choose “Your own” and paste its "
    "config.json.",
    "weights": "Give their size: the figure in the line “Model loading took … GiB” of a start-up log. Before there is "
    "a log, an estimate: total_size in the checkpoint’s model.safetensors.index.json, in bytes, divided by the cards "
    "of a replica (tensor × pipeline parallel). What every card holds whole comes on top of that.",
    "open weights": "Type the weights’ size",
}
WEIGHTS = "weights_gib"  # the control, in a group that opens as the page does: closed
OUT_OF_MEMORY = "CUDA out of memory"
WEIGHTS_BEYOND = f"{OUT_OF_MEMORY}: the weights take"
FLAG = re.compile(r"--([a-z-]+) (\S+?)(?=[;.]?(?:\s|$))")
CONTROLS = {"speculative_config": "method"}  # flags whose control has another name
LEFT_OUT = re.compile(r"leave --([a-z-]+) out")


def changes(way: str) -> dict[str, str]:
    """What one way out sets, by control name: "--kv-cache-dtype fp8 --max-model-len 8192"."""
    left_out = {_control(flag): "" for flag in LEFT_OUT.findall(way)}
    return left_out or {_control(flag): value for flag, value in FLAG.findall(way)}


def _control(flag: str) -> str:
    name = flag.replace("-", "_")
    return CONTROLS.get(name, name)


def ways(way_out: str) -> list[str]:
    """The ways of one sentence: "These work, each alone: --a 1; --b 2 or 4." """
    _, colon, rest = way_out.strip().partition(": ")
    if not colon or "--" not in rest:
        return []
    found = []
    for part in rest.rstrip(".").split("; "):
        first, *others = part.split(" or ")
        flag = first.split(" ")[0]
        found += [first, *(f"{flag} {other}" for other in others)]
    return found


def _button(way: str, defaults: Mapping[str, str]) -> Element | None:
    """A button that sets the controls of one way; None where it changes what is no control."""
    set_to = {name: value or defaults.get(name, "") for name, value in changes(way).items()}
    if not set_to or not set_to.keys() <= defaults.keys():
        return None
    shown = way.replace("--", "") if "leave" in way else way
    return el("button", shown, type="button", data_values=data(set_to))


def _row(way_out: str, defaults: Mapping[str, str], said: str) -> tuple[Node, ...]:
    buttons = [button for way in ways(way_out) if (button := _button(way, defaults))]
    return (words(said), el("div", *buttons, class_="button-row")) if buttons else ()


def _kind(surely: str, plan: Plan) -> str:
    """What the buttons of a sentence promise."""
    if surely.startswith(TAKEN):
        return "taken"
    return "works" if plan.budget or plan.args.kv_cache_memory_bytes else "works given"


def weights_button() -> Element:
    """A button that opens the group of the weights' control and goes there."""
    return el("button", WORDS["open weights"], type="button", data_goto=WEIGHTS)


def refusal(plan: Plan, defaults: Mapping[str, str]) -> tuple[Node, ...]:
    """A panel for each error."""
    return tuple(_panel(error, plan, defaults) for error in plan.errors)


def _panel(error: PlanError, plan: Plan, defaults: Mapping[str, str]) -> Element:
    key = "no load" if error.message.startswith(OUT_OF_MEMORY) else "said"  # PyTorch's refusal, not vLLM's
    said = WORDS[key if error.from_vllm else "missing"]
    inside: list[Node] = [words(said, "refusal-who"), el("p", error.message, class_="refusal-words")]
    if error.way_out == WAY_OUT:
        inside += [words(WORDS["weights"]), el("div", weights_button(), class_="button-row")]
        return el("div", *inside, class_="refusal")
    surely, _, if_lucky = error.way_out.partition(DOUBTFUL)
    rows = (
        *_row(surely, defaults, WORDS[_kind(surely, plan)]),
        *_row(DOUBTFUL + if_lucky, defaults, WORDS["doubtful"]),
    )
    if error.message.startswith(WEIGHTS_BEYOND) and plan.resolved and plan.resolved.quantization is None:
        rows += (words(WORDS["fewer bits"]),)
    inside += rows or ([words(error.way_out)] if error.way_out else [])
    return el("div", *inside, class_="refusal")
