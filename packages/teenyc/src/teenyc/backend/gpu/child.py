"""The back end's process: libtriton runs here, so that its death costs one kernel and nothing more.

`Child.start()` forks before libtriton is loaded (or after, in a worker, where the child inherits
it); where forking is impossible or unsafe a fresh interpreter runs this module. One JSON request
goes in, JSON records come out, the last of them `done`; a child that ends without it has died.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from teenyc import env
from teenyc.backend.gpu import libtriton

if TYPE_CHECKING:
    from collections.abc import Callable

# Kinds of records.
_STAGE, _REFUSED, _BUG, _DONE = "stage", "refused", "bug", "done"
_LOADING = "loading"
_BROKEN = "broken"


class StageResult(NamedTuple):
    """One stage that was run: its wall time in seconds and, where wanted, its text."""

    name: str
    seconds: float
    text: str | None


class Outcome(NamedTuple):
    """What became of a job.

    `facts` is None unless all went well; then `failure` is None. `failure` is one of `died`,
    `refused` (a stage did not accept the module), `broken` (libtriton cannot be loaded) and `bug`;
    `stage` is where, `reason` the exception's text, the exit status in words or a traceback.
    """

    stages: tuple[StageResult, ...]
    facts: libtriton.Facts | None
    stderr: str
    failure: str | None = None
    stage: str = ""
    reason: str = ""


class Child:
    """A started back-end process that waits for its one job."""

    def __init__(
        self,
        pid: int,
        requests: int,
        records: int,
        stderr: IO[bytes],
        wait: Callable[[bool], int | None],
    ) -> None:
        self._pid = pid
        self._requests = requests
        self._records = records
        self._stderr = stderr
        self._wait = wait
        self._used = False

    @classmethod
    def start(cls) -> Child:
        """Start the process; it loads libtriton while the caller goes on."""
        return _fork() if _can_fork() else _spawn()

    def run(self, job: libtriton.Job) -> Outcome:
        """Give the process its job and wait for its end."""
        self._used = True
        try:
            with os.fdopen(self._requests, "wb") as stream:
                stream.write(json.dumps(job._asdict()).encode())
        except BrokenPipeError:
            pass  # it is dead already: its records and status tell
        with os.fdopen(self._records, "rb") as stream:
            lines = stream.read().splitlines()
        status = self._wait(True) or 0
        self._stderr.seek(0)
        stderr = self._stderr.read().decode(errors="replace")
        self._stderr.close()
        return _outcome(lines, status, stderr)

    def is_waiting(self) -> bool:
        """Whether the process still lives and waits for its job."""
        return not self._used and self._wait(False) is None

    def dismiss(self) -> None:
        """End the process if it never got its job (there was an error before the back end)."""
        if self._used:
            return
        self._used = True
        if self._wait(False) is None:
            os.kill(self._pid, signal.SIGTERM)
        os.close(self._requests)
        os.close(self._records)
        self._stderr.close()
        self._wait(True)


def _can_fork() -> bool:
    """A threaded process must not fork, and one that holds a foreign Triton would hand it down."""
    if not hasattr(os, "fork") or ("triton" in sys.modules and not libtriton.is_loaded()):
        return False
    threading = sys.modules.get("threading")
    return threading is None or threading.active_count() == 1


def _anonymous_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("stderr"), "w+b")
    import tempfile  # costs 10 ms, only needed here

    return tempfile.TemporaryFile()


def _fork() -> Child:
    request_in, request_out = os.pipe()
    record_in, record_out = os.pipe()
    stderr = _anonymous_file()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(request_out)
            os.close(record_in)
            os.dup2(stderr.fileno(), 2)
            os.dup2(2, 1)  # nothing the back end prints may reach the caller's output
            _serve(request_in, record_out)
            status = 0
        finally:
            os._exit(status)  # never return into the caller's stack
    os.close(request_in)
    os.close(record_out)
    return Child(pid, request_out, record_in, stderr, _waiter(pid))


def _spawn() -> Child:
    import subprocess  # costs 10 ms, only needed here

    stderr = _anonymous_file()
    process = subprocess.Popen(
        [sys.executable, "-m", "teenyc.backend.gpu.child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    requests, records = os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno())
    process.stdin.close()
    process.stdout.close()

    def wait(block: bool) -> int | None:
        code = process.wait() if block else process.poll()
        if code is None:
            return None
        return -code if code < 0 else code << 8  # in the form of `waitpid`

    return Child(process.pid, requests, records, stderr, wait)


def _waiter(pid: int) -> Callable[[bool], int | None]:
    """Waits for a forked child; its status is kept, for `waitpid` gives it only once."""
    ended: list[int] = []

    def wait(block: bool) -> int | None:
        if not ended:
            found, status = os.waitpid(pid, 0 if block else os.WNOHANG)
            if found:
                ended.append(status)
        return ended[0] if ended else None

    return wait


def _serve(requests: int, records: int) -> None:
    """The child's work: load, read the job, run it, write records."""

    def write(kind: str, **fields: Any) -> None:
        data = json.dumps({"record": kind, **fields}).encode() + b"\n"
        with os.fdopen(records, "wb", closefd=False) as stream:
            stream.write(data)

    import gc

    gc.disable()  # the process lives for one job
    _forbid_core_files()
    env.clear_for_back_end()
    try:
        start = time.perf_counter()
        libtriton.load()
        write(_STAGE, name=_LOADING, seconds=time.perf_counter() - start, text=None)
    except (ImportError, OSError, AttributeError) as error:
        write(_BROKEN, stage=_LOADING, reason=str(error))
        return
    with os.fdopen(requests, "rb") as stream:
        request = stream.read()
    if not request:
        return  # dismissed
    try:
        data = json.loads(request)
        data["emit"] = tuple(data["emit"])
        facts = libtriton.run(
            libtriton.Job(**data),
            lambda name, seconds, text: write(_STAGE, name=name, seconds=seconds, text=text),
        )
    except libtriton.StageError as error:
        write(_REFUSED, stage=error.stage, reason=str(error))
    except BaseException:  # noqa: BLE001 - whatever it is, the caller must hear of it
        import traceback

        write(_BUG, stage="", reason=traceback.format_exc())
    else:
        write(_DONE, facts=facts._asdict())


def _forbid_core_files() -> None:
    """A crash would leave a core file of half a gigabyte."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _outcome(lines: list[bytes], status: int, stderr: str) -> Outcome:
    stages: list[StageResult] = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            break  # cut short: it died while writing
        kind = record["record"]
        if kind == _STAGE:
            stages.append(StageResult(record["name"], record["seconds"], record["text"]))
        elif kind == _DONE:
            return Outcome(tuple(stages), libtriton.Facts(**record["facts"]), stderr)
        else:
            return Outcome(tuple(stages), None, stderr, kind, record["stage"], record["reason"])
    names = [_LOADING, *(name for name, _ in libtriton.STAGES)]
    reached = names[min(len(stages), len(names) - 1)]
    return Outcome(tuple(stages), None, stderr, "died", reached, _status_in_words(status))


def _status_in_words(status: int) -> str:
    number = status & 0x7F
    if not number:
        return f"exit status {status >> 8}"
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


if __name__ == "__main__":
    _records = os.dup(1)
    os.dup2(2, 1)
    _serve(0, _records)
