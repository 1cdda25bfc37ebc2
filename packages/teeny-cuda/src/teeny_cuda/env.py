"""The environment variables of teeny-cuda, and the only place that reads them.

An empty one counts as unset.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple


class Variable(NamedTuple):
    """One variable: its name, what holds when it is unset, and one line of help."""

    name: str
    default: str
    help: str


TEENY_LAUNCH_BLOCKING = Variable(
    "TEENY_LAUNCH_BLOCKING",
    "launches return at once",
    "1 waits for every launch, so that an error names the launch that caused it",
)
TEENY_NO_JIT_LAUNCHER = Variable(
    "TEENY_NO_JIT_LAUNCHER",
    "hot kernels are launched by machine code made for them, where llvmlite is installed",
    "1 launches everything through cuda-python",
)
TEENY_LAUNCHER_CACHE = Variable(
    "TEENY_LAUNCHER_CACHE",
    "the folder `teeny/launchers` of the user's caches",
    "the folder where the machine code of launches is kept",
)
TEENY_CUBIN_CACHE = Variable(
    "TEENY_CUBIN_CACHE",
    "machine code that came with PTX is loaded; else what the driver makes is kept beside it",
    "0 lets the driver compile PTX whenever it is loaded",
)
TEENY_LOG = Variable(
    "TEENY_LOG", "info", "what is said on standard error: `quiet`, `info` or `debug`"
)
VARIABLES = (
    TEENY_LAUNCH_BLOCKING,
    TEENY_NO_JIT_LAUNCHER,
    TEENY_LAUNCHER_CACHE,
    TEENY_CUBIN_CACHE,
    TEENY_LOG,
)


def is_set(variable: Variable) -> bool:
    """Whether the variable asks for what it names: set, and neither empty nor `0`."""
    return os.environ.get(variable.name, "") not in {"", "0"}


def keeps_cubins() -> bool:
    """Whether cubins are loaded, and kept beside the PTX."""
    return os.environ.get(TEENY_CUBIN_CACHE.name) != "0"


def is_quiet() -> bool:
    """Whether warnings are left out."""
    return os.environ.get(TEENY_LOG.name, "").lower() == "quiet"


def launcher_cache() -> Path | None:
    """The folder of compiled launchers; None when there is no home folder."""
    chosen = os.environ.get(TEENY_LAUNCHER_CACHE.name)
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not base or base.startswith("~"):
        return None
    return Path(base, "teeny", "launchers")
