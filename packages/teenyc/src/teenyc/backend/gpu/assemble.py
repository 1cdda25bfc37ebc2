"""Machine code of PTX, made by the ptxas that came with Triton, with Triton's own options.

No tool at hand, or none that reads this PTX, is no fault: the driver compiles PTX as well. What a
tool refuses is one, with the place in the unit that the line of PTX was made from.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from teeny_macros.source import Span
from teenyc import env
from teenyc.backend.gpu import libtriton, versions
from teenyc.backend.gpu.ptx import parse_ptx, place_of
from teenyc.codes import E0718

if TYPE_CHECKING:
    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.unit import Unit
    from teenyc.backend.gpu.versions import Release

OLD, NEW = "ptxas", "ptxas-blackwell"
# What a tool says of PTX or of an architecture that came after it.
_TOO_NEW = re.compile(r"Unsupported \.version|is not defined for option|SM version specified")
_LINE = re.compile(r"\bline (\d+); (?:error|fatal)")
_LEFT = re.compile(r".*(?:error|fatal)\s*:\s*")
_LONGEST_NOTE = 8  # lines


class Assembled(NamedTuple):
    """What became of the PTX: `data` is empty without machine code.

    `refused` holds what a tool said that reads this PTX and refuses it, `failed` why the last tool
    that was at hand did not do its work.
    """

    data: bytes = b""
    refused: str = ""
    failed: str = ""


def assemble(ptx: str, unit: Unit, arch: str, release: Release, *, fusion: bool) -> Assembled:
    """The machine code of `ptx` for exactly the architecture that it names.

    The text, the release of Triton and `TEENYC_PTXAS` decide it, no path.
    """
    header = parse_ptx(ptx)
    if header is None or not hasattr(os, "posix_spawn"):
        return Assembled()
    options = [*options_of(release), *([] if fusion else ["--fmad=false"])]
    options.append(f"--gpu-name={header.target}")
    failed = ""
    for tool in find_assemblers(arch, release):
        made = _run(tool, options, unit.kernel, ptx)
        if made.data or (made.refused and not _TOO_NEW.search(made.refused)):
            return made
        failed = made.failed or failed
    return Assembled(failed=failed)


def options_of(release: Release) -> tuple[str, ...]:
    """What every kernel is assembled with: Triton's own choice (`make_cubin` of its back end)."""
    return ("-lineinfo", *release.ptxas_options)


def find_assemblers(arch: str, release: Release) -> list[Path]:
    """The tools to try, best first: the one that is named, else Triton's own two."""
    named = env.read(env.TEENYC_PTXAS)
    if named is not None:
        return [Path(named)]
    folder = libtriton.find_folder()
    if folder is None:
        return []
    newest_first = versions.arch_number(arch) >= release.first_of_new_ptxas
    names = (NEW, OLD) if newest_first else (OLD, NEW)
    paths = [folder / "backends" / "nvidia" / "bin" / name for name in names]
    return [path for path in paths if path.is_file()]


def describe_refusal(ptx: str, said: str, unit: Unit) -> TeenyError:
    """The coded error of PTX that ptxas refuses."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    faults = [line for line in lines if "error" in line or "fatal" in line] or lines
    number = next((int(found[1]) for line in faults if (found := _LINE.search(line))), 0)
    line, column = place_of(ptx, number, unit.file) if number else (0, 0)
    span = Span.point(unit.file, line, max(1, column)) if line else None
    error = E0718.at(span, "made from this", kernel=unit.kernel, reason=_LEFT.sub("", faults[0]))
    texts = ptx.splitlines()
    if 0 < number <= len(texts):
        error.note(f"line {number} of the PTX: {texts[number - 1].strip()}")
    return error.note("ptxas said: " + "\n".join(lines[:_LONGEST_NOTE]))


def _run(tool: Path, options: list[str], name: str, ptx: str) -> Assembled:
    """One run of a tool."""
    folder = _make_folder()
    if folder is None:
        return Assembled(failed="no folder for temporary files can be made")
    # The name of the file goes into the machine code, so it is always the same.
    source, out, log = (os.path.join(folder, f"{name}{end}") for end in (".ptx", ".cubin", ".log"))
    try:
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            file.write(ptx)
        status = _wait_for([os.fspath(tool), *options, source, "-o", out], log)
        if status == 0:
            with open(out, "rb") as binary:
                return Assembled(binary.read())
        with open(log, encoding="utf-8", errors="replace") as file:
            said = file.read().replace(folder + os.sep, "").strip()
        if status > 0 and said:
            return Assembled(refused=said)
        return Assembled(failed=f"{tool} ended with status {status}")
    except OSError as error:
        reason = f"{error.strerror or error}"
        return Assembled(failed=f"{tool}: {reason}" if tool.exists() else "")
    finally:
        _remove(folder)


def _wait_for(command: list[str], log: str) -> int:
    """The exit status of a command, negative for a signal; what it says goes to a file.

    The modules `subprocess` and `tempfile` would take longer to import than ptxas takes.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    process = os.posix_spawn(
        command[0],
        command,
        env.for_tools(),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
    )
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _make_folder() -> str | None:
    """A fresh folder of our own for temporary files."""
    for parent in env.temporary_folders():
        path = os.path.join(parent, f"teenyc-{os.getpid()}-{os.urandom(6).hex()}")
        try:
            os.mkdir(path, 0o700)
        except OSError:
            continue
        return path
    return None


def _remove(folder: str) -> None:
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    os.rmdir(folder)
