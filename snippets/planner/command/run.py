"""The command: parse, read, plan, print. Exit code 0: vLLM would start, 1: it would refuse, 2: no answer."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from snippets.catalog.gpus import Gpu
from snippets.planner.cache.spec_lines import answer
from snippets.planner.command.errors import UsageError
from snippets.planner.command.lists import gpu_list, model_list
from snippets.planner.command.names import find_card, unknown_card
from snippets.planner.command.other_flags import sort_others
from snippets.planner.command.own_flags import engine_args
from snippets.planner.command.parse import parse
from snippets.planner.command.questions.bounds import bounds, bounds_json, bounds_text
from snippets.planner.command.questions.layout_answers import LayoutAnswers, answers_json, answers_text, layout_answers
from snippets.planner.command.questions.layout_table import layout_table
from snippets.planner.command.questions.traffic import traffic_answer, traffic_asked, traffic_json, traffic_text
from snippets.planner.command.read_input import Input, note_of_guess, read_model
from snippets.planner.command.speculative import speculative
from snippets.planner.command.streams import NO_ANSWER, guarded, out, say, stdin_lines
from snippets.planner.command.typed_flags import with_typed_flags
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan, make_plan
from snippets.planner.report import serve_command, to_csv, to_explanation, to_json, to_markdown, to_text
from snippets.planner.report.answer import as_line
from snippets.planner.report.other_version import lines_of_version
from snippets.planner.steps.take import Given
from snippets.planner.steps.unnamed_card import unnamed_card
from snippets.planner.versions import VersionError
from snippets.units import GIB, gib

STARTS, REFUSES = 0, 1
BESIDE = ("--layouts", "--prompt-len", "--output-len", "--price-per-hour")  # questions beside the plan
ABOUT_A_PLAN = ("prompt_len", "output_len", "price_per_hour")
ONE_SERVER = "The line as typed:"
NOT_ANSWERED = "Lengths and a price are answered for a plan that starts; this one does not."
GIVEN = ("available_kv_gib", "weights_gib", "total_gib", "free_gib")  # in the order of Given's fields


class Section(NamedTuple):
    """An answer beside the plan."""

    key: str  # in the JSON
    values: object
    title: str
    text: str  # in the report


def main(words: Sequence[str] | None = None) -> int:
    """Run and return the exit code. Nothing a user can type ends in a traceback."""
    return guarded(lambda: _run(parse(sys.argv[1:] if words is None else words)))


def _run(values: argparse.Namespace) -> int:
    if values.list_gpus:
        out(gpu_list())
    elif values.list_models:
        out(model_list())
    elif values.specs:
        _specs()
    else:
        return _plan(values)
    return STARTS


def _specs() -> None:
    """A line of JSON for each line of JSON."""
    for number, line in enumerate(stdin_lines(), 1):
        if not line.strip():
            continue
        try:
            asked = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"Line {number} of stdin is not JSON: {error}.") from None
        out(json.dumps(answer(asked)) + "\n")


def _plan(values: argparse.Namespace) -> int:
    _check_form(values)
    given = values.model or values.model_flag
    if given is None:
        raise UsageError("Give a model: a config.json, a folder with one, - for stdin, or a key of --list-models.")
    notes, refused = sort_others(values.others or [], values.available_kv_gib is not None)
    if refused:
        raise UsageError("\n".join(refused))
    card = _card(values)
    model = read_model(given)
    drafting, drafter = speculative(values)
    args = engine_args(values, speculative=drafting)
    available, weights, total, free = (_bytes(getattr(values, name)) for name in GIVEN)
    known = Given(available, weights, total, free)
    _check_free(known, card)

    def planned(asked: EngineArgs) -> Plan:
        return make_plan(
            model.config,
            card,
            asked,
            available_bytes=known.available,
            weights_bytes=known.weights,
            total_bytes=known.total,
            free_bytes=known.free,
        )

    plan = with_typed_flags(values, planned(args))
    if plan.cache is not None:  # only then a command is shown
        notes += [note for one in (model, drafter) if one and (note := note_of_guess(one))]
        if args.usage == "llm":
            notes.append(
                "The command starts a server; LLM() takes the same settings as arguments, with other defaults."
            )
    if plan.cache is None and any(getattr(values, name) is not None for name in ABOUT_A_PLAN):
        notes.append(NOT_ANSWERED)
    plan = _as_printed_by(values.vllm_version, replace(plan, notes=(*plan.notes, *notes)))
    more: list[Section] = []
    if (traffic := traffic_answer(values, plan)) is not None:
        more.append(
            Section(
                "requests_in_flight",
                traffic_json(traffic),
                "Requests at once",
                traffic_text(traffic, traffic_asked(values)),
            )
        )
    if (bound := bounds(values, plan, traffic)) is not None:
        more.append(Section("bounds", bounds_json(bound), "Bounds of speed and cost", bounds_text(bound)))
    first = None
    if values.layouts is not None:
        rows = layout_table(model.config, card or unnamed_card(known.total), values.layouts, args, known)
        made = layout_answers(values, rows, args, planned)
        first = Section("layouts", answers_json(made), "Layouts", _layouts_text(made, model, drafter))
        if made.best is not None and plan.errors:  # it was the layouts that were asked about
            out(_shown(plan, values, model, drafter, more, first) if values.json else _alone(first, values, model))
            return STARTS
    out(_shown(plan, values, model, drafter, more, first))
    return _outcome(plan, values)


def _layouts_text(made: LayoutAnswers, model: Input, drafter: Input | None) -> str:
    best = made.best
    command = serve_command(best, model.name, drafter.name if drafter else "DRAFTER") if best else ""
    return answers_text(made, command)


def _alone(part: Section, values: argparse.Namespace, model: Input) -> str:
    """An answer without the plan of the line as typed, which would not start."""
    if values.markdown:
        return f"# {model.name}\n\n## {part.title}\n\n```text\n{part.text}```\n"
    return part.text


def _check_form(values: argparse.Namespace) -> None:
    """CSV and explanations are lists of the plan's own numbers."""
    form = "--csv" if values.csv else "--explain" if values.explain else ""
    beside = [flag for flag in BESIDE if getattr(values, flag.removeprefix("--").replace("-", "_")) is not None]
    if form and beside:
        raise UsageError(f"{form} holds the plan's own numbers, without {beside[0]}; ask for --json or --markdown.")


def _outcome(plan: Plan, values: argparse.Namespace) -> int:
    """The exit code; errors on stderr, unless a person sees them in the report."""
    is_report = not (values.json or values.markdown or values.csv or values.explain)
    for error in () if is_report and sys.stdout.isatty() else plan.errors:
        say(as_line(error, plan))
    if not plan.errors:
        return STARTS
    return REFUSES if any(error.from_vllm for error in plan.errors) else NO_ANSWER


def _as_printed_by(version: str | None, plan: Plan) -> Plan:
    """The plan with another version's log lines; all else stays 0.26.0's."""
    if version is None:
        return plan
    try:
        lines = lines_of_version(plan, version)
    except VersionError as error:
        raise UsageError(f"--vllm-version: {error}.") from None
    if plan.cache is None:
        return plan
    note = f"The log lines are those of vLLM {version}; all other figures are 0.26.0's."
    return replace(plan, cache=replace(plan.cache, log_lines=lines), notes=(*plan.notes, note))


def _card(values: argparse.Namespace) -> Gpu | None:
    if values.gpu is not None:
        card = find_card(values.gpu)
        if card is None:
            raise UsageError(f"--gpu: {unknown_card(values.gpu)}")
        return card
    if values.total_gib is None and values.available_kv_gib is None and values.kv_cache_memory_bytes is None:
        raise UsageError("Give a card with --gpu (see --list-gpus), or its memory with --total-gib.")
    return None


def _check_free(known: Given, card: Gpu | None) -> None:
    """No more of a card is free than it has."""
    total = known.total if known.total is not None or card is None or card.visible_gib is None else card.visible_bytes
    if known.free is not None and total is not None and known.free > total:
        raise UsageError(f"--free-gib: {gib(known.free)} are more than the card has, {gib(total)}.")


def _bytes(size_gib: float | None) -> int | None:
    return None if size_gib is None else int(size_gib * GIB)


def _shown(
    plan: Plan,
    values: argparse.Namespace,
    model: Input,
    drafter: Input | None,
    more: Sequence[Section],
    first: Section | None,
) -> str:
    """The whole answer; the layouts lead in the report."""
    name, drafting = model.name, drafter.name if drafter else "DRAFTER"
    if values.json:
        parts = {part.key: part.values for part in (*more, *([first] if first else []))}
        return json.dumps(to_json(plan, name, drafting) | parts, indent=2) + "\n"
    if values.markdown:
        parts_shown = [*([first] if first else []), *more]
        return to_markdown(plan, name, drafting, [(part.title, part.text) for part in parts_shown])
    if values.csv:
        return to_csv(plan)
    if values.explain:
        return to_explanation(plan)
    report = to_text(plan, serve_command(plan, name, drafting), [part.text for part in more])
    return f"{first.text}\n{ONE_SERVER}\n{report}" if first else report
