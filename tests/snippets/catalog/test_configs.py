"""Published configs: where each was read, that each can be read, and what papers say of some of them."""

from datetime import date

import pytest

from snippets.catalog.configs import ConfigEntry, catalog_config, config_entries
from snippets.catalog.models import UnknownModelError, models

FAMILIES = [
    *("qwen2.5-0.5b", "qwen2.5-7b-awq", "qwen2.5-72b", "qwen3-8b", "qwen3-30b-a3b-fp8", "qwen3-235b-a22b"),
    *(
        "qwen3-next-80b-a3b",
        "qwen3.5-27b",
        "llama-2-7b",
        "llama-3-8b",
        "llama-3.1-8b",
        "llama-3.1-405b",
        "llama-3.2-3b",
    ),
    *("llama-4-scout", "nemotron-super-49b", "mistral-7b-v0.1", "mistral-nemo", "mixtral-8x7b", "devstral-small-2"),
    *(
        "gemma-2-2b",
        "gemma-3-27b",
        "gemma-4-31b-nvfp4",
        "gpt-oss-20b",
        "gpt-oss-120b",
        "deepseek-v2-lite",
        "deepseek-v3",
    ),
    *("deepseek-r1", "deepseek-v3.2", "kimi-k2", "glm-4.5", "glm-5.1", "mimo-v2-flash", "phi-4", "granite-3.3-8b"),
    *("exaone-4.0-32b", "olmo-3.1-32b", "jamba-1.5-mini", "falcon-h1-0.5b", "falcon-mamba-7b", "nemotron-h-56b"),
    *("nemotron-3-super-fp8", "whisper-large-v3", "opt-13b", "gpt2", "santacoder"),
]


def test_the_catalog_has_more_than_forty_models_of_every_family() -> None:
    assert len(config_entries()) >= 40
    assert set(FAMILIES) <= config_entries().keys()


def test_every_model_of_the_lessons_has_its_config() -> None:
    assert models().keys() <= config_entries().keys()


@pytest.mark.parametrize("entry", config_entries().values(), ids=config_entries())
def test_a_config_names_its_source_and_the_day_it_was_read(entry: ConfigEntry) -> None:
    assert entry.repository.count("/") == 1
    assert entry.source_url.startswith("https://github.com/")
    assert date.fromisoformat(entry.read)


@pytest.mark.parametrize("key", config_entries())
def test_a_config_can_be_read(key: str) -> None:
    config = catalog_config(key)
    assert config.layers
    assert config.hidden_size > 0


def test_an_unknown_key_is_refused_with_the_keys_there_are() -> None:
    with pytest.raises(UnknownModelError, match=r"model 'llama-9' is not in the catalog; it has: qwen2\.5-0\.5b, "):
        catalog_config("llama-9")


def test_a_config_is_read_once() -> None:
    assert catalog_config("llama-3-8b") is catalog_config("llama-3-8b")


def test_a_side_file_says_how_nemotron_3_is_stored() -> None:
    quantization = catalog_config("nemotron-3-super-fp8").quantization
    assert quantization is not None
    assert quantization.kv_cache_dtype == "fp8_e4m3"
