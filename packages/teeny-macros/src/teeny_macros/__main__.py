"""`python -m teeny_macros explain CODE`: pages of error codes where teenyc is not installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from teeny_macros.diagnostics import TeenyError
from teeny_macros.pages import explain
from teeny_macros.render import render, wants_color

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = "usage: python -m teeny_macros explain CODE\n"
OK, FAILED, WRONG_USAGE = 0, 1, 2


def main(arguments: Sequence[str]) -> int:
    """Print the page and return the exit status: 0 done, 1 no such code, 2 wrong usage."""
    if list(arguments) in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return OK
    if len(arguments) != 2 or arguments[0] != "explain":
        sys.stderr.write(USAGE)
        return WRONG_USAGE
    try:
        sys.stdout.write(explain(arguments[1]))
    except TeenyError as error:
        for fault in error.diagnostics:
            sys.stderr.write(render(fault, color=wants_color(sys.stderr)) + "\n")
        return FAILED
    return OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
