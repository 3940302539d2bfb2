"""The three parts that are not weights, as expected bytes: activation peak, memory outside PyTorch, CUDA graphs."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.planner.memory.coefficients import Coefficients
from snippets.planner.memory.profile_run import (
    ProfileRun,
    forward_bytes,
    graph_context_bytes,
    logit_bytes_v2,
    sampler_bytes,
    workspace_bytes,
)
from snippets.units import GIB, MIB


@dataclass(frozen=True)
class Parts:
    """Expected bytes on one rank."""

    activation: int
    non_torch: int
    cuda_graphs: int

    @property
    def total(self) -> int:
        """All that is neither weights nor KV cache."""
        return self.activation + self.non_torch + self.cuda_graphs


def bytes_per_logit(run: ProfileRun, fitted: Coefficients) -> float:
    """Bytes the sampler holds per row and vocabulary entry."""
    if run.sampler == "v2":
        return logit_bytes_v2(run)
    return fitted.bytes_per_logit_sort if run.sampler == "sort" else fitted.bytes_per_logit_v1


def activation_bytes(run: ProfileRun, fitted: Coefficients) -> int:
    """Peak of the profile run: the larger of forward pass and sampler, and what stays allocated through both."""
    forward = round(fitted.forward_factor * forward_bytes(run))
    sampler = sampler_bytes(run, bytes_per_logit(run, fitted))
    workspace = workspace_bytes(run)
    encoder = round(fitted.encoder_gib * GIB) if run.profiles_encoder else 0
    if run.keeps_workspace:
        return workspace + max(forward, sampler) + encoder
    return max(forward + workspace, sampler) + encoder


def card_kind(is_sm90: bool, num_cards: int, is_unified: bool = False) -> str:
    """What non-torch memory depends on. Hopper and data-centre Blackwell keep larger buffers for talking to each other:

    multicast and FlashInfer's fused all-reduce exist there only.
    """
    if is_unified:
        return "unified"
    return ("sm90" if is_sm90 else "other") + ("_many" if num_cards > 1 else "_one")


def parts(run: ProfileRun, fitted: Coefficients, kind: str) -> Parts:
    """Everything but weights and cache, expected."""
    return Parts(
        activation=activation_bytes(run, fitted),
        non_torch=round(fitted.non_torch_gib[kind] * GIB),
        cuda_graphs=round(fitted.graph_mib * run.num_layers * run.num_graphs * MIB) + graph_context_bytes(run),
    )
