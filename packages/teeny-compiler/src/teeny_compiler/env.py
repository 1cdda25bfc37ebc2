"""The environment variables of teeny-compiler: the only place that reads the environment.

An empty variable counts as unset.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class Variable(NamedTuple):
    """One variable: its name, what holds when it is unset, and one line of help."""

    name: str
    default: str
    help: str


TEENYC_PATH = Variable("TEENYC_PATH", "searched for", "the teenyc executable to run")
TEENYC_TOOLCHAIN = Variable(
    "TEENYC_TOOLCHAIN",
    "the default chosen with `teeny toolchain default NAME`",
    "name of the toolchain to use, of those in the user's data directory",
)
TEENYC_CACHE_DIR = Variable(
    "TEENYC_CACHE_DIR",
    "`teenyc_cache` in /tmp",
    "directory that holds compiled kernels",
)
TEENYC_CACHE_LAYERS = Variable(
    "TEENYC_CACHE_LAYERS",
    "none",
    "caches to look into first and never to write to, separated as the folders in PATH",
)
TEENYC_CACHE_REMOTE = Variable(
    "TEENYC_CACHE_REMOTE",
    "none",
    "URL of a cache that machines share, for fsspec: `s3://bucket/teenyc`, `file:///mnt/teenyc`",
)
TEENYC_CACHE_REMOTE_MODE = Variable(
    "TEENYC_CACHE_REMOTE_MODE",
    "read-write",
    "`read` takes kernels from TEENYC_CACHE_REMOTE and sends none",
)
TEENYC_CACHE_MAX_SIZE = Variable(
    "TEENYC_CACHE_MAX_SIZE",
    "5G",
    "size of the cache beyond which the kernels used least recently go; `none` for no limit",
)
TEENYC_CACHE_MAX_AGE = Variable(
    "TEENYC_CACHE_MAX_AGE",
    "90d",
    "how long a kernel may be unused before it goes; `none` for no limit",
)
TEENYC_PTX_VERSION = Variable(
    "TEENYC_PTX_VERSION",
    "the oldest that carries the kernel",
    "PTX version to write, for example 8.4; below the kernel's floor it is an error",
)
TEENYC_BOUNDS_CHECKS = Variable(
    "TEENYC_BOUNDS_CHECKS",
    "off",
    "`on`: on a CPU an access outside of the arrays given is an error instead of a crash",
)
TEENYC_ASSERTIONS = Variable(
    "TEENYC_ASSERTIONS", "off", "`on`: code for a GPU keeps what `device_assert` checks"
)
TEENYC_OVERFLOW_CHECKS = Variable(
    "TEENYC_OVERFLOW_CHECKS",
    "off",
    "`on`: a 32-bit integer that overflows on the way to an address is a failed assertion",
)
TEENYC_CUBIN = Variable(
    "TEENYC_CUBIN",
    "on",
    "`off`: no machine code beside PTX; the driver makes it where the kernel is loaded",
)
TEENYC_PTXAS = Variable(
    "TEENYC_PTXAS", "the one that came with Triton", "the ptxas that makes machine code of PTX"
)
TEENYC_TIMEOUT = Variable(
    "TEENYC_TIMEOUT", "600", "seconds that one run of teenyc may take before it is ended"
)
TEENY_LOG = Variable(
    "TEENY_LOG", "info", "what is said on standard error: `quiet`, `info` or `debug`"
)
TEENY_TUNED = Variable(
    "TEENY_TUNED", "none", "files of tuning results to use, separated as the folders in PATH"
)
VARIABLES = (
    TEENYC_PATH,
    TEENYC_TOOLCHAIN,
    TEENYC_CACHE_DIR,
    TEENYC_CACHE_LAYERS,
    TEENYC_CACHE_REMOTE,
    TEENYC_CACHE_REMOTE_MODE,
    TEENYC_CACHE_MAX_SIZE,
    TEENYC_CACHE_MAX_AGE,
    TEENYC_PTX_VERSION,
    TEENYC_BOUNDS_CHECKS,
    TEENYC_ASSERTIONS,
    TEENYC_OVERFLOW_CHECKS,
    TEENYC_CUBIN,
    TEENYC_PTXAS,
    TEENYC_TIMEOUT,
    TEENY_LOG,
    TEENY_TUNED,
)

# What must not reach teenyc: our caller's interactive settings, and what is passed as an option.
_NOT_FOR_TEENYC = frozenset(
    (
        "PYTHONINSPECT",
        "PYTHONSTARTUP",
        "PYTHONWARNINGS",
        TEENYC_PTX_VERSION.name,
        TEENYC_BOUNDS_CHECKS.name,
        TEENYC_ASSERTIONS.name,
        TEENYC_OVERFLOW_CHECKS.name,
        TEENYC_CUBIN.name,
    )
)
_OTHER_PACKAGES = frozenset(("PYTHONPATH", "PYTHONHOME"))


def read(variable: Variable) -> str | None:
    """The variable's value, or None when it is unset or empty."""
    return os.environ.get(variable.name) or None


def python_path() -> str | None:
    """The folders that Python puts before its own, in one text; None where there are none."""
    return os.environ.get("PYTHONPATH") or None


def for_teenyc(*, apart: bool = False) -> dict[str, str]:
    """The environment that teenyc runs in; `apart`: a toolchain's own packages are all it sees."""
    away = _NOT_FOR_TEENYC | _OTHER_PACKAGES if apart else _NOT_FOR_TEENYC
    return {name: value for name, value in os.environ.items() if name not in away}


def for_pip() -> dict[str, str]:
    """The environment that pip runs in: its own settings stay, other packages are not seen."""
    away = _OTHER_PACKAGES | {"PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_PYTHON"}
    return {name: value for name, value in os.environ.items() if name not in away}


def xdg_data_home() -> str:
    """Where a user's data lies on Linux (as platformdirs has it, without its import)."""
    given = os.environ.get("XDG_DATA_HOME", "")
    return given if given.strip() else os.path.expanduser("~/.local/share")
