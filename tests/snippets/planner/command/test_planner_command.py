"""`python -m snippets.planner` from the outside: what it prints, its exit codes, its sentences on stderr."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import gpus
from snippets.planner.command.run import main
from snippets.widgets.planning.groups import GROUPS

ROOT = Path(__file__).resolve().parents[4]
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
EIGHT_K = ["--gpu", "rtx-4090", "--max-model-len", "8K"]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "Llama-3.1-8B" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA))
    return path


Streams = pytest.CaptureFixture[str]


def test_from_available_memory_it_prints_the_two_lines_of_the_log(config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("vLLM 0.26.0 would start: 32,768 tokens of KV cache, 4 requests of 8,192 tokens at once.")
    assert "  GPU KV cache size: 32,768 tokens\n  Maximum concurrency for 8,192 tokens per request: 4.00x\n" in out
    assert out.rstrip().endswith("vllm serve Llama-3.1-8B --max-model-len 8192")


def test_json_has_the_documented_keys(config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["num_gpu_blocks"], made["block_size"], made["bytes_per_block"]) == (2048, 16, 2_097_152)
    assert (made["kv_cache_size_tokens"], made["max_concurrency"], made["kv_bytes_per_token"]) == (32_768, 4.0, 131_072)
    assert made["available_kv_cache_bytes"] == 4 * 2**30
    assert made["errors"] == [] and made["budget"] is None


def test_a_refusal_is_exit_code_1_and_stands_on_stderr_too(config: Path, capsys: Streams) -> None:
    assert main([str(config), "--gpu", "rtx-4090", "--available-kv-gib", "4", "--json"]) == 1
    streams = capsys.readouterr()
    assert "estimated maximum model length is 32768" in streams.err
    assert json.loads(streams.out)["errors"][0]["field"] == "max_model_len"


@pytest.mark.parametrize("name", ["llama-3.1-8b", "meta-llama/Llama-3.1-8B"])
def test_a_catalog_key_and_its_repository_name_the_same_model(name: str, capsys: Streams) -> None:
    assert main([name, *EIGHT_K, "--available-kv-gib", "4"]) == 0
    assert "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192" in capsys.readouterr().out


def test_a_pasted_serve_line_needs_only_the_card(capsys: Streams) -> None:
    line = "vllm serve meta-llama/Llama-3.1-8B -tp 2 --max-model-len 8k --port 9 --trust-remote-code --gpu rtx-4090"
    assert main(line.split()) == 0
    assert (
        "Not in the command, since memory does not depend on them: --port, --trust-remote-code."
        in capsys.readouterr().out
    )


def test_a_folder_with_a_config_is_a_model(config: Path, capsys: Streams) -> None:
    assert main([str(config.parent), *EIGHT_K, "--available-kv-gib", "4"]) == 0


def test_the_side_file_of_nvidias_checkpoints_is_read(config: Path, capsys: Streams) -> None:
    quantization = {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}
    (config.parent / "hf_quant_config.json").write_text(json.dumps(quantization))
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kv_bytes_per_token"] == 65_536  # FP8 keys and values


def test_stdin_is_a_model(monkeypatch: pytest.MonkeyPatch, capsys: Streams) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(LLAMA).encode())))
    assert main(["-", *EIGHT_K, "--available-kv-gib", "4"]) == 0


def test_csv_has_a_row_a_number(config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", "--csv"]) == 0
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert rows["num_gpu_blocks"]["value"] == "2,048"
    assert rows["num_gpu_blocks"]["numbers"] == "4,294,967,296 // 2,097,152"


def test_markdown_has_the_command_in_a_block(config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", "--markdown"]) == 0
    assert "```bash\nvllm serve Llama-3.1-8B --max-model-len 8192\n```" in capsys.readouterr().out


def test_specs_are_answered_line_by_line(monkeypatch: pytest.MonkeyPatch, capsys: Streams) -> None:
    layer = {"n": 32, "kind": "full", "block_size": 16, "kv_heads": 8, "head_size": 128, "dtype": "bfloat16"}
    line = json.dumps({"max_model_len": 8192, "available_bytes": 20 * 2**30, "layers": [layer]})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((line + "\n\n" + line + "\n").encode())))
    assert main(["--specs"]) == 0
    first, second = (json.loads(text) for text in capsys.readouterr().out.splitlines())
    assert first == second
    assert (first["num_blocks"], first["tokens"], first["concurrency"]) == (10240, 163_840, 20.0)


def test_the_lists_name_every_card_and_every_model(capsys: Streams) -> None:
    assert main(["--list-gpus"]) == main(["--list-models"]) == 0
    out = capsys.readouterr().out
    assert all(key in out for key in (*gpus(), *config_entries()))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Give a model"),
        (["nowhere/config.json", *EIGHT_K], "'nowhere/config.json' is neither a file nor a model of the catalog"),
        (["lama-3.1-8b", *EIGHT_K], "Near it: llama-3.1-8b (meta-llama/Llama-3.1-8B)"),
        (["llama-3.1-8b"], "Give a card with --gpu"),
        (["llama-3.1-8b", "--gpu", "rtx-9999"], "--gpu: 'rtx-9999' is not one card of the catalog. Near it: rtx-"),
        (["llama-3.1-8b", "--gpu", "rtx-4090", "--max-model-lenght", "3"], "Did you mean --max-model-len?"),
        (["llama-3.1-8b", *EIGHT_K, "--spec-method", "ngram"], "num_speculative_tokens must be a whole number"),
        (["llama-3.1-8b", *EIGHT_K, "--speculative-config", '{"color": 1}'], "color is not planned for"),
    ],
)
def test_a_wrong_line_is_exit_code_2_and_one_sentence(words: list[str], said: str, capsys: Streams) -> None:
    assert main(words) == 2
    streams = capsys.readouterr()
    assert said in streams.err and streams.out == ""


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\x93NUMPY\xff\xfe", "is not text in UTF-8"),
        (b'{"model_type": "llama",\n "hidden_size": }', "line 2, column 17"),
        (b"[1, 2]", "object"),
        (b"{}", "config.json"),
    ],
)
def test_a_file_that_is_no_config_is_exit_code_2(content: bytes, said: str, tmp_path: Path, capsys: Streams) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    assert main([str(path), *EIGHT_K]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_without_a_config_is_exit_code_2(tmp_path: Path, capsys: Streams) -> None:
    assert main([str(tmp_path), *EIGHT_K]) == 2
    assert "is a folder without a config.json." in capsys.readouterr().err


def test_a_drafter_is_planned_with_its_own_config(config: Path, capsys: Streams) -> None:
    drafting = {"method": "draft_model", "model": "llama-3.2-1b", "num_speculative_tokens": 3}
    line = [str(config), *EIGHT_K, "--available-kv-gib", "4", "--speculative-config", json.dumps(drafting)]
    assert main([*line, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    # 16 layers of 8 heads × 64 beside 32 of 8 × 128
    assert made["kv_bytes_per_token"] == 2 * 2 * 8 * (32 * 128 + 16 * 64)
    assert main(line) == 0
    assert "meta-llama/Llama-3.2-1B-Instruct" in capsys.readouterr().out


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m snippets.planner --list-models | true"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_lengths_of_the_traffic_give_the_requests_that_really_fit(config: Path, capsys: Streams) -> None:
    line = [str(config), *EIGHT_K, "--available-kv-gib", "4", "--prompt-len", "1600", "--output-len", "1"]
    line += ["--prompt-len-std", "0", "--output-len-std", "0"]
    assert main([*line, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["requests_in_flight"]
    # 2,047 blocks without the null block; a request of 1,600 tokens holds 100, and 101 when it has its answer
    assert 2047 / 101 <= made["expected"] <= 2047 / 100 + 1e-9
    assert made["worst_case"] == 3  # 512 blocks each, and the null block


@pytest.mark.parametrize(
    "words", [["--prompt-len", "100"], ["--prompt-len", "0", "--output-len", "1"], ["--vllm-version", "new"]]
)
def test_a_question_that_makes_no_sense_is_exit_code_2(words: list[str], config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", *words]) == 2
    assert capsys.readouterr().err.endswith(".\n")


def test_another_version_prints_its_own_lines(config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", "--vllm-version", "0.33.0", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    lines = ["GPU KV cache size: 32,768 tokens, Maximum concurrency for 8,192 tokens per request: 4.00x"]
    assert made["log_lines"] == lines


def test_a_terminal_without_arrows_gets_escapes_not_a_traceback() -> None:
    words = [sys.executable, "-m", "snippets.planner", "llama-3.1-8b", "--gpu", "rtx-4090"]
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, env={"PYTHONIOENCODING": "ascii"}, check=False
    )
    assert done.returncode == 1
    assert "\\u2192 These work, each alone: --max-model-len" in done.stdout and "Traceback" not in done.stderr


def test_layouts_on_four_cards_list_what_fits_and_what_is_refused(capsys: Streams) -> None:
    # 28 query heads and 4 KV heads: 4 cards divide both
    assert main(["qwen2.5-7b", "--gpu", "rtx-3060", "--max-model-len", "8k", "--layouts", "4", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["layouts"]
    plain = [row for row in rows if row["decode_context_parallel_size"] == 1]
    sizes = {(r["tensor_parallel_size"], r["pipeline_parallel_size"], r["data_parallel_size"]): r for r in plain}
    assert set(sizes) == {(4, 1, 1), (2, 2, 1), (2, 1, 2), (1, 4, 1), (1, 2, 2), (1, 1, 4)}
    assert sizes[4, 1, 1]["state"] == "fits" and sizes[1, 1, 4]["state"] == "too small"
    assert main(["qwen2.5-7b", "--gpu", "rtx-3060", "--max-model-len", "8k", "--layouts", "3"]) == 0
    streams = capsys.readouterr()
    text = streams.out
    assert streams.err == "" and text.startswith("Layouts on 3 × RTX 3060 12 GB")  # one card alone was not asked about
    assert text.endswith("vllm serve Qwen/Qwen2.5-7B-Instruct --max-model-len 8000 --pipeline-parallel-size 3\n")
    assert "Refused: TP 3 PP 1 DP 1.\n  Total number of attention heads (28) must be divisible by" in text
    assert "Too small, 1 of them; nearest first:" in text  # three replicas of one card


def test_layouts_answer_for_the_traffic_and_the_price(capsys: Streams) -> None:
    line = ["qwen2.5-7b", "--gpu", "rtx-3060", "--max-model-len", "8k", "--prompt-len", "1000", "--output-len", "100"]
    assert main([*line, "--price-per-hour", "0.2", "--layouts", "2", "--json"]) == 0
    rows = {row["tensor_parallel_size"]: row for row in json.loads(capsys.readouterr().out)["layouts"][:2]}
    one = [*line, "--price-per-hour", "0.2", "-tp", "2", "--json"]
    assert main(one) == 0
    alone = json.loads(capsys.readouterr().out)  # a layout answers as its own line does
    assert rows[2]["requests_in_flight"] == alone["requests_in_flight"] and rows[2]["bounds"] == alone["bounds"]
    assert main([*line, "--price-per-hour", "0.2", "--layouts", "2"]) == 0
    text = capsys.readouterr().out
    assert "without preemption" in text and "per million at least" in text
    assert "The cheapest at best, to paste:\nvllm serve Qwen/Qwen2.5-7B-Instruct" in text


def test_layouts_say_why_there_is_no_cost_beside_the_traffic(tmp_path: Path, capsys: Streams) -> None:
    """Weights whose size alone is given: requests can be counted, what a step reads cannot."""
    published = json.loads((ROOT / "tests/snippets/model_config/published.json").read_text())["configs"]
    fields = next(one["fields"] for one in published if one["repo"] == "microsoft/phi-2")
    (tmp_path / "config.json").write_text(json.dumps(fields))
    line = [str(tmp_path), "--gpu", "rtx-4090", "--weights-gib", "5.2", "--layouts", "1", "--price-per-hour", "2"]
    for more in ([], ["--prompt-len", "500", "--output-len", "100"]):
        assert main([*line, *more]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert ("without preemption" in text) == bool(more)
        assert text.count("No bound of speed or cost: The weights of PhiForCausalLM") == 2  # layouts, the line as typed


def test_layouts_of_which_none_starts_are_exit_code_1(capsys: Streams) -> None:
    assert main(["llama-3.1-405b", "--gpu", "rtx-3060", "--layouts", "2"]) == 1
    streams = capsys.readouterr()
    assert streams.out.startswith("Layouts on 2 ×") and "vllm serve" not in streams.out
    assert "The line as typed:\nvLLM 0.26.0 would refuse to start." in streams.out and streams.err


def test_the_headline_says_that_each_replica_holds_as_much(config: Path, capsys: Streams) -> None:
    assert main([str(config), *EIGHT_K, "--available-kv-gib", "4", "-dp", "8"]) == 0
    assert "4 requests of 8,192 tokens at once on each of 8 replicas, 32 in all.\n" in capsys.readouterr().out


def test_a_price_without_a_plan_is_not_passed_over_in_silence(capsys: Streams) -> None:
    assert main(["qwen2.5-7b", "--gpu", "rtx-3060", "--price-per-hour", "2"]) == 1
    assert "Lengths and a price are answered for a plan that starts" in capsys.readouterr().out


def test_an_architecture_that_is_not_known_here_is_no_claim_about_vllm(tmp_path: Path, capsys: Streams) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | {"architectures": ["FooForCausalLM"], "model_type": "foo"}))
    assert main([str(path), *EIGHT_K]) == 2
    streams = capsys.readouterr()
    assert streams.out.startswith("There is no plan: this model is not planned here.\n")
    assert "FooForCausalLM is not planned here: vLLM 0.26.0 has no class of that name." in streams.err
    assert "would refuse" not in streams.out + streams.err


def test_a_card_without_a_kernel_is_told_what_the_model_needs_first(capsys: Streams) -> None:
    """Sparse MLA: FLASHMLA_SPARSE runs on 9.x and 10.x, FLASHINFER_MLA_SPARSE_SM120 on 12.x (v1/attention/backends)."""
    assert main(["glm-5.1", "--gpu", "rtx-4090"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("gpu: This model's attention needs compute capability 9.0, 10.0, 12.0 or 12.1; ")
    assert said.index("this card has 8.9. In vLLM's words: No valid attention backend found") < said.index(
        "Cards that have"
    )
    assert "H200 141 GB" in said and "RTX 4090" not in said


def test_weights_beyond_the_card_may_be_had_in_fewer_bits(capsys: Streams) -> None:
    assert main(["gemma-3-27b", "--gpu", "rtx-4090"]) == 1
    assert "Or take a checkpoint of it in 8 or 4 bits (FP8, AWQ, GPTQ)" in capsys.readouterr().err
    assert main(["qwen3-32b-fp8", "--gpu", "rtx-4090"]) == 1
    assert "8 or 4 bits" not in capsys.readouterr().err


def test_layouts_on_no_cards_are_exit_code_2(capsys: Streams) -> None:
    assert main(["qwen2.5-7b", "--gpu", "rtx-3060", "--layouts", "0"]) == 2
    assert "--layouts: '0' is not between 1 and 64." in capsys.readouterr().err


def test_a_price_gives_bounds_of_speed_and_cost(capsys: Streams) -> None:
    line = ["llama-3.1-8b", *EIGHT_K, "--available-kv-gib", "4", "--price-per-hour", "0.36"]
    assert main([*line, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["bounds"]
    # A step reads 4 × 8,192 tokens of 131,072 bytes and all weights but the embedding table, at 1,008 GB/s.
    read = 4 * 8192 * 131_072 + 16_060_522_496 - 128_256 * 4096 * 2
    assert made["max_tokens_per_second"] == pytest.approx(4 / (read / 1008e9), rel=1e-3)
    assert made["min_cost_per_million_tokens"] == pytest.approx(0.36 / 3600 / made["max_tokens_per_second"] * 1e6)
    assert main(line) == 0
    assert "Upper bound of speed, decoding 4 requests of 8,192 tokens" in capsys.readouterr().out


def test_what_is_not_known_of_a_card_is_said_in_words(capsys: Streams) -> None:
    assert main(["gpt-oss-20b", *EIGHT_K, "--available-kv-gib", "4", "--price-per-hour", "1"]) == 0
    said = "From reading alone: the card's rate of arithmetic with MXFP4 weights is not known here."
    assert said in capsys.readouterr().out


def test_a_way_out_names_the_flags_that_were_typed(capsys: Streams) -> None:
    assert main(["llama-3.1-8b", *EIGHT_K, "--spec-method", "telepathy", "--spec-tokens", "3"]) == 1
    assert "leave --spec-method and --spec-tokens out" in capsys.readouterr().err


def test_no_more_is_free_than_the_card_has(capsys: Streams) -> None:
    assert main(["llama-3.1-8b", "--gpu", "h100-80gb", "--max-model-len", "8192", "--free-gib", "100"]) == 2
    assert capsys.readouterr().err == "--free-gib: 100.00 GiB are more than the card has, 79.19 GiB.\n"


def test_a_shared_prefix_does_not_lower_the_bound_of_speed(capsys: Streams) -> None:
    """The prefix is read once, 493 whole blocks of 16 tokens; so many requests are then limited by arithmetic."""
    line = ["qwen2.5-7b", "--gpu", "rtx-4090", "--max-model-len", "8000", "--prompt-len", "100", "--output-len", "100"]
    assert main([*line, "--shared-prefix-len", "7900", "--price-per-hour", "1", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["bounds"]
    parameters, batch, context = 7_615_616_512 - 152_064 * 3_584, made["batch"], made["context_tokens"]
    read = 2 * parameters + 57_344 * (7_888 + batch * (context - 7_888))  # bytes; the input embedding is looked up
    computed = batch * (2 * parameters + 4 * 28 * 28 * 128 * context)  # layers × heads × head size
    assert made["shared_tokens"] == 7_888
    assert made["max_tokens_per_second"] == pytest.approx(batch / max(read / 1_008e9, computed / 165.2e12))
    assert made["max_tokens_per_second"] > 9_000


def test_a_bound_is_of_no_fewer_requests_than_run_on_average(capsys: Streams) -> None:
    line = ["llama-3.1-70b", "--gpu", "h100-80gb", "-tp", "2", "--max-model-len", "28112", "--prompt-len", "14000"]
    assert main([*line, "--output-len", "500", "--price-per-hour", "2", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert 1 < made["requests_in_flight"]["expected"] < 2
    assert made["bounds"]["batch"] == 2


def test_a_bound_of_experts_says_what_the_router_may_do(capsys: Streams) -> None:
    line = ["qwen3-30b-a3b", "--gpu", "h100-80gb", "--max-model-len", "8192", "--max-num-seqs", "8"]
    assert main([*line, "--price-per-hour", "2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "hold whatever the router does" in said and "If they choose evenly" in said


@pytest.mark.parametrize("field", [{"attention_bias": [1]}, {"moe_layer_freq": 1.5, "n_routed_experts": 8}], ids=str)
def test_a_field_that_only_the_bounds_read_wrongly_is_said(
    capsys: Streams, tmp_path: Path, field: dict[str, object]
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(dict(config_entries()["llama-3.2-1b"].config) | field), "utf-8")
    asked = ["--gpu", "rtx-4090", "--max-model-len", "4096", "--weights-gib", "3", "--price-per-hour", "2"]
    assert main([str(file), *asked]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "attention_bias" not in field or "No bound of speed or cost: attention_bias" in printed.out


def test_a_plan_that_does_not_start_has_no_command_no_bounds_and_no_traffic(capsys: Streams) -> None:
    beside = ["--price-per-hour", "1", "--prompt-len", "1000", "--output-len", "100"]
    for refused in (["--num-gpu-blocks-override", "1000000"], ["--gpu-memory-utilization", "0.5"]):
        assert main(["qwen2.5-7b", *EIGHT_K, *refused, *beside]) == 1
        text = capsys.readouterr().out
        assert text.startswith("vLLM 0.26.0 would refuse to start.\n")
        assert not any(word in text for word in ("Upper bound", "Requests at once", "vllm serve"))
        assert re.search(r"-\d[\d.]* GiB", text) is None


def test_a_model_without_a_cache_has_a_plan_and_no_bound(tmp_path: Path, capsys: Streams) -> None:
    path = tmp_path / "config.json"
    bert = {"architectures": ["BertModel"], "model_type": "bert", "num_hidden_layers": 12, "hidden_size": 768}
    bert |= {"num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512}
    path.write_text(json.dumps(bert))
    beside = ["--price-per-hour", "1", "--prompt-len", "100", "--output-len", "1", "--layouts", "2"]
    assert main([str(path), "--gpu", "l4", *beside]) == 0
    text = capsys.readouterr().out
    assert "each of at most 512." in text
    assert "No bound of speed or cost: a model that keeps no KV cache answers no tokens." in text


@pytest.mark.parametrize("form", ["--csv", "--explain"])
def test_a_form_that_cannot_hold_the_answer_is_refused(form: str, capsys: Streams) -> None:
    assert main(["qwen2.5-7b", *EIGHT_K, form, "--layouts", "2"]) == 2
    assert "without --layouts; ask for --json or --markdown." in capsys.readouterr().err


def test_markdown_holds_the_answers_beside_the_plan(capsys: Streams) -> None:
    beside = ["--price-per-hour", "1", "--prompt-len", "1000", "--output-len", "100", "--layouts", "2"]
    assert main(["qwen2.5-7b", *EIGHT_K, *beside, "--markdown"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n## {title}\n" in text for title in ("Requests at once", "Bounds of speed and cost", "Layouts"))


def test_the_spread_of_lengths_is_the_pages(capsys: Streams) -> None:
    assert main(["qwen2.5-7b", *EIGHT_K, "--prompt-len", "1024", "--output-len", "256"]) == 0
    assert "prompts of 1,024 ± 512 tokens and answers of 256 ± 256:" in capsys.readouterr().out
    controls = {control.name: control for group in GROUPS if group.section == "traffic" for control in group.controls}
    assert (controls["prompt_deviation"].default, controls["output_deviation"].default) == (512, 256)


def test_a_price_below_nothing_is_exit_code_2(capsys: Streams) -> None:
    assert main(["llama-3.1-8b", *EIGHT_K, "--price-per-hour", "-1"]) == 2
    assert capsys.readouterr().err == "--price-per-hour: a price is 0 or more.\n"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"[" * 100_000, b"{"])
def test_specs_that_are_no_json_name_the_line(content: bytes, monkeypatch: pytest.MonkeyPatch, capsys: Streams) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n" + content)))
    assert main(["--specs"]) == 2
    assert capsys.readouterr().err.startswith("Line 2 of stdin is not JSON: ")


@pytest.mark.parametrize(
    "words",
    [
        ["--available-kv-gib", "1e300"],
        ["--kv-cache-memory-bytes", "9" * 400],
        ["--num-gpu-blocks-override", "9" * 400],
        ["--max-num-seqs", "9" * 5000],
        ["--speculative-config", "[" * 100_000],
    ],
    ids=lambda words: words[0],
)
def test_numbers_and_texts_beyond_reason_are_refused(words: list[str], capsys: Streams) -> None:
    assert main(["llama-3.1-8b", *EIGHT_K, *words]) in (1, 2)
    assert words[0].removeprefix("--").replace("-", "_") in capsys.readouterr().err.replace("-", "_")


def test_a_config_nested_beyond_reason_is_exit_code_2(tmp_path: Path, capsys: Streams) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"a":' * 100_000)
    assert main([str(path), *EIGHT_K]) == 2
    assert "config.json" in capsys.readouterr().err
