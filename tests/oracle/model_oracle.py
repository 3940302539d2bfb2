# ruff: noqa: E402
# mypy: ignore-errors
"""What the real vLLM 0.26.0 decides for a model: settings in force, layer specs, weights, blocks. No GPU.

usage: PYTHONPATH=. ORACLE_ENV/bin/python tests/oracle/model_oracle.py GPU < questions.jsonl > answers.jsonl
GPU is a catalog key; all questions of one run are about cards of its compute capability. A question is one line:
{"config": fields of a config.json, "gpu": catalog key, "args": {EngineArgs field: value}, "available_bytes": N,
"draft": fields of the drafter's config.json, "runner": "pooling" where files beside the config say so,
"hf_quant_config": that side file}. One answer a line, in order.
The real model class is built on the meta device and every layer is asked for its spec: half a second a question,
after half a minute of imports.
"""

import dataclasses
import gc
import json
import sys
import tempfile
import time
import traceback
from pathlib import Path

import fake_gpu

from snippets.catalog.gpus import gpu
from snippets.planner.settings.card import card_of

OUT = sys.stdout
sys.stdout = sys.stderr  # vLLM's log lines; answers go to OUT
FakeGpu = fake_gpu.install(card_of(gpu(sys.argv[1])))
import torch
from vllm.config import set_current_vllm_config
from vllm.config.utils import replace
from vllm.config.vllm import get_layers_from_vllm_config
from vllm.distributed import init_distributed_environment, initialize_model_parallel, parallel_state
from vllm.engine.arg_utils import EngineArgs
from vllm.model_executor.layers.attention_layer_base import AttentionLayerBase
from vllm.model_executor.model_loader.utils import initialize_model
from vllm.usage.usage_lib import UsageContext
from vllm.utils.torch_utils import set_default_torch_dtype
from vllm.v1.core import kv_cache_utils
from vllm.v1.kv_cache_interface import AttentionSpec
from vllm.v1.worker.workspace import init_workspace_manager

USAGE = {"server": UsageContext.OPENAI_API_SERVER, "llm": UsageContext.LLM_CLASS}
GROUPS = ("_TP", "_PP", "_DP", "_EP", "_DCP", "_PCP")
SPEC_FIELDS = (
    "num_kv_heads", "head_size", "head_size_v", "sliding_window", "attention_chunk_size", "page_size_padded",
    "indexes_kv_by_block_stride", "tq_slot_size", "cache_dtype_str", "compress_ratio", "alignment", "model_version",
    "num_speculative_blocks", "mamba_cache_mode",
)  # fmt: skip


def start():
    """One process group of one rank; its sizes are set per question."""
    with set_current_vllm_config(_any_config()):
        file = Path(tempfile.mkdtemp()) / "rendezvous"
        init_distributed_environment(
            world_size=1, rank=0, distributed_init_method=f"file://{file}", local_rank=0, backend="gloo"
        )
        initialize_model_parallel(1, 1, backend="gloo")
    init_workspace_manager(torch.device("meta"))
    fake_gpu.forget()
    gc.disable()
    gc.freeze()  # what is loaded by now stays; only questions leave something to collect


def _any_config():
    from vllm.config import VllmConfig

    return VllmConfig()


def answer(question):
    """One answer; {"error": text} for what vLLM refuses before planning."""
    fake_gpu.forget()
    FakeGpu.device_type = "cuda"
    FakeGpu.card = card_of(gpu(question["gpu"]))
    started = time.perf_counter()
    try:
        found = _answer(question)
    except Exception as error:
        found = {"error": _message(error), "type": type(error).__name__}
        if "--trace" in sys.argv:
            traceback.print_exc()
    found["seconds"] = round(time.perf_counter() - started, 1)
    return found


def _message(error):
    """The sentence; pydantic wraps it."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    first = errors(include_context=False, include_input=False, include_url=False)[0]["msg"]
    return first.removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _answer(question):
    with tempfile.TemporaryDirectory() as folder:
        config = _engine_config(question, folder)
        FakeGpu.device_type = "meta"  # buffers that a model makes on the platform's device
        config.device_config.device = torch.device("meta")
        with set_current_vllm_config(config):
            pp = config.parallel_config.pipeline_parallel_size
            ranks = [_rank(config, rank, pp) for rank in range(pp)]
            found = {
                "settings": _settings(config),
                "backends": sorted({name for rank in ranks for name in rank["backends"]}),
                "weights": [rank["weights"] for rank in ranks],
                "drafter_weights": ranks[-1]["drafter_weights"],
                "stages": [_runs(rank["specs"]) for rank in ranks],
            }
            return found | _plan(config, [rank["specs"] for rank in ranks], question["available_bytes"])


def _engine_config(question, folder):
    model = Path(folder) / "model"
    _write(model, question["config"])
    if question.get("hf_quant_config"):
        (model / "hf_quant_config.json").write_text(json.dumps(question["hf_quant_config"]), encoding="utf-8")
    given = dict(question.get("args", {}))
    usage = USAGE[given.pop("usage", "server")]
    speculative = given.pop("speculative", None)
    if question.get("draft") is not None:
        draft = Path(folder) / "draft"
        _write(draft, question["draft"])
        speculative = {**speculative, "model": str(draft)}
    if given.get("max_model_len") == "auto":
        given["max_model_len"] = -1
    if given.get("disable_hybrid_kv_cache_manager") is False:
        given.pop("disable_hybrid_kv_cache_manager")
    return EngineArgs(
        model=str(model),
        skip_tokenizer_init=True,
        runner=question.get("runner", "auto"),
        speculative_config=speculative,
        **{name: value for name, value in given.items() if value is not None},
    ).create_engine_config(usage)


def _write(folder, fields):
    folder.mkdir()
    fields = {name: value for name, value in fields.items() if name != "auto_map"}  # no code to fetch
    (folder / "config.json").write_text(json.dumps(fields), encoding="utf-8")


def _rank(config, pp_rank, pp):
    """Build the model as the worker of (tensor rank 0, pp_rank) would, and the drafter on the last stage."""
    parallel = config.parallel_config
    config.compilation_config.static_forward_context.clear()
    config.compilation_config.static_all_moe_layers.clear()
    for group in GROUPS:
        _set_group(group, 1, 0)
    _set_group("_TP", parallel.tensor_parallel_size, 0)
    _set_group("_PP", pp, pp_rank)
    _set_group("_DP", parallel.data_parallel_size, 0)
    _set_group("_EP", parallel.tensor_parallel_size * parallel.data_parallel_size, 0)
    _set_group("_DCP", parallel.decode_context_parallel_size, 0)
    parallel.rank = pp_rank * parallel.tensor_parallel_size
    with set_default_torch_dtype(config.model_config.dtype), torch.device("meta"):
        model = initialize_model(vllm_config=config)
        drafter = _drafter(config) if pp_rank == pp - 1 else None
    FakeGpu.update_block_size_for_backend(config)
    layers = get_layers_from_vllm_config(config, AttentionLayerBase)
    return {
        "specs": {name: spec for name, layer in layers.items() if (spec := _spec(config, layer)) is not None},
        "weights": _bytes(model),
        "drafter_weights": _bytes(drafter) if drafter is not None else 0,
        "backends": {layer.get_attn_backend().get_name() for layer in layers.values()},
    }


def _set_group(name, world, rank):
    group = getattr(parallel_state, name, None)
    if group is not None:
        group.world_size, group.rank_in_group, group.rank, group.ranks = world, rank, rank, list(range(world))


def _drafter(config):
    """v1/spec_decode/llm_base_proposer.py and draft_model.py, _create_draft_vllm_config and _get_model."""
    spec = config.speculative_config
    if spec is None or spec.method in ("ngram", "ngram_gpu", "suffix"):
        return None
    attention = replace(config.attention_config, backend=spec.attention_backend)
    if spec.method != "draft_model":
        return initialize_model(
            vllm_config=replace(config, attention_config=attention), model_config=spec.draft_model_config
        )
    parallel = replace(spec.draft_parallel_config, rank=config.parallel_config.rank)
    changed = {"quant_config": None, "parallel_config": parallel, "model_config": spec.draft_model_config}
    return initialize_model(vllm_config=replace(config, attention_config=attention, **changed), prefix="draft_model")


def _spec(config, layer):
    """v1/worker/gpu_model_runner.py get_kv_cache_spec."""
    if getattr(layer, "kv_sharing_target_layer_name", None):
        return None
    spec = layer.get_kv_cache_spec(config)
    if isinstance(spec, AttentionSpec):
        stride = layer.get_attn_backend().indexes_kv_by_block_stride()
        spec = dataclasses.replace(spec, indexes_kv_by_block_stride=stride)
    return spec


def _bytes(model):
    return sum(weight.numel() * weight.element_size() for weight in model.parameters())


def _settings(config):
    cache, scheduler = config.cache_config, config.scheduler_config
    return {
        "dtype": _dtype(config.model_config.dtype),
        "max_model_len": config.model_config.max_model_len,
        "quantization": config.model_config.quantization,
        "kv_cache_dtype": cache.cache_dtype,
        "block_size": cache.block_size,
        "enable_prefix_caching": cache.enable_prefix_caching,
        "mamba_cache_mode": cache.mamba_cache_mode,
        "max_num_seqs": scheduler.max_num_seqs,
        "max_num_batched_tokens": scheduler.max_num_batched_tokens,
        "enable_chunked_prefill": scheduler.enable_chunked_prefill,
        "async_scheduling": scheduler.async_scheduling,
        "disable_hybrid_kv_cache_manager": scheduler.disable_hybrid_kv_cache_manager,
        "max_in_flight_tokens": config.max_in_flight_tokens,
    }


def _dtype(dtype):
    return str(dtype).removeprefix("torch.")


def _runs(specs):
    """Equal neighbours as [count, facts], in the order vLLM registers the layers."""
    runs = []
    for spec in specs.values():
        facts = _facts(spec)
        if runs and runs[-1][1] == facts:
            runs[-1][0] += 1
        else:
            runs.append([1, facts])
    return runs


def _facts(spec):
    facts = {"class": type(spec).__name__, "block_size": spec.block_size, "page_size_bytes": spec.page_size_bytes}
    for name in SPEC_FIELDS:
        value = getattr(spec, name, None)
        if value is not None and value is not False:
            facts[name] = value
    if hasattr(spec, "dtype"):
        facts["dtype"] = _dtype(spec.dtype)
    if hasattr(spec, "shapes"):
        facts["shapes"] = [list(shape) for shape in spec.shapes]
        facts["dtypes"] = [_dtype(dtype) for dtype in spec.dtypes]
        facts["mamba_type"] = spec.mamba_type.name
    return facts


def _plan(config, specs, available_bytes):
    """v1/engine/core.py _initialize_kv_caches."""
    try:
        per_rank = [stage for stage in specs for _ in range(config.parallel_config.tensor_parallel_size)]
        configs = kv_cache_utils.get_kv_cache_configs(config, per_rank, [available_bytes] * len(per_rank))
        if not any(per_rank):
            return {"num_blocks": configs[0].num_blocks}
        tokens, concurrency = kv_cache_utils.get_kv_cache_capacity(config, configs[0])
        config.validate_block_size()
    except (ValueError, NotImplementedError, AssertionError) as error:
        return {"plan_error": str(error)}
    return {
        "num_blocks": configs[0].num_blocks,
        "tokens": tokens,
        "concurrency": concurrency,
        "max_model_len_after": config.model_config.max_model_len,
        "groups": _groups(configs[:: config.parallel_config.tensor_parallel_size]),
    }


def _groups(stages):
    """[layers over all stages, class, block size, page on the first stage] of every group."""
    return [
        [
            sum(len(stage.kv_cache_groups[i].layer_names) for stage in stages),
            type(group.kv_cache_spec).__name__,
            group.kv_cache_spec.block_size,
            group.kv_cache_spec.page_size_bytes,
        ]
        for i, group in enumerate(stages[0].kv_cache_groups)
    ]


if __name__ == "__main__":
    start()
    for i, line in enumerate(sys.stdin):
        print(json.dumps(answer(json.loads(line))), file=OUT, flush=True)
        if i % 20 == 19:
            gc.collect()
            gc.freeze()  # looking again at what vLLM keeps would take longer than the questions
