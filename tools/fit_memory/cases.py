"""The logs as cases: what was printed, and the profile run each of them made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from snippets.catalog.gpus import Gpu, gpus
from snippets.planner.memory.capture import num_graphs
from snippets.planner.memory.from_config import DATA_CENTRE
from snippets.planner.memory.parts import card_kind
from snippets.planner.memory.profile_run import INDEXER_LOGITS_BYTES, ProfileRun
from snippets.units import GIB

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "snippets" / "planner" / "evidence" / "startup_logs.json"
CASES = ROOT / "tests" / "data" / "memory_cases.json"
NOT_NAMED = "not named by the index"  # sources that only look alike
KEPT_SINCE = (0, 15)  # the first version here whose MoE log shows the workspace; 0.10.2 does not
TOP_K_SINCE = (0, 17)
OURS = (0, 26)
DEFAULT_UTILIZATION = 0.9
HIGHER_DEFAULT = 0.92  # seen in logs from 0.21 on
HIGHER_SINCE = (0, 21)


@dataclass(frozen=True)
class Case:
    """One log. Memory in GiB as printed; None where it does not say."""

    id: str
    model: str
    source: str
    version: tuple[int, ...]  # () where not stated
    era: str  # "v0" (the engine before V1), "sort" (to 0.16), "v1" (0.17 to 0.26), "later"
    run: ProfileRun
    kind: str
    sold_as_gb: int | None
    shape_guessed: bool  # the log does not name the model, or its config was not seen
    card_inferred: bool  # the collection worked the card out from the memory figures
    total_gib: float | None
    utilization: float | None
    utilization_stated: bool
    weights_gib: float | None
    available_gib: float | None
    activation_gib: float | None
    non_torch_gib: float | None
    graphs_gib: float | None

    @property
    def left_over_gib(self) -> float | None:
        """What was neither weights nor cache: activation, non-torch and, where subtracted, graphs."""
        if self.total_gib is None or self.utilization is None or self.weights_gib is None or self.available_gib is None:
            return None
        requested = ceil(self.total_gib * GIB * self.utilization) / GIB
        return requested - self.weights_gib - self.available_gib


def _version(text: str | None) -> tuple[int, ...]:
    numbers = (text or "").replace("-", ".").split(".")[:2]
    return tuple(int(n) for n in numbers) if len(numbers) == 2 and all(n.isdigit() for n in numbers) else ()


def _source(case_id: str, text: str) -> str:
    """Repository, thread or site: two logs of one machine mostly share it. Unnamed sources stand for themselves."""
    if text.endswith(NOT_NAMED):
        return case_id
    return text.split(" : ")[0].split(" (")[0] if "issue" in text or " : " in text else text


def _is_sm90(card: Gpu) -> bool:
    return card.vendor == "nvidia" and card.compute_capability[0] in DATA_CENTRE


def _era(how: dict[str, Any], version: tuple[int, ...]) -> str:
    if how.get("v0"):
        return "v0"
    if version > OURS:
        return "later"
    return "v1" if how["sampler"] in ("v1", "v2") or version >= TOP_K_SINCE else "sort"


def _run(how: dict[str, Any], shape: dict[str, Any], tp: int, pp: int, version: tuple[int, ...]) -> ProfileRun:
    tokens, seqs, sampler = how["max_num_batched_tokens"], how["max_num_seqs"], how["sampler"]
    experts = shape.get("experts_per_token", 0)
    graphs = how.get("num_graphs", num_graphs(seqs, tokens)) if how.get("subtracts_graphs") else 0
    return ProfileRun(
        max_num_batched_tokens=tokens,
        max_num_seqs=seqs,
        hidden_size=shape["hidden_size"],
        intermediate_size=shape["intermediate_size"],
        vocab_size=shape["vocab_size"],
        num_layers=shape["num_layers"] // pp,
        sampler=sampler,
        tensor_parallel_size=tp,
        pipeline_parallel_size=pp,
        is_last_stage=how.get("stage") != "first",
        experts_per_token=experts,
        moe_intermediate_size=shape.get("moe_intermediate_size", 0) // (1 if how.get("expert_parallel") else tp),
        keeps_workspace=version >= KEPT_SINCE if version else sampler in ("v1", "v2"),
        indexer_tokens=how.get("indexer_tokens", 0),
        attention_bytes=INDEXER_LOGITS_BYTES if "indexer_tokens" in how else 0,
        residual_streams=shape.get("residual_streams", 1),
        profiles_encoder=bool(shape.get("is_multimodal")) and sampler != "v2",
        has_gdn=bool(shape.get("has_gdn")),
        num_graphs=graphs,
    )


def _case(case_id: str, how: dict[str, Any], shapes: dict[str, Any], log: dict[str, Any]) -> Case:
    settings, printed = log.get("settings", how), {**log["printed"], **how.get("printed", {})}
    version = _version(log.get("vllm_version"))
    tp = how.get("tensor_parallel_size") or settings.get("tensor_parallel_size", 1)
    pp = how.get("pipeline_parallel_size", 1)
    card: Gpu | None = gpus()[how["card"]] if "card" in how else None
    sm90 = bool(how.get("sm90")) or (card is not None and _is_sm90(card))
    stated = settings.get("gpu_memory_utilization")
    default = HIGHER_DEFAULT if version >= HIGHER_SINCE else DEFAULT_UTILIZATION
    return Case(
        id=case_id,
        model=shapes[how["shape"]]["model"],
        source=_source(case_id, log["source"]),
        shape_guessed=bool(how.get("shape_guessed")),
        version=version,
        era=_era(how, version),
        run=_run(how, shapes[how["shape"]], tp, pp, version),
        kind=card_kind(sm90, tp, card is not None and card.unified_memory),
        sold_as_gb=how.get("sold_as_gb", card.sold_as_gb if card else None),
        card_inferred=bool(how.get("card_inferred")),
        total_gib=how.get("total_gib", card.visible_gib if card else None),
        utilization=stated or (default if "weights_gib" in printed else None),
        utilization_stated=stated is not None,
        weights_gib=printed.get("weights_gib"),
        available_gib=printed.get("available_kv_gib"),
        activation_gib=printed.get("activation_peak_gib"),
        non_torch_gib=printed.get("non_torch_gib"),
        graphs_gib=printed.get("estimated_cuda_graph_gib"),
    )


@dataclass(frozen=True)
class Cases:
    """All of them, by what they are for."""

    logs: tuple[Case, ...]  # discrete cards that print weights and KV GiB: baseline and estimate are compared on these
    unified: tuple[Case, ...]
    breakdowns: tuple[Case, ...]  # further logs with the parts, or of 0.26.0
    left_out: dict[str, str]  # id of a start-up log → why it is in none of these

    @property
    def every(self) -> tuple[Case, ...]:
        """All of them together: what the fit reads."""
        return self.logs + self.unified + self.breakdowns


def load() -> Cases:
    """Reads the start-up logs and memory_cases.json, which says of each what its profile run was."""
    logs = {log["id"]: log for log in json.loads(LOGS.read_text(encoding="utf-8"))}
    raw = json.loads(CASES.read_text(encoding="utf-8"))
    shapes = raw["shapes"]

    def named(group: str) -> tuple[Case, ...]:
        return tuple(_case(key, how, shapes, logs[key]) for key, how in raw[group].items())

    breakdowns = tuple(_case(how["id"], how, shapes, how) for how in raw["breakdowns"])
    return Cases(named("startup_logs"), named("unified_memory"), breakdowns, raw["left_out"])
