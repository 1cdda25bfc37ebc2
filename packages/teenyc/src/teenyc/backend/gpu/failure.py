"""What to say when the back end fails: the code, the place in the unit, a one-file reproducer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from teeny_macros.codes import I0000
from teeny_macros.source import Span
from teenyc.codes import E0703, E0704, E0705, E0712
from teenyc.output import write_file

if TYPE_CHECKING:
    from teeny_macros.diagnostics import TeenyError
    from teeny_macros.unit import Unit
    from teenyc.backend.gpu.child import Outcome
    from teenyc.options import Options

# `file:line:column: error: text` of MLIR, also with the file in quotes (as some passes print it).
_PLACE = re.compile(r'^(?:loc\()?"?([^":\n]+)"?:(\d+):(\d+)\)?: (error|warning|remark|note): (.*)$')
_LONGEST_NOTE = 12  # lines
_DELIMITER = "END_OF_TEENY_UNIT"


def describe_failure(
    outcome: Outcome,
    unit: Unit,
    options: Options,
    *,
    mlir: str,
    versions: tuple[tuple[str, str], ...],
    folder: str,
) -> TeenyError:
    """The coded error of a failed `outcome`; writes `<entry>.reproducer.sh` into `folder`."""
    places = [match for match in map(_PLACE.match, outcome.stderr.splitlines()) if match]
    errors = [match for match in places if match[4] == "error"]
    if outcome.failure == "broken":
        version = dict(versions).get("triton", "")
        return E0712.error(version=version, reason=outcome.reason).help(
            "install it anew: `pip install --force-reinstall 'teenyc[cuda]'`"
        )
    if outcome.failure == "bug":
        error = I0000.error(
            where="the GPU back end's process", what="it failed outside every stage"
        )
        error.note(outcome.reason.rstrip())
    elif outcome.failure == "died":
        error = E0703.at(
            _span(errors, unit) or _header(unit),
            "while compiling this",
            stage=f"`{outcome.stage}`",
            how=outcome.reason,
        )
    elif outcome.stage == "mlir":
        place = _line_of(errors, mlir, unit) or _header(unit)
        error = E0704.at(place, "made from this").note(_around(errors, mlir))
    else:
        reason = errors[0][5].partition(": %")[0] if errors else outcome.reason
        error = E0705.at(
            _span(errors, unit) or _header(unit),
            "refused here",
            stage=f"`{outcome.stage}`",
            reason=reason,
        )
    said = _without_module(outcome.stderr.strip().splitlines())
    if said:
        shown = "\n".join(said[:_LONGEST_NOTE])
        left = len(said) - _LONGEST_NOTE
        error.note(
            f"the back end said: {shown}" + (f"\n... and {left} lines more" if left > 0 else "")
        )
    return with_reproducer(error, unit, options, outcome, versions, folder)


def with_reproducer(
    error: TeenyError,
    unit: Unit,
    options: Options,
    outcome: Outcome,
    versions: tuple[tuple[str, str], ...],
    folder: str,
) -> TeenyError:
    """The error with the help that names `<entry>.reproducer.sh`, which is written."""
    path = f"{unit.entry_point}.reproducer.sh"
    written = write_file(folder, path, reproducer(unit, options, outcome, versions))
    return error.help(f"`sh {written}` shows it again; please report it with that file")


def reproducer(
    unit: Unit, options: Options, outcome: Outcome, versions: tuple[tuple[str, str], ...]
) -> str:
    """One file that is both the command line and the unit it needs."""
    text = unit.render()
    delimiter = _DELIMITER
    while f"{delimiter}\n" in text:
        delimiter += "_"
    said = "".join(
        f"#   {line}\n" for line in (outcome.reason + "\n" + outcome.stderr).splitlines()
    )
    return (
        "#!/bin/sh\n"
        f"# {', '.join(f'{name} {version}' for name, version in versions)}\n"
        f"# failed in stage {outcome.stage or 'unknown'}:\n{said}"
        f"teenyc - {' '.join(options.to_arguments())} <<'{delimiter}'\n{text}{delimiter}\n"
    )


def _span(errors: list[re.Match[str]], unit: Unit) -> Span | None:
    for match in errors:
        if match[1] == unit.file:
            return Span.point(match[1], int(match[2]), int(match[3]))
    return None


def _header(unit: Unit) -> Span | None:
    """The `def` of the kernel, where nothing closer is known."""
    for number, line in enumerate(unit.body.splitlines(), 1):
        if line.startswith(f"def {unit.kernel}("):
            end = len(f"def {unit.kernel}") + 1
            return Span(unit.file, number, 1, number, end)
    return None


def _line_of(errors: list[re.Match[str]], mlir: str, unit: Unit) -> Span | None:
    """The place in the unit that the module's line came from."""
    lines = mlir.splitlines()
    for match in errors:
        at = int(match[2])
        found = re.findall(r'"([^"]+)":(\d+):(\d+)', lines[at - 1]) if 0 < at <= len(lines) else []
        for file, line, column in found:
            if file == unit.file:
                return Span.point(file, int(line), int(column))
    return None


def _without_module(lines: list[str]) -> list[str]:
    """What was said before the whole module was printed; the reproducer holds it all."""
    starts = [
        i for i, line in enumerate(lines) if line.startswith(("module {", "module attributes", "#"))
    ]
    return lines[: starts[0]] if starts else lines


def _around(errors: list[re.Match[str]], mlir: str) -> str:
    """The line of the module text that cannot be read, with its number."""
    lines = mlir.splitlines()
    for match in errors:
        at = int(match[2])
        if 0 < at <= len(lines):
            return f"line {at} of the module: {lines[at - 1].strip()}"
    return "the module as a whole"
