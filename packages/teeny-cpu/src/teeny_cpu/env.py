"""The environment variables of this package: the only place that reads the environment.

An empty variable counts as unset.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from teeny_cpu.codes import E1123


class Variable(NamedTuple):
    """One variable: its name, what holds when it is unset, and one line of help."""

    name: str
    default: str
    help: str


TEENY_CPU_THREADS = Variable(
    "TEENY_CPU_THREADS",
    "all cores that the process may use",
    "how many threads run the programs of a launch on the CPU",
)
VARIABLES = (TEENY_CPU_THREADS,)

_MOST = 1024


def thread_count() -> int:
    """How many threads a launch may use, the calling one included. Raises E1123."""
    text = os.environ.get(TEENY_CPU_THREADS.name)
    if not text:
        return _cores()
    if not text.isdecimal() or not 1 <= int(text) <= _MOST:
        raise E1123.error(name=TEENY_CPU_THREADS.name, value=text).help(
            f"set it to a number from 1 to {_MOST}, or unset it to use all cores"
        )
    return int(text)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
