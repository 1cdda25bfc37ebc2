"""Streams and events of the fake driver: queues whose work runs only when somebody waits for it."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Event:
    """A mark in a queue; `time` is when the work before it was done, in seconds."""

    def __init__(self, queue: Queue | None = None) -> None:
        self.queue = queue
        self.time = 0.0

    @property
    def is_recorded(self) -> bool:
        """Whether it was ever put into a queue."""
        return self.queue is not None

    @property
    def is_done(self) -> bool:
        """Whether the work before it has run."""
        return self.queue is None or bool(self.time)

    def complete(self) -> None:
        """Run the work before it."""
        while self.queue is not None and not self.is_done:
            self.queue.step()


class Queue:
    """Work in order."""

    def __init__(self) -> None:
        self._work: deque[Callable[[], object]] = deque()
        self.is_running = False

    def add(self, work: Callable[[], object]) -> None:
        """Put work at the end."""
        self._work.append(work)

    def wait(self, event: Event) -> None:
        """Let what is added from here on run after `event`."""
        self._work.append(event.complete)

    def mark(self) -> Event:
        """An event behind the work that is there now."""
        event = Event(self)
        self._work.append(lambda: setattr(event, "time", time.perf_counter()))
        return event

    def step(self) -> None:
        """Run the first piece of work."""
        work = self._work.popleft()
        before, self.is_running = self.is_running, True
        try:
            work()
        finally:
            self.is_running = before

    @property
    def is_empty(self) -> bool:
        """Whether all work has run."""
        return not self._work

    def run(self) -> None:
        """Run everything."""
        while self._work:
            self.step()
