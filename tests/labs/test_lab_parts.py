"""What labs share: each thing that is missing is told in one sentence, before anything is paid for."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from parts import box, cards, flags, metrics, prompts, record, server, startup, table
from parts.stop import Stop, known_failure

MODEL = "Qwen/Qwen2.5-7B-Instruct-AWQ"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for models, on a disk with 2 GB free."""
    for name in ("HF_HUB_CACHE", "VLLM_USE_MODELSCOPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=2_000_000_000))
    return tmp_path / "hub"


# --- disk ---
def blob(hub: Path, model: str, size: int) -> None:
    """A downloaded file of a model as the hub keeps it, with the link to it; sparse, so it takes no room."""
    folder = hub / f"models--{model.replace('/', '--')}"
    (folder / "blobs").mkdir(parents=True)
    with (folder / "blobs/a").open("wb") as file:
        file.truncate(size)
    (folder / "snapshots").mkdir()
    (folder / "snapshots/a").symlink_to(folder / "blobs/a")


def test_too_little_disk_names_what_is_free_and_what_is_needed(hub: Path) -> None:
    with pytest.raises(Stop) as caught:
        box.check_disk([MODEL])
    assert str(caught.value) == (
        f"2.0 GB are free in {hub.parent}, and 5.6 GB are still to be fetched for {MODEL}: name a folder on a larger "
        "disk with HF_HOME (on AutoDL: export HF_HOME=~/autodl-tmp/hf)"
    )


def test_two_models_need_room_for_both(hub: Path) -> None:
    with pytest.raises(Stop, match=r"20\.8 GB are still to be fetched for Qwen/Qwen2\.5-7B-Instruct and "):
        box.check_disk(["Qwen/Qwen2.5-7B-Instruct", MODEL])


def test_what_is_there_already_is_not_needed_again(hub: Path) -> None:
    blob(hub, MODEL, 4_000_000_000)
    box.check_disk([MODEL])


def test_the_16_bit_model_is_not_taken_to_be_there_with_the_4_bit_one(hub: Path) -> None:
    blob(hub, MODEL, 5_570_747_392)
    with pytest.raises(Stop, match=r"15\.2 GB are still to be fetched"):
        box.check_disk(["Qwen/Qwen2.5-7B-Instruct", MODEL])


@pytest.mark.parametrize("model", ["someone/else", "."])
def test_a_model_of_unknown_size_or_a_folder_is_not_asked_about(hub: Path, model: str) -> None:
    box.check_disk([model])


def test_modelscope_has_a_folder_of_its_own(hub: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VLLM_USE_MODELSCOPE", "True")
    monkeypatch.setenv("MODELSCOPE_CACHE", str(tmp_path / "scope"))
    assert box.hub_folder() == tmp_path / "scope"


def test_a_full_disk_during_the_download_is_told_the_same_way() -> None:
    assert "HF_HOME" in (known_failure("OSError: [Errno 28] No space left on device", MODEL) or "")


# --- port ---
def test_a_port_that_is_taken_is_told_before_anything_loads(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Stop, match=f"port {port} is taken: end the program that holds it, or pass another --port"):
            server.start_server(MODEL, {}, port, tmp_path / "log")
    server.check_port(port)


# --- cards ---
def test_memory_that_stays_in_use_stops_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "nvidia_smi", lambda field: ["520", "9000"])
    cards.wait_until_free([500, 8990])
    with pytest.raises(Stop, match=r"8,500 MiB of the card are still in use after the engine ended: nvidia-smi lists"):
        cards.wait_until_free([500, 500], patience=0)


def test_without_nvidia_smi_there_is_no_memory_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert cards.used_mib() == []
    cards.wait_until_free([])


CARD = {"device": "cuda", "count": 1, "free_bytes": 12 * 2**30, "total_bytes": 24 * 2**30}


@pytest.mark.parametrize(
    ("share", "number", "sentence"),
    [
        (0.9, 1, "12.00 of 24.00 GiB are free and 21.60 are asked for: end the other program"),
        (0.9, 2, "--tensor-parallel-size 2 needs 2 cards and 1 are visible"),
    ],
)
def test_a_card_too_small_or_too_few_are_told(share: float, number: int, sentence: str) -> None:
    with pytest.raises(Stop) as caught:
        box.check_cards(CARD, share, number)
    assert str(caught.value).startswith(sentence)


# --- the log ---
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "(EngineCore pid=412) INFO 11-29 10:00:00 [kv_cache_utils.py:2177] GPU KV cache size: 18,688 tokens",
            "GPU KV cache size: 18,688 tokens",
        ),
        (
            "(Worker_TP0 pid=9) INFO 11-29 10:00:00 [gpu_worker.py:561] Available KV cache memory: 6.69 GiB",
            "Available KV cache memory: 6.69 GiB",
        ),
        ("INFO 11-29 10:00:00 [__init__.py:1] Automatically detected platform cpu.", None),
        ("Maximum effort", None),
    ],
)
def test_lines_that_say_where_memory_went_are_kept_without_their_prefix(line: str, message: str | None) -> None:
    assert startup.startup_message(line) == message


def test_numbers_and_backend_are_read_from_the_lines() -> None:
    lines = [
        "Model loading took 5.2 GiB and 3.1 seconds",
        "GPU KV cache size: 18,688 tokens",
        "Graph capturing finished in 12 secs, took 0.42 GiB",
        "Using AttentionBackendEnum.FLASHINFER backend.",
    ]
    assert startup.logged_number(lines, "Model loading took") == 5.2
    assert startup.logged_number(lines, "GPU KV cache size:") == 18_688
    assert startup.logged_number(lines, r"Graph capturing finished in \d+ secs, took") == 0.42
    assert startup.logged_number(lines, "Available KV cache memory:") is None
    assert startup.logged_backend(lines) == "FLASHINFER"


# --- the result ---
def test_a_range_holds_between_its_ends_and_a_number_only_for_itself() -> None:
    assert record.check("x", [1, 3], 3)["equal"]
    assert not record.check("x", [1, 3], 4)["equal"]
    assert not record.check("x", 3, 4)["equal"]
    assert not record.check("x", [1, 3], None)["equal"]


@pytest.fixture
def made(tmp_path: Path) -> Any:
    def call(lab_version: int = 1, name: str = "a card") -> record.Record:
        found = {"versions": {"torch": "2.11.0"}, "card": {"name": name}}
        return record.Record(str(tmp_path / "r.json"), "lab", lab_version, "0.26.0", found, False)

    return call


def test_a_setting_is_done_only_with_the_same_arguments(made: Any) -> None:
    made().add("a", "m/x", {"block_size": 16}, {"rounds": 3})
    again = made()
    assert again.done("a", "m/x", {"block_size": 16}, {"rounds": 3})
    for other in (("b", "m/x", {"block_size": 16}, {"rounds": 3}), ("a", "m/x", {"block_size": 32}, {"rounds": 3})):
        assert again.done(*other) is None
    assert again.done("a", "m/x", {"block_size": 16}, {"rounds": 4}) is None


@pytest.mark.parametrize("other", [{"lab_version": 2}, {"name": "another card"}])
def test_another_kind_of_result_is_not_gone_on_with(made: Any, other: dict[str, Any]) -> None:
    made().add("a", "m/x", {}, {})
    with pytest.raises(Stop, match="choose another --out, or move it away"):
        made(**other)


def test_a_file_that_is_no_result_is_left_alone(made: Any, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("mine")
    with pytest.raises(Stop, match="holds a result of another kind"):
        made()
    assert (tmp_path / "r.json").read_text() == "mine"


def test_no_half_written_result_takes_the_place_of_a_whole_one(made: Any, tmp_path: Path) -> None:
    one = made()
    one.add("a", "m/x", {}, {})
    whole = (tmp_path / "r.json").read_text()
    with pytest.raises(TypeError):
        one.add("b", "m/x", {}, {}, measured={"x": object()})
    assert (tmp_path / "r.json").read_text() == whole


def test_an_unknown_part_of_a_setting_is_refused(made: Any) -> None:
    with pytest.raises(TypeError, match="a setting holds no colour"):
        made().add("a", "m/x", {}, {}, colour="red")


# --- small things ---
def test_what_vllm_would_choose_itself_is_not_given() -> None:
    made = flags.new_parser("lab", "doc")
    flags.add_engine_flags(made, block_size=32)
    given = flags.engine_args(made.parse_args([]), kv_cache_dtype="fp8")
    assert given == {
        "max_model_len": 8192,
        "gpu_memory_utilization": 0.9,
        "kv_cache_dtype": "fp8",
        "enable_prefix_caching": True,
        "max_num_batched_tokens": 2048,
        "block_size": 32,
    }


def test_prompts_are_the_same_everywhere_and_of_ordinary_tokens() -> None:
    assert prompts.seeded_tokens("a", 3) == prompts.seeded_tokens("a", 3) != prompts.seeded_tokens("b", 3)
    assert set(prompts.seeded_tokens("a", 1000)) <= set(range(300, 500))


def test_metrics_are_summed_over_engines_and_a_phase_is_a_difference() -> None:
    def llm(value: float) -> Any:
        counter = SimpleNamespace(name="vllm:prefix_cache_hits", value=value)
        histogram = SimpleNamespace(name="vllm:ttft", buckets={}, sum=2.5, count=4)
        return SimpleNamespace(get_metrics=lambda: [counter, counter, histogram])

    before, after = metrics.counters(llm(10)), metrics.counters(llm(25))
    assert after == {"vllm:prefix_cache_hits": 50, "vllm:ttft_sum": 2.5, "vllm:ttft_count": 4}
    assert metrics.grown(before, after)["vllm:prefix_cache_hits"] == 30


def test_a_table_has_its_first_column_to_the_left() -> None:
    assert table.table(("name", "n"), [("a", "1"), ("long name", "1,000")]) == (
        "name           n\na              1\nlong name  1,000"
    )
