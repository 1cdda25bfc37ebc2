"""`Stream` and `Event` of the host, where work is done when it is asked for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from teeny_cpu.codes import E1115, E1116

if TYPE_CHECKING:
    from teeny_cpu.device import Device


class Stream:
    """A queue of work that is always empty: a launch returns after it has run."""

    __slots__ = ("device",)

    def __init__(self, device: Device) -> None:
        self.device = device

    def synchronize(self) -> None:
        """Return at once: nothing is pending."""

    def wait(self, other: Any) -> None:
        """Return at once: what is in `other` (a stream of the host) has run."""
        check_stream(other)

    def __repr__(self) -> str:
        return f"Stream({self.device.name})"


class Event:
    """A mark in the order of work, with the time at which it was put there."""

    __slots__ = ("_time", "device")

    def __init__(self, device: Device) -> None:
        self.device = device
        self._time: float | None = None

    @property
    def time(self) -> float | None:
        """When it was recorded, in seconds of `time.perf_counter`; None before."""
        return self._time

    @property
    def is_done(self) -> bool:
        """Whether all work before the mark has finished, which is always so."""
        return True

    def record(self, stream: Any = None) -> None:
        """Put the mark behind the work done so far."""
        check_stream(stream)
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Return at once: the work before the mark has finished."""

    def elapsed_ms(self, end: Any) -> float:
        """Milliseconds from this mark to `end`.

        Raises:
            LaunchError: E1116 when one of the two was not recorded or `end` is no event of the
                host.
        """
        if not isinstance(end, Event):
            raise E1116.error(reason=f"`{end!r}` is no event of the host").help(
                "take both events from the same device"
            )
        if self.time is None or end.time is None:
            raise E1116.error(reason="one of them was never recorded").help(
                "call record() on both, around the work"
            )
        return (end.time - self.time) * 1e3

    def __repr__(self) -> str:
        return f"Event({self.device.name}, {'not recorded' if self._time is None else 'recorded'})"


def check_stream(stream: Any) -> None:
    """Raise E1115 unless `stream` is None or a stream of the host."""
    if stream is not None and not isinstance(stream, Stream):
        raise E1115.error(found=f"`{stream!r}`").help(
            "leave it out, or pass a stream of the device"
        )
