"""Who compiles and who waits: one lock per key, a mutex among threads, a file among processes.

A lock only saves work. Where it cannot be had (no flock, no write access, an owner that never ends)
the caller goes on without it, for entries appear whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

from teeny_compiler import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = ".locks"
_POLL_SECONDS = 0.02


class _Mutexes:
    """A mutex per name, kept while somebody holds it or waits for it."""

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.rows: dict[str, tuple[threading.Lock, int]] = {}

    @contextlib.contextmanager
    def hold(self, name: str) -> Iterator[None]:
        with self.guard:
            mutex, users = self.rows.get(name, (threading.Lock(), 0))
            self.rows[name] = (mutex, users + 1)
        try:
            with mutex:
                yield
        finally:
            with self.guard:
                mutex, users = self.rows[name]
                if users == 1:
                    del self.rows[name]
                else:
                    self.rows[name] = (mutex, users - 1)


_mutexes = _Mutexes()


def _after_fork() -> None:
    global _mutexes  # noqa: PLW0603 - what another thread held in the parent is never released here
    _mutexes = _Mutexes()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextlib.contextmanager
def hold(root: str, key: str, patience: float) -> Iterator[None]:
    """Hold the lock of `key` in the cache at `root`, after at most `patience` seconds."""
    with _mutexes.hold(f"{root}\0{key}"):
        release = _acquire(root, key, patience)
        try:
            yield
        finally:
            if release is not None:
                release()


def _acquire(root: str, key: str, patience: float) -> _Release | None:
    from filelock import FileLock, Timeout

    path = os.path.join(root, FOLDER, f"{key}.lock")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        lock = FileLock(path, timeout=patience)
        lock.acquire(poll_interval=_POLL_SECONDS)
    except (OSError, Timeout, NotImplementedError) as error:
        log.debug(f"compiling without the lock {path}: {error}")
        return None
    return _Release(path, lock.release)


class _Release:
    """Releases a file lock; that it cannot be released (the disk is gone) is no reason to fail."""

    def __init__(self, path: str, release: Callable[[], None]) -> None:
        self._path = path
        self._release = release

    def __call__(self) -> None:
        # The file goes while it is held. Who waits for it gets the lock of a file without a name,
        # who comes later that of a new file: both find the entry. Windows keeps the file.
        with contextlib.suppress(OSError):
            os.unlink(self._path)
        try:
            self._release()
        except OSError as error:
            log.debug(f"a lock could not be released: {error}")
