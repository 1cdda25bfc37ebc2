"""ptxas and nvdisasm on compiled kernels: machine code, its listing, and what ptxas says of it.

The tools come with the toolchain (Triton's wheel has them) or from PATH; teenyc says where.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from teeny_compiler import env, toolchain
from teeny_compiler.codes import E0980, E0981

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_compiler.toolchain import Toolchain
    from teeny_macros.artifact import Artifact
    from teeny_macros.diagnostics import TeenyError

_TARGET = re.compile(r"^\.target (\w+)", re.MULTILINE)
_SECONDS = 300


class Assembled(NamedTuple):
    """Machine code of one kernel, and everything that ptxas said while it made it."""

    data: bytes
    log: str


class Assembler:
    """The CUDA tools of a toolchain; by default of the one that compiles here."""

    def __init__(self, chain: Toolchain | None = None) -> None:
        """Ask teenyc for its tools. Raises E0901 to E0905 without a usable teenyc."""
        found = chain or toolchain.find_teenyc()
        self._teenyc = found.path
        said = _run([self._teenyc, "--print", "tools"])
        rows = [line.partition("\t") for line in said.stdout.splitlines()]
        self.tools = [(name, path) for name, tab, path in rows if tab]

    def require(self, *names: str) -> str:
        """The path of the first of `names` that is there. Raises E0980."""
        for wanted in names:
            for name, path in self.tools:
                if name == wanted:
                    return path
        raise E0980.error(tool=names[0]).help(_WHERE)

    def cubin(self, artifact: Artifact) -> Assembled:
        """The machine code of a kernel that was compiled to PTX. Raises E0980 and E0981."""
        metadata, text = artifact.metadata, artifact.read_text()
        match = _TARGET.search(text)
        usual = [] if metadata.fp_fusion else ["--fmad=false"]
        usual.append(f"--gpu-name={match[1] if match else metadata.target}")
        error: TeenyError | None = None
        for tool, *options in self._assemblers(artifact):
            made = _assemble([tool, "-v", *options, *usual], text, metadata.kernel)
            if isinstance(made, Assembled):
                return made
            error = error or made
        if error is None:
            raise E0980.error(tool="ptxas").help(_WHERE)
        raise error

    def _assemblers(self, artifact: Artifact) -> list[list[str]]:
        """The commands to try: those that make machine code of a launched kernel, best first."""
        arch = artifact.target.arch
        said = _run([self._teenyc, "--print", "assemblers", "-C", f"target-cpu={arch}"])
        found = [line.split("\t") for line in said.stdout.splitlines()]
        return found or [[path, "-lineinfo"] for name, path in self.tools if name == "ptxas"]

    def listing(self, cubin: bytes, *, lines: bool = True) -> str:
        """Machine code as nvdisasm lists it, with the lines that it comes from. Raises E0980."""
        tool = self.require("nvdisasm")
        with tempfile.TemporaryDirectory(prefix="teeny-") as folder:
            path = os.path.join(folder, "kernel.cubin")
            with open(path, "wb") as file:
                file.write(cubin)
            arguments = ["-c", *(["-gi"] if lines else []), path]
            done = _run([tool, *arguments])
            if done.returncode:
                reason = done.stderr.strip().partition("\n")[0]
                raise E0981.error(kernel="the machine code", reason=reason).help(
                    "nvdisasm and ptxas must be of one CUDA release"
                )
            return done.stdout


_ENDS = (".ptx", ".cubin")
_WHERE = "it comes with `pip install 'teenyc[cuda]'` (Linux) and with the CUDA toolkit"


def _assemble(command: list[str], text: str, kernel: str) -> Assembled | TeenyError:
    """One run of ptxas: what it made, or E0981."""
    with tempfile.TemporaryDirectory(prefix="teeny-") as folder:
        # The name of the file goes into the machine code.
        source, out = (os.path.join(folder, f"{kernel}{end}") for end in _ENDS)
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        done = _run([*command, os.path.basename(source), "-o", out], cwd=folder)
        log = done.stdout + done.stderr
        if not done.returncode:
            with open(out, "rb") as binary:
                return Assembled(binary.read(), log)
    lines = [line for line in log.splitlines() if "error" in line or "fatal" in line]
    lines = lines or log.splitlines()
    reason = lines[0] if lines else f"status {done.returncode}"
    error = E0981.error(kernel=kernel, reason=reason.strip())
    for line in lines[1:8]:
        error.note(line.strip())
    return error.note(" ".join(command)).help(
        "with an older ptxas: TEENYC_PTX_VERSION=8.4 asks for PTX that it reads"
    )


def _run(command: Sequence[str], cwd: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=env.for_teenyc(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
    )
