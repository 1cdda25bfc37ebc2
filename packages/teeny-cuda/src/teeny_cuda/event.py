"""`Event`: a mark in a stream, with the time between two of them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1073
from teeny_cuda.stream import stream_handle

if TYPE_CHECKING:
    from teeny_cuda.device import Device

_NOT_READY = 600


class Event:
    """A mark that `record` puts into a stream.

    It measures time with a resolution of about 0.5 us.
    """

    __slots__ = ("__weakref__", "_event", "_finalizer", "device", "is_recorded")

    def __init__(self, device: Device) -> None:
        self.device = device
        self._event: Any = device.context.call("cuEventCreate", 0)
        self.is_recorded = False
        self._finalizer = weakref.finalize(
            self, device.context.release, "cuEventDestroy", self._event
        )

    @property
    def handle(self) -> int:
        """The driver's `CUevent` as an integer."""
        return int(self._event)

    def record(self, stream: Any = None) -> None:
        """Put the mark behind the work that is now in `stream` (the default stream when None)."""
        self.device.context.call("cuEventRecord", self._event, stream_handle(stream, self.device))
        self.is_recorded = True

    @property
    def is_done(self) -> bool:
        """Whether all work before the mark has finished.

        True for an event that was never recorded.
        """
        with self.device.context.bound():
            driver = self.device.context.driver
            number, _ = driver.attempt("cuEventQuery", self._event)
        if number not in {0, _NOT_READY}:
            raise driver.failure("cuEventQuery", number)
        return number == 0

    def synchronize(self) -> None:
        """Wait for the work before the mark."""
        self.device.context.wait("cuEventSynchronize", self._event)

    def elapsed_ms(self, end: Any) -> float:
        """Milliseconds on the GPU from this mark to `end`, an event of the same device.

        Waits for `end`.

        Raises:
            LaunchError: E1073 when one of the two was not recorded or `end` is no event of this
                device.
        """
        if not isinstance(end, Event) or end.device != self.device:
            raise E1073.error(reason=f"`{end!r}` is no event of {self.device.name}").help(
                "take both events from the same device"
            )
        if not (self.is_recorded and end.is_recorded):
            raise E1073.error(reason="one of them was never recorded").help(
                "call record() on both, around the work"
            )
        end.synchronize()
        return float(self.device.context.call("cuEventElapsedTime", self._event, end.handle))

    def __repr__(self) -> str:
        return f"Event({self.device.name}, {'recorded' if self.is_recorded else 'not recorded'})"
