"""Start-up logs are read as vLLM prints them: real lines of many versions, and whole logs in 0.26.0's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snippets.startup_log.read import MOST_LINES, read_log
from snippets.startup_log.start import NotALogError, Start

ROOT = Path(__file__).resolve().parents[3]
LOGS = json.loads((ROOT / "snippets/planner/evidence/startup_logs.json").read_text(encoding="utf-8"))
FIELDS = {
    "weights_gib": "weights_gib",
    "available_kv_gib": "available_gib",
    "cuda_graph_gib": "graphs_gib",
    "estimated_cuda_graph_gib": "estimated_graphs_gib",
    "kv_tokens": "kv_tokens",
    "gpu_blocks": "gpu_blocks",
    "max_concurrency": "max_concurrency",
    "error_needed_gib": "needed_gib",
    "error_estimated_max_len": "estimated_max_len",
}
# Figures of the collection that stand in no line that was kept, but in a table or a sentence of its source.
ELSEWHERE = {
    "L052": {"kv_tokens", "max_concurrency", "cuda_graph_gib"},
    "L095": {"weights_gib"},
    "L096": {"weights_gib", "max_concurrency"},
    "L098": {"available_kv_gib"},
    "L103": {"weights_gib"},
    "L127": {"available_kv_gib"},
    "L129": {"cuda_graph_gib"},
    "L134": {"cuda_graph_gib"},
    "L135": {"cuda_graph_gib"},
    "L146": {"cuda_graph_gib"},
    "L155": {"cuda_graph_gib"},
}
NO_LOG_LINES = {"L159"}  # "Weights 31.18 GiB": a table of its repository


@pytest.mark.parametrize("log", [one for one in LOGS if one["id"] not in NO_LOG_LINES], ids=lambda one: one["id"])
def test_every_figure_that_a_real_log_prints_is_read(log: dict[str, object]) -> None:
    lines, printed = log["log_lines"], log["printed"]
    assert isinstance(lines, list) and isinstance(printed, dict)
    start = read_log("\n".join(lines))
    for name, field in FIELDS.items():
        if name not in printed or name in ELSEWHERE.get(str(log["id"]), set()):
            continue
        found = getattr(start, field)
        assert printed[name] in found if isinstance(found, tuple) else printed[name] == found, (name, found)


# One start in the words of vLLM 0.26.0: v1/engine/core.py:117, config/vllm.py:2090, v1/worker/gpu_worker.py:836,
# v1/core/kv_cache_utils.py:2177. The numbers are made up.
WHOLE = """\x1b[0;36m(APIServer pid=77)\x1b[0;0m INFO 11-30 10:00:00 [utils.py:299] vLLM API server version 0.26.0
(APIServer pid=77) INFO 11-30 10:00:00 [utils.py:233] non-default args: {'model_tag': 'Qwen/Qwen2.5-7B-Instruct-AWQ', \
'max_model_len': 8192, 'gpu_memory_utilization': 0.9, 'kv_cache_dtype': 'fp8', 'max_num_seqs': 64}
(APIServer pid=77) INFO 11-30 10:00:01 [model.py:1510] Using max model len 8192
(APIServer pid=77) INFO 11-30 10:00:01 [scheduler.py:205] Chunked prefill is enabled with max_num_batched_tokens=2048.
(EngineCore_DP0 pid=99) INFO 11-30 10:00:09 [core.py:77] Initializing a V1 LLM engine (v0.26.0) with config: \
model='Qwen/Qwen2.5-7B-Instruct-AWQ', speculative_config=None, tokenizer='Qwen/Qwen2.5-7B-Instruct-AWQ', \
skip_tokenizer_init=False, dtype=torch.float16, max_seq_len=8192, tensor_parallel_size=1, pipeline_parallel_size=1, \
quantization=auto_awq, enforce_eager=False, kv_cache_dtype=fp8, enable_prefix_caching=True, \
enable_chunked_prefill=True, compilation_config={'mode': 3, 'cudagraph_capture_sizes': [1, 2, 4]}
(EngineCore_DP0 pid=99) INFO 11-30 10:00:12 [cuda.py:359] Using FLASHINFER attention backend out of potential ones.
(EngineCore_DP0 pid=99) INFO 11-30 10:00:40 [model_runner.py:306] Model loading took 5.20 GiB and 21.123456 seconds
(EngineCore_DP0 pid=99) INFO 11-30 10:00:55 [gpu_worker.py:561] Available KV cache memory: 15.7 GiB
(EngineCore_DP0 pid=99) INFO 11-30 10:00:55 [kv_cache_utils.py:2177] GPU KV cache size: 587,872 tokens
(EngineCore_DP0 pid=99) INFO 11-30 10:00:55 [kv_cache_utils.py:2182] Maximum concurrency for 8,192 tokens per \
request: 71.76x
(EngineCore_DP0 pid=99) INFO 11-30 10:01:01 [gpu_worker.py:857] Free memory on device (23.2/23.64 GiB) on startup. \
Desired GPU memory utilization is (0.9, 21.28 GiB). Actual usage is 5.2 GiB for weight, 0.32 GiB for peak activation, \
0.06 GiB for non-torch memory, and 0.41 GiB for CUDAGraph memory. Replace gpu_memory_utilization config with \
`--kv-cache-memory=16123456789` (15.02 GiB) to fit into requested memory, or `--kv-cache-memory=18123456789` \
(16.88 GiB) to fully utilize gpu memory. Current kv cache memory in use is 15.7 GiB.
(APIServer pid=77) INFO 11-30 10:02:01 [loggers.py:252] Engine 000: Avg prompt throughput: 0.0 tokens/s, GPU KV \
cache usage: 0.0%
"""


def test_a_whole_log_of_0_26_gives_settings_and_memory() -> None:
    start = read_log(WHOLE)
    assert (start.version, start.model) == ("0.26.0", "Qwen/Qwen2.5-7B-Instruct-AWQ")
    assert start.settings == {
        "max_model_len": 8192,
        "gpu_memory_utilization": 0.9,
        "max_num_seqs": 64,
        "max_num_batched_tokens": 2048,
        "kv_cache_dtype": "fp8",
        "dtype": "float16",
        "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "enforce_eager": False,
        "enable_prefix_caching": True,
        "enable_chunked_prefill": True,
    }
    assert (start.free_gib, start.total_gib) == (23.2, 23.64)
    assert (start.weights_gib, start.available_gib) == ((5.2,), (15.7,))
    assert (start.activation_gib, start.non_torch_gib, start.graphs_gib) == (0.32, 0.06, 0.41)
    assert (start.kv_tokens, start.max_concurrency, start.attention_backend) == (587_872, 71.76, "FLASHINFER")
    assert not start.has_drafter and start.notes == ()
    assert [line.number for line in start.lines] == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11]
    assert start.lines[0].text.startswith("(APIServer pid=77) INFO")


# Lines of vLLM 0.26.0's CPU build, 2026-11-30: the tiny model of the labs, which has Qwen2.5-7B's cache shape; the
# second is cut behind what is read.
ON_CPU = """INFO 11-30 11:47:16 [api_utils.py:273] non-default args: {'max_model_len': 8192, 'enable_prefix_caching': \
True, 'gpu_memory_utilization': 0.9, 'max_num_batched_tokens': 2048, 'disable_log_stats': True, 'model': \
'tiny-random-llama'}
INFO 11-30 11:47:17 [core.py:116] Initializing a V1 LLM engine (v0.26.0) with config: model='tiny-random-llama', \
speculative_config=None, dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=1, kv_cache_dtype=auto, \
device_config=cpu, structured_outputs_config=
INFO 11-30 11:47:19 [selector.py:202] Using HND KV cache layout for CPU_ATTN backend.
INFO 11-30 11:50:06 [cpu_worker.py:248] Explicitly set (1.0/19.84) GiB for KV cache on node 0.
INFO 11-30 11:50:06 [kv_cache_utils.py:2177] GPU KV cache size: 18,688 tokens
INFO 11-30 11:50:06 [kv_cache_utils.py:2178] Maximum concurrency for 8,192 tokens per request: 2.28x
INFO 11-30 11:50:08 [core.py:347] init engine (profile, create kv cache, warmup model) took 168.43 s
"""


def test_a_real_log_of_the_cpu_build_is_read() -> None:
    start = read_log(ON_CPU)
    assert start.is_cpu and start.version == "0.26.0" and start.model == "tiny-random-llama"
    assert (start.available_gib, start.kv_tokens, start.attention_backend) == ((1.0,), 18_688, "CPU_ATTN")


def test_of_several_starts_the_last_is_read() -> None:
    first = "vLLM API server version 0.26.0\nAvailable KV cache memory: 3.0 GiB\nGPU KV cache size: 100 tokens\n"
    start = read_log(first + WHOLE + WHOLE.replace("15.7 GiB", "14.2 GiB"))
    assert start.available_gib == (14.2,)
    assert start.notes == ("The text holds 3 starts; the last one is read.",)


def test_each_rank_counts_and_a_command_line_gives_settings() -> None:
    start = read_log(
        "$ vllm serve org/m --tensor-parallel-size=2 --max-model-len 4096 --no-enable-prefix-caching --enforce-eager\n"
        "(Worker_TP0 pid=1) Available KV cache memory: 5.01 GiB\n"
        "(Worker_TP1 pid=2) Available KV cache memory: 4.88 GiB\n"
    )
    assert start.available_gib == (5.01, 4.88)
    assert start.model == "org/m"
    assert start.settings == {
        "tensor_parallel_size": 2,
        "max_model_len": 4096,
        "enable_prefix_caching": False,
        "enforce_eager": True,
    }


@pytest.mark.parametrize(
    ("line", "field", "value"),
    [
        (  # v1/core/kv_cache_utils.py:778
            "ValueError: To serve at least one request with the model's max seq len (32768), (1.75 GiB KV cache is "
            "needed, which is larger than the available KV cache memory (1.0 GiB). Based on the available memory, the "
            "estimated maximum model length is 18688. Try increasing",
            "estimated_max_len",
            18688,
        ),
        ("No available memory for the cache blocks. Try increasing `gpu_memory_utilization`", "weights_gib", ()),
        (  # v1/worker/utils.py:434
            "ValueError: Free memory on device cuda:0 (3.10/23.64 GiB) on startup is less than desired GPU memory "
            "utilization (0.9, 21.28 GiB). Decrease GPU memory utilization",
            "free_gib",
            3.10,
        ),
    ],
)
def test_a_start_that_failed_is_a_start_too(line: str, field: str, value: object) -> None:
    start = read_log(line)
    assert start.refusal and not start.refusal.startswith("ValueError")
    assert getattr(start, field) == value


def test_a_drafter_is_noted() -> None:
    text = WHOLE.replace("speculative_config=None", "speculative_config=SpeculativeConfig(method='eagle3')")
    assert "drafter" in read_log(text).notes[0]


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("--tensor-parallel-size 100000", "tensor_parallel_size = 100000 is left out: it takes a whole number from 1"),
        ("--gpu-memory-utilization 9", "gpu_memory_utilization = 9 is left out: it takes a share above 0"),
        ("--kv-cache-dtype int3", "kv_cache_dtype = int3 is left out: it takes one of vLLM's"),
    ],
)
def test_a_setting_out_of_bounds_is_left_out_with_a_note(given: str, note: str) -> None:
    (said,) = read_log(f"vllm serve m {given}\nGPU KV cache size: 100 tokens").notes
    assert said.startswith(note)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "INFO: Uvicorn running",
        "GPU KV cache usage: 3.1%, Prefix cache hit rate: 0.0%",
        "Available KV cache memory: GiB",
    ],
)
def test_a_text_without_a_line_of_a_start_is_refused_with_what_it_needs(text: str) -> None:
    with pytest.raises(NotALogError, match="Available KV cache memory"):
        read_log(text)


def test_lines_of_a_running_server_and_endless_logs_are_passed_over() -> None:
    running = "INFO 11-30 [loggers.py:252] Avg generation throughput: 9 tokens/s, GPU KV cache size: 5 tokens\n"
    assert read_log(WHOLE + running * 50).kv_tokens == 587_872
    found: Start = read_log(WHOLE + "\n" * MOST_LINES)
    assert found.notes == (f"The first {MOST_LINES:,} lines are read.",)
