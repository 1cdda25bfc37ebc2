"""The thread pool of this process: native workers that sleep until a launch calls them.

Python knows of a launch only its `native.Record`. A launch that finds the pool taken runs alone in
its caller. On Linux workers sleep in native code; elsewhere in Python (`_Callers`).
"""

from __future__ import annotations

import atexit
import ctypes
import itertools
import os
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from teeny_cpu import jit, native
from teeny_cpu.native import CALL, PAUSED, TAKEN
from teeny_cpu.scratch import OWN, Block, stride_of, zeros

if TYPE_CHECKING:
    from collections.abc import Callable

_NAP = 50e-6
_SECONDS_TO_END = 1.0


class Workers:
    """Scratch memory for the workers of a pool, one part for each."""

    __slots__ = ("block", "room", "stride")

    def __init__(self, room: int, arena: int) -> None:
        self.room = room
        self.stride = stride_of(arena)
        self.block = Block(arena, headers=max(room, 1))


class Pool:
    """Workers are started when a launch first wants them, and anew in a forked child."""

    def __init__(self, system: str) -> None:
        self.native = system == "linux"
        more = native.SLEEPING if self.native else native.HELPING
        text = native.pool_text(system, jit.host_machine())
        self._code = jit.load(jit.compile_text(text), native.SYMBOLS + more)
        self._memory, self.address = zeros(native.POOL_BYTES)
        word, status = ctypes.c_void_p, ctypes.c_int32
        self.start_launch = self._function("teeny_launch", status, word, word)
        self.step = self._function("teeny_step", status, word)
        self.stop = self._function("teeny_stop", None, word)
        if self.native:
            self._initialize = self._function("teeny_pool_init", None, word)
            self._work = self._function("teeny_worker", None, word, ctypes.c_int64)
            self._close = self._function("teeny_close", ctypes.c_bool, word, ctypes.c_int64)
            self._initialize(self.address)
        else:
            self._help = self._function("teeny_help", None, word, word)
            self.stop = self._stop_and_drain
        self.reset()

    def _function(self, symbol: str, result: Any, *kinds: Any) -> Callable[..., Any]:
        made: Callable[..., Any] = ctypes.CFUNCTYPE(result, *kinds)(self._code.addresses[symbol])
        return made

    def addresses(self) -> tuple[int, int, int]:
        """Of the code that begins a launch, goes on with it, and stops it."""
        found = self._code.addresses
        return found["teeny_launch"], found["teeny_step"], found["teeny_stop"]

    def reset(self) -> None:
        """Forget workers that this process does not have; a fork's child begins so."""
        ctypes.memset(self.address, 0, native.POOL_BYTES)
        if self.native:
            self._initialize(self.address)
        self.workers = 0
        self.threads: list[threading.Thread] = []
        # A signal handler may launch while its thread is in here, so nobody waits for himself.
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._scratch: Workers | None = None
        self._jobs: queue.SimpleQueue[tuple[int, Workers] | None] = queue.SimpleQueue()

    def require(self, workers: int) -> None:
        """Start threads until there are `workers`."""
        with self._lock:
            while self.workers < workers:
                number = next(self._numbers)
                thread = threading.Thread(
                    target=self._run, args=(number,), daemon=True, name=f"teeny-cpu-{number + 1}"
                )
                try:
                    thread.start()
                except RuntimeError:  # no more threads here, or the interpreter is ending
                    return
                self.threads.append(thread)
                self.workers = max(self.workers, number + 1)

    def scratch(self, workers: int, arena: int) -> Workers:
        """Memory for `workers` workers with arenas of `arena` bytes; it is shared and only grows.

        Launches keep it as long as they use it.
        """
        with self._lock:
            known = self._scratch
            if known is None or known.room < workers or known.block.arena < arena:
                room = max(workers, known.room if known else 0)
                known = Workers(room, max(arena, known.block.arena if known else 0))
                self._scratch = known
            return known

    def _run(self, number: int) -> None:
        if self.native:
            self._work(self.address, number)
            return
        jobs = self._jobs
        while (job := jobs.get()) is not None:
            self._assist(*job, number)

    # --- launches --------------------------------------------------------------------------------

    def launch(self, record: int, arena: int, workers: Workers | None) -> tuple[int, int]:
        """Run the launch at address `record`: its status, and the address of its error record.

        Signals are looked for at least every 50 ms and a chunk; what their handlers raise (Ctrl-C)
        stops the launch and is raised.
        """
        block = OWN.block
        if block is None or block.arena < arena:
            block = OWN.grow(arena)
        address = block.address
        try:
            status = self.start_launch(record, address)
            if status >= PAUSED:
                return self._go_on(status, record, arena, workers, block)
        except BaseException:
            self.stop(address)
            raise
        return status, address

    def _go_on(
        self, status: int, record: int, arena: int, workers: Workers | None, block: Block
    ) -> tuple[int, int]:
        address = block.address
        if status == TAKEN:  # a signal handler launches while its thread's launch is paused
            OWN.block = None
            try:
                return self.launch(record, arena, workers)
            finally:
                OWN.block = block
        if status == CALL:
            assert workers is not None
            status = self._call(record, address, workers)
        while status == PAUSED:
            if not self.native:
                self._drain()
                time.sleep(_NAP)
            status = self.step(address)
        return status, address

    # --- workers that sleep in Python ------------------------------------------------------------

    def _call(self, record: int, job: int, workers: Workers) -> int:
        wanted = native.Record(*(ctypes.c_int64 * len(native.Record._fields)).from_address(record))
        for _ in range(wanted.workers):
            self._jobs.put((job, workers))
        return int(self.step(job))

    def _drain(self) -> None:
        """Take back the calls that no worker has heard."""
        try:
            while (job := self._jobs.get_nowait()) is not None:
                self._assist(*job, job[1].room)
            self._jobs.put(None)
        except queue.Empty:
            pass

    def _stop_and_drain(self, job: int) -> None:
        ctypes.c_int64.from_address(job + native.STOP_AT).value = 1
        while self.step(job) == PAUSED:
            self._drain()
            time.sleep(_NAP)

    def _assist(self, job: int, workers: Workers, number: int) -> None:
        if number < workers.room:
            self._help(job, workers.block.address + number * workers.stride)
        else:
            spare = Block(workers.block.arena)
            self._help(job, spare.address)

    def close(self) -> None:
        """Let the workers end, and wait for them a moment; later launches run in their callers.

        Workers that a launch keeps busy all that time are left as they are.
        """
        until = time.monotonic() + _SECONDS_TO_END
        if not self.native:
            for _ in self.threads:
                self._jobs.put(None)
        elif self.workers:
            while not self._close(self.address, self.workers):
                if time.monotonic() > until:
                    return
                time.sleep(_NAP)
        for thread in self.threads:
            thread.join(max(until - time.monotonic(), 0))


_pools: list[Pool] = []
_making = [threading.RLock()]  # the last one counts


def the_pool() -> Pool:
    """The pool of this process."""
    if not _pools:
        with _making[-1]:
            if not _pools:
                _pools.append(Pool(sys.platform))
                # Code that a sleeping worker will return into must never be unloaded.
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(_pools[0]))
    return _pools[0]


def _renew() -> None:
    _making.append(threading.RLock())
    for pool in _pools:
        pool.reset()


def _end() -> None:
    for pool in _pools:
        pool.close()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
