"""One run of teenyc: the unit goes in as a file, stage files and metadata come out.

teenyc runs the back ends and may die in any way; whatever it does ends here as an output or a coded
error.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import env, log, reports
from teeny_compiler import options as option_names
from teeny_compiler.codes import E0910, E0911, E0912, E0913, E0914
from teeny_compiler.failure import FailedRun
from teeny_macros.artifact import Metadata
from teeny_macros.diagnostics import CompileError, Diagnostic, InternalError, TeenyError

if TYPE_CHECKING:
    import subprocess

    from teeny_compiler.options import CompileOptions
    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.source import SourceMap
    from teeny_macros.target import Target

OUTPUT = "out"
_UNIT = "unit.py"
_STDERR = "stderr.txt"
_REFUSED, _USAGE, _BUG = 1, 2, 3
_LONGEST_TAIL = 20  # lines
# A process group of its own, so that what teenyc started ends with it.
GROUP: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
_MATCH = "bring both to matching versions: `pip install -U teenyc teeny-compiler`"


class Job(NamedTuple):
    """What is to be compiled: `unit` is the text, `file` its canonical name in positions."""

    kernel: str
    unit: str
    file: str
    target: Target
    options: CompileOptions
    source_map: SourceMap | None


class Output(NamedTuple):
    """What a run left: `folder` holds stage files and metadata; `warnings` have users' places."""

    folder: str
    metadata: Metadata
    warnings: tuple[Diagnostic, ...]
    seconds: float


def timeout_seconds() -> float:
    """How long one run may take. Raises E0914."""
    text = env.read(env.TEENYC_TIMEOUT) or env.TEENYC_TIMEOUT.default
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise E0914.error(
            name=env.TEENYC_TIMEOUT.name, value=text, wanted="a positive number of seconds"
        ).help("unset it for the default, 600")
    return seconds


def run_teenyc(toolchain: Toolchain, job: Job, work: str) -> Output:
    """Compile `job` in the folder `work`.

    Raises CompileError with the faults that teenyc found, or FailedRun around E0910 (it died),
    E0911 (it took too long), E0912 (files are missing), I0000 (its own bug) and E07xx (the back end
    failed); OSError when `work` cannot be written.
    """
    output = prepare(job, work)
    command = [
        toolchain.path,
        _UNIT,
        *option_names.arguments(job.options, job.target),
        "-o",
        OUTPUT,
        "--error-format",
        "json",
    ]
    log.debug(f"in {work}: {' '.join(command)}")
    start = time.perf_counter()
    with open(os.path.join(work, _STDERR), "w+b") as stderr:
        status = _run(command, work, stderr, job, apart=bool(toolchain.name))
        stderr.seek(0)
        said = stderr.read().decode(errors="replace")
    seconds = time.perf_counter() - start
    found, rest = reports.parse(said)
    return finish(job, output, status, found, rest, seconds)


def prepare(job: Job, work: str) -> str:
    """Put the unit into `work`, and make the folder there that a run writes to."""
    output = os.path.join(work, OUTPUT)
    os.mkdir(output)
    with open(os.path.join(work, _UNIT), "w", encoding="utf-8", newline="\n") as file:
        file.write(job.unit)
    return output


def finish(
    job: Job, output: str, status: int, found: list[Diagnostic], rest: str, seconds: float
) -> Output:
    """What a run left in `output`, from its status, diagnostics and other words.

    Raises as `run_teenyc`.
    """
    faults = [reports.map_to_user(row, job.file, job.source_map) for row in found]
    if status != 0:
        raise _failure(status, faults, rest, job, output)
    metadata = _read_metadata(output, job)
    _require_stages(output, job)
    return Output(output, metadata, tuple(faults), seconds)


def too_slow(job: Job, limit: float) -> FailedRun:
    """The error for a run that was ended after `limit` seconds."""
    return FailedRun(
        E0911.error(kernel=job.kernel, seconds=limit).help(
            "give it more time: `export TEENYC_TIMEOUT=3600`"
        )
    )


def cannot_start(job: Job, path: str, error: OSError) -> TeenyError:
    """The error for a teenyc that the system does not run."""
    return (
        E0910.error(kernel=job.kernel, how="cannot be started")
        .note(f"{path}: {error.strerror or error}")
        .help(f"check that it runs: `{path} --version`")
    )


# --- the process ----------------------------------------------------------------------------------


def _run(command: list[str], work: str, stderr: IO[bytes], job: Job, *, apart: bool) -> int:
    import subprocess

    limit = timeout_seconds()
    try:
        process = subprocess.Popen(
            command,
            cwd=work,
            env=env.for_teenyc(apart=apart),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            **GROUP,
        )
    except OSError as error:
        raise cannot_start(job, command[0], error) from error
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        end(process)
        raise too_slow(job, limit) from None
    except BaseException:
        end(process)  # Ctrl-C reaches us alone
        raise


def end(process: subprocess.Popen[bytes]) -> None:
    """End a teenyc with all that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        import signal

        with contextlib.suppress(ProcessLookupError):  # it may just have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


# --- what came of it ------------------------------------------------------------------------------


def _failure(status: int, faults: list[Diagnostic], rest: str, job: Job, output: str) -> Exception:
    errors = [fault for fault in faults if fault.severity == "error"]
    if status == _REFUSED and errors:
        refused = CompileError(*errors)
        return FailedRun(refused) if os.listdir(output) else refused
    if status == _BUG and errors:
        return FailedRun(InternalError(*errors))
    if status == _USAGE:
        said = rest.splitlines()[0] if rest else "it says nothing"
        return E0913.error(what=said.removeprefix("teenyc: error: ")).help(_MATCH)
    error = E0910.error(kernel=job.kernel, how=_in_words(status))
    for fault in faults:
        error.note(f"it reported {fault.code}: {fault.message}")
    lines = rest.splitlines()
    if lines:
        tail = "\n".join(lines[-_LONGEST_TAIL:])
        left = len(lines) - _LONGEST_TAIL
        error.note("it said: " + (f"... {left} lines, then\n" if left > 0 else "") + tail)
    return FailedRun(error)


def _in_words(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    import signal

    try:
        return f"was killed by signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"was killed by signal {-status}"


def _read_metadata(output: str, job: Job) -> Metadata:
    import json

    names = [name for name in os.listdir(output) if name.endswith(option_names.METADATA_SUFFIX)]
    if len(names) != 1:
        raise _incomplete(job, f"left {len(names)} metadata files")
    with open(os.path.join(output, names[0]), "rb") as file:
        content = file.read()
    try:
        return Metadata.from_json(json.loads(content))
    except TeenyError as error:
        raise E0913.error(what=error.diagnostics[0].message).help(_MATCH) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _incomplete(job, "its metadata cannot be read") from error


def _require_stages(output: str, job: Job) -> None:
    files = tuple(os.listdir(output))
    there = option_names.stage_files(files)
    wanted = {*job.options.emit, option_names.LOADED[job.target.kind]}
    missing = sorted(
        stage
        for stage in wanted
        if stage not in there or not os.path.getsize(os.path.join(output, there[stage]))
    )
    if missing:
        raise _incomplete(job, f"did not write {', '.join(missing)}")


def _incomplete(job: Job, what: str) -> FailedRun:
    return FailedRun(E0912.error(kernel=job.kernel, what=what))
