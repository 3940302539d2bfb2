"""labs/autodl.sh on boxes that are not there: what is missing is one sentence each, and nothing is done twice."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from fake_box import SCRIPT, Box

from tools import lab_box


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A box on which nothing is missing."""
    return Box(tmp_path)


def lacking(box: Box, *argv: str) -> list[str]:
    """The sentences about what is missing."""
    done = box.run(*argv)
    assert done.returncode == 1, done
    head, *sentences = done.stderr.strip().splitlines()
    assert head == "missing:"
    return sentences


# --- check ---
def test_a_whole_box_is_told_and_nothing_changes(box: Box) -> None:
    done = box.run("check")
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    # 15 GB for vLLM and what it brings, 6 and 16 for the models: 5,570,747,392 and 15,231,233,024 bytes
    assert f"disk: 50 GB free at {box.disk}, 37 GB needed still" in said
    assert "card: NVIDIA GeForce RTX 4090, driver 580.65.06, 24080 of 24564 MiB free" in said
    assert "vllm: not installed yet" in said
    assert not box.dir.exists()
    assert box.called() == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("NVIDIA GeForce RTX 4090, 550.54.14, 24564, 24080", "Driver 550.54.14 is too old for torch 2.11.0 (CUDA 13)"),
        ("NVIDIA GeForce RTX 4090, 580.65.06, 24564, 3010", "Only 3010 of 24564 MiB of the card are free"),
        ("NVIDIA GeForce RTX 4090, [N/A], 24564, 24080", "The driver's version reads '[N/A]'"),
        ("", "nvidia-smi finds no card"),
    ],
)
def test_a_card_that_will_not_do_is_refused_with_what_to_change(box: Box, line: str, sentence: str) -> None:
    box.card(line)
    (said,) = lacking(box, "check")
    assert said.startswith(sentence)


def test_driver_580_is_the_first_that_passes(box: Box) -> None:
    """The CUDA 13.0 release notes give 580.65.06 as the first driver for Linux."""
    for version, status in (("579.99", 1), ("580.65.06", 0), ("610.1", 0)):
        box.card(f"NVIDIA GeForce RTX 4090, {version}, 24564, 24080")
        assert box.run("check").returncode == status, version


def test_everything_missing_is_told_at_once(box: Box) -> None:
    for name in ("nvidia-smi", "cc", "tmux", "python3.12"):
        box.without(name)
    box.free_gb(20)
    sentences = lacking(box, "setup")
    beginnings = ("The disk of", "No NVIDIA driver:", "No Python from 3.10 to 3.14", "No C compiler", "No tmux")
    assert [said.startswith(start) for said, start in zip(sentences, beginnings, strict=True)] == [True] * 5
    assert "has 20 GB free and 37 are needed" in sentences[0]
    assert box.called() == []


def test_a_python_that_cannot_make_environments_is_none(box: Box) -> None:
    box.environment["FAKE_PYTHON_UNFIT"] = "1"
    assert "apt-get install python3-venv" in lacking(box, "check")[0]


@pytest.mark.parametrize(("name", "value"), [("FAKE_SYSTEM", "Darwin"), ("FAKE_MACHINE", "riscv64")])
def test_a_machine_that_no_wheel_is_for_is_told(box: Box, name: str, value: str) -> None:
    box.environment[name] = value
    assert value in lacking(box, "check")[0]


def test_a_disk_that_df_does_not_know_is_told(box: Box) -> None:
    box.command("df", "exit 0")
    assert lacking(box, "check") == [f"df does not say how much is free at {box.disk}: choose another --dir."]


# --- setup ---
def test_setup_installs_the_pinned_release_and_both_models_on_the_data_disk(box: Box) -> None:
    done = box.run("setup")
    assert done.returncode == 0, done.stderr
    pip, *fetched = box.called()
    assert pip.startswith("pip https://pypi.tuna.tsinghua.edu.cn/simple ")
    assert pip.endswith(" vllm==0.26.0")
    assert fetched == [f"hf https://hf-mirror.com download {name}" for name in lab_box.module("serve_kv").MODELS[::-1]]
    assert (box.dir / "hf/hub/models--Qwen--Qwen2.5-7B-Instruct-AWQ/snapshots").is_dir()
    assert done.stdout.strip().endswith("run serve_kv")


def test_a_second_setup_does_nothing_and_needs_no_room(box: Box) -> None:
    assert box.run("setup").returncode == 0
    before = box.called()
    box.free_gb(1)
    done = box.run("setup")
    assert done.returncode == 0, done.stderr
    assert "0 GB needed still" in done.stdout
    assert box.called() == before


def test_what_failed_is_taken_up_where_it_stopped(box: Box) -> None:
    box.environment["FAKE_FETCH_FAILS"] = "1"
    failed = box.run("setup")
    assert failed.returncode == 1
    assert "try --from modelscope; what has come already is kept" in failed.stderr
    del box.environment["FAKE_FETCH_FAILS"]
    assert box.run("setup").returncode == 0
    assert [line.split()[0] for line in box.called()] == ["pip", "hf", "hf", "hf"]


def test_an_index_that_cannot_be_reached_names_the_flag(box: Box) -> None:
    box.environment["FAKE_PIP_FAILS"] = "1"
    assert "name another with --pip-index" in box.run("setup").stderr


def test_another_vllm_in_the_environment_is_replaced(box: Box) -> None:
    assert box.run("setup").returncode == 0
    (box.dir / "venv" / "vllm").write_text("0.25.1\n", encoding="utf-8")
    assert box.run("setup").returncode == 0
    assert [line.split()[0] for line in box.called()] == ["pip", "hf", "hf", "pip"]


def test_modelscope_is_installed_pinned_and_asked(box: Box) -> None:
    assert box.run("--from", "modelscope", "setup").returncode == 0
    pip, package, *fetched = box.called()
    assert " modelscope==1." in package and "vllm==" in pip
    assert fetched[0] == "modelscope  download Qwen/Qwen2.5-7B-Instruct-AWQ"
    box.lab()
    assert box.run("--from", "modelscope", "run", "serve_kv").returncode == 0
    script = (box.dir / "results" / "serve_kv.sh").read_text(encoding="utf-8")
    assert f"export VLLM_USE_MODELSCOPE=True\nexport MODELSCOPE_CACHE={box.dir}/modelscope\n" in script


def test_one_model_alone_needs_less_room(box: Box) -> None:
    box.free_gb(22)
    assert box.run("setup").returncode == 1
    assert box.run("--model", "Qwen/Qwen2.5-7B-Instruct-AWQ", "setup").returncode == 0
    assert "30 GB needed still" in box.run("--model", "org/other", "--model-gb", "30", "check").stdout


def test_a_box_without_its_card_can_be_set_up(box: Box) -> None:
    box.without("nvidia-smi")
    done = box.run("--no-gpu", "setup")
    assert done.returncode == 0, done.stderr
    assert "card: not looked for (--no-gpu)" in done.stdout


def test_elsewhere_the_folder_is_in_home_and_no_mirror_is_set(box: Box) -> None:
    box.not_autodl()
    assert box.run("setup").returncode == 0
    pip, fetch, _ = box.called()
    assert pip.startswith("pip  -m pip install")
    assert fetch.startswith("hf  download")
    assert (box.home / "llm-labs/hf/hub").is_dir()


# --- run, pack, stop ---
def test_a_lab_runs_in_tmux_where_the_models_are(box: Box) -> None:
    assert box.run("setup").returncode == 0
    box.lab()
    done = box.run("run", "serve_kv", "--kv-cache-dtype", "auto", "--question", "what's 'it'?")
    assert done.returncode == 0, done.stderr
    assert box.called()[-1] == f"tmux new-session -d -s labs bash {box.dir}/results/serve_kv.sh"
    script = (box.dir / "results" / "serve_kv.sh").read_text(encoding="utf-8")
    assert " --kv-cache-dtype auto " in script
    assert "export HF_ENDPOINT=https://hf-mirror.com\n" in script
    assert f"--out {box.dir}/results/serve_kv.result.json" in script
    assert f"export HF_HOME={box.dir}/hf" in script
    assert "shutdown" not in script


def test_the_script_that_tmux_runs_gives_each_word_as_typed(box: Box) -> None:
    assert box.run("setup").returncode == 0
    box.lab()
    box.run("run", "serve_kv", "--question", "what's 'it'?  $HOME")
    python = box.dir / "venv" / "bin" / "python"
    python.write_text("#!/usr/bin/env bash\nprintf '%s\\n' \"$@\"\n", encoding="utf-8")
    done = subprocess.run(
        [shutil.which("bash") or "bash", str(box.dir / "results" / "serve_kv.sh")],
        capture_output=True,
        text=True,
        env={"PATH": str(box.tools), "HOME": "/elsewhere"},
    )
    assert "what's 'it'?  $HOME" in done.stdout.splitlines()
    assert (box.dir / "results" / "serve_kv.log").read_text(encoding="utf-8").endswith("ended with status 0\n")


def test_off_shuts_the_box_down_after_the_lab(box: Box) -> None:
    assert box.run("setup").returncode == 0
    box.lab()
    assert box.run("--off", "run", "serve_kv").returncode == 0
    script = (box.dir / "results" / "serve_kv.sh").read_text(encoding="utf-8")
    assert script.endswith("sleep 60 && shutdown\n")


@pytest.mark.parametrize(
    ("argv", "prepare", "said"),
    [
        (("run", "serve_kv"), "", "there is no serve_kv.py beside autodl.sh"),
        (("run", "serve_kv"), "lab", "vLLM 0.26.0 is not in"),
        (("run", "serve_kv"), "lab setup busy", "a lab is running in the tmux session 'labs' already"),
        (("pack",), "", "there are no results in"),
        (("stop",), "results", "there are results that were not packed"),
    ],
)
def test_a_step_too_early_says_which_comes_first(box: Box, argv: tuple[str, ...], prepare: str, said: str) -> None:
    if "setup" in prepare:
        assert box.run("setup").returncode == 0
    if "lab" in prepare:
        box.lab()
    if "results" in prepare:
        box.results()
    if "busy" in prepare:
        box.environment["FAKE_SESSION"] = "0"
    done = box.run(*argv)
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert said in line


def test_results_are_packed_into_one_file_and_the_box_stops_after_that(box: Box) -> None:
    box.results("serve_kv.result.json")
    box.results("serve_kv.log")
    box.results("serve_kv.sh")
    done = box.run("pack")
    assert done.returncode == 0, done.stderr
    packed = done.stdout.splitlines()[0]
    with tarfile.open(packed) as archive:
        assert sorted(archive.getnames()) == ["./serve_kv.log", "./serve_kv.result.json"]
    assert f"scp -P PORT root@HOST:{packed} ." in done.stdout
    assert box.run("stop").returncode == 0
    assert box.called() == ["shutdown "]  # AutoDL's own takes no arguments


def test_a_box_that_is_not_autodls_is_not_shut_down_unasked(box: Box) -> None:
    box.not_autodl()
    done = box.run("stop")
    assert done.returncode == 1 and "this is no AutoDL box" in done.stderr
    assert box.called() == []
    assert box.run("stop", "--yes").returncode == 0
    assert box.called() == ["shutdown -h now"]


# --- what is typed ---
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("--form", "hub", "check"), "there is no option --form"),
        (("--from", "ftp", "check"), "--from is hub, mirror or modelscope, not 'ftp'"),
        (("--dir",), "--dir needs a value"),
        (("--dir", "/", "check"), "--dir is a folder of its own, not '/'"),
        (("--model-gb", "six", "check"), "--model-gb takes a whole number of GB, not 'six'"),
        (("--model", "../etc", "check"), "--model is a name such as org/model, not '../etc'"),
        (("install",), "there is no step install"),
        (("check", "now"), "check takes nothing after it"),
        (("run",), "run needs the name of a lab"),
        (("run", "../serve_kv"), "is not the name of a lab"),
    ],
)
def test_a_wrong_word_is_named(box: Box, argv: tuple[str, ...], said: str) -> None:
    done = box.run(*argv)
    assert done.returncode == 2
    assert said in done.stderr


def test_help_and_no_step_show_the_steps(box: Box) -> None:
    assert "usage: bash autodl.sh" in box.run("--help").stdout
    bare = box.run()
    assert bare.returncode == 2 and "usage: bash autodl.sh" in bare.stderr


def test_release_and_model_are_the_labs_own() -> None:
    text = SCRIPT.read_text(encoding="utf-8")
    lab = lab_box.module("serve_kv")
    assert f"\nVLLM={lab.VLLM_VERSION} " in text
    assert f'\nMODELS="{" ".join(lab.MODELS[::-1])}" ' in text
    assert "580 or newer" in lab_box.lab("serve_kv").fields["Platform"] and "\nDRIVER=580 " in text
