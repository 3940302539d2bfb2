"""The fit: medians, first within a source and then over the sources, so that no machine counts more than another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from snippets.planner.memory.coefficients import Coefficients, Spread, parse
from snippets.planner.memory.parts import activation_bytes, parts
from snippets.planner.memory.profile_run import forward_bytes, graph_context_bytes, sampler_bytes, workspace_bytes
from snippets.units import GIB, MIB
from tools.fit_memory.cases import Case

# Bytes per logit counted from the code, to tell which of forward pass and sampler a log's peak belongs to.
COUNTED = {"sort": 38.0, "v1": 14.0, "v2": 2.0, "none": 0.0}
CLEARLY = 1.2  # one side this much larger than the other: its peak
TAIL = 0.05
SLACK = 1.5  # moves both ends out: without it 34 of 41 logs fall inside their range when left out, with it 37
EXACT = 1e-9  # weights are sums of fractions
KINDS = ("other_one", "other_many", "sm90_one", "sm90_many", "unified")


def over_sources(values: Iterable[tuple[str, float]]) -> float:
    """Median of the sources' medians; 0.0 when the only source that shows it is the one left out."""
    by_source: dict[str, list[float]] = defaultdict(list)
    for source, value in values:
        by_source[source].append(value)
    return median(median(group) for group in by_source.values()) if by_source else 0.0


def _sampler_decides(case: Case) -> bool:
    return sampler_bytes(case.run, COUNTED[case.run.sampler]) > CLEARLY * forward_bytes(case.run)


def _forward_decides(case: Case) -> bool:
    return forward_bytes(case.run) > CLEARLY * sampler_bytes(case.run, COUNTED[case.run.sampler])


def _per_logit(case: Case) -> float:
    """Bytes per logit that explain the printed activation peak."""
    run = case.run
    assert case.activation_gib is not None
    rest = case.activation_gib * GIB - (workspace_bytes(run) if run.keeps_workspace else 0) - sampler_bytes(run, 0)
    return rest / (min(run.max_num_seqs, run.max_num_batched_tokens) * run.vocab_size)


def _per_graph(case: Case) -> float:
    """MiB per graph and layer that explain the estimate vLLM printed."""
    assert case.graphs_gib is not None
    own = case.graphs_gib * GIB - graph_context_bytes(case.run)
    return own / MIB / (case.run.num_layers * case.run.num_graphs)


def _values(cases: Sequence[Case], value: Callable[[Case], float]) -> float:
    return over_sources((case.source, value(case)) for case in cases)


def fit_parts(cases: Sequence[Case]) -> Coefficients:
    """Every coefficient but the spreads, from the logs that print the part in question."""
    known = [c for c in cases if c.activation_gib is not None and not c.shape_guessed]
    plain = [c for c in known if not c.run.profiles_encoder]
    fields: dict[str, Any] = {}
    for name in ("sort", "v1"):
        sampled = [c for c in plain if c.run.sampler == name and _sampler_decides(c)]
        fields[f"bytes_per_logit_{name}"] = _values(sampled, _per_logit)
    forward = [c for c in plain if _forward_decides(c) and not c.run.experts_per_token]
    fields["forward_factor"] = _values(forward, lambda c: (c.activation_gib or 0) * GIB / forward_bytes(c.run))
    fields["encoder_gib"], fields["graph_mib"] = 0.0, 0.0
    fields["non_torch_gib"] = dict.fromkeys(KINDS, 0.0)
    fitted = parse({**fields, "spread": {}})
    seeing = [c for c in known if c.run.profiles_encoder and c.era == "v1"]
    without = {c.id: activation_bytes(c.run, fitted) / GIB for c in seeing}
    fields["encoder_gib"] = _values(seeing, lambda c: max((c.activation_gib or 0) - without[c.id], 0.0))
    graphs = [c for c in cases if c.graphs_gib is not None and c.run.num_graphs and c.kind != "unified"]
    fields["graph_mib"] = _values(graphs, _per_graph)
    fitted = parse({**fields, "spread": {}})
    non_torch = fields["non_torch_gib"]
    for kind in KINDS[:-1]:
        non_torch[kind] = _values(
            [c for c in cases if c.kind == kind and c.non_torch_gib is not None], lambda c: c.non_torch_gib or 0.0
        )
    # Machines whose memory the CPU shares print no parts: all that the count does not explain.
    shared = [c for c in cases if c.kind == "unified" and c.left_over_gib is not None]
    if shared:
        non_torch["unified"] = _values(shared, lambda c: (c.left_over_gib or 0) - activation_bytes(c.run, fitted) / GIB)
    return parse({**fields, "spread": {}})


def expected_gib(case: Case, fitted: Coefficients) -> float:
    """What the estimate takes for everything that is neither weights nor cache."""
    return parts(case.run, fitted, case.kind).total / GIB


def _ratio(case: Case, fitted: Coefficients) -> float | None:
    """Measured over expected: of the whole left-over where the log has it, else of the printed parts."""
    if case.left_over_gib is not None:
        return case.left_over_gib / expected_gib(case, fitted)
    if case.activation_gib is None or case.non_torch_gib is None:
        return None
    expected = parts(replace(case.run, num_graphs=0), fitted, case.kind)
    return (case.activation_gib + case.non_torch_gib) * GIB / expected.total


def _quantile(weighted: list[tuple[float, float]], share: float) -> float:
    """The smallest value that at least `share` of the weight does not exceed."""
    total, seen = sum(weight for _, weight in weighted), 0.0
    for value, weight in sorted(weighted):
        seen += weight
        if seen >= share * total - EXACT:
            return value
    return max(value for value, _ in weighted)


def fit_spread(cases: Sequence[Case], era: str) -> Spread:
    """Ratios that leave a twentieth of the sources' weight outside at each end, moved out by SLACK.

    Each log is predicted without its source.
    """
    ratios: dict[str, list[float]] = defaultdict(list)
    for source in {c.source for c in cases if c.era == era and c.kind != "unified"}:
        others = fit_parts([c for c in cases if c.source != source])
        for case in cases:
            if case.source == source and case.era == era and (ratio := _ratio(case, others)) is not None:
                ratios[source].append(ratio)
    weighted = [(ratio, 1 / len(group)) for group in ratios.values() for ratio in group]
    return Spread(low=_quantile(weighted, TAIL) / SLACK, high=_quantile(weighted, 1 - TAIL) * SLACK)


def fit(cases: Sequence[Case], eras: Sequence[str] = ("v0", "sort", "v1")) -> Coefficients:
    """All coefficients."""
    return replace(fit_parts(cases), spread={era: fit_spread(cases, era) for era in eras})
