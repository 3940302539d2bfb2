"""Whole models: what the real model classes answer, and what ours does. Equal means equal; refused, both refuse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from asking import Answer, Oracle, Tally
from model_facts import differences, kind_of, ours
from model_questions import Question, questions, with_configs

from snippets.catalog.gpus import gpu

HERE = Path(__file__).parent
STORED = HERE / "model_answers.jsonl"


def ask(oracle_python: Path, asked: Iterable[Question]) -> Iterator[tuple[Question, Answer]]:
    """vLLM's answers, one process per generation of cards."""

    def generation(question: Question) -> tuple[int, int] | None:
        return gpu(question["gpu"]).compute_capability

    for _, group in groupby(asked, key=generation):
        batch = list(group)
        with Oracle([oracle_python, HERE / "model_oracle.py", batch[0]["gpu"]]) as oracle:
            for question in batch:
                yield question, oracle.ask(with_configs(question))


def stored() -> dict[str, Answer]:
    """The kept answers by question."""
    lines = (json.loads(text) for text in STORED.read_text("utf-8").splitlines())
    return {json.dumps(question): unpacked(answer) for question, answer in lines}


def unpacked(answer: Answer) -> Answer:
    """Runs of layers with their specs in full; the file keeps each spec once per answer."""
    if "specs" not in answer:
        return answer
    specs = answer.pop("specs")
    answer["stages"] = [[[count, specs[i]] for count, i in stage] for stage in answer["stages"]]
    return answer


def packed(answer: Answer) -> Answer:
    """The other way; without the time it took."""
    kept = {name: value for name, value in answer.items() if name not in ("seconds", "backends")}
    if "stages" in kept:
        specs: list[Answer] = []
        for _, facts in (run for stage in kept["stages"] for run in stage):
            if facts not in specs:
                specs.append(facts)
        kept["stages"] = [[[count, specs.index(facts)] for count, facts in stage] for stage in kept["stages"]]
        kept["specs"] = specs
    return kept


def compare(oracle_python: Path) -> Tally:
    """Every kept question again: vLLM's answer now against ours and against the kept one."""
    tally = Tally("models")
    kept = stored()
    for question, theirs in ask(oracle_python, questions()):
        tally.outcomes[kind_of(theirs)] += 1
        name = f"{question['model']} on {question['gpu']} {json.dumps(question['args'])}"
        found = differences(ours(with_configs(question)), theirs)
        if kept.get(json.dumps(question)) != unpacked(json.loads(json.dumps(packed(theirs)))):
            found.append("vLLM's answer is not the kept one: make oracle-answers")
        if found:
            tally.different.append(f"{name}: {'; '.join(found)}")
    return tally
