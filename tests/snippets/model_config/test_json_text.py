"""Text that is no config.json is refused at its place, with what to do."""

from __future__ import annotations

import pytest

from snippets.model_config.json_text import MAX_CHARACTERS, parse
from snippets.model_config.model_config import ConfigError
from snippets.model_config.read import read_text

LLAMA = '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 64, '
LLAMA += '"num_attention_heads": 4, "max_position_embeddings": 128, "torch_dtype": "float16"'


def fault(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_text(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column", "says"),
    [
        ('{\n  "hidden_size": 4096,\n}', 3, 1, "a comma before a closing bracket"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or a closing bracket is missing"),
        ("{'hidden_size': 4096}", 1, 2, "double quotes only"),
        ('{"tie_word_embeddings": False}', 1, 25, "JSON writes false"),
        ('{"head_dim": None}', 1, 14, "JSON writes null"),
        ('{"a": 1, // heads\n "b": 2}', 1, 10, "a comment"),
        ('{"a": [1, 2', 1, 12, "part of the file is missing"),
        ('{"a": "x', 1, 7, "a quote opens here and never closes"),
        ('{"a": 1} {"b": 2}', 1, 10, "only one may stand in the text"),
        ('{"a" 1}', 1, 6, "a colon is missing"),
        ("[1, 2]", 1, 1, "a list, not an object"),
        ("", 1, 1, "There is no text"),
        ("meta-llama/Llama-3.1-8B", 1, 1, "a model's name"),
        ("https://huggingface.co/Qwen/Qwen3-8B", 1, 1, "an address"),
        ("---\nlicense: apache-2.0\n---\n# Qwen3", 1, 1, "a README"),
        ("\n\n# Qwen3-8B\ntext", 3, 1, "a README"),
        ("GGUF\x03\x00\x00", 1, 1, "a binary file"),
        ("<!doctype html><html>", 1, 1, "a web page"),
        ('Qwen3Config {\n  "hidden_size": 4096\n}', 1, 1, "a printed transformers config"),
        ("version https://git-lfs.github.com/spec/v1", 1, 1, "a Git LFS pointer"),
    ],
)
def test_a_fault_is_named_at_its_place(text: str, line: int, column: int, says: str) -> None:
    error = fault(text)
    assert (error.line, error.column) == (line, column)
    assert says in str(error)
    assert str(error).startswith(f"Line {line}, column {column}: ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"metadata": {"total_size": 1}, "weight_map": {}}', "a safetensors index"),
        ('{"tokenizer_class": "LlamaTokenizer", "chat_template": "x"}', "a tokenizer_config.json"),
        ('{"version": "1.0", "added_tokens": [], "model": {}}', "a tokenizer.json"),
        ('{"dim": 4096, "n_layers": 32, "head_dim": 128, "n_heads": 32}', "params.json"),
        ('{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8"}}', "hf_quant_config.json"),
        ('{"do_sample": true, "temperature": 0.6}', "a generation_config.json"),
        ('{"peft_type": "LORA", "r": 8}', "a LoRA adapter_config.json"),
    ],
)
def test_another_file_of_the_repository_is_told_apart(text: str, says: str) -> None:
    assert says in str(fault(text))


def test_bare_infinity_is_read_as_vllm_reads_it() -> None:
    assert len(read_text(LLAMA + ', "time_step_limit": [0.0, Infinity], "x": NaN}').layers) == 2


def test_a_byte_order_mark_is_skipped() -> None:
    assert len(read_text("\ufeff" + LLAMA + "}").layers) == 2


def test_of_a_name_that_stands_twice_the_last_counts_and_a_note_says_so() -> None:
    config = read_text(LLAMA + ', "num_hidden_layers": 3}')
    assert len(config.layers) == 3
    assert '"num_hidden_layers" stands twice in one object: the last one counts.' in config.notes


def test_deep_nesting_is_refused_and_brackets_in_strings_are_not_nesting() -> None:
    assert "nest more than 64 deep" in str(fault('{"a":' * 100_000))
    assert parse('{"a": "' + "[" * 1000 + '"}')["a"] == "[" * 1000


def test_a_number_of_a_thousand_digits_is_refused() -> None:
    assert "more than 400 digits" in str(fault('{"hidden_size": ' + "9" * 1000 + "}"))


def test_a_number_of_300_digits_is_no_size() -> None:
    assert "a number of more than 60 digits" in str(fault(LLAMA.replace("64", "9" * 300) + "}"))


def test_a_text_of_two_million_characters_is_refused_before_it_is_parsed() -> None:
    assert "characters" in str(fault('{"a": "' + "x" * MAX_CHARACTERS + '"}'))


def test_escaped_quotes_without_an_end_are_read_once() -> None:
    assert "never closes" in str(fault('{"a": "' + '\\"' * 500_000))
