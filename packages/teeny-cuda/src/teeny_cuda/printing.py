"""What kernels print, in order with what Python prints.

The driver writes it to C's standard output while it waits for the GPU. C and Python have buffers of
their own, so both are emptied around each wait of a context whose kernels print.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from teeny_cuda.context import Context

_PRINT = b"vprintf"  # what device_print calls, in PTX and in machine code


def can_print(image: bytes) -> bool:
    """Whether code has kernels that print."""
    return _PRINT in image


def print_at_exit(context: Context) -> None:
    """Let what kernels print come out when the process ends without waiting for them."""
    import atexit

    def wait() -> None:
        with InOrder(context), context.bound():
            context.driver.attempt("cuCtxSynchronize")

    def quietly() -> None:
        with contextlib.suppress(Exception):  # a context that failed has nothing to say any more
            wait()

    atexit.register(quietly)


class InOrder:
    """A `with` block around a wait."""

    __slots__ = ("_prints",)

    def __init__(self, context: Context) -> None:
        self._prints = context.prints

    def __enter__(self) -> None:
        if self._prints:
            with contextlib.suppress(AttributeError, OSError, ValueError):  # none, or closed
                sys.stdout.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._prints and sys.platform != "win32":
            ctypes.CDLL(None).fflush(None)
