"""Scratch memory that launches in one stream share, since they run one after the other.

It is known by the number that the driver gives a stream for the life of the process: a handle may
come again while work of the stream that had it still runs. Captured launches never use it, as a
graph may run beside them.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from teeny_cuda import emit_parts as parts

if TYPE_CHECKING:
    from teeny_cuda.context import Context
    from teeny_cuda.record import Record

_LEAST = 4096
_MOST = 64 << 20  # bytes of all streams; beyond them each launch takes its own
_LATE = 64  # pieces that another thread may be about to use


class Shared:
    """The scratch memory of one context's streams."""

    __slots__ = ("_context", "_lock", "_pieces", "nbytes")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._lock = threading.RLock()  # a finalizer may end a stream in the middle of `find`
        # By the stream's number: its pieces, each larger than those before. Smaller ones stay, as
        # a launch of another thread may have been about to use them.
        self._pieces: dict[int, list[Any]] = {}
        self.nbytes = 0

    def find(self, number: int, nbytes: int, stream: int) -> Any:
        """At least so much memory for the launches in a stream; None where there is none."""
        with self._lock:
            pieces = self._pieces.get(number, [])
            if pieces and pieces[-1][2] >= nbytes:
                return pieces[-1]
            size = max(_LEAST, 1 << (nbytes - 1).bit_length())
            if self.nbytes + size > _MOST:
                return None
            with self._context.bound():
                result, pointer = self._context.driver.attempt("cuMemAllocAsync", size, stream)
            if result:
                return None
            self.nbytes += size
            made = (ctypes.c_uint64 * 3)(number, int(pointer), size)
            self._pieces[number] = [*pieces, made]
            return made

    def end(self, stream: int) -> None:
        """Give back the memory of a stream that is about to be destroyed, in its order.

        The context is current. Called by finalizers, so nothing is raised.
        """
        driver = self._context.driver
        if not self._pieces:
            return
        with self._lock:
            result, number = driver.attempt("cuStreamGetId", stream)
            for piece in [] if result else self._pieces.pop(int(number), []):
                self.nbytes -= piece[2]
                pointer, piece[2] = piece[1], 0
                driver.attempt("cuMemFreeAsync", pointer, stream)


class Pieces:
    """The pieces that a record's launches know, by the last bits of their streams' numbers."""

    __slots__ = ("_kept", "_late", "_record", "_shared")

    def __init__(self, record: Record, shared: Shared) -> None:
        self._record = weakref.ref(record)  # which keeps this
        self._shared = shared
        self._kept: list[Any] = [None] * parts.PIECES
        self._late: deque[Any] = deque(maxlen=_LATE)

    def __call__(self, number: int, nbytes: int, stream: int) -> None:
        """Let the next launch in a stream find memory; called behind one that took its own."""
        record, found = self._record(), self._shared.find(number, nbytes, stream)
        if record is None or found is None:
            return
        at = number % parts.PIECES
        self._late.append(self._kept[at])
        self._kept[at] = found
        record.put(parts.PIECE + at, ctypes.addressof(found))
