"""`Stream` and `Event` of the host: queues of work that a thread of each stream does in order.

Launches without a stream run at once in their caller, after what the streams hold (as the default
stream of a GPU); launches on a stream return before they have run.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from teeny_cpu.codes import E1115, E1116

if TYPE_CHECKING:
    from collections.abc import Callable

# A stream's thread that has had nothing to do for so long ends; the next work starts another.
_SECONDS_IDLE = 1.0
# How often who waits looks whether there is a thread.
_SECONDS_BETWEEN = 0.5

# The streams whose threads may have work.
BUSY: set[int] = set()
_streams: weakref.WeakSet[Stream] = weakref.WeakSet()
_adding = [threading.RLock()]  # a set that grows cannot be looked through; the last one counts


class Stream:
    """An ordered queue of launches. Its work runs beside that of other streams and the caller's.

    An error in it skips what is queued behind, and is raised by the next `synchronize`.
    """

    __slots__ = ("__weakref__", "_active", "_changed", "_error", "_thread", "_work", "device")

    def __init__(self, device: Any) -> None:
        self.device = device
        self.reset()
        with _adding[-1]:
            _streams.add(self)

    def reset(self) -> None:
        """Drop what is queued; a fork's child begins so, as it has no thread to do it."""
        BUSY.discard(id(self))
        self._changed = threading.Condition()
        self._work: deque[Callable[[], Any]] = deque()
        self._active = False  # work that is no more in the queue
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether all its work has finished."""
        return not self._work and not self._active

    def put(self, work: Callable[[], Any]) -> None:
        """Add work to the end of the queue."""
        with self._changed:
            self._work.append(work)
            self._wake()

    def _wake(self) -> None:
        """Let a thread do the work. Ctrl-C may have kept an earlier call from starting one."""
        if self._thread is not None and self._thread.is_alive():
            self._changed.notify_all()
            return
        BUSY.add(id(self))
        self._thread = threading.Thread(target=self._run, daemon=True, name="teeny-cpu-stream")
        self._thread.start()

    def _run(self) -> None:
        me = threading.current_thread()
        while True:
            with self._changed:
                if self._thread is me and not self._work:
                    self._changed.wait_for(lambda: self._work, _SECONDS_IDLE)
                if self._thread is not me:  # another one was started in its place
                    return
                if not self._work:
                    self._thread = None
                    BUSY.discard(id(self))
                    return
                self._active = True
                work = self._work.popleft()
                failed = self._error is not None
            error: BaseException | None = None
            try:
                if not failed or isinstance(work, _Mark):
                    work()
            except BaseException as caught:  # noqa: BLE001 - it is the business of who waits
                error = caught
            del work  # and the arrays it holds, before anybody is told that it is done
            with self._changed:
                self._error = self._error or error
                self._active = False
                self._changed.notify_all()

    def finish(self) -> None:
        """Wait for the work of this stream; its error stays with it."""
        with self._changed:
            while not self.is_done:
                self._wake()
                self._changed.wait(_SECONDS_BETWEEN)

    def synchronize(self) -> None:
        """Wait for the work of this stream. Raises the first error in it, once."""
        self.finish()
        with self._changed:
            error, self._error = self._error, None
        if error is not None:
            raise error

    def wait(self, other: Any) -> None:
        """Let work that is added from here on run after what is now in `other`.

        `other` is a stream, or an event: then it waits for the work before the event.
        """
        if isinstance(other, Event):
            mark = other.mark
        else:
            check_stream(other)
            mark = _mark_in(other)
        if mark is not None and not mark.reached.is_set():
            self.put(mark.reached.wait)

    def __repr__(self) -> str:
        return f"Stream({self.device.name}, {len(self._work) + self._active} pending)"


class _Mark:
    """A place in a queue; called when all work before it has finished."""

    __slots__ = ("reached", "time")

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.time = 0.0

    def __call__(self) -> None:
        self.time = time.perf_counter()
        self.reached.set()


class Event:
    """A mark in the order of work, with the time at which it was reached."""

    __slots__ = ("device", "mark")

    def __init__(self, device: Any) -> None:
        self.device = device
        self.mark: _Mark | None = None

    @property
    def time(self) -> float | None:
        """When it was reached, in seconds of `time.perf_counter`; None before."""
        return self.mark.time if self.mark is not None and self.mark.reached.is_set() else None

    @property
    def is_done(self) -> bool:
        """Whether all work before the mark has finished; true when it was never recorded."""
        return self.mark is None or self.mark.reached.is_set()

    def record(self, stream: Any = None) -> None:
        """Put the mark behind the work that is now in `stream`, or behind all work."""
        check_stream(stream)
        self.mark = _mark_in(stream)

    def synchronize(self) -> None:
        """Wait for the work before the mark."""
        if self.mark is not None:
            self.mark.reached.wait()

    def elapsed_ms(self, end: Any) -> float:
        """Milliseconds from this mark to `end`; waits for both.

        Raises:
            LaunchError: E1116 when one of the two was not recorded or `end` is no event of the
                host.
        """
        if not isinstance(end, Event):
            raise E1116.error(reason=f"`{end!r}` is no event of the host").help(
                "take both events from the same device"
            )
        if self.mark is None or end.mark is None:
            raise E1116.error(reason="one of them was never recorded").help(
                "call record() on both, around the work"
            )
        self.synchronize()
        end.synchronize()
        return (end.mark.time - self.mark.time) * 1e3

    def __repr__(self) -> str:
        state = "not recorded" if self.mark is None else "reached" if self.is_done else "pending"
        return f"Event({self.device.name}, {state})"


def check_stream(stream: Any) -> None:
    """Raise E1115 unless `stream` is None or a stream of the host."""
    if stream is not None and not isinstance(stream, Stream):
        raise E1115.error(found=f"`{stream!r}`").help(
            "leave it out, or pass a stream of the device"
        )


def finish_streams(stream: Any = None) -> None:
    """Wait until what is in `stream`, or in all streams, has run."""
    if stream is not None:
        check_stream(stream)
        stream.finish()
        return
    for each in _all():
        if not each.is_done:
            each.finish()


def synchronize_streams() -> None:
    """Wait for all streams. Raises the first error in one of them, once."""
    for each in _all():
        each.synchronize()


def _all() -> list[Stream]:
    with _adding[-1]:
        return list(_streams)


def _mark_in(stream: Stream | None) -> _Mark:
    mark = _Mark()
    if stream is None:
        finish_streams()
        mark()
    else:
        stream.put(mark)
    return mark


def _renew() -> None:
    _adding.append(threading.RLock())
    for each in list(_streams):
        each.reset()


def _end() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        finish_streams()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
