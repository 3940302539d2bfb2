"""A config cut down for a short link gives the same settings as the whole one."""

from __future__ import annotations

import pytest

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import gpu
from snippets.model_config.model_config import ModelConfig
from snippets.model_config.read import read_config
from snippets.model_config.reduce import reduce
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig
from snippets.planner.settings import resolve

QUESTIONS = (
    EngineArgs(kv_cache_dtype="fp8"),
    EngineArgs(enable_prefix_caching=True),
    EngineArgs(tensor_parallel_size=32),
    EngineArgs(speculative=SpeculativeConfig("mtp", 1)),
    EngineArgs(max_model_len=10**9),
)


def answer(config: ModelConfig, args: EngineArgs) -> object:
    try:
        return resolve(config, args, gpu("b200"))
    except EngineArgsError as error:
        return str(error)


@pytest.mark.parametrize("args", QUESTIONS, ids=str)
def test_no_setting_depends_on_a_field_that_a_link_leaves_out(args: EngineArgs) -> None:
    different = []
    for key, entry in config_entries().items():
        whole = read_config(entry.config, entry.hf_quant_config)
        cut = read_config(reduce(whole), entry.hf_quant_config)
        if answer(whole, args) != answer(cut, args):
            different.append(key)
    assert different == []
