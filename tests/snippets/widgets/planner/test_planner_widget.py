"""What the planner shows at the top: the answer first, how sure it is, refusals with ways that work."""

from __future__ import annotations

import json

import pytest
from planner_shown import EVERY, FIELDS, GIVEN, LLAMA, answer, elements, readout, rows, said, text_of

from snippets.catalog.configs import config_entries
from snippets.draw.figure import LAYOUTS
from snippets.widgets.planner import WIDGET
from snippets.widgets.planning.refusal import changes, ways
from snippets.widgets.planning.sections.take import DOWNLOADS
from snippets.widgets.run import look, read_state


def test_the_answer_comes_first_and_is_vllms() -> None:
    found = answer(**GIVEN)
    blocks = int(7.21 * 2**30 / (16 * 57_344))  # 8,437
    concurrency = blocks * 16 / 8192  # one request of 8,192 tokens takes 512 blocks
    assert said(found.sections["answer"]).startswith(f"It fits: {int(concurrency)} requests of 8,192 tokens at once.")
    assert readout(found, "tokens") == f"{int(concurrency * 8192):,} tokens"
    assert readout(found, "request") == "448 MiB"
    assert readout(found, "token") == "56 KiB"
    log = said(found.sections["log"])
    assert f"Maximum concurrency for 8,192 tokens per request: {concurrency:.2f}x" in log
    assert f"GPU KV cache size: {int(concurrency * 8192):,} tokens" in log
    assert "Available KV cache memory: 7.21 GiB" in log


def test_estimated_memory_has_an_error_bar_and_given_memory_has_none() -> None:
    estimated, given = answer(), answer(**GIVEN)
    low, high = next(one.detail for one in estimated.view.readouts if one.name == "available").split(" to ")
    assert float(low) < float(readout(estimated, "available").split()[0]) < float(high)
    assert "spans" in estimated.view.figures[0].detail
    assert "no error bar" in given.view.figures[0].detail
    assert "without an error bar" in said(given.sections["answer"])


def test_max_num_seqs_is_said_where_it_decides() -> None:
    found = answer(**GIVEN, max_num_seqs="4")
    assert readout(found, "requests") == "4"
    assert "Memory would hold 16; max_num_seqs = 4 decides." in said(found.sections["answer"])


def test_a_refusal_shows_vllms_words_and_a_button_for_each_way_that_works() -> None:
    found = answer(**LLAMA)
    words = said(found.sections["answer"])
    assert words.startswith("vLLM 0.26.0 would refuse to start.")
    # 32 layers × 2 × 8 heads × 128 × 2 bytes = 128 KiB a token; 131,072 tokens take 16 GiB
    assert "To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is needed" in words
    buttons = [button for node in found.sections["answer"].before for button in elements(node, "button")]
    assert len(buttons) >= 2
    for button in buttons:
        changed = LLAMA | json.loads(button.attributes["data-values"])
        assert said(answer(**changed).sections["answer"]).startswith("It fits: "), text_of(button)
    assert readout(found, "requests") == "–"


def test_a_button_that_starts_does_so_at_the_low_end_and_one_that_may_not_says_so() -> None:
    """gpt-oss-120b takes 34 GiB a card on two: four cards hold it, but not with the least memory."""
    state = {"model": "gpt-oss-120b", "tensor_parallel_size": "2", "max_model_len": ""}
    panel = next(node for node in answer(**state).sections["answer"].before if "refusal" in str(node))
    words = [text_of(one) for one in elements(panel, "p")]
    assert ["low end of the error bar too" in one for one in words].count(True) == 1
    assert words[-1] == "This starts only if the memory comes out as expected, not at the low end:"
    verdicts = []
    for button in elements(panel, "button"):
        changed = state | json.loads(button.attributes["data-values"])
        verdicts.append(said(answer(**changed).sections["answer"])[:7])
    assert verdicts == ["It fits", "It may "]  # in this order


def test_a_plan_that_only_may_fit_offers_the_length_that_surely_does() -> None:
    """Llama-3.1-8B on 23.64 GiB: about 6.5 are left as expected, 53,000 tokens of 128 KiB; at the low end 6.0."""
    state = {"model": "llama-3.1-8b", "max_model_len": "51000"}
    top = answer(**state).sections["answer"]
    assert said(top).startswith("It may fit")
    button = next(one for node in top.before for one in elements(node, "button"))
    changed = state | json.loads(button.attributes["data-values"])
    assert int(changed["max_model_len"]) < 51000
    assert said(answer(**changed).sections["answer"]).startswith("It fits: 1 request")
    assert not any(elements(node, "button") for node in answer(**changed).sections["answer"].before)


@pytest.mark.parametrize(
    ("size", "verdict", "how_sure"),
    [
        ("6G", "It fits: ", "of the 23.64 GiB of the card: it fits."),
        ("8G", "It may fit: ", "at the high end the server would run out of memory."),
        ("9G", "vLLM 0.26.0 would refuse", "CUDA out of memory"),
    ],
)
def test_a_cache_of_fixed_size_fits_may_fit_or_does_not(size: str, verdict: str, how_sure: str) -> None:
    """Llama-3.1-8B holds 14.99 of 23.64 GiB, a step 0.1 to 0.7 more."""
    top = answer(model="llama-3.1-8b", max_model_len="8192", kv_cache_memory_bytes=size).sections["answer"]
    assert said(top).startswith(verdict)
    assert how_sure in said(top)


def test_weights_that_are_not_counted_are_asked_for_by_a_button_that_leads_there() -> None:
    found = answer(model="paste", config=FIELDS["microsoft/phi-2"], max_model_len="")
    button = next(one for node in found.sections["answer"].before for one in elements(node, "button"))
    assert button.attributes["data-goto"] == "weights_gib" in WIDGET.controls
    # 32 layers × 2 × 32 heads × 80 × 2 bytes, and 2,048 of them, known without any plan
    assert (readout(found, "token"), readout(found, "request")) == ("320 KiB", "640 MiB")


def test_an_encoder_has_no_cache_and_is_drawn_with_what_it_takes() -> None:
    state = {"model": "paste", "config": FIELDS["BAAI/bge-m3"], "max_model_len": "512", "weights_gib": "1.06"}
    found = answer(*EVERY, **state)
    assert "would start without a KV cache" in said(found.sections["answer"])
    assert "at most 256 texts" in said(found.sections["answer"])
    figure = found.view.figures[0]
    assert figure.finding.startswith("No KV cache: 1.") and "too much" not in figure.svg
    assert figure.table is not None and ("KV cache", "none", "", "") in figure.table.rows
    assert {row[0] for row in figure.table.rows} >= {"weights", "activations"}
    assert all("0 tokens" not in f"{one.value} {one.unit}" for one in found.view.readouts)


def test_a_refused_plan_has_a_shortfall_and_no_negative_cache() -> None:
    found = answer("numbers", model="gemma-3-27b", max_model_len="")
    figure = found.view.figures[0]
    assert figure.table is not None
    rows = {row[0]: row[1] for row in figure.table.rows}
    assert rows["KV cache"] == "none"
    # what is taken beyond 0.92 × 23.64 GiB
    taken = sum(float(rows[name].split()[0]) for name in ("weights", "activations", "CUDA context"))
    assert float(rows["too much"].split()[0]) == pytest.approx(taken - 0.92 * 23.64, abs=0.02)
    assert not any("-" in cell for row in figure.table.rows for cell in row)
    opened = elements(found.sections["numbers"].before[1], "summary")
    left = next(text_of(one) for one in opened if text_of(one).startswith("available_kv_cache_bytes"))
    assert left.endswith("too little") and "-" not in left


def test_the_answer_for_the_traffic_stands_beside_the_one_for_full_length() -> None:
    found = answer("traffic", **GIVEN)
    names = [one.name for one in found.view.readouts[:2]]
    safe = rows(found.sections["traffic"], "Requests at once")[1]
    assert names == ["requests", "traffic"]
    assert (safe[0], readout(found, "traffic")) == ("without preemption", safe[1])
    labels = [one.label for one in found.view.readouts[:2]]
    assert labels == ["at once, 8,192 tokens each", "at once, 1,024 in, 256 out"]
    other = answer(**GIVEN, prompt_mean="2000", shared_prefix="500", output_mean="100")
    assert other.view.readouts[1].label == "at once, 2,500 in, 100 out"  # every prompt begins with the prefix
    assert [row[0] for row in rows(found.sections["traffic"], "Requests at once")[2:4]] == ["on average", "worst case"]
    assert readout(answer(**GIVEN, max_num_seqs="4"), "traffic") == "4"
    assert readout(answer(**GIVEN, shared_prefix="9000"), "traffic") == "–"


def test_the_average_is_one_whole_number_wherever_it_stands() -> None:
    found = answer("traffic", "speed")  # some 105 on average
    traffic = found.sections["traffic"]
    average = rows(traffic, "Requests at once")[2][1]
    assert found.view.readouts[1].detail == f"safe; {average} on average"
    assert f"runs about {average} at once" in said(traffic)
    assert f"with {average} requests at once" in said(found.sections["speed"])


def test_counts_of_one_replica_say_so_and_what_all_have() -> None:
    found = answer(**GIVEN, data_parallel_size="8")
    assert said(found.sections["answer"]).startswith(
        "It fits: 16 requests of 8,192 tokens at once on each of 8 replicas, 128 in all."
    )
    assert readout(found, "requests") == "16 on each of 8 replicas"
    details = {one.name: one.detail for one in found.view.readouts}
    assert details["requests"].startswith("128 in all; ")
    tokens = int(readout(found, "tokens").split()[0].replace(",", ""))
    assert readout(found, "tokens").endswith("tokens on each of 8 replicas")
    assert details["tokens"].startswith(f"{8 * tokens:,} in all")
    assert "on each of 8 replicas" in readout(found, "traffic") and "in all" in details["traffic"]
    assert "replica" not in readout(answer(**GIVEN), "requests")


def test_fewer_than_max_num_seqs_asks_for_get_buttons_that_admit_more() -> None:
    state = {"max_num_seqs": "64"}
    words = said(answer(**state).sections["answer"])
    assert "max_num_seqs allows 64; of full length fewer fit." in words
    buttons = [button for node in answer(**state).sections["answer"].before for button in elements(node, "button")]
    assert len(buttons) == 3
    for button in buttons:
        changed = state | json.loads(button.attributes["data-values"])
        promised = text_of(button).split(" → ")[1].removesuffix(" at once")
        assert readout(answer(**changed), "requests") == promised, text_of(button)
    assert "of full length fewer fit" not in said(answer(max_num_seqs="8").sections["answer"])
    assert "of full length fewer fit" not in said(answer().sections["answer"])  # nobody asked for 256


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("These work, each alone: --max-model-len 4096; --kv-cache-dtype fp8 --max-model-len 8192.",
         [{"max_model_len": "4096"}, {"kv_cache_dtype": "fp8", "max_model_len": "8192"}]),
        ("This works: --tensor-parallel-size 1 or 2 or 4.",
         [{"tensor_parallel_size": "1"}, {"tensor_parallel_size": "2"}, {"tensor_parallel_size": "4"}]),
        ("This works: --gpu-memory-utilization 0.95.", [{"gpu_memory_utilization": "0.95"}]),
        ("This works: leave --block-size out.", [{"block_size": ""}]),
        ("This works: leave --speculative-config out.", [{"method": ""}]),
        ("Nothing tried here lets one request in: take a larger card.", []),
        ("", []),
    ],
)  # fmt: skip
def test_ways_out_are_read_as_settings(sentence: str, found: list[dict[str, str]]) -> None:
    assert [changes(way) for way in ways(sentence)] == found


def test_a_setting_that_is_taken_without_memory_for_it_is_no_promise() -> None:
    """DeepSeek-V4-Flash caches in FP8 alone, and its weights do not fit one H200."""
    state = {"model": "deepseek-v4-flash", "gpu": "h200", "max_model_len": ""}
    top = answer(**state).sections["answer"]
    assert "vLLM takes this, but the memory is then too small" in said(top)
    button = next(one for node in top.before for one in elements(node, "button"))
    changed = state | json.loads(button.attributes["data-values"])
    assert changed["kv_cache_dtype"] == "fp8"
    assert "--tensor-parallel-size" in said(answer(**changed).sections["answer"])


def test_weights_in_16_bits_beyond_the_card_may_be_had_in_fewer() -> None:
    large = said(answer(model="gemma-3-27b").sections["answer"])
    assert "in 8 or 4 bits" in large and "CUDA out of memory" in large
    assert "in 8 or 4 bits" not in said(answer(model="deepseek-v3").sections["answer"])  # in FP8 already
    assert "in 8 or 4 bits" not in said(answer(**LLAMA).sections["answer"])  # its weights fit


def test_a_layout_that_vllm_refuses_shows_its_words() -> None:
    words = said(answer(tensor_parallel_size="3").sections["answer"])
    assert "Total number of attention heads (28) must be divisible by tensor parallel size (3)." in words


def test_before_anything_is_pasted_the_tool_says_how_to_get_a_config() -> None:
    found = answer(*EVERY, model="paste")
    assert said(found.sections["answer"]).startswith("Paste a config.json, or choose a model.")
    assert "hf download ORG/MODEL config.json" in said(found.sections["answer"])
    assert found.view.figures[0].svg == ""


def test_wrong_json_says_where_and_the_answer_before_it_stays() -> None:
    typed = {"model": "paste", "config": '{"a": 1,,}'}
    found = look(WIDGET, typed, {"model": "qwen2.5-7b"}, "wide")
    assert "column 9" in found.errors["config"]
    assert not found.view.controls["config"].hidden


def test_the_files_hold_the_same_plan() -> None:
    values, _, _ = read_state(WIDGET, GIVEN, {})
    made = {one.name: one.make(values) for one in DOWNLOADS}
    assert {name for name, _ in made.values()} == {
        "plan-qwen2.5-7b-rtx-4090.md",
        "plan-qwen2.5-7b-rtx-4090.csv",
        "plan-qwen2.5-7b-rtx-4090.json",
    }
    blocks = json.loads(made["json"][1])["num_gpu_blocks"]
    assert blocks == int(7.21 * 2**30 / 917_504)
    assert f"{blocks:,}" in made["markdown"][1] and str(blocks) in made["csv"][1].replace(",", "")


@pytest.mark.parametrize("key", config_entries())
def test_every_model_of_the_catalog_is_shown_whole_on_both_widths(key: str) -> None:
    for gpu in ("rtx-4090", "h200"):
        shown = [look(WIDGET, {"model": key, "gpu": gpu, "max_model_len": ""}, {}, width, EVERY) for width in LAYOUTS]
        assert shown[0].view.readouts == shown[1].view.readouts
        assert said(shown[0].sections["answer"]) == said(shown[1].sections["answer"])
        for one in shown:
            assert one.errors == {}
            for section in one.sections.values():
                assert all(figure.name for figure in section.figures)


def test_a_refused_command_is_neither_bounded_nor_offered_to_copy() -> None:
    found = answer("speed", "log", model="llama-3.1-70b", price="2")
    assert "Start it with" not in said(found.sections["log"])
    assert "per million" not in said(found.sections["speed"])
