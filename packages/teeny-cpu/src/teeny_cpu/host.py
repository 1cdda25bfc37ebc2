"""`Host`: what the devices of host memory share: buffers, streams, events.

How programs run is the business of `device.py` (compiled) and `interpreter.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_cpu.arrays import find_view
from teeny_cpu.buffer import Buffer
from teeny_cpu.stream import Event, Stream, synchronize_streams

if TYPE_CHECKING:
    from collections.abc import Sequence


class Host:
    """Memory of the host and its order of work."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """As arrays and `device=` name it."""
        return "cpu"

    def buffer(self, shape: int | Sequence[int], dtype: str | Any) -> Buffer:
        """Memory for `shape` elements of `dtype`, not initialized.

        `dtype` is a name or type of the kernel language, NumPy or torch (`"f32"`, `tl.f32`).

        Raises:
            LaunchError: E1113 unknown dtype, E1114 no shape, E1118 out of memory.
        """
        return Buffer(shape, dtype)

    def copy_of(self, array: Any) -> Buffer:
        """A new buffer with the shape, dtype and contents of a host array."""
        import numpy as np

        found = find_view(array)
        if found is None:
            array = np.asarray(array)
            found = find_view(array)
            assert found is not None
        buffer = Buffer(found.array.shape, found.dtype or found.array.dtype)
        buffer.copy_from(array)
        return buffer

    def stream(self) -> Stream:
        """A new stream."""
        return Stream(self)

    def event(self) -> Event:
        """A new event."""
        return Event(self)

    def synchronize(self) -> None:
        """Wait for all streams. Raises the first error in one of them, once."""
        synchronize_streams()
