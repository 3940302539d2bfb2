"""Where vLLM 0.26.0 does each step: file, line and function, as in its wheel."""

from __future__ import annotations

_UTILS = "vllm/v1/core/kv_cache_utils.py"
_SPECS = "vllm/v1/kv_cache_interface.py"
_ARGS = "vllm/engine/arg_utils.py"

SOURCES = {
    "requested_bytes": "vllm/v1/worker/utils.py:430 request_memory",
    "weights_bytes": "vllm/v1/worker/gpu_model_runner.py:5335 GPUModelRunner.load_model",
    "available": "vllm/v1/worker/gpu_worker.py:541 Worker.determine_available_memory",
    "kv_cache_memory_bytes": "vllm/v1/worker/gpu_worker.py:462 Worker.determine_available_memory",
    "max_model_len": "vllm/config/model.py:2152 _get_and_verify_max_len",
    "auto_fit": f"{_UTILS}:1930 _auto_fit_max_model_len",
    "block_size": "vllm/platforms/interface.py:609 Platform.update_block_size_for_backend",
    "max_num_batched_tokens": f"{_ARGS}:2431 EngineArgs.get_batch_defaults",
    "max_num_seqs": f"{_ARGS}:2431 EngineArgs.get_batch_defaults",
    "max_in_flight_tokens": "vllm/config/vllm.py:525 VllmConfig.max_in_flight_tokens",
    "groups": f"{_UTILS}:1728 get_kv_cache_groups",
    "bytes_per_block": f"{_UTILS}:968 _pool_bytes_per_block",
    "num_gpu_blocks": f"{_UTILS}:1005 get_num_blocks",
    "override": f"{_UTILS}:958 may_override_num_blocks",
    "blocks_per_request": f"{_UTILS}:937 get_max_concurrency_for_kv_cache_config",
    "max_concurrency": f"{_UTILS}:954 get_max_concurrency_for_kv_cache_config",
    "kv_cache_size_tokens": f"{_UTILS}:1819 get_kv_cache_capacity",
    "admission": f"{_UTILS}:751 _check_enough_kv_cache_memory",
}
LOADED = {  # what “Model loading took” holds
    "parameters": SOURCES["weights_bytes"],
    "drafter": "vllm/v1/spec_decode/llm_base_proposer.py:1330 SpecDecodeBaseProposer.load_model",
    "rotary_tables": "vllm/model_executor/layers/rotary_embedding/__init__.py:33 get_rope",
    "mla_copies": "vllm/model_executor/layers/attention/mla_attention.py:1033 process_weights_after_loading",
    "buffers": "vllm/model_executor/models/deepseek_v2.py:1362 DeepseekV2Model.__init__",
}
PAGES = {  # the page of one layer, by vLLM's class
    "FullAttentionSpec": f"{_SPECS}:328 FullAttentionSpec.real_page_size_bytes",
    "TQFullAttentionSpec": f"{_SPECS}:366 TQFullAttentionSpec.real_page_size_bytes",
    "MLAAttentionSpec": f"{_SPECS}:398 MLAAttentionSpec.real_page_size_bytes",
    "SlidingWindowSpec": f"{_SPECS}:548 SlidingWindowSpec.real_page_size_bytes",
    "SlidingWindowMLASpec": f"{_SPECS}:628 SlidingWindowMLASpec.real_page_size_bytes",
    "ChunkedLocalAttentionSpec": f"{_SPECS}:204 AttentionSpec.real_page_size_bytes",
    "CrossAttentionSpec": f"{_SPECS}:204 AttentionSpec.real_page_size_bytes",
    "EncoderOnlyAttentionSpec": f"{_SPECS}:204 AttentionSpec.real_page_size_bytes",
    "MambaSpec": f"{_SPECS}:699 MambaSpec.page_size_bytes",
    "UniformTypeKVCacheSpecs": f"{_SPECS}:828 UniformTypeKVCacheSpecs.page_size_bytes",
}
NEEDS = {  # what one request of max_model_len takes of a group
    "FullAttentionSpec": f"{_SPECS}:258 FullAttentionSpec.max_memory_usage_bytes",
    "TQFullAttentionSpec": f"{_SPECS}:258 FullAttentionSpec.max_memory_usage_bytes",
    "MLAAttentionSpec": f"{_SPECS}:258 FullAttentionSpec.max_memory_usage_bytes",
    "SlidingWindowSpec": f"{_SPECS}:567 SlidingWindowSpec.max_admission_blocks_per_request",
    "SlidingWindowMLASpec": f"{_SPECS}:567 SlidingWindowSpec.max_admission_blocks_per_request",
    "ChunkedLocalAttentionSpec": f"{_SPECS}:502 ChunkedLocalAttentionSpec.max_admission_blocks_per_request",
    "CrossAttentionSpec": f"{_SPECS}:755 CrossAttentionSpec.max_memory_usage_bytes",
    "EncoderOnlyAttentionSpec": f"{_SPECS}:744 EncoderOnlyAttentionSpec.max_memory_usage_bytes",
    "MambaSpec": f"{_SPECS}:709 MambaSpec.max_memory_usage_bytes",
    "UniformTypeKVCacheSpecs": f"{_SPECS}:831 UniformTypeKVCacheSpecs.max_memory_usage_bytes",
}
OURS = "our own sum"  # a figure vLLM does not print
