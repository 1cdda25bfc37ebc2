"""teenyc's front end for many units: one `teenyc --worker --check` that stays for a whole run."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from teeny_compiler import env, runner
from teeny_compiler.codes import E0910, E0913
from teeny_macros.diagnostics import Diagnostic

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.instance import KernelInstance
    from teeny_macros.target import Target

    # By kernel and parameter, for kernels that declare none.
    Extents = Mapping[str, Mapping[str, str]]

_USAGE = 2


class Answer(NamedTuple):
    """What the front end said of one unit; `facts` are what it proved."""

    faults: tuple[Diagnostic, ...]
    facts: dict[str, Any]


class FrontEnd:
    """Checks instances for one target; ends its process when it is closed."""

    def __init__(
        self,
        toolchain: Toolchain,
        target: Target,
        options: tuple[str, ...] = (),
        extents: Extents | None = None,
    ) -> None:
        self._toolchain = toolchain
        self._extents = extents or {}
        self._options = ("--check", *target_arguments(target), *options)
        self._process: subprocess.Popen[bytes] | None = None
        self._stderr: IO[bytes] | None = None
        self._sent = False
        self._number = 0

    def check(self, instance: KernelInstance[...]) -> Answer:
        """The faults of an instance, at places in its unit.

        Raises:
            ToolchainError: E0910 when teenyc ends or cannot be started, E0913 when it does not
                understand what is asked.
        """
        from teeny_triton.triton_lang import TRITON, TRITON_SHA

        text = None if self._sent else TRITON
        kernel = instance.definition
        extents: dict[str, str] = {}
        if kernel is not None and "--bounds" in self._options:
            extents = {**kernel.extents, **self._extents.get(kernel.name, {})}
        unit = instance.checked_unit(text, TRITON_SHA, extents)
        answer = self._ask({"args": list(self._options), "unit": unit.render()}, instance.name)
        self._sent = True
        faults = tuple(Diagnostic.from_json(row) for row in answer["diagnostics"])
        if int(answer["status"]) == _USAGE:
            said = faults[0].message if faults else "it says nothing"
            raise E0913.error(what=said).help(runner._MATCH)  # noqa: SLF001 - one text for both
        return Answer(faults, answer.get("facts", {}))

    def _ask(self, request: dict[str, Any], kernel: str) -> dict[str, Any]:
        process = self._process or self._start(kernel)
        assert process.stdin is not None
        assert process.stdout is not None
        self._number += 1
        line = json.dumps({"id": self._number, **request}).encode() + b"\n"
        with contextlib.suppress(OSError):  # it has ended: it says how below
            process.stdin.write(line)
            process.stdin.flush()
        found = process.stdout.readline()
        if not found:
            raise self._dead(kernel)
        answer: dict[str, Any] = json.loads(found)
        return answer

    def _start(self, kernel: str) -> subprocess.Popen[bytes]:
        import subprocess

        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        path = self._toolchain.path
        try:
            self._process = subprocess.Popen(
                [path, "--worker", "--check"],
                env=env.for_teenyc(apart=bool(self._toolchain.name)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                **runner.GROUP,
            )
        except OSError as error:
            raise (
                E0910.error(kernel=kernel, how="cannot be started")
                .note(f"{path}: {error.strerror or error}")
                .help(f"check that it runs: `{path} --version`")
            ) from error
        return self._process

    def _dead(self, kernel: str) -> Exception:
        assert self._process is not None
        status = self._process.wait()
        said = ""
        if self._stderr is not None:
            end = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, end - 4000))
            said = self._stderr.read().decode(errors="replace").strip()
        self.close()
        error = E0910.error(kernel=kernel, how=f"ended with status {status}")
        return error.note(f"it said: {said or 'nothing'}")

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        self._sent = False
        if process is not None:
            runner.end(process)
            for stream in (process.stdin, process.stdout, self._stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()


def target_arguments(target: Target) -> list[str]:
    """The arguments of teenyc for a target."""
    found = ["--target", target.triple]
    return [*found, "-C", f"target-cpu={target.arch}"] if target.arch else found
