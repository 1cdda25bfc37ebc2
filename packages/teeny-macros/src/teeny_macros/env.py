"""The environment variables of this package: the only place that reads the environment.

An empty variable counts as unset.
"""

from __future__ import annotations

import os
from typing import NamedTuple


class Variable(NamedTuple):
    """One variable: its name, its value when unset, and a line of help."""

    name: str
    default: str
    help: str

    def get(self) -> str:
        """The value now."""
        return os.environ.get(self.name) or self.default


TEENY_DEVICE = Variable(
    "TEENY_DEVICE", "cpu", "device that runs kernels whose arrays all lie in host memory"
)
TEENY_COLOR = Variable(
    "TEENY_COLOR", "auto", "colored errors: `auto` (when written to a terminal) or `never`"
)
TEENY_BUNDLES = Variable(
    "TEENY_BUNDLES",
    "",
    "bundles that launches look into, separated as the folders in PATH; `none`: only those that "
    "the program loads itself",
)
VARIABLES = (TEENY_DEVICE, TEENY_COLOR, TEENY_BUNDLES)


def color_allowed() -> bool:
    """Whether nothing asks for plain text; NO_COLOR and TERM=dumb count, as in other tools."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and TEENY_COLOR.get() != "never"
