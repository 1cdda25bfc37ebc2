"""`Graph`: launches and copies captured once and replayed by one call.

Inside of a `with` block, what is put into the graph's stream is written down instead of run. A
second block writes the same work down again with other arguments.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1083, E1084
from teeny_cuda.stream import Stream, stream_handle

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from teeny_cuda.device import Device


class CaptureStream(Stream):
    """The stream of a graph; launches into it tell the graph what they use.

    It does not wait for the default stream, which no thread could use during a capture otherwise.
    """

    __slots__ = ()
    FLAGS = 1  # CU_STREAM_NON_BLOCKING


class Graph:
    """Work on one GPU, captured with `with device.capture() as graph:` and run by `launch`.

    It keeps the arrays and programs that it uses. Inside of the block use `graph.stream` and copy
    with `wait=False`. What becomes free inside is given back after the block.
    """

    __slots__ = (
        "__weakref__",
        "_executable",
        "_finalizer",
        "_kept",
        "_new",
        "device",
        "stream",
        "thread",
    )

    def __init__(self, device: Device) -> None:
        self.device = device
        self.stream = CaptureStream(device)
        self._executable: Any = None
        self._finalizer: Any = None
        self._kept: list[Any] = []
        self._new: list[Any] | None = None
        self.thread = 0

    def keep(self, *values: Any) -> None:
        """Keep what a captured launch uses as long as the graph may run it."""
        if self._new is not None:
            self._new += values

    @property
    def is_capturing(self) -> bool:
        """Whether its `with` block is open."""
        return self._new is not None

    def __enter__(self) -> Self:
        if self._new is not None:
            raise E1083.error(reason="it is being captured already")
        context = self.device.context
        # Known as captured before it is: nothing may be released between the two.
        self.thread = threading.get_ident()
        context.begin_capture(self.stream.handle, self)
        try:
            context.call("cuStreamBeginCapture", self.stream.handle, self._mode())
        except BaseException:
            context.end_capture(self.stream.handle)
            context.release_deferred()
            raise
        self._new = []
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        context = self.device.context
        new, self._new = self._new or [], None
        with context.bound():
            number, captured = context.driver.attempt("cuStreamEndCapture", self.stream.handle)
        # Only now is the stream free: until then what another thread releases waits.
        context.end_capture(self.stream.handle)
        try:
            if kind is None:
                if number:
                    raise context.driver.failure("cuStreamEndCapture", number)
                self._take(captured)
                self._kept = new
        finally:  # after an error inside nothing is taken: what went wrong there says more
            if not number and captured:
                with context.bound():
                    context.driver.attempt("cuGraphDestroy", captured)
            context.release_deferred()

    def launch(self, stream: Any = None) -> None:
        """Run the captured work once, in `stream` (the default stream when None).

        Raises:
            LaunchError: E1083 when nothing was captured, E1072 for an invalid stream.
        """
        if self._executable is None or self._new is not None:
            raise E1083.error(reason="its block has not ended").help(
                "launch it after `with device.capture() as graph:`"
            )
        handle = stream_handle(stream, self.device)
        self.device.context.call("cuGraphLaunch", self._executable, handle)

    def _mode(self) -> Any:
        modes = self.device.context.driver.api.CUstreamCaptureMode
        return modes.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

    def _take(self, captured: Any) -> None:
        with self.device.context.bound():
            if self._executable is None:
                self._instantiate(captured)
            else:
                self._update(captured)

    def _instantiate(self, captured: Any) -> None:
        context = self.device.context
        self._executable = context.driver.call("cuGraphInstantiate", captured, 0)
        self._finalizer = weakref.finalize(
            self, context.release, "cuGraphExecDestroy", self._executable
        )

    def _update(self, captured: Any) -> None:
        driver = self.device.context.driver
        number, _ = driver.attempt("cuGraphExecUpdate", self._executable, captured)
        if number:
            raise (
                E1084.error(reason="the work differs in more than its arguments")
                .note(f"the driver's answer to `cuGraphExecUpdate` is {number}")
                .help("capture another graph for it")
            )

    def __repr__(self) -> str:
        state = "capturing" if self.is_capturing else "ready" if self._executable else "empty"
        return f"Graph({self.device.name}, {state})"
