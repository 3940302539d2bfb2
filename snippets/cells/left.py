"""What a run left behind that the next one would meet: names of modules changed, tasks that go on, limits set anew."""

from __future__ import annotations

import asyncio
import builtins
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_GONE = object()


def _names(module: ModuleType) -> dict[str, Any]:
    """A module's names as they are now: of builtins all, of others those that are not the module's own affair."""
    return {name: one for name, one in module.__dict__.items() if module is builtins or not name.startswith("_")}


def _limits() -> tuple[object, ...]:
    return sys.getrecursionlimit(), sys.get_int_max_str_digits(), sys.gettrace(), sys.getprofile()


def _has_tasks() -> bool:
    """Whether something waits for its turn in the browser's loop. In CPython none outlives `asyncio.run`."""
    try:
        return len(asyncio.all_tasks(asyncio.get_running_loop())) > 0
    except RuntimeError:
        return False


def watch() -> Callable[[], bool]:
    """Look at Python before a run; the function that comes back says after it whether something was left behind.

    Names replaced or taken away count; what was added does not: to import something for the first time is no trace.
    """
    modules = {name: one for name, one in sys.modules.items() if isinstance(one, ModuleType) and name != "__main__"}
    before = [(module.__dict__, _names(module)) for module in modules.values()]
    limits = _limits()

    def is_left() -> bool:
        for name, module in modules.items():
            if sys.modules.get(name) is not module:
                return True
        for now, names in before:
            for name, one in names.items():
                if now.get(name, _GONE) is not one:
                    return True
        return limits != _limits() or _has_tasks()

    return is_left
