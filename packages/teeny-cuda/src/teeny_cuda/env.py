"""The environment variables of teeny-cuda, and the only place that reads them.

An empty one counts as unset.
"""

from __future__ import annotations

import os
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
VARIABLES = (TEENY_LAUNCH_BLOCKING,)


def is_set(variable: Variable) -> bool:
    """Whether the variable asks for what it names: set, and neither empty nor `0`."""
    return os.environ.get(variable.name, "") not in {"", "0"}
