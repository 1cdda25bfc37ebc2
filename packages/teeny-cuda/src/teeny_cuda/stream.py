"""`Stream`: an ordered queue of work on one GPU.

The streams of other libraries, taken by their handles. A handle is the driver's `CUstream` as an
integer; 0 is the legacy default stream.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1072

if TYPE_CHECKING:
    from teeny_cuda.context import Context
    from teeny_cuda.device import Device

DEFAULT = 0
_LEGACY = 1
_DISABLE_TIMING = 2
_NOT_READY = 600


class Stream:
    """A stream of its own. It is ordered after the default stream, as CUDA's blocking streams are.

    `priority` is that of its work: lower is sooner, 0 the ordinary one. Other libraries take a
    stream through `__cuda_stream__` or by its `handle`.

    Raises:
        LaunchError: E1072 for a priority that the device does not have.
    """

    __slots__ = ("__weakref__", "_finalizer", "device", "handle", "priority")
    FLAGS = 0

    def __init__(self, device: Device, *, priority: int = 0) -> None:
        self.device = device
        self.priority = priority
        least, greatest = (0, 0) if priority == 0 else device.priorities
        if not greatest <= priority <= least:
            raise E1072.error(found=f"priority {priority}", device=device.name).note(
                f"its priorities are {greatest} to {least}"
            )
        created = device.context.call("cuStreamCreateWithPriority", self.FLAGS, priority)
        self.handle = int(created)
        self._finalizer = weakref.finalize(self, device.context.release, "cuStreamDestroy", created)

    def synchronize(self) -> None:
        """Wait for the work of this stream."""
        self.device.context.wait("cuStreamSynchronize", self.handle)

    @property
    def is_done(self) -> bool:
        """Whether all its work has finished."""
        with self.device.context.bound():
            number, _ = self.device.context.driver.attempt("cuStreamQuery", self.handle)
        if number not in {0, _NOT_READY}:
            raise self.device.context.driver.failure("cuStreamQuery", number)
        return number == 0

    def wait(self, other: Any) -> None:
        """Let work that is added from here on run after what is now in `other`.

        `other` is a stream, or an `Event`: then it waits for the work before the event.
        """
        from teeny_cuda.event import Event

        if isinstance(other, Event):
            self.device.context.call("cuStreamWaitEvent", self.handle, other.handle, 0)
        elif isinstance(other, Stream) and other.device != self.device:
            order(
                other.device.context,
                other.handle,
                self.handle,
                after_context=self.device.context,
            )
        else:
            order(self.device.context, stream_handle(other, self.device), self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __repr__(self) -> str:
        return f"Stream({self.device.name}, handle={self.handle:#x})"


def stream_handle(stream: Any, device: Device) -> int:
    """The handle of a stream: ours, an integer, or one of torch, CuPy or with `__cuda_stream__`.

    Raises:
        LaunchError: E1072 when it is no stream, or one of another device; E1083 for the default
            stream while this thread captures a graph.
    """
    if stream is None:
        if device.context.captures:
            device.context.require_outside()
        return DEFAULT
    if isinstance(stream, Stream):
        if stream.device != device:
            raise E1072.error(found=repr(stream), device=device.name).help(
                f"make one with the stream() of {device.name}"
            )
        return stream.handle
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        found: Any = protocol() if callable(protocol) else protocol
        handle: Any = found[1] if isinstance(found, tuple) else None
    elif isinstance(stream, int) and not isinstance(stream, bool):
        handle = stream
    else:
        # torch.cuda.Stream, cupy.cuda.Stream
        handle = getattr(stream, "cuda_stream", getattr(stream, "ptr", None))
    if not isinstance(handle, int) or handle < 0:
        raise E1072.error(found=f"`{stream!r}`", device=device.name).help(
            "pass a Stream, a stream of torch or CuPy, or its handle as an int"
        )
    return DEFAULT if handle == _LEGACY else handle


def order(
    context: Context, before: int, after: int, *, after_context: Context | None = None
) -> None:
    """Make work added to stream `after` from here on wait for what is now in stream `before`.

    `after_context` says whose stream `after` is, when it is another GPU's.
    """
    if before == after and after_context is None:
        return
    driver = context.driver
    with context.bound():
        event = driver.call("cuEventCreate", _DISABLE_TIMING)
        try:
            driver.call("cuEventRecord", event, before)
            with (after_context or context).bound():
                driver.call("cuStreamWaitEvent", after, event, 0)
        finally:
            # The driver keeps the event until the waiting work has seen it.
            driver.attempt("cuEventDestroy", event)


def current_torch_stream(ordinal: int) -> int:
    """The handle of torch's current stream on a GPU.

    Torch is imported by whoever made the tensor.
    """
    return int(sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream)


def interface_stream(value: Any) -> int | None:
    """The `stream` entry of a CUDA array interface as a handle.

    None when nothing is to be waited for.
    """
    if value is None:
        return None
    return DEFAULT if value == _LEGACY else int(value)
