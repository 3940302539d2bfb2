"""From what is set to the question it makes, and the plan that answers it, made once for the same settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import Gpu, gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.plan import Plan, make_plan
from snippets.planner.settings.lengths import parse_human_int, parse_max_model_len
from snippets.units import GIB
from snippets.widgets.declare import Values
from snippets.widgets.planning import options
from snippets.widgets.planning.own_config import own_config

SAME_NAME = (
    *("gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens", "block_size", "kv_cache_dtype", "dtype"),
    *("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "decode_context_parallel_size"),
    "num_gpu_blocks_override",
)  # controls named like the argument, with its value
SWITCHES = ("enforce_eager", "disable_hybrid_kv_cache_manager", "enable_expert_parallel")
THREE_STATES = ("enable_prefix_caching",)
OTHERS = (
    *("model", "config", "gpu", "gpu_gib", "max_model_len", "kv_cache_memory_bytes", "weights_gib", "available_gib"),
    *("method", "num_speculative_tokens", "drafter", "draft_config"),
)
ASKED = (*SAME_NAME, *SWITCHES, *THREE_STATES, *OTHERS)  # controls that the plan depends on
STATES = {"auto": None, "on": True, "off": False}
OWN_NAME = "your model"


@dataclass(frozen=True)
class Question:
    """What is asked: a model on a card, with arguments, and bytes of one rank that are known."""

    name: str  # of the model, for people
    repository: str  # for `vllm serve`
    drafter: str
    config: ModelConfig
    gpu: Gpu | None
    args: EngineArgs
    available_bytes: int | None = None
    weights_bytes: int | None = None
    total_bytes: int | None = None

    @property
    def cards(self) -> int:
        """Cards in all."""
        args = self.args
        return args.tensor_parallel_size * args.pipeline_parallel_size * args.data_parallel_size

    def plan(self, args: EngineArgs | None = None, available_bytes: int | None = None) -> Plan:
        """The answer, or that to other arguments."""
        return make_plan(
            self.config,
            self.gpu,
            args or self.args,
            available_bytes=self.available_bytes if available_bytes is None else available_bytes,
            weights_bytes=self.weights_bytes,
            total_bytes=self.total_bytes,
        )


@dataclass(frozen=True)
class Answered:
    """A question and its plan."""

    question: Question
    plan: Plan


def answered(values: Values) -> Answered | None:
    """The plan for what is set; None where no model is given yet."""
    return _answered(tuple(values[name] for name in ASKED))


@lru_cache(16)
def _answered(values: tuple[int | float | str | None, ...]) -> Answered | None:
    asked = question(dict(zip(ASKED, values, strict=True)))
    return None if asked is None else Answered(asked, asked.plan())


def question(values: Mapping[str, int | float | str | None]) -> Question | None:
    """The question that the controls make; None where no model is given yet."""
    config = config_of(str(values["model"]), str(values["config"]))
    if config is None:
        return None
    own_card = values["gpu"] == options.OTHER_CARD
    return Question(
        name=name_of(str(values["model"]), config),
        repository=repository_of(str(values["model"])),
        drafter=repository_of(str(values["drafter"])),
        config=config,
        gpu=None if own_card else gpu(str(values["gpu"])),
        args=_args(values),
        available_bytes=_bytes(values["available_gib"]),
        weights_bytes=_bytes(values["weights_gib"]),
        total_bytes=_bytes(values["gpu_gib"]) if own_card else None,
    )


def config_of(model: str, typed: str) -> ModelConfig | None:
    """A catalog model's config, or the pasted one; None before anything is pasted."""
    if model != options.PASTE:
        return catalog_config(model)
    return own_config(typed) if typed.strip() else None


def name_of(model: str, config: ModelConfig) -> str:
    """What to call a model."""
    return config_entries()[model].name if model != options.PASTE else config.architecture or OWN_NAME


def repository_of(model: str) -> str:
    """What `vllm serve` loads."""
    return config_entries()[model].repository if model != options.PASTE else "MODEL"


def _bytes(gib: int | float | str | None) -> int | None:
    return None if gib is None else round(float(gib) * GIB)


def _args(values: Mapping[str, int | float | str | None]) -> EngineArgs:
    typed_bytes = str(values["kv_cache_memory_bytes"])
    given: dict[str, object] = {name: values[name] for name in SAME_NAME}
    given |= {name: values[name] == "yes" for name in SWITCHES}
    given |= {name: STATES[str(values[name])] for name in THREE_STATES}
    given["max_model_len"] = parse_max_model_len(str(values["max_model_len"]))
    given["kv_cache_memory_bytes"] = parse_human_int(typed_bytes) if typed_bytes else None
    given["speculative"] = _speculative(values)
    return EngineArgs(**given)  # type: ignore[arg-type]  # checked where the values were read


def _speculative(values: Mapping[str, int | float | str | None]) -> SpeculativeConfig | None:
    method = str(values["method"])
    if method == options.NONE:
        return None
    draft = None
    if options.needs_draft(method):
        draft = config_of(str(values["drafter"]), str(values["draft_config"]))
    return SpeculativeConfig(method, int(values["num_speculative_tokens"] or 1), draft)
