"""Which drafter vLLM makes of what was asked; its cache is compared in test_settings_against_vllm.py."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.model_config.read import read_config
from snippets.planner.command.errors import UsageError
from snippets.planner.command.parse import parse
from snippets.planner.command.speculative import speculative
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig
from snippets.planner.mtp import drafts_by_mtp, num_mtp_layers
from snippets.planner.settings import resolve
from snippets.planner.weights import drafter_weight_bytes

EIGHT_RANKS = EngineArgs(tensor_parallel_size=8, max_model_len=8000)


def asked(config: dict[str, object]) -> SpeculativeConfig | None:
    return speculative(parse(["c", "--speculative-config", json.dumps(config)]))[0]


@pytest.mark.parametrize("name", ["deepseek_mtp", "glm4_moe_mtp", "qwen3_next_mtp", "qwen3_5_mtp", "mtp"])
def test_names_of_model_cards_are_mtp(name: str) -> None:
    """config/speculative.py:686: "method `%s` is deprecated and replaced with mtp"."""
    assert SpeculativeConfig(name, 1).method == "mtp"


def test_a_drafter_without_a_number_of_tokens_drafts_its_mtp_layers() -> None:
    """config/speculative.py:970: n_predict of the drafter's config."""
    found = asked({"model": "deepseek-v3"})
    assert found is not None
    assert (found.method, found.num_speculative_tokens) == ("mtp", 1)
    with pytest.raises(UsageError, match="num_speculative_tokens must be"):
        asked({"model": "llama-3.2-1b"})
    with pytest.raises(UsageError, match="num_speculative_tokens must be"):
        asked({"method": "mtp"})


@pytest.mark.parametrize("key", ["qwen3.5-27b", "qwen3-next-80b-a3b"])
def test_a_drafter_whose_outer_config_counts_no_mtp_layers_needs_a_number_of_tokens(key: str) -> None:
    """hf_config_override of vLLM 0.26.0 leaves n_predict None for both: Qwen3.5 counts in its text_config."""
    with pytest.raises(UsageError, match="num_speculative_tokens must be"):
        asked({"model": key})
    given = asked({"model": key, "num_speculative_tokens": 3})
    assert given is not None and given.method == "mtp"


@pytest.mark.parametrize("key", ["qwen3.5-27b", "qwen3.5-122b-a10b-fp8"])
def test_qwen_s_class_builds_one_mtp_layer_where_its_config_does_not_count_them(key: str) -> None:
    """qwen3_5_mtp.py:80: getattr(config, "mtp_num_hidden_layers", 1); Qwen3_5TextConfig has no default of its own."""
    fields = json.loads(json.dumps(catalog_config(key).fields))
    stated = fields["text_config"].pop("mtp_num_hidden_layers")
    assert stated == num_mtp_layers(catalog_config(key)) == 1
    assert num_mtp_layers(read_config(fields)) == 1
    fields["text_config"]["mtp_num_hidden_layers"] = 0
    assert num_mtp_layers(read_config(fields)) == 0


def test_what_a_config_is_taken_for_depends_on_its_outer_type() -> None:
    """hf_config_override: qwen3_5 is renamed, qwen3_5_text is not, and of Nemotron-H only what counts MTP layers."""
    assert drafts_by_mtp(catalog_config("qwen3.5-27b"))
    text = catalog_config("qwen3.5-27b").text_fields
    alone = read_config({**text, "architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text"})
    assert not drafts_by_mtp(alone)
    assert drafts_by_mtp(catalog_config("nemotron-3-super-fp8"))
    assert not drafts_by_mtp(catalog_config("nemotron-h-56b"))


def test_mtp_with_a_model_that_has_none_is_refused_in_vllms_words() -> None:
    args = replace(EIGHT_RANKS, speculative=SpeculativeConfig("mtp", 1, catalog_config("qwen3-8b")))
    with pytest.raises(EngineArgsError, match="Unsupported speculative method: 'mtp'") as caught:
        resolve(catalog_config("deepseek-r1"), args, gpu("h200"))
    assert caught.value.from_vllm


def test_mtp_layers_of_another_family_are_not_planned() -> None:
    args = replace(EIGHT_RANKS, speculative=SpeculativeConfig("draft_model", 1, catalog_config("deepseek-v3.2")))
    with pytest.raises(EngineArgsError, match="not planned here") as caught:
        resolve(catalog_config("deepseek-v3"), args, gpu("h200"))
    assert not caught.value.from_vllm


# bytes of the drafter's class at TP 8 (model_oracle.py), less the embedding and lm_head that it shares
@pytest.mark.parametrize(
    ("target", "draft", "of_class", "shared"),
    [
        ("deepseek-r1", "deepseek-v3", 2_124_387_488, 2 * 129_280 * 7168 * 2 // 8),
        ("qwen3-next-80b-a3b", "qwen3-next-80b-a3b", 571_630_592, 2 * 151_936 * 2048 * 2 // 8),
        ("glm-4.5", "glm-4.5", 1_479_858_816, 2 * 151_552 * 5120 * 2 // 8),
    ],
)
def test_a_draft_model_with_mtp_layers_weighs_what_they_weigh(
    target: str, draft: str, of_class: int, shared: int
) -> None:
    args = replace(EIGHT_RANKS, speculative=SpeculativeConfig("draft_model", 1, catalog_config(draft)))
    assert drafter_weight_bytes(catalog_config(target), args) == of_class - shared


def test_a_window_that_is_not_known_is_not_guessed() -> None:
    """MiMo-V2's layers differ, and its config names no map: cache_config gets its window for every drafter."""
    target = catalog_config("mimo-v2-flash")
    draft = read_config({**catalog_config("llama-3.2-1b").fields, "vocab_size": target.vocab_size})
    args = replace(EIGHT_RANKS, speculative=SpeculativeConfig("draft_model", 1, draft))
    with pytest.raises(EngineArgsError, match="not planned here"):
        resolve(target, args, gpu("h200"))


def test_states_of_a_drafter_of_another_class_are_not_planned() -> None:
    """Falcon-H1 beside Mistral: vLLM turns mamba_cache_mode to "all" for it, and plans half of what we would."""
    target = catalog_config("mistral-7b-v0.1")
    draft = read_config({**catalog_config("falcon-h1-0.5b").fields, "vocab_size": target.vocab_size})
    args = EngineArgs(speculative=SpeculativeConfig("draft_model", 3, draft), max_model_len=1024)
    with pytest.raises(EngineArgsError, match="recurrent layers") as caught:
        resolve(target, args, gpu("h200"))
    assert not caught.value.from_vllm
