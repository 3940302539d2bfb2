# mypy: ignore-errors
"""A GPU that is not there, for the real vLLM: name, memory and compute capability of a catalog card.

`install()` must run before anything of vLLM is used. Compiled CUDA modules are replaced by empty ones, so that what
asks "is this kernel built?" hears yes, as in the published wheel on a GPU; which card can run it, vLLM's own code
decides from the compute capability. FlashInfer counts as installed (the wheel requires it).
"""

import functools
import gc
import importlib.machinery
import importlib.metadata
import json
import os
import sys
import types
from unittest.mock import MagicMock

ENV = {
    "VLLM_LOGGING_LEVEL": "ERROR", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "TRANSFORMERS_VERBOSITY": "error",
    "VLLM_HAS_FLASHINFER_CUBIN": "1", "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}  # fmt: skip
COMPILED = (
    "vllm._C_stable_libtorch", "vllm._moe_C_stable_libtorch", "vllm._C", "vllm._moe_C", "vllm._qutlass_C",
    "vllm._flashmla_C", "vllm._flashmla_extension_C", "vllm.vllm_flash_attn._vllm_fa2_C",
    "vllm.vllm_flash_attn._vllm_fa3_C",
)  # fmt: skip
PACKAGES = ("flashinfer", "tokenspeed_mla", "torchvision", "mistral_common")  # required by the wheel, not by a plan
REMOTE_CONFIGS = {  # config classes that a checkpoint brings along as code: model_type → names transformers expects
    "exaone": {"num_hidden_layers": "num_layers"}, "qwen": {}, "baichuan": {}, "nemotron-nas": {},
}  # fmt: skip
OP_SPACES = ("_C", "_moe_C", "_C_cache_ops", "_vllm_fa2_C", "_vllm_fa3_C", "_flashmla_C", "_C_custom_ar", "_qutlass_C")


class Nothing(MagicMock):
    """Any object, which answers every call and remembers none: a remembered call would keep its model alive."""

    def _increment_mock_call(self, /, *args, **kwargs):
        pass


class Stub(types.ModuleType):
    """A module in which every name exists."""

    def __init__(self, name):
        super().__init__(name)
        self.__path__, self.__version__ = [], "1.0"
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name=name)


class Finder:
    """Every module of PACKAGES exists, as a Stub."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PACKAGES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


class Ops:
    """torch.ops.NAMESPACE in which every operator exists and says no."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing(name=name, return_value=False)


def install(card):
    """Put the fake card in place; returns its class, whose `card` may be another of the same generation later.

    A few modules of vLLM look at the card when they are imported, so one process serves one generation.
    """
    for name, value in ENV.items():
        os.environ.setdefault(name, value)
    for name in (*COMPILED, "transformers.tokenization_mistral_common"):
        sys.modules[name] = Stub(name)
    sys.meta_path.insert(0, Finder())
    version = importlib.metadata.version
    importlib.metadata.version = lambda name: "1.0" if name in PACKAGES else version(name)
    import torch
    import torch.utils._device

    torch.cuda.Stream = Nothing(name="Stream")
    torch.cuda.Event = Nothing(name="Event")
    torch.cuda.current_stream = Nothing(name="current_stream")
    torch.cuda.current_device = lambda: torch.device("meta")
    torch.accelerator.current_device_index = lambda: torch.device("meta")
    torch.accelerator.empty_cache = lambda: None
    import vllm.platforms as platforms

    fake = _platform_class()
    fake.card = card
    platforms._current_platform = fake()
    import vllm._custom_ops  # registers what exists; only then may the namespaces be replaced

    for space in OP_SPACES:
        setattr(torch.ops, space, Ops())
    import vllm.config.vllm as config_of_vllm
    import vllm.model_executor.models.registry as registry
    import vllm.utils.import_utils as imports

    config_of_vllm.HAS_TRITON = True  # as on a GPU: decides the model runner
    imports.has_deep_gemm = lambda: True
    _place_experts_on_cpu()
    torch.utils._device._device_constructors()  # remembers the functions that `with torch.device` knows: these
    for name in ("empty", "zeros", "ones", "full"):
        setattr(torch, name, _not_on_cuda(getattr(torch, name)))
    torch.nn.Module.to = lambda module, *args, **kwargs: module  # what lies on the meta device stays there
    _accept_configs()
    import vllm.model_executor.layers.fused_moe.expert_map_manager as experts
    import vllm.tokenizers

    experts.determine_expert_map = _on_cpu(experts.determine_expert_map)  # it reads what it writes

    vllm.tokenizers.cached_tokenizer_from_config = Nothing(name="tokenizer")
    registry._run_in_subprocess = lambda inspect: inspect()  # a child process would lack all of the above
    return fake


def _not_on_cuda(make):
    """A buffer asked for on the GPU by name is made on the meta device."""

    @functools.wraps(make)
    def elsewhere(*args, **kwargs):
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "meta"
        return make(*args, **kwargs)

    return elsewhere


def _on_cpu(function):
    import torch

    def on_cpu(*args, **kwargs):
        with torch.device("cpu"):
            return function(*args, **kwargs)

    return on_cpu


def _place_experts_on_cpu():
    """Which experts a rank holds is worked out with real numbers, not on the meta device."""
    import torch
    import vllm.model_executor.layers.fused_moe.expert_map_manager as experts

    place, nonzero = experts.determine_expert_map, torch.nonzero

    def placed(*args, **kwargs):
        with torch.device("cpu"):
            return place(*args, **kwargs)

    def counted(tensor, *args, **kwargs):
        return nonzero(torch.ones(tensor.shape, device="cpu") if tensor.is_meta else tensor, *args, **kwargs)

    experts.determine_expert_map, torch.nonzero = placed, counted


def _accept_configs():
    """Configs as vLLM 0.26.0 met them: one value of a per-layer attribute, and classes from remote code."""
    from transformers import AutoConfig, PretrainedConfig

    try:
        from transformers.integrations.heterogeneity import configuration_utils as mixed
    except ImportError:
        pass
    else:
        for thing in vars(mixed).values():
            if hasattr(thing, "allow_global_per_layer_attribute_access"):
                thing.allow_global_per_layer_attribute_access = True
    from transformers.models.pixtral import modeling_pixtral

    if not hasattr(modeling_pixtral, "PixtralRotaryEmbedding"):  # renamed since
        modeling_pixtral.PixtralRotaryEmbedding = modeling_pixtral.PixtralVisionRotaryEmbedding
        modeling_pixtral.position_ids_in_meshgrid = Nothing(name="position_ids_in_meshgrid")
    for model_type, names in REMOTE_CONFIGS.items():
        body = {
            "model_type": model_type, "attribute_map": names, "max_position_embeddings": None,
            "__setattr__": _set_blocks,
        }  # fmt: skip
        AutoConfig.register(model_type, type("Remote", (PretrainedConfig,), body), exist_ok=True)


class Block(dict):
    """A block of nemotron-nas: read by attribute, written as JSON."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


def _set_blocks(config, name, value):
    if name == "block_configs":
        value = json.loads(json.dumps(value), object_hook=Block)
    object.__setattr__(config, name, value)


def _platform_class():
    import torch
    from vllm.platforms.cuda import NonNvmlCudaPlatform
    from vllm.platforms.interface import DeviceCapability

    class FakeGpu(NonNvmlCudaPlatform):
        card = None

        @classmethod
        def get_device_capability(cls, device_id=0):
            return DeviceCapability(*cls.card.capability)

        @classmethod
        def has_device_capability(cls, capability, device_id=0):
            wanted = capability if isinstance(capability, tuple) else divmod(capability, 10)
            return tuple(cls.card.capability) >= tuple(wanted)

        @classmethod
        def get_device_name(cls, device_id=0):
            return cls.card.name

        @classmethod
        def get_device_total_memory(cls, device_id=0):
            return cls.card.total_bytes

        @classmethod
        def device_count(cls):
            return 1024

        @classmethod
        def is_fully_connected(cls, ids):
            return True

        @classmethod
        def num_compute_units(cls, device_id=0):
            return 132

        @classmethod
        def current_device(cls):
            return torch.device("cpu")

    return FakeGpu


def forget():
    """Clear what vLLM remembers of the last card and the last model."""
    import vllm.v1.attention.backends.utils as layouts

    layouts._KV_CACHE_LAYOUT_OVERRIDE = None
    for remembered in _caches():
        remembered.cache_clear()


@functools.cache
def _caches():
    """functools caches of vLLM's modules; those of modules imported later hold nothing of a card."""
    return [thing for thing in gc.get_objects() if isinstance(thing, functools._lru_cache_wrapper) and _is_vllm(thing)]


def _is_vllm(thing):
    return (thing.__module__ or "").startswith("vllm")
