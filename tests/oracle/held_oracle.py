# mypy: ignore-errors
"""Blocks that vLLM 0.26.0's own cache managers leave a request at given lengths.

usage: ORACLE_ENV/bin/python tests/oracle/held_oracle.py < lines.jsonl
A line of spec_lines with "lengths": [n, …] and "step": tokens computed per step. The answer: {"held": [[blocks of each
group], …]}, one list per length, or {} where vLLM makes no plan. Each step allocates, computes, and gives back what the
window has passed; blocks of later steps count only once computed.
"""

import json
import sys

from spec_oracle import Log, config_of, planning, specs_of
from vllm.v1.core.block_pool import BlockPool
from vllm.v1.core.single_type_kv_cache_manager import CrossAttentionManager, get_manager_for_kv_cache_spec

POOL = BlockPool(num_gpu_blocks=20_000, enable_caching=False, hash_block_size=16)


def manager_of(spec, config, group):
    return get_manager_for_kv_cache_spec(
        spec,
        max_in_flight_tokens=config.max_in_flight_tokens,
        max_model_len=config.model_config.max_model_len,
        block_pool=POOL,
        enable_caching=False,
        kv_cache_group_id=group,
        scheduler_block_size=spec.block_size,
        dcp_world_size=config.parallel_config.decode_context_parallel_size,
        needs_kv_cache_zeroing=False,
    )


def held(manager, length, step, encoder_tokens):
    """Blocks in the table of a request that has computed `length` tokens, the null block aside."""
    if isinstance(manager, CrossAttentionManager):
        length = step = encoder_tokens
    done = 0
    while done < length:
        now = min(step, length - done)
        manager.remove_skipped_blocks("r", done)
        manager.allocate_new_blocks("r", done + now, done + now)
        done += now
    manager.remove_skipped_blocks("r", done)
    blocks = manager.req_to_blocks["r"]
    count = sum(not block.is_null for block in blocks)
    manager.free("r")
    return count


def answer(q):
    config = config_of(q)
    planning.logger = Log()
    try:
        plan = planning.get_kv_cache_configs(config, specs_of(q), [q["available_bytes"]])[0]
    except (ValueError, NotImplementedError, AssertionError, ArithmeticError, LookupError, AttributeError):
        return {}
    groups = planning.generate_scheduler_kv_cache_config([plan]).kv_cache_groups
    managers = [manager_of(group.kv_cache_spec, config, i) for i, group in enumerate(groups)]
    encoder_tokens = config.scheduler_config.max_num_encoder_input_tokens
    return {"held": [[held(manager, n, q["step"], encoder_tokens) for manager in managers] for n in q["lengths"]]}


for text in sys.stdin:
    print(json.dumps(answer(json.loads(text))), flush=True)
