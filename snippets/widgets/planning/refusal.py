"""Why there is no plan: vLLM's own words, and buttons for the ways out that were tried and work."""

from __future__ import annotations

import re
from collections.abc import Mapping

from snippets.planner.plan import PlanError
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Element, Node, el, words

WORDS = {
    "said": "vLLM says",
    "missing": "Missing here",
    "no load": "It does not load",
    "works": "Planned again with one change, at the expected memory, this starts:",
}
OUT_OF_MEMORY = "CUDA out of memory"
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
    _, colon, rest = way_out.partition(": ")
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


def refusal(errors: tuple[PlanError, ...], defaults: Mapping[str, str]) -> tuple[Node, ...]:
    """A panel for each error."""
    return tuple(_panel(error, defaults) for error in errors)


def _panel(error: PlanError, defaults: Mapping[str, str]) -> Element:
    key = "no load" if error.message.startswith(OUT_OF_MEMORY) else "said"  # PyTorch's refusal, not vLLM's
    said = WORDS[key if error.from_vllm else "missing"]
    inside: list[Node] = [words(said, "refusal-who"), el("p", error.message, class_="refusal-words")]
    buttons = [button for way in ways(error.way_out) if (button := _button(way, defaults))]
    if buttons:
        inside += [words(WORDS["works"]), el("div", *buttons, class_="button-row")]
    elif error.way_out:
        inside.append(words(error.way_out))
    return el("div", *inside, class_="refusal")
