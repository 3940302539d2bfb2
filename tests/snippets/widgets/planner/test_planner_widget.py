"""What the planner shows: the answer first, the three meanings of tokens apart, refusals with ways that work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snippets.catalog.configs import config_entries
from snippets.draw.figure import LAYOUTS
from snippets.widgets.declare import Shown
from snippets.widgets.parts.nodes import Element, Node
from snippets.widgets.planner import WIDGET
from snippets.widgets.planning.refusal import changes, ways
from snippets.widgets.planning.sections.take import DOWNLOADS
from snippets.widgets.run import Answer, look, read_state

EVERY = tuple(section.name for section in WIDGET.sections)
# A log of Qwen2.5-7B: 7.21 GiB of cache; 57,344 bytes a token and blocks of 16, so int(7.21 * 2**30 / 917,504) blocks
GIVEN = {"available_gib": "7.21"}
PUBLISHED = json.loads((Path(__file__).parents[2] / "model_config" / "published.json").read_text(encoding="utf-8"))
FIELDS = {one["repo"]: json.dumps(one["fields"]) for one in PUBLISHED["configs"]}
LLAMA = {"model": "llama-3.1-8b", "max_model_len": "", "available_gib": "6.48"}


def answer(*seen: str, **state: str) -> Answer:
    found = look(WIDGET, state, {}, "wide", seen)
    assert found.errors == {}
    return found


def text_of(node: Node) -> str:
    """All text in a tree, parts set apart."""
    return node if isinstance(node, str) else " ".join(map(text_of, node.children))


def said(shown: Shown) -> str:
    return " ".join(map(text_of, (*shown.before, *shown.after)))


def elements(node: Node, tag: str) -> list[Element]:
    """All elements of a kind in a tree."""
    if isinstance(node, str):
        return []
    inside = [found for child in node.children for found in elements(child, tag)]
    return [node, *inside] if node.tag == tag else inside


def rows(shown: Shown, caption: str) -> list[list[str]]:
    """The cells of the table with a caption."""
    for node in (*shown.before, *shown.after):
        for table in elements(node, "table"):
            if caption in text_of(elements(table, "caption")[0]):
                return [[text_of(cell) for cell in row.children] for row in elements(table, "tr")]
    raise AssertionError(f"no table {caption!r}")


def readout(found: Answer, name: str) -> str:
    one = next(one for one in found.view.readouts if one.name == name)
    return f"{one.value} {one.unit}".strip()


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
    assert [row[0] for row in rows(found.sections["traffic"], "Requests at once")[2:4]] == ["on average", "worst case"]
    assert readout(answer(**GIVEN, max_num_seqs="4"), "traffic") == "4"
    assert readout(answer(**GIVEN, shared_prefix="9000"), "traffic") == "–"


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


def test_weights_in_16_bits_beyond_the_card_may_be_had_in_fewer() -> None:
    large = said(answer(model="gemma-3-27b").sections["answer"])
    assert "in 8 or 4 bits" in large and "CUDA out of memory" in large
    assert "in 8 or 4 bits" not in said(answer(model="deepseek-v3").sections["answer"])  # in FP8 already
    assert "in 8 or 4 bits" not in said(answer(**LLAMA).sections["answer"])  # its weights fit


def test_what_no_memory_decides_is_shown_where_vllm_refuses_and_where_weights_are_not_counted() -> None:
    """Phi-2: 32 layers, a block of 16 tokens, 320 KiB for each of them."""
    for state in ({"model": "gemma-3-27b"}, {"model": "paste", "config": FIELDS["microsoft/phi-2"]}):
        found = answer("pool", "growth", **state, max_model_len="2048")
        assert found.view.readouts[0].value == "–"
        assert "a block" in found.sections["pool"].figures[0].finding
        assert not any(row[0] == "printed by the log" for row in rows(found.sections["growth"], "Three answers"))
    assert found.sections["pool"].figures[0].finding == "All 32 layers cache alike: one group, 5 MiB a block"
    assert found.sections["pool"].figures[0].detail == "A block holds 16 tokens in each of them."


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


def test_three_answers_are_kept_apart() -> None:
    state = {"model": "gemma-3-27b", "gpu": "a100-80gb", "max_model_len": "32768", "available_gib": "21.4"}
    shown = rows(answer("growth", **state).sections["growth"], "Three answers")
    by_name = {row[0]: row[1] for row in shown}
    held, reserved = (
        by_name["held now by a request of 32,768 tokens"],
        by_name["reserved to admit max_model_len = 32,768"],
    )
    assert float(held.split()[0]) < float(reserved.split()[0])
    assert readout(answer(**state), "tokens").replace(" tokens", "") in by_name["printed by the log"]


def test_windows_are_set_beside_layers_that_keep_everything() -> None:
    """Gemma-3-27B: 62 layers × 2 × 16 heads × 128 × 2 bytes are 496 KiB a token, 62 GiB for 131,072 of them."""
    state = {"model": "gemma-3-27b", "gpu": "a100-80gb", "max_model_len": ""}
    shown = answer("growth", "pool", **state)
    lines = {row[0]: row for row in rows(shown.sections["growth"], "Three answers")}
    kept = lines["if every layer kept all 131,072 tokens"]
    held = lines["held now by a request of 131,072 tokens"]
    assert kept[1] == "62.00 GiB"
    assert kept[2] == f"windows hold {62 / float(held[1].split()[0]):.1f}× less than that"
    assert "equally wide" in shown.sections["pool"].figures[0].detail
    warned = next(note for note in shown.view.notes if "padding layers" in note)
    assert warned.startswith("vLLM would warn: “Add 8 padding layers") and "equally many layers" in warned
    plain = rows(answer("growth", **GIVEN).sections["growth"], "Three answers")
    assert not any("kept" in row[0] for row in plain)


@pytest.mark.parametrize("state", [{}, {"model": "gemma-3-27b", "gpu": "a100-80gb"}, {"model": "qwen3-0.6b"}])
def test_a_column_has_one_unit(state: dict[str, str]) -> None:
    shown = answer("growth", "speed", "layouts", "size", **state)
    for section, caption, column in (
        ("growth", "Three answers", 1),
        ("speed", "Bounds", 1),
        ("layouts", "How many cards", 0),
        ("layouts", "Layouts that start", 4),
    ):
        cells = [row[column] for row in rows(shown.sections[section], caption)[1:]]
        assert len({cell.split()[-1] for cell in cells if cell.endswith("iB")}) <= 1, cells


def test_hardly_more_than_the_card_is_advised_with_a_warning_and_more_is_not_a_row() -> None:
    close = answer("size", model="gemma-3-27b", gpu="a100-80gb", max_model_len="").sections["size"]
    (line,) = rows(close, "Memory of one card")[1:]
    share, _, warned = line[3].partition(", ")
    assert (line[0], warned) == ("2", "too close to all") and 0.95 < float(share) < 1
    assert "the start may fail" in said(close)
    none = answer("size", model="gpt-oss-20b", max_model_len="").sections["size"]
    assert "this card does not have" in said(none) and not any(elements(node, "table") for node in none.before)


def test_what_is_not_known_of_a_card_is_said_in_words() -> None:
    shown = said(answer("speed", model="gpt-oss-20b", max_model_len="8192").sections["speed"])
    assert "Not known here and left out: the card's rate of arithmetic with MXFP4 weights." in shown
    assert "tflops" not in shown


def test_a_block_that_was_raised_shows_the_division_and_the_rounding() -> None:
    shown = said(answer("pool", model="jamba-1.5-mini", gpu="h200", tensor_parallel_size="2").sections["pool"])
    assert "155,648 / 2,048 = 76 tokens, rounded up to a multiple of 16: 80" in shown


def test_fp8_halves_plain_attention_at_every_length() -> None:
    gain = rows(answer("growth", **GIVEN).sections["growth"], "kv-cache-dtype fp8")
    assert {row[1] for row in gain[1:]} == {"÷ 2.00"}


def test_layouts_mark_the_best_and_give_reasons_for_the_rest() -> None:
    state = {"model": "llama-3.1-70b", "gpu": "h100-80gb", "tensor_parallel_size": "4", "cards": "4"}
    shown = answer("layouts", **state).sections["layouts"]
    names = [row[0] for row in rows(shown, "Layouts that start on 4 cards")[1:]]
    assert {"TP 4", "TP 2 · PP 2"} <= set(names)
    marked = [row for node in shown.after for row in elements(node, "tr") if row.attributes.get("class") == "marked"]
    assert text_of(marked[-1].children[0]) == names[0]  # the other is the fewest cards
    reasons = [row[2] for row in rows(shown, "do not start")[1:]]
    assert all(reasons)


def test_the_best_five_layouts_are_shown_and_the_rest_folded() -> None:
    state = {"model": "llama-3.1-70b", "gpu": "h100-80gb", "cards": "16"}
    shown = answer("layouts", **state).sections["layouts"]
    assert len(rows(shown, "Layouts that start on 16 cards")) == 1 + 5
    folded = [row[0] for row in rows(shown, "more that start")[1:]]
    assert "TP 16   crosses machines" in folded


def test_the_fewest_cards_are_answered_whatever_is_set() -> None:
    shown = answer("layouts", model="gemma-3-27b", max_model_len="8192").sections["layouts"]
    assert "The fewest it fits on: 4 cards." in said(shown)
    button = next(one for node in shown.after for one in elements(node, "button"))
    changed = json.loads(button.attributes["data-values"])
    assert said(answer(model="gemma-3-27b", max_model_len="8192", **changed).sections["answer"]).startswith("It fits")
    lines = rows(shown, "How many cards it takes")[1:]
    assert [row[:2] for row in lines] == [["1", "no"], ["2", "no"], ["4", "yes"], ["8", "yes"], ["16", "yes"]]


def test_layouts_of_weights_that_are_not_counted_are_one_sentence() -> None:
    state = {"model": "paste", "config": FIELDS["microsoft/phi-2"], "cards": "8"}
    shown = answer("layouts", **state, max_model_len="").sections["layouts"]
    assert "not counted here" in said(shown)
    assert not any(elements(node, "table") for node in shown.after)


def test_a_price_gives_a_bound_in_the_same_currency_and_none_without_it() -> None:
    with_price = said(answer("speed", price="2", batch="1", context="1").sections["speed"])
    assert "per million tokens answered by this load, at 2" in with_price
    assert "per million" not in said(answer("speed").sections["speed"])
    assert "forecast" in with_price


def test_a_card_known_by_memory_has_no_speed() -> None:
    assert "Choose a card of the catalog" in said(answer("speed", gpu="other").sections["speed"])


def test_spare_memory_offers_the_bytes_that_suffice() -> None:
    shown = answer("size", **GIVEN, max_num_seqs="4").sections["size"]
    button = next(button for node in shown.before for button in elements(node, "button"))
    # 4 requests of 512 blocks and the null block, 917,504 bytes each
    assert json.loads(button.attributes["data-values"]) == {"kv_cache_memory_bytes": str((4 * 512 + 1) * 917_504)}


def test_traffic_beyond_the_length_is_refused_in_words() -> None:
    shown = answer("traffic", **GIVEN, shared_prefix="9000").sections["traffic"]
    assert "it must stay below max_model_len = 8,192" in said(shown)


def test_every_number_opens_to_formula_numbers_and_source() -> None:
    shown = answer("numbers", **GIVEN).sections["numbers"]
    opened = {text_of(one.children[0].children[0]): text_of(one) for one in elements(shown.before[1], "details")}
    assert "get_num_blocks" in opened["num_gpu_blocks"]
    assert all("formula" in text and "source" in text for text in opened.values())


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


def test_the_bound_is_of_the_load_that_the_traffic_makes() -> None:
    """The command says the same 81; while 300 tokens are written, 0 to 299 of them stand: 1,500 + 149.5 on average."""
    load = {"max_model_len": "16384", "prompt_mean": "1500", "prompt_deviation": "0", "output_mean": "300"}
    found = answer("speed", "traffic", output_deviation="0", price="2", **load)
    assert "a busy server runs about 81 at once" in said(found.sections["traffic"])
    assert "with 81 requests at once, contexts of 1,649" in said(found.sections["speed"])


def test_a_refused_command_is_neither_bounded_nor_offered_to_copy() -> None:
    found = answer("speed", "log", model="llama-3.1-70b", price="2")
    assert "Start it with" not in said(found.sections["log"])
    assert "per million" not in said(found.sections["speed"])
