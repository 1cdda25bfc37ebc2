"""What was decided, as faults with their witnesses and as rows for whoever asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_macros.diagnostics import CompileError
from teeny_macros.source import Span
from teenyc.bounds.decide import COLLISION, OUTSIDE, Found, Verdict, decide
from teenyc.codes import E0513, E0514, E0515

if TYPE_CHECKING:
    from teeny_macros.diagnostics import Diagnostic
    from teenyc.ir.core import Module, Operation

_WORDS = {"load": "reads", "store": "writes", "atomic": "changes"}


class Refuted(CompileError):  # noqa: N818 - what was said of the kernel
    """Accesses were refuted; `facts` are the rows of all accesses."""

    facts: dict[str, Any]


def examine(module: Module, file: str) -> tuple[list[Diagnostic], dict[str, Any]]:
    """The faults of a module whose body is `file`, and a row for each access.

    Raises E0516 without a solver, E0517 for an extent that cannot be read.
    """
    rows: list[dict[str, Any]] = []
    faults: list[Diagnostic] = []
    for number, found in enumerate(decide(module)):
        access = found.access
        span = span_of(access.op, file)
        what = f"{access.what} of `{access.base}`" if access.base else access.what
        row = {"number": number, "what": what, "verdict": found.verdict, "reason": found.reason}
        rows.append({**row, "extent": found.extent, "span": list(span)})
        faults += [_diagnostic(found, fault, span) for fault in found.faults]
    return faults, {"bounds": rows}


def span_of(op: Operation, file: str) -> Span:
    """The place of an operation in the body; of one inside the language, that of its call."""
    loc = op.loc
    while loc.file != file and loc.caller is not None:
        loc = loc.caller
    return Span.point(loc.file, loc.line, loc.column)


def _diagnostic(found: Verdict, fault: Found, span: Span) -> Diagnostic:
    access = found.access
    place = f"+ {fault.element}" if fault.element >= 0 else f"- {-fault.element}"
    if fault.kind == OUTSIDE:
        error = E0513.at(
            span, "here", program=fault.program, element=fault.lane, array=access.base,
            what=_WORDS[access.what], place=place, size=max(fault.size, 0),
        )  # fmt: skip
        error.note(f"its extent is `{found.extent}`")
        error.help("mask what lies outside, or correct the extent")
    elif fault.kind == COLLISION:
        error = E0515.at(
            span, "here", program=fault.program, other=fault.other, array=access.base, place=place
        )
        error.help("let each element be stored by one program, or use an atomic operation")
    else:
        error = E0514.at(
            span, "here", program=fault.program, element=fault.lane, array=access.base,
            offset=fault.element,
        )  # fmt: skip
        error.help("widen an operand first: `offsets.to(tl.int64)`")
    values = ", ".join(f"{name} = {value}" for name, value in sorted(fault.values.items()))
    if values:
        error.note(f"for example with {values}")
    return error.diagnostics[0]
