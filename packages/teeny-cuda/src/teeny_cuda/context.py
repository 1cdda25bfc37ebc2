"""The primary context of a GPU, retained once a process and shared with other libraries.

It is bound for single calls: a thread's current context is left as it was found, since another
library may rely on it.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from teeny_cuda.codes import E1053, E1083
from teeny_cuda.driver import GONE, Driver, driver
from teeny_cuda.printing import InOrder
from teeny_cuda.scratch import Shared
from teeny_cuda.suspects import Counter, Suspects

if TYPE_CHECKING:
    from types import TracebackType

    from teeny_cuda.graph import Graph


class Context:
    """A retained primary context. It is kept until the process ends, as the CUDA runtime does."""

    __slots__ = (
        "_deferred",
        "_retired",
        "captures",
        "device",
        "driver",
        "handle",
        "kinds",
        "maps",
        "number",
        "open_captures",
        "ordinal",
        "prints",
        "scratch",
        "suspects",
    )

    def __init__(self, driver: Driver, ordinal: int) -> None:
        self.driver = driver
        self.ordinal = ordinal
        self.device: Any = driver.call("cuDeviceGet", ordinal)
        self.handle: Any = driver.call("cuDevicePrimaryCtxRetain", self.device)
        self.number = int(self.handle)
        # The launch kinds of this GPU's buffers, one object each (buffer.py).
        self.kinds: dict[tuple[str, bool], tuple[str, bool]] = {}
        # Encoded tensor maps by what they were made of (arguments.py).
        self.maps: dict[Any, bytes] = {}
        # The graphs that are being captured, by the handles of their streams.
        self.captures: dict[int, Graph] = {}
        self.open_captures = Counter()
        # The launches that may have caused a fault.
        self.suspects = Suspects()
        # What launches in one stream share.
        self.scratch = Shared(self)
        # Whether kernels that print were loaded.
        self.prints = False
        self._retired: list[Any] = []
        # What became free during a capture; finalizers of any thread add to it.
        self._deferred: deque[tuple[str, tuple[Any, ...]]] = deque()

    def begin_capture(self, handle: int, graph: Graph) -> None:
        """Know that the stream of this handle is being captured."""
        self.captures[handle] = graph
        self.open_captures.set(len(self.captures))

    def end_capture(self, handle: int) -> None:
        """Know that it is captured no more."""
        self.captures.pop(handle, None)
        self.open_captures.set(len(self.captures))

    def require_outside(self) -> None:
        """Raise E1083 when this thread captures a graph: the default stream is no part of it."""
        here = threading.get_ident()
        if any(graph.thread == here for graph in list(self.captures.values())):
            raise E1083.error(reason="the default stream was used inside of it").help(
                "inside of the block use `graph.stream`"
            )

    def bound(self) -> Bound:
        """A `with` block in which this context is current in this thread."""
        return Bound(self)

    def call(self, name: str, *args: Any) -> Any:
        """`Driver.call` with this context current."""
        with Bound(self):
            return self.driver.call(name, *args)

    def wait(self, name: str, *args: Any) -> None:
        """Call a function that waits; what kernels printed until then comes out in order."""
        with Bound(self), InOrder(self):
            self.driver.call(name, *args)

    def release(self, name: str, *args: Any, at_once: bool = False) -> None:
        """Call a function that releases something; while a graph is captured, when that has ended.

        A context that is gone has released it already. `at_once`: even in a capture, for what came
        in the same one.
        """
        # Releasing may wait for the GPU, and what is older than a capture may not be freed in it.
        if self.captures and not at_once:
            self._deferred.append((name, args))
            return
        driver = self.driver
        number, current = driver.attempt("cuCtxGetCurrent")
        pushed = not number and int(current) != self.number
        if pushed:
            number, _ = driver.attempt("cuCtxPushCurrent", self.handle)
        if not number:
            if name == "cuStreamDestroy":
                self.scratch.end(*args)
            number, _ = driver.attempt(name, *args)
            if pushed:
                driver.attempt("cuCtxPopCurrent")
        if number and number not in GONE:
            raise self.driver.failure(name, number)

    def release_deferred(self) -> None:
        """Release what became free while a graph was captured, if none is captured now."""
        while self._deferred and not self.captures:
            try:
                name, args = self._deferred.popleft()
            except IndexError:  # another thread was quicker
                return
            self.release(name, *args)

    def unguarded(self) -> Unguarded:
        """A `with` block in which calls that may wait are allowed although a graph is captured."""
        return Unguarded(self)

    def synchronize(self) -> None:
        """Wait for all work of this context, and unload the modules that were waiting for that."""
        self.release_deferred()
        with Bound(self):
            # Only what was retired before the wait is surely idle after it.
            idle, self._retired = self._retired, []
            number = self.suspects.count
            try:
                with InOrder(self):
                    self.driver.call("cuCtxSynchronize")
                self.suspects.waited(number)
            except BaseException:
                self._retired += idle
                raise
            for module in idle:
                self.release("cuModuleUnload", module)

    def retire(self, module: Any) -> None:
        """Unload a module once its kernels have surely ended.

        A finalizer must not wait for them.
        """
        self._retired.append(module)

    @property
    def retired(self) -> int:
        """How many modules wait to be unloaded."""
        return len(self._retired)


class Bound:
    """Makes a context current in this thread.

    Takes it away again if it was not current before.
    """

    __slots__ = ("_context", "_pushed")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pushed = False

    def __enter__(self) -> None:
        context = self._context
        if int(context.driver.call("cuCtxGetCurrent")) != context.number:
            context.driver.call("cuCtxPushCurrent", context.handle)
            self._pushed = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._pushed:
            self._context.driver.attempt("cuCtxPopCurrent")


class Unguarded:
    """Sets this thread's capture mode to relaxed, and back.

    New memory and loaded code depend on nothing in a capture: they may come while one goes on.
    """

    __slots__ = ("_context", "_mode")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._mode: Any = None

    def __enter__(self) -> None:
        context = self._context
        if context.captures:
            modes = context.driver.api.CUstreamCaptureMode
            self._mode = context.driver.call(
                "cuThreadExchangeStreamCaptureMode", modes.CU_STREAM_CAPTURE_MODE_RELAXED
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._mode is not None:
            self._context.driver.attempt("cuThreadExchangeStreamCaptureMode", self._mode)


def device_count() -> int:
    """How many GPUs the driver shows to this process."""
    return int(driver().call("cuDeviceGetCount"))


def require_context(ordinal: int) -> Context:
    """The primary context of GPU `ordinal`. Raises E1053 when the driver shows no such GPU."""
    found = driver()
    with found.lock:
        context = found.contexts.get(ordinal)
        if context is None:
            count = device_count()
            if not 0 <= ordinal < count:
                shown = "one device, `cuda:0`" if count == 1 else f"`cuda:0` to `cuda:{count - 1}`"
                raise E1053.error(name=f"cuda:{ordinal}", count=shown if count else "none").help(
                    "see whether CUDA_VISIBLE_DEVICES hides the device"
                )
            context = found.contexts[ordinal] = Context(found, ordinal)
        return context


def current_ordinal() -> int:
    """The number of the GPU whose context is current in this thread; 0 when there is none."""
    found = driver()
    if not int(found.call("cuCtxGetCurrent")):
        return 0
    return int(found.call("cuCtxGetDevice"))
