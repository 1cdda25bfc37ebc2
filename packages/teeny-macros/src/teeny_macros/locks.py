"""`Lock`: a lock that a forked child finds free, whichever thread of its parent held it."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from types import TracebackType


class Lock:
    """For `with`; the thread that holds it may take it again.

    What it guards must be whole at any moment: in a forked child the thread that was about to
    change it is gone.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Forget who holds it, unless it is this thread."""
        if self._lock.acquire(blocking=False):
            self._lock.release()
        else:
            self._lock = threading.RLock()


_locks: WeakSet[Lock] = WeakSet()


def _renew() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
