"""The environment variables of teenyc; only this file reads them. An empty one counts as unset."""

from __future__ import annotations

import os
from typing import NamedTuple


class Variable(NamedTuple):
    """One variable: its name, what holds when it is unset, and one line of help."""

    name: str
    default: str
    help: str


TEENYC_PTX_VERSION = Variable(
    "TEENYC_PTX_VERSION",
    "the oldest that carries the kernel",
    "PTX version to write, for example 8.4; below the kernel's floor it is an error",
)
TEENYC_PTXAS = Variable(
    "TEENYC_PTXAS",
    "the one that came with Triton",
    "the ptxas that makes machine code of PTX",
)
VARIABLES = (TEENYC_PTX_VERSION, TEENYC_PTXAS)

# All that the back end's process keeps: how to find files, how text is encoded. libtriton and LLVM
# read dozens of others (TRITON_*, MLIR_*, DISABLE_LLVM_OPT ...); each would change code or print.
_BACK_END_KEEPS = frozenset(
    (
        "HOME",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "PATH",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "TMPDIR",
    )
)


def read(variable: Variable) -> str | None:
    """The variable's value, or None when it is unset or empty."""
    return os.environ.get(variable.name) or None


def for_tools() -> dict[str, str]:
    """The environment of ptxas: nothing in it changes what it makes."""
    return {name: value for name, value in os.environ.items() if name in _BACK_END_KEEPS}


def temporary_folders() -> list[str]:
    """Where temporary files may go, in the order of the standard library."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    return [path for path in (*named, "/tmp", "/var/tmp", ".") if path]  # noqa: S108 - as there


def clear_for_back_end() -> None:
    """Remove from this process's environment all that could reach libtriton or LLVM."""
    own = {variable.name for variable in VARIABLES}
    for name in list(os.environ):
        if name not in _BACK_END_KEEPS and name not in own:
            del os.environ[name]
