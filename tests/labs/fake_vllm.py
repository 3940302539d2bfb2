"""A vLLM that is not there, for tests of labs: `fake_lab` runs a lab's tasks in the test's own process against it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

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
        self.device, self.name, self.cards = "cuda", "NVIDIA GeForce RTX 4090", 1
        self.capability: tuple[int, int] | None = (8, 9)
        self.driver: str | None = "580.95.05"
        self.total, self.free = int(23.64 * GIB), int(23.2 * GIB)
        self.config: dict[str, Any] = dict(QWEN)
        self.config_error: Exception | None = None
        self.start: BaseException | None = None
        self.reply: BaseException | str = "It keeps keys and values."
        # 15,770,000,000 // (16 tokens * 28,672 bytes) = 34,375 blocks; / 512 blocks a request = 67.138671875
        self.available, self.blocks, self.block_size = 15_770_000_000, 34_375, 16
        self.tokens, self.concurrency = 550_000, 67.138671875
        self.backend = "FLASHINFER"
        self.lines = ["Model loading took 5.2 GiB and 3.141593 seconds"]
        self.started: list[dict[str, Any]] = []  # what each LLM() was given

    @property
    def asked(self) -> dict[str, Any]:
        """What the last LLM() was given."""
        return self.started[-1] if self.started else {}

    def sizes(self) -> None:
        """A test's place to change what the engine that is about to start decides."""

    def llm(self, **given: Any) -> Any:
        """What `LLM(...)` returns."""
        self.started.append(given)
        if self.start:
            raise self.start
        self.sizes()
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
            scheduler_config=SimpleNamespace(
                max_num_batched_tokens=given.get("max_num_batched_tokens", 8192),
                max_num_seqs=given.get("max_num_seqs", 256),
            ),
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

    def nvidia_smi(self, field: str) -> list[str]:
        """One field of every card, as `nvidia-smi --query-gpu=FIELD` prints it."""
        if self.driver is None:
            return []
        return [{"driver_version": self.driver, "memory.used": "500"}[field]] * self.cards

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
                "cuda": SimpleNamespace(mem_get_info=lambda: (self.free, self.total), device_count=lambda: self.cards),
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


def fake_lab(
    lab: ModuleType,
    fake: FakeVllm,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Callable[..., tuple[int, str, str]]:
    """A function that runs the lab with the fake in place; it returns exit status, standard output and error.

    Tasks run in this process instead of one of their own; what crosses between them is JSON, as in a real run.
    """
    monkeypatch.setattr(metadata, "version", lambda package: "0.26.0")
    monkeypatch.setattr(lab, "nvidia_smi", fake.nvidia_smi)
    monkeypatch.setattr(lab.signal, "signal", lambda *_: None)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)

    def ask(task: str, given: dict[str, Any], log: Path, heard: Any) -> tuple[dict[str, Any], list[str]]:
        def tell(kind: str, data: Any) -> None:
            if kind == "say":
                print(data)
            else:
                heard(kind, json.loads(json.dumps(data)))

        try:
            done = lab.TASKS[task](json.loads(json.dumps(given)), tell)
        except Exception as error:
            if given.get("debug"):
                raise
            raise lab.Stop(lab.explain(error, given.get("model", "the model"))) from error
        return json.loads(json.dumps(done)), list(fake.lines)

    monkeypatch.setattr(lab, "ask_child", ask)

    def call(*argv: str) -> tuple[int, str, str]:
        for name, module in fake.modules().items():
            monkeypatch.setitem(sys.modules, name, module)
        status = lab.main(list(argv))
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call
