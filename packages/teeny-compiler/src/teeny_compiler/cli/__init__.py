"""The `teeny` command. Only `app` imports typer and rich; this says when they are missing."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

from teeny_compiler.codes import E0930, E0935
from teeny_macros.diagnostics import TeenyError

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = 1
# What writing to a file that is open reports: nothing else in the command lacks a file's name.
_OF_OUTPUT = (errno.ENOSPC, errno.EIO, errno.EDQUOT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 done, 1 a coded error, 2 wrong usage."""
    try:
        require_extra()
        from teeny_compiler.cli.app import make_app

        make_app().main(None if arguments is None else list(arguments), prog_name="teeny")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except TeenyError as error:
        _print(error)
        return FAILED
    except OSError as error:
        if error.filename is not None or error.errno not in _OF_OUTPUT:
            raise
        _print(E0935.error(path="standard output", reason=os.strerror(error.errno).lower()))
        return FAILED
    return 0


def _print(error: TeenyError) -> None:
    from teeny_macros.render import render, wants_color

    for diagnostic in error.diagnostics:
        sys.stderr.write(render(diagnostic, color=wants_color(sys.stderr)) + "\n")


def require_extra() -> None:
    """Raise E0930 unless the libraries of the extra `cli` are installed."""
    from importlib import import_module

    missing = []
    for name in ("typer", "rich"):
        try:
            import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        raise E0930.error(missing=" and ".join(missing)).help("pip install 'teeny-compiler[cli]'")
