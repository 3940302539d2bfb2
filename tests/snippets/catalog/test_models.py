"""The catalog's facts, against parameter counts of Hugging Face's own classes and published descriptions."""

import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import pytest

from snippets.catalog.models import Model, UnknownModelError, model, models
from snippets.kv_shapes import KVShape

REQUIRED = [
    "qwen2.5-7b",
    "qwen2.5-7b-awq",
    "llama-3-8b",
    "llama-3-70b",
    "llama-2-7b",
    "llama-2-70b",
    "mistral-7b-v0.1",
    "opt-13b",
    "deepseek-v3",
    "santacoder",
]


def test_every_model_the_site_promises_is_there() -> None:
    assert set(REQUIRED) <= models().keys()


@pytest.mark.parametrize("found", models().values(), ids=models())
def test_a_model_names_its_source_and_the_day_it_was_read(found: Model) -> None:
    assert "/" in found.source
    assert found.source_url.startswith("https://github.com/")
    assert date.fromisoformat(found.read)


@pytest.mark.parametrize("found", models().values(), ids=models())
def test_a_model_has_a_shape_that_can_exist(found: Model) -> None:
    assert KVShape.of(found).num_layers == found.num_layers


def test_llama_2_70b_is_gqa_with_8_kv_heads() -> None:
    # Llama 2 (arXiv 2307.09288) section 2.2 and A.2.1
    assert (model("llama-2-70b").attention, model("llama-2-70b").num_kv_heads) == ("gqa", 8)


def test_llama_2_7b_and_opt_13b_are_mha() -> None:
    for key in ("llama-2-7b", "opt-13b"):
        assert model(key).attention == "mha"
        assert model(key).num_kv_heads == model(key).num_attention_heads


def test_santacoder_shares_one_kv_head_among_16_query_heads() -> None:
    # SantaCoder (arXiv 2301.03988) is trained with multi-query attention
    assert (model("santacoder").attention, model("santacoder").num_kv_heads) == ("mqa", 1)
    assert model("santacoder").num_attention_heads == 16


def test_deepseek_v3_caches_a_latent_of_512_and_a_rotary_key_of_64() -> None:
    # DeepSeek-V3 (arXiv 2412.19437) section 4.2
    assert (model("deepseek-v3").kv_lora_rank, model("deepseek-v3").qk_rope_head_dim) == (512, 64)
    assert model("deepseek-v3").num_layers == 61


def test_mistral_7b_slides_over_4096_tokens_in_v0_1_and_not_in_v0_3() -> None:
    # Mistral 7B (arXiv 2310.06825) Table 1
    assert (model("mistral-7b-v0.1").sliding_window, model("mistral-7b-v0.1").num_sliding_layers) == (4096, 32)
    assert model("mistral-7b-v0.3").sliding_window == 0


def test_gemma_3_27b_has_ten_global_layers_of_62() -> None:
    # Gemma 3 (arXiv 2503.19786): five local layers of 1,024 tokens to each global one, starting with local ones
    sliding = [layer for layer in range(62) if (layer + 1) % 6]
    assert model("gemma-3-27b").num_sliding_layers == len(sliding) == 52
    assert model("gemma-3-27b").sliding_window == 1024


def test_head_dim_is_not_hidden_size_over_heads_everywhere() -> None:
    differing = {key for key, m in models().items() if m.head_dim * m.num_attention_heads != m.hidden_size}
    assert {"gpt-oss-20b", "gemma-3-27b", "qwen3-4b", "qwen3-30b-a3b", "deepseek-v3"} <= differing


def test_an_awq_checkpoint_differs_from_its_model_in_format_only() -> None:
    plain, awq = model("qwen2.5-7b"), model("qwen2.5-7b-awq")
    assert KVShape.of(plain) == KVShape.of(awq)
    assert plain.num_parameters == awq.num_parameters
    assert (plain.weight_format, awq.weight_format) == ("bf16", "int4")


def test_an_unknown_key_is_refused_with_the_keys_there_are() -> None:
    with pytest.raises(UnknownModelError, match=r"model 'llama-4' is not in the catalog; it has: qwen2\.5-7b, "):
        model("llama-4")


READ = """\
from snippets.catalog import gpus, models
print(models.__file__)
print(models.model("qwen2.5-7b").num_layers, gpus.gpu("rtx-4090").sold_as_gb)
"""


def test_the_catalog_reads_from_inside_a_zip(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[3]
    archive = tmp_path / "site.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        packages = [path for name in ("catalog", "model_config") for path in (root / "snippets" / name).rglob("*")]
        for path in [root / "snippets/__init__.py", root / "snippets/units.py", *packages]:
            if path.suffix in (".py", ".json"):
                zipped.write(path, path.relative_to(root).as_posix())
    run = subprocess.run(
        [sys.executable, "-c", READ],
        cwd=tmp_path,
        env={"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.splitlines() == [f"{archive}/snippets/catalog/models.py", "28 24"]
