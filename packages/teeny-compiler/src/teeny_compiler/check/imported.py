"""Kernels that only running a module makes: found by importing it. Used with `--import` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_compiler.cli.kernels import MAIN, load_file
from teeny_compiler.codes import E0950
from teeny_macros.diagnostics import TeenyError
from teeny_macros.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Iterator


def kernels_of(path: str) -> Iterator[Kernel[...]]:
    """The kernels among the variables of a module, after running it.

    Raises:
        TeenyError: E0950 when the import fails.
    """
    from pathlib import Path

    try:
        module = load_file(Path(path))
    except TeenyError:
        raise
    except SystemExit as error:
        reason = f"importing it ended the process (`sys.exit({error.code!r})`)"
        raise E0950.error(path=path, reason=reason).help(MAIN) from error
    except Exception as error:
        reason = f"importing it failed: {type(error).__name__}: {error}"
        raise E0950.error(path=path, reason=reason).help("check it without `--import`") from error
    pending: list[Any] = list(vars(module).values())
    for value in pending:
        kernel = value if isinstance(value, Kernel) else getattr(value, "kernel", None)
        if isinstance(value, list | tuple | dict):
            members = value.values() if isinstance(value, dict) else value
            yield from (one for one in members if isinstance(one, Kernel))
        elif isinstance(kernel, Kernel):
            yield kernel
