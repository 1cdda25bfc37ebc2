"""Captures and graphs of the fake driver: work that is kept, and run when a graph is launched."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, call, numbered, ok

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_GLOBAL, _THREAD_LOCAL, _RELAXED = range(3)
Work = list[tuple[object, "Callable[[], object]"]]


class FakeGraphs:
    """The functions of stream capture and graphs."""

    queues: dict[int, Any]
    non_blocking: set[int]
    handles: Iterator[int]
    CUstreamCaptureMode = numbered(
        "CUstreamCaptureMode",
        {
            f"CU_STREAM_CAPTURE_MODE_{name}": at
            for at, name in enumerate(("GLOBAL", "THREAD_LOCAL", "RELAXED"))
        },
    )

    def start_graphs(self) -> None:
        """Begin without any."""
        self.captures: dict[int, Work] = {}
        self.modes: dict[int, tuple[int, int]] = {}  # of each capture: its mode and thread
        self.thread_modes: dict[int, int] = {}
        self.spoiled: set[int] = set()
        self.graphs: dict[int, Work] = {}
        self.executables: dict[int, Work] = {}

    def capture(self, stream: int, work: Callable[[], object], kind: object) -> bool:
        """Whether the stream is being captured; then the work is kept."""
        if stream not in self.captures:
            return False
        self.captures[stream].append((kind, work))
        return True

    def refuses(self, stream: int) -> bool:
        """Whether a call that waits is not allowed, since the stream is captured; it spoils it."""
        if stream in self.captures:
            self.spoiled.add(stream)
            return True
        return False

    def spoils_captures(self) -> bool:
        """Whether a captured stream waits for the default one, which may not be used then."""
        spoiled = set(self.captures) - self.non_blocking
        self.spoiled |= spoiled
        return bool(spoiled)

    def is_unsafe(self, *, relaxed: bool = False) -> bool:
        """Whether a call that may wait is not allowed in this thread; it spoils the captures.

        `relaxed`: not even in a relaxed capture.
        """
        here = threading.get_ident()
        if self.thread_modes.get(here, _GLOBAL) == _RELAXED and not relaxed:
            return False
        spoiled = {
            stream
            for stream, (mode, thread) in self.modes.items()
            if mode == _GLOBAL or (thread == here and (relaxed or mode == _THREAD_LOCAL))
        }
        self.spoiled |= spoiled
        return bool(spoiled)

    @call
    def cuThreadExchangeStreamCaptureMode(self, mode: Any) -> Answer:
        here = threading.get_ident()
        old = self.thread_modes.get(here, _GLOBAL)
        self.thread_modes[here] = int(mode)
        return ok(self.CUstreamCaptureMode(old))

    @call
    def cuStreamBeginCapture(self, stream: int, mode: Any) -> Answer | None:
        if not stream:
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        if stream not in self.queues:
            return (CUresult.CUDA_ERROR_INVALID_HANDLE,)
        if stream in self.captures:
            return (CUresult.CUDA_ERROR_ILLEGAL_STATE,)
        self.captures[stream] = []
        self.modes[stream] = (int(mode), threading.get_ident())
        return None

    @call
    def cuStreamEndCapture(self, stream: int) -> Answer:
        work = self.captures.pop(stream, None)
        self.modes.pop(stream, None)
        if work is None:
            return (CUresult.CUDA_ERROR_ILLEGAL_STATE,)
        if stream in self.spoiled:
            self.spoiled.discard(stream)
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 0)
        handle = next(self.handles)
        self.graphs[handle] = work
        return ok(handle)

    @call
    def cuGraphDestroy(self, graph: int) -> Answer | None:
        found = self.graphs.pop(graph, None)
        return None if found is not None else (CUresult.CUDA_ERROR_INVALID_VALUE,)

    @call
    def cuGraphInstantiate(self, graph: int, flags: int) -> Answer:
        if graph not in self.graphs:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        handle = next(self.handles)
        self.executables[handle] = list(self.graphs[graph])
        return ok(handle)

    @call
    def cuGraphExecDestroy(self, executable: int) -> Answer | None:
        found = self.executables.pop(executable, None)
        return None if found is not None else (CUresult.CUDA_ERROR_INVALID_VALUE,)

    @call
    def cuGraphExecUpdate(self, executable: int, graph: int) -> Answer:
        old, new = self.executables.get(executable), self.graphs.get(graph)
        if old is None or new is None:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        if [kind for kind, _ in old] != [kind for kind, _ in new]:
            return (CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "topology changed")
        self.executables[executable] = list(new)
        return ok("success")

    @call
    def cuGraphLaunch(self, executable: int, stream: int) -> Answer | None:
        found = self.executables.get(executable)
        if found is None:
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        answer: Answer | None = None
        for kind, work in list(found):
            answer = self.enqueue(stream, work, kind)  # type: ignore[attr-defined]
        return answer
