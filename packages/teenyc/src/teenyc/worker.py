"""`teenyc --worker`: compiles units as they come, with libtriton loaded once, one after the other.

One JSON object a line: requests on standard input, one answer each on standard output, in order.

    {"id": 7, "args": ["-C", "target-cpu=sm_90", "--emit", "ptx", "-o", "out"], "unit": "..."}
    {"id": 7, "status": 0, "diagnostics": [],
     "files": {"ptx": "out/f_entry_point.ptx", "metadata": "out/f_entry_point.metadata"},
     "timings": {"front end": 3.1, ...}}

`args` is a command line without the unit (modes such as `--version` are refused; relative folders
count from where the worker runs); `unit` is the unit's text; `status` is the command's exit status;
`diagnostics` hold what `--error-format json` prints; `timings` are milliseconds. A unit may carry
only the digest of a DSL text that an earlier request brought; an unknown digest is answered with
E0709, and the client sends the text. `{"id": 8, "ping": true}` is answered with
`{"id": 8, "status": 0, "teenyc": "0.1.0", "triton": "3.9.0", "pid": 1}` (`triton` is null when none
is usable). A request that cannot be read gets status 2 and E0711. The worker ends when its standard
input does. Each unit's back end runs in a process of its own, so a crash costs one request.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from teeny_macros.codes import I0000
from teeny_macros.diagnostics import InternalError, TeenyError
from teenyc import __version__, driver, env, output
from teenyc.backend.gpu import libtriton
from teenyc.backend.gpu.child import Child
from teenyc.cli import BUG, DIAGNOSTICS, OK, USAGE
from teenyc.codes import E0711
from teenyc.options import Command, UsageError, compile_options, parse_command

if TYPE_CHECKING:
    from teenyc.options import Options

# What compiling imports on first use; a worker has it ready.
_COMPILER = ("frontend.lowering", "passes", "ir.printer", "backend.gpu.ptx")
_MODES = ("unit", "explain", "print", "version", "worker", "help", "print_after")


def serve(*, checking: bool = False) -> None:
    """Answer requests until standard input ends; never returns (libtriton is noisy at exit).

    With `checking` no back end is loaded: only requests with `--check` are for such a worker.
    """
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not reach the protocol
    worker = Worker(checking=checking)
    for line in sys.stdin.buffer:
        answers.write(json.dumps(worker.answer(line)).encode() + b"\n")
        answers.flush()
        worker.prepare()
    worker.close()
    answers.close()
    sys.stderr.flush()
    os._exit(OK)


class Worker:
    """Holds the loaded library, a back-end process that waits for the next job, and DSL texts."""

    def __init__(self, *, checking: bool = False) -> None:
        self._dsl = driver.DslTexts()
        self._spare: Child | None = None
        self.triton: str | None = None
        if checking:
            self._warm = [import_module(f"teenyc.{name}") for name in _COMPILER[:2]]
            return
        env.clear_for_back_end()  # before libtriton is loaded
        try:
            self.triton = driver.find_triton().version
            libtriton.load()
            libtriton.warm()
        except (TeenyError, ImportError, OSError, AttributeError):
            pass  # said to each request that needs the back end
        self._warm = [import_module(f"teenyc.{name}") for name in _COMPILER]
        self.prepare()

    def prepare(self) -> None:
        """Fork the process for the next job ahead of its request."""
        if libtriton.is_loaded() and (self._spare is None or not self._spare.is_waiting()):
            self._spare = Child.start()

    def close(self) -> None:
        """End the waiting process."""
        if self._spare is not None:
            self._spare.dismiss()
            self._spare = None

    def answer(self, line: bytes) -> dict[str, Any]:
        """The answer to one request; never raises for what a request can hold."""
        identity: object = None
        try:
            request = _read_request(line)
            identity = request.get("id")
            if request.get("ping"):
                return {"id": identity, "status": OK, **self._about()}
            command = _parse_arguments(request["args"])
            return {"id": identity, **self._compile(request["unit"], command)}
        except UsageError as error:
            return _refusal(identity, USAGE, E0711.error(reason=str(error)))
        except InternalError as error:
            return _refusal(identity, BUG, error)
        except TeenyError as error:
            status = USAGE if error.code == E0711.code else DIAGNOSTICS
            return _refusal(identity, status, error)
        except Exception as error:  # noqa: BLE001 - the worker outlives our bugs
            import traceback

            bug = I0000.error(where="the worker", what=f"{type(error).__name__}: {error}")
            bug.note("".join(traceback.format_exception(error)[-6:]).rstrip())
            return _refusal(identity, BUG, bug)

    def _about(self) -> dict[str, Any]:
        return {"teenyc": __version__, "triton": self.triton, "pid": os.getpid()}

    def _compile(self, unit: str, command: Command) -> dict[str, Any]:
        asked = compile_options(command)
        result = driver.compile_text(
            unit, asked, child=self._take_spare(asked), dsl=self._dsl, folder=command.output
        )
        files = {} if asked.check else output.write_result(result, asked.target, command.output)
        timings = {name.strip(): round(seconds * 1e3, 2) for name, seconds in result.timings}
        warnings = [diagnostic.to_json() for diagnostic in result.warnings]
        answer = {"status": OK, "diagnostics": warnings, "files": files, "timings": timings}
        return {**answer, "facts": result.facts} if result.facts else answer

    def _take_spare(self, asked: Options) -> Child | None:
        """The waiting process; one that a fault left unused stays for the next request."""
        if not driver.needs_back_end(asked) or self._spare is None:
            return None
        if not self._spare.is_waiting():
            self._spare = None  # it was used, or something ended it
            self.prepare()
        return self._spare


def _read_request(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise E0711.error(reason=f"it is not JSON: {error}") from error
    if not isinstance(request, dict):
        raise E0711.error(reason="it is not a JSON object")
    if not request.get("ping"):
        arguments = request.get("args")
        if not isinstance(request.get("unit"), str) or not isinstance(arguments, list):
            raise E0711.error(reason="it needs `unit`, a text, and `args`, a list of texts")
        if not all(isinstance(argument, str) for argument in arguments):
            raise E0711.error(reason="`args` is a list of texts")
    return request


def _parse_arguments(arguments: list[str]) -> Command:
    command = parse_command(arguments)
    for mode in _MODES:
        if getattr(command, mode) != Command._field_defaults[mode]:
            raise UsageError(f"a request compiles one unit; `{mode}` belongs on the command line")
    return command


def _refusal(identity: object, status: int, error: TeenyError) -> dict[str, Any]:
    rows = [diagnostic.to_json() for diagnostic in error.diagnostics]
    answer = {"id": identity, "status": status, "diagnostics": rows, "files": {}, "timings": {}}
    facts = getattr(error, "facts", None)
    return {**answer, "facts": facts} if facts else answer
