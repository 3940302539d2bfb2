"""The answer before everything else: it starts or it does not, how many requests, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Literal

from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.in_flight import InFlight
from snippets.planner.plan import Plan
from snippets.planner.report.answer import fit_words
from snippets.planner.report.simultaneous import requests_at_once
from snippets.units import GIB, KIB, MIB, count, gib, kib, mib
from snippets.widgets.declare import Readout, Tone, Values
from snippets.widgets.planning.load import in_flight
from snippets.widgets.planning.question import Answered

Verdict = Literal["fits", "tight", "refused", "missing", "empty", "no cache"]

WORDS = {
    "empty": "Paste a config.json, or choose a model.",
    "refused": "vLLM 0.26.0 would refuse to start.",
    "missing": "There is no plan yet: something is missing.",
    "no cache": "vLLM 0.26.0 would start without a KV cache: no layer of {model} keeps anything.",
    "limits": "A step takes at most {most} texts with {batched} tokens in all, each text at most {longest}.",
    "uncounted": "The weights are not counted here, and have to fit the card.",
    "fits": "It fits: {requests} of {tokens} tokens at once{where}.",
    "tight": "It may fit: {requests} of {tokens} tokens at once{where}, if all goes as expected.",
    "where": " on each of {n} replicas, {all} in all",
    "each": "on each of {n} replicas",
    "in all": "{all} in all",
    "range": "{low} to {high} within the error bar of the memory.",
    "same": "The same at both ends of the error bar.",
    "tight detail": "At the low end of the error bar vLLM would refuse to start; at the high end: {high}.",
    "given": "From the memory given, so without an error bar.",
    "capped": "Memory would hold {memory}; max_num_seqs = {most} decides.",
    "request": "{n} request",
    "requests": "{n} requests",
    "at once": "at once, full length",
    "at once of": "at once, {tokens} tokens each",
    "traffic": "at once, {prompt} in, {output} out",
    "safely": "safe; {n} on average",
    "by most": "by max_num_seqs",
    "not served": "longer than max_model_len",
    "no kv": "no KV cache",
    "cache": "left for the cache",
    "tokens": "KV cache size",
    "one": "one request of {tokens}",
    "one request": "one request",
    "token": "one more token",
    "weights": "weights, one card",
    "to": "{low} to {high}",
    "at least": "up to {high}",
    "printed": "the log: {x}x",
    "held": "reserved to admit it",
    "marginal": "at full context",
    "window": "nothing more is kept",
    "counted": "counted from the config",
    "lacking": "{memory} too little",
    "typed": "as given",
    "none": "–",
}


def say(key: str, **values: object) -> str:
    """A sentence of this module's words."""
    return WORDS[key].format(**values)


def requests(n: int) -> str:
    """ "1 request", "14 requests"."""
    return say("request" if n == 1 else "requests", n=count(n))


def verdict(answer: Answered | None) -> Verdict:
    """How the plan came out."""
    if answer is None:
        return "empty"
    plan = answer.plan
    if plan.cache is None:
        return "refused" if any(error.from_vllm for error in plan.errors) else "missing"
    if not plan.cache.groups:
        return "no cache"
    return "tight" if plan.cache_low is None else "fits"


def headline(answer: Answered | None) -> str:
    """One sentence that answers."""
    found = verdict(answer)
    if answer is None or found in ("refused", "missing"):
        return WORDS[found]
    cache = answer.plan.cache
    if found == "no cache" or cache is None:
        return say("no cache", model=answer.question.name)
    copies, n = answer.question.args.data_parallel_size, requests_at_once(answer.plan) or 0
    where = say("where", n=copies, all=count(copies * n)) if copies > 1 else ""
    return say(found, requests=requests(n), tokens=count(cache.max_model_len), where=where)


def surely(answer: Answered | None) -> str:
    """How sure the answer is, in a sentence; empty where there is none."""
    found = verdict(answer)
    if answer is not None and found == "no cache":
        return _limits(answer.plan)
    if answer is None or found not in ("fits", "tight"):
        return ""
    plan = answer.plan
    assert plan.cache is not None and plan.resolved is not None
    memory, most = int(plan.cache.max_concurrency), plan.resolved.max_num_seqs
    capped = [say("capped", memory=count(memory), most=count(most))] if memory > most else []
    low, high = (end.requests_at_once(most) if end else 0 for end in (plan.cache_low, plan.cache_high))
    if plan.fit is not None:
        bar = fit_words(plan.fit)
    elif plan.budget is None:
        bar = WORDS["given"]
    elif found == "tight":
        bar = say("tight detail", high=requests(high))
    else:
        bar = WORDS["same"] if low == high else say("range", low=count(low), high=count(high))
    return " ".join([*capped, bar])


def _limits(plan: Plan) -> str:
    """What bounds a model that keeps nothing."""
    assert plan.resolved is not None
    limits = say(
        "limits",
        most=count(plan.resolved.max_num_seqs),
        batched=count(plan.resolved.max_num_batched_tokens),
        longest=count(plan.resolved.max_model_len),
    )
    return limits if plan.weights_bytes else f"{limits} {WORDS['uncounted']}"


def _ends(low: float | None, high: float | None, digits: int = 0) -> str:
    if high is None:
        return ""
    if low is None:
        return say("at least", high=count(high, digits))
    return "" if low == high else say("to", low=count(low, digits), high=count(high, digits))


def _memory(name: str, label: str, size: float | None, tone: Tone, detail: str = "") -> Readout:
    if size is None:
        return Readout(name, label, WORDS["none"], "", tone)
    value, _, unit = size_text(size).partition(" ")
    return Readout(name, label, value, unit, tone, detail)


def size_text(size: float) -> str:
    """Bytes in the unit that fits, GiB with two decimals, smaller ones whole where they are."""
    if size >= GIB:
        return gib(size)
    unit, text = (MIB, mib) if size >= MIB else (KIB, kib)
    return text(size, 0 if size % unit == 0 else 1)


def readouts(answer: Answered | None, values: Values) -> tuple[Readout, ...]:
    """Seven numbers; a dash where there is none."""
    plan = answer.plan if answer else None
    layout = plan.layout if plan and plan.layout and plan.layout.groups else None
    per_token = plan.kv_bytes_per_token if plan and layout else None
    copies = answer.question.args.data_parallel_size if answer else 1
    return (
        _of_replicas(_requests(plan), copies),
        _of_replicas(_traffic(answer, values), copies),
        _available(plan),
        _of_replicas(_tokens(plan), copies),
        _memory(
            "request",
            say("one", tokens=count(layout.max_model_len)) if layout else WORDS["one request"],
            layout.blocks_per_request * layout.bytes_per_block if layout else None,
            "kv",
            WORDS["held"],
        ),
        _memory("token", WORDS["token"], per_token, "kv", WORDS["marginal" if per_token else "window"]),
        _memory("weights", WORDS["weights"], plan.weights_bytes if plan else None, "weights", _weights_detail(answer)),
    )


def _of_replicas(one: Readout, copies: int) -> Readout:
    """A count of one replica says so, and what all have together."""
    if copies == 1 or one.value == WORDS["none"]:
        return one
    total = say("in all", all=count(copies * int(one.value.replace(",", ""))))
    unit = f"{one.unit} {say('each', n=copies)}".strip()
    return replace(one, unit=unit, detail=f"{total}; {one.detail}" if one.detail else total)


def average(flight: InFlight) -> str:
    """Requests that the pool holds on average, rounded up as the batch of the bounds is."""
    return count(ceil(flight.expected))


def _traffic(answer: Answered | None, values: Values) -> Readout:
    """How many requests of the lengths set run without preemption."""
    prompt = int(values["prompt_mean"] or 0) + int(values["shared_prefix"] or 0)
    label = say("traffic", prompt=count(prompt), output=count(int(values["output_mean"] or 0)))
    nothing = Readout("traffic", label, WORDS["none"], "", "kv")
    try:
        flight = in_flight(values, answer) if answer else None
    except AnswerError:
        return replace(nothing, detail=WORDS["not served"])
    if flight is None:
        return nothing
    detail = WORDS["by most"] if flight.max_num_seqs <= flight.safe else say("safely", n=average(flight))
    return replace(nothing, value=count(flight.running_safely), detail=detail)


def _weights_detail(answer: Answered | None) -> str:
    return WORDS["typed" if answer and answer.question.weights_bytes is not None else "counted"]


def _requests(plan: Plan | None) -> Readout:
    if plan is None or plan.cache is None or plan.resolved is None:
        return Readout("requests", WORDS["at once"], WORDS["none"], tone="limit")
    if not plan.cache.groups:
        return Readout("requests", WORDS["at once"], WORDS["none"], detail=WORDS["no kv"])
    detail = say("printed", x=count(plan.cache.max_concurrency, 2))
    label = say("at once of", tokens=count(plan.cache.max_model_len))
    return Readout("requests", label, count(requests_at_once(plan) or 0), "", "kv", detail)


def _available(plan: Plan | None) -> Readout:
    if plan is None or plan.available_bytes is None or (plan.cache and not plan.cache.groups):
        return Readout("available", WORDS["cache"], WORDS["none"], "", "kv")
    ends = ""
    if plan.budget is not None:
        ends = _ends(plan.budget.available.low / GIB, plan.budget.available.high / GIB, 2)
    left = plan.available_bytes
    if left <= 0:
        return Readout("available", WORDS["cache"], "0", "GiB", "limit", say("lacking", memory=gib(-left)))
    return Readout("available", WORDS["cache"], count(left / GIB, 2), "GiB", "kv", ends)


def _tokens(plan: Plan | None) -> Readout:
    if plan is None or plan.cache is None or not plan.cache.groups:
        return Readout("tokens", WORDS["tokens"], WORDS["none"], "", "kv")
    low, high = (end.kv_cache_size_tokens if end else None for end in (plan.cache_low, plan.cache_high))
    if plan.fit is not None:
        low = high  # its size is known; whether it fits is not
    return Readout("tokens", WORDS["tokens"], count(plan.cache.kv_cache_size_tokens), "tokens", "kv", _ends(low, high))
