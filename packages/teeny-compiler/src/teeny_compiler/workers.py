"""`compile_kernels`: many kernels at once, in `teenyc --worker` processes that stay warm.

Workers start when there is work, and anew after one has died; a death costs the one kernel that it
was compiling. They end with this process, after a while without work, or when teenyc changes.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from typing import IO, TYPE_CHECKING, Any

from teeny_compiler import env, log, reports, runner, versions
from teeny_compiler import options as option_names
from teeny_compiler.compiler import Compiler
from teeny_compiler.progress import follow
from teeny_macros.diagnostics import Diagnostic, TeenyError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence
    from queue import SimpleQueue

    from teeny_compiler.compiler import Instance, Instantiable
    from teeny_compiler.options import CompileOptions
    from teeny_compiler.progress import Report
    from teeny_compiler.runner import Job, Output
    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.artifact import Artifact
    from teeny_macros.target import Target

_SECONDS_IDLE = 30.0
_MOST = 16
_THAT_MATTER = ("TEENYC_", "TRITON_", "MLIR_", "LLVM_", "PTXAS", "LD_", "PYTHON", "PATH")
_TO_READ = 4000  # bytes of what a dead worker said last


def compile_kernels(
    kernels: Sequence[tuple[Instance | Instantiable, Target]],
    *,
    workers: int | None = None,
    options: CompileOptions | None = None,
    progress: Report | bool = True,
) -> list[Artifact | TeenyError]:
    """Compile `(instance, target)` pairs side by side: an artifact or a coded error for each.

    What the cache has is taken from there. `workers` is how many teenyc processes may run, by
    default one for each core that this process may use. `progress` is False for silence, or a
    function of what is done, the total, and the kernel that was finished.

    Raises:
        ToolchainError: E0914 (a variable that cannot be read). All else is in the list.
    """
    return compile_each(kernels, workers=workers, options=options, progress=progress)


def compile_each(
    kernels: Sequence[tuple[Instance | Instantiable, Target]],
    *,
    workers: int | None = None,
    options: CompileOptions | None = None,
    progress: Report | bool = True,
    done: Callable[[str, Target, Artifact], None] | None = None,
) -> list[Artifact | TeenyError]:
    """As `compile_kernels`; `done` gets each artifact as soon as it is there.

    It is called in this thread with the identity of the instance and the target, once for twins.
    """
    compiler = Compiler(run=_run_warm)
    results: dict[tuple[str, Target], Artifact | TeenyError] = {}
    wanted: dict[tuple[str, Target], Instance] = {}
    order: list[tuple[str, Target]] = []
    tell = done or (lambda identity, target, made: None)
    for given, target in kernels:
        instance: Any = given.instantiate() if hasattr(given, "instantiate") else given
        key = (instance.id, target)
        order.append(key)
        if key in results or key in wanted:
            continue
        try:
            hit = compiler.find(instance, target, options=options)
        except TeenyError as error:
            results[key] = error
            continue
        if hit is None:
            wanted[key] = instance
        else:
            results[key] = hit
            tell(*key, hit)
    if wanted:
        for key, made in _compile_missing(compiler, wanted, workers, options, progress):
            results[key] = made
            if not isinstance(made, TeenyError):
                tell(*key, made)
    return [results[key] for key in order]


def _compile_missing(
    compiler: Compiler,
    wanted: dict[tuple[str, Target], Instance],
    workers: int | None,
    options: CompileOptions | None,
    progress: Report | bool,
) -> Iterator[tuple[tuple[str, Target], Artifact | TeenyError]]:
    from concurrent.futures import ThreadPoolExecutor, as_completed

    count = min(len(wanted), workers or min(core_count(), _MOST))
    executor = ThreadPoolExecutor(max(count, 1), thread_name_prefix="teeny-compile")
    try:
        futures = {
            executor.submit(compiler.compile, instance, key[1], options=options): key
            for key, instance in wanted.items()
        }
        with follow("compiling", len(futures), progress) as step:
            for future in as_completed(futures):
                key = futures[future]
                try:
                    made: Artifact | TeenyError = future.result()
                    step(wanted[key].name)
                except TeenyError as error:
                    made = error
                    step(f"{wanted[key].name} failed ({error.code})")
                yield key, made
    except BaseException:  # Ctrl-C: nobody waits for what is being compiled
        executor.shutdown(wait=False, cancel_futures=True)
        close_workers()
        raise
    executor.shutdown()
    _schedule_closing()


def core_count() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


# --- one worker -----------------------------------------------------------------------------------


class Worker:
    """One `teenyc --worker`, which takes a job at a time."""

    def __init__(self, toolchain: Toolchain) -> None:
        self._path = toolchain.path
        self._apart = bool(toolchain.name)
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._answers: SimpleQueue[bytes] | None = None
        self._number = 0

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        return None if self._process is None else self._process.pid

    def run(self, job: Job, work: str) -> Output:
        """Compile `job` in the folder `work`. Raises as `runner.run_teenyc`."""
        import json

        output = runner.prepare(job, os.path.abspath(work))
        limit = runner.timeout_seconds()
        process, answers = self._ready(job)
        self._number += 1
        arguments = option_names.arguments(job.options, job.target)
        request = {"id": self._number, "args": [*arguments, "-o", output], "unit": job.unit}
        start = time.perf_counter()
        answer = b""
        try:
            assert process.stdin is not None
            with contextlib.suppress(OSError):  # it has died: it says how below
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
            answer = _wait(answers, limit)
        except TimeoutError:
            self.close()
            raise runner.too_slow(job, limit) from None
        except BaseException:
            self.close()
            raise
        if not answer:
            status, said = self._died()
            return runner.finish(job, output, status, *reports.parse(said), 0.0)
        # Files are named as if it ran in `work`, which moves when it is kept.
        here = json.dumps(output)[1:-1].encode()
        found = json.loads(answer.replace(here, runner.OUTPUT.encode()))
        faults = [Diagnostic.from_json(row) for row in found["diagnostics"]]
        seconds = time.perf_counter() - start
        return runner.finish(job, output, int(found["status"]), faults, "", seconds)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        runner.end(process)
        for stream in (process.stdin, process.stdout, self._stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _ready(self, job: Job) -> tuple[subprocess.Popen[bytes], SimpleQueue[bytes]]:
        if self._process is not None and self._process.poll() is not None:
            log.debug(f"worker {self._process.pid} has gone; starting another")
            self.close()
        if self._process is None or self._answers is None:
            self._start(job)
        assert self._process is not None
        assert self._answers is not None
        return self._process, self._answers

    def _start(self, job: Job) -> None:
        import subprocess
        import tempfile
        from queue import SimpleQueue

        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        try:
            process = subprocess.Popen(
                [self._path, "--worker"],
                env=env.for_teenyc(apart=self._apart),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                **runner.GROUP,
            )
        except OSError as error:
            raise runner.cannot_start(job, self._path, error) from error
        answers: SimpleQueue[bytes] = SimpleQueue()
        self._process, self._answers = process, answers
        assert process.stdout is not None
        threading.Thread(target=_read, args=(process.stdout, answers), daemon=True).start()
        log.debug(f"started worker {process.pid}: {self._path} --worker")

    def _died(self) -> tuple[int, str]:
        """The status of a worker that ended without an answer, and what it said last."""
        assert self._process is not None
        status = self._process.wait()
        said = b""
        if self._stderr is not None:
            end = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, end - _TO_READ))
            said = self._stderr.read()
        self.close()
        return status, said.decode(errors="replace")


def _read(stream: IO[bytes], answers: SimpleQueue[bytes]) -> None:
    """Pass each line on; an empty one says that there are no more."""
    with contextlib.suppress(OSError, ValueError):
        for line in stream:
            answers.put(line)
    answers.put(b"")


def _wait(answers: SimpleQueue[bytes], seconds: float) -> bytes:
    from queue import Empty

    try:
        return answers.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None


# --- the workers of this process ------------------------------------------------------------------


class _Warm:
    """Workers without work, all of the same teenyc in the same environment."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.state: object = None
        self.idle: list[Worker] = []
        self.used = 0.0
        self.timer: threading.Timer | None = None


_warm = _Warm()


def _run_warm(found: Toolchain, job: Job, work: str) -> Output:
    """Compile in a worker that waits, or in a new one. Raises as `runner.run_teenyc`."""
    state = (found.path, versions.versions_of(found), _settings())
    with _warm.lock:
        stale = [] if _warm.state == state else _warm.idle
        if _warm.state != state:
            _warm.state, _warm.idle = state, []
        worker = _warm.idle.pop() if _warm.idle else Worker(found)
    for other in stale:
        other.close()
    try:
        return worker.run(job, work)
    finally:
        with _warm.lock:
            _warm.used = time.monotonic()
            keep = _warm.state == state
            if keep:
                _warm.idle.append(worker)
        if not keep:
            worker.close()


def _settings() -> list[tuple[str, str]]:
    """What of the environment may change what teenyc writes."""
    return sorted(
        (name, value)
        for name, value in env.for_teenyc().items()
        if name.startswith(_THAT_MATTER) and not name.startswith("TEENYC_CACHE_")
    )


def close_workers() -> None:
    """End the workers that wait; those that compile end when their work is done."""
    with _warm.lock:
        idle, _warm.idle, _warm.state = _warm.idle, [], None
        timer, _warm.timer = _warm.timer, None
    if timer is not None:
        timer.cancel()
    for worker in idle:
        worker.close()


def _schedule_closing() -> None:
    with _warm.lock:
        if _warm.timer is not None or not _warm.idle:
            return
        _warm.timer = timer = threading.Timer(_SECONDS_IDLE, _close_if_idle)
        timer.daemon = True
        timer.start()


def _close_if_idle() -> None:
    with _warm.lock:
        _warm.timer = None
        busy = time.monotonic() - _warm.used < _SECONDS_IDLE
    if busy:
        _schedule_closing()
    else:
        close_workers()


def _after_fork() -> None:
    """A child has no part in its parent's workers."""
    global _warm  # noqa: PLW0603 - the parent's lock may be held for good
    _warm = _Warm()


atexit.register(close_workers)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
