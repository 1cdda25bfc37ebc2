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


class Stream:
    """A stream of its own. It is ordered after the default stream, as CUDA's blocking streams are.

    Other libraries take it through `__cuda_stream__` or by its `handle`.
    """

    __slots__ = ("__weakref__", "_finalizer", "device", "handle")

    def __init__(self, device: Device) -> None:
        self.device = device
        created = device.context.call("cuStreamCreate", 0)
        self.handle = int(created)
        self._finalizer = weakref.finalize(self, device.context.release, "cuStreamDestroy", created)

    def synchronize(self) -> None:
        """Wait for the work of this stream."""
        self.device.context.call("cuStreamSynchronize", self.handle)

    def wait(self, other: Any) -> None:
        """Let work that is added from here on run after what is now in `other` (a stream)."""
        order(self.device.context, stream_handle(other, self.device), self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.handle

    def __repr__(self) -> str:
        return f"Stream({self.device.name}, handle={self.handle:#x})"


def stream_handle(stream: Any, device: Device) -> int:
    """The handle of a stream: ours, an integer, or one of torch, CuPy or with `__cuda_stream__`.

    Raises:
        LaunchError: E1072 when it is no stream, or one of another device.
    """
    if stream is None:
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


def order(context: Context, before: int, after: int) -> None:
    """Make work added to stream `after` from here on wait for what is now in stream `before`."""
    if before == after:
        return
    with context.bound():
        driver = context.driver
        event = driver.call("cuEventCreate", _DISABLE_TIMING)
        try:
            driver.call("cuEventRecord", event, before)
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
