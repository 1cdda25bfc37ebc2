"""What exists only from some architecture on, and the error of a kernel for an older one.

The rows are what libtriton 3.6 to 3.9 compile for each architecture; tests/backend checks them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from teeny_macros.source import Span
from teenyc.backend.gpu.versions import ARCH_FLOOR, arch_number
from teenyc.codes import E0713
from teenyc.ir.core import Module, Operation


class Hardware(NamedTuple):
    """Something that architectures have from `first` on; `uses` says whether an operation is it."""

    what: str
    first: str
    uses: Callable[[Operation], bool]
    instead: str


def _elements(op: Operation) -> set[str]:
    """The element types of the operands and results."""
    types = (str(value.type) for value in (*op.operands, *op.results))
    return {text.removesuffix(">").rpartition("x")[2] for text in types}


HARDWARE = (
    Hardware(
        "f8e4m3 arithmetic",
        "sm_89",
        lambda op: (
            op.name in ("tt.fp_to_fp", "tt.dot", "tt.dot_scaled") and "f8E4M3FN" in _elements(op)
        ),
        "use f8e5m2, or keep the bytes as u8 and convert them yourself",
    ),
    Hardware(
        "`dot` of i8",
        "sm_80",
        lambda op: op.name == "tt.dot" and "i8" in _elements(op),
        "cast the operands: `x.to(f16)`",
    ),
)


def require_hardware(module: Module, arch: str) -> None:
    """Raise E0713 at the first operation that `arch` does not have."""
    rows = [row for row in HARDWARE if arch_number(arch) < arch_number(row.first)]
    if not rows:
        return
    for op in module.walk():
        for row in rows:
            if row.uses(op):
                place = op.loc
                while place.caller is not None and place.file.startswith("teeny_triton"):
                    place = place.caller
                span = Span.point(place.file, place.line, place.column) if place.file else None
                later = [
                    known for known in ARCH_FLOOR if arch_number(known) >= arch_number(row.first)
                ]
                raise (
                    E0713.at(span, "here", what=row.what, first=row.first, arch=arch)
                    .help(row.instead)
                    .help(f"or compile for one of {', '.join(later)}")
                )
