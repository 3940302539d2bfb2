"""A vLLM that is not there, for tests of labs."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

GIB = 2**30
QWEN = {  # Qwen/Qwen2.5-7B-Instruct, config.json as published
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "hidden_size": 3584,
    "sliding_window": 131072,
    "use_sliding_window": False,
}


class FakeVllm:
    """Stands where vLLM and torch would: a card, a model's config, and what starting and asking do."""

    def __init__(self) -> None:
        self.device, self.name = "cuda", "NVIDIA GeForce RTX 4090"
        self.capability: tuple[int, int] | None = (8, 9)
        self.total, self.free = int(23.64 * GIB), int(23.2 * GIB)
        self.config: dict[str, Any] = dict(QWEN)
        self.config_error: Exception | None = None
        self.start: BaseException | None = None
        self.reply: BaseException | str = "It keeps keys and values."
        # 15,770,000,000 // (16 tokens * 28,672 bytes) = 34,375 blocks; / 512 blocks a request = 67.138671875
        self.available, self.blocks, self.block_size = 15_770_000_000, 34_375, 16
        self.tokens, self.concurrency = 550_000, 67.138671875
        self.backend = "FLASHINFER"
        self.asked: dict[str, Any] = {}

    def llm(self, **given: Any) -> Any:
        """What `LLM(...)` returns."""
        self.asked = given
        if self.start:
            raise self.start
        layer = SimpleNamespace(attn_backend=SimpleNamespace(get_name=lambda: self.backend))
        cache = SimpleNamespace(
            num_gpu_blocks=self.blocks,
            block_size=self.block_size,
            kv_cache_size_tokens=self.tokens,
            kv_cache_max_concurrency=self.concurrency,
            enable_prefix_caching=True,
        )
        config = SimpleNamespace(
            cache_config=cache,
            compilation_config=SimpleNamespace(
                static_forward_context={"layers.0": layer, "layers.1.experts": object()}
            ),
        )
        core = SimpleNamespace(engine_core=SimpleNamespace(available_gpu_memory_for_kv_cache=self.available))
        return SimpleNamespace(llm_engine=SimpleNamespace(vllm_config=config, engine_core=core), chat=self.chat)

    def chat(self, messages: Any, params: Any, use_tqdm: bool) -> Any:
        if isinstance(self.reply, BaseException):
            raise self.reply
        said = SimpleNamespace(text=self.reply, token_ids=[1, 2, 3])
        return [SimpleNamespace(prompt_token_ids=[1, 2], outputs=[said])]

    def get_config(self, model: str, trust_remote_code: bool) -> Any:
        if self.config_error:
            raise self.config_error
        config = SimpleNamespace(**self.config)
        config.get_text_config = lambda: config
        return config

    def modules(self) -> dict[str, ModuleType]:
        """Modules by name, for sys.modules."""
        platform = SimpleNamespace(
            device_type=self.device,
            get_device_name=lambda: self.name,
            get_device_capability=lambda: (
                SimpleNamespace(major=self.capability[0], minor=self.capability[1]) if self.capability else None
            ),
        )
        content: dict[str, dict[str, Any]] = {
            "torch": {
                "__version__": "2.11.0+cu130",
                "cuda": SimpleNamespace(mem_get_info=lambda: (self.free, self.total)),
            },
            "vllm": {"LLM": self.llm, "SamplingParams": dict},
            "vllm.platforms": {"current_platform": platform},
            "vllm.transformers_utils": {},
            "vllm.transformers_utils.config": {"get_config": self.get_config},
        }
        made = {}
        for name, names in content.items():
            made[name] = ModuleType(name)
            vars(made[name]).update(names)
        return made
