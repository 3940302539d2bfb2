"""A folder with packages `vllm` and `torch` that pretend, for labs that run in processes of their own.

What they do is said by the variable FAKE_VLLM: nothing special, "hang" (with a helper), "crash",
"crash later" (when it is asked) or "raise:TEXT".
Every start of an engine is a line in the file that FAKE_STARTS names: the process, and that of its helper.
"""

from __future__ import annotations

from pathlib import Path

VLLM = """
import os, signal, subprocess, sys, time
from types import SimpleNamespace


class SamplingParams:
    def __init__(self, **given):
        pass


class LLM:
    def __init__(self, model, **given):
        what = os.environ.get("FAKE_VLLM", "")
        helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) if what == "hang" else None
        with open(os.environ["FAKE_STARTS"], "a") as file:
            print(os.getpid(), helper.pid if helper else 0, given["kv_cache_dtype"], file=file)
        prefix = "(EngineCore pid=7) INFO 11-30 12:00:00 [gpu_worker.py:561] "
        print(prefix + "Available KV cache memory: 1.0 GiB")
        print(prefix + "Something else", flush=True)
        print("model.safetensors:  34%|###  | 1.9G/5.6G\\rmodel.safetensors:  35%|###  | 2.0G/5.6G", flush=True)
        if what == "hang" and given["kv_cache_dtype"] == os.environ.get("FAKE_ON", given["kv_cache_dtype"]):
            time.sleep(60)
        if what == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if what.startswith("raise:"):
            raise ValueError(what.removeprefix("raise:"))
        size = 1 if given["kv_cache_dtype"] == "fp8" else 2
        blocks = 2**30 // (128 * 28672 * size)
        concurrency = blocks / -(-given["max_model_len"] // 128)
        cache = SimpleNamespace(
            num_gpu_blocks=blocks, block_size=128, kv_cache_max_concurrency=concurrency, enable_prefix_caching=True,
            kv_cache_size_tokens=int(concurrency * given["max_model_len"]),
        )
        layer = SimpleNamespace(attn_backend=SimpleNamespace(get_name=lambda: "CPU_ATTN"))
        config = SimpleNamespace(
            cache_config=cache, compilation_config=SimpleNamespace(static_forward_context={"a": layer}),
            scheduler_config=SimpleNamespace(max_num_batched_tokens=2048, max_num_seqs=256),
        )
        core = SimpleNamespace(engine_core=SimpleNamespace(available_gpu_memory_for_kv_cache=2**30))
        self.llm_engine = SimpleNamespace(vllm_config=config, engine_core=core)

    def chat(self, messages, params, use_tqdm):
        if os.environ.get("FAKE_VLLM") == "crash later":
            os.kill(os.getpid(), signal.SIGSEGV)
        return [SimpleNamespace(outputs=[SimpleNamespace(text="An answer.", token_ids=[1, 2])])]
"""
PLATFORMS = """
from types import SimpleNamespace

current_platform = SimpleNamespace(
    device_type="cpu", get_device_name=lambda: "a CPU", get_device_capability=lambda: None
)
"""
CONFIG = """
from types import SimpleNamespace


def get_config(model, trust_remote_code):
    found = SimpleNamespace(num_hidden_layers=28, num_attention_heads=28, num_key_value_heads=4, head_dim=128)
    found.get_text_config = lambda: found
    return found
"""


def install(folder: Path) -> dict[str, str]:
    """Write the packages; returns the environment that finds them, and where starts are noted."""
    files = {
        "vllm/__init__.py": VLLM,
        "vllm/platforms.py": PLATFORMS,
        "vllm/transformers_utils/__init__.py": "",
        "vllm/transformers_utils/config.py": CONFIG,
        "torch/__init__.py": '__version__ = "2.11.0"\n',
        "vllm-0.26.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm\nVersion: 0.26.0\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    starts = folder / "starts"
    starts.touch()
    return {"PYTHONPATH": str(folder), "FAKE_STARTS": str(starts), "VLLM_CPU_KVCACHE_SPACE": "1"}
