"""Automatic warp specialization: which loops may have it, and what is said of the others.

Triton has it for Blackwell. On Hopper its releases refuse some loops and give wrong results for
others (rows of a product that are never written, NaN with three stages), and nothing tells which.
A loop that cannot have it safely is compiled without it: it changes the speed, not the meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.source import Span
from teenyc.backend.gpu.versions import arch_number
from teenyc.codes import E0714

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.diagnostics import Diagnostic
    from teenyc.ir.core import Module, Operation

ATTRIBUTE = "tt.warp_specialize"
_ARCHS = frozenset({100, 103})
_WARPS = 4  # of the kernel; libtriton adds those of the other roles
_HOPPER = 90


def specialized_loops(module: Module) -> Iterator[Operation]:
    """The loops that ask for it."""
    return (op for op in module.walk() if op.attrs.get(ATTRIBUTE))


def drop_unsafe(module: Module, arch: str) -> list[Diagnostic]:
    """Take it from the loops that cannot have it on `arch`; a warning for each."""
    return [
        _drop(loop, reason)
        for loop in specialized_loops(module)
        if (reason := _reason(loop, module, arch))
    ]


def drop_refused(module: Module) -> list[Diagnostic]:
    """Take it from all loops, after libtriton has refused the module; a warning for each."""
    return [_drop(loop, "the back end refuses it here") for loop in specialized_loops(module)]


def _reason(loop: Operation, module: Module, arch: str) -> str:
    """Why the loop cannot have it, empty when it can."""
    number, warps = arch_number(arch), module.attributes["num_warps"]
    names = {op.name for op in loop.walk()}
    if number == _HOPPER:
        return f"on {arch} some loops give wrong results with it"
    if number not in _ARCHS:
        return f"{arch} has no hardware for it"
    if warps != _WARPS:
        return f"it needs `num_warps={_WARPS}`, and the kernel has {warps}"
    if "tt.load" in names or "tt.descriptor_load" not in names:
        return "its loads go through pointers, and it needs tensor descriptors"
    return ""


def _drop(loop: Operation, reason: str) -> Diagnostic:
    del loop.attrs[ATTRIBUTE]
    place = loop.loc
    while place.caller is not None and place.file.startswith("teeny_triton"):
        place = place.caller
    span = Span.point(place.file, place.line, place.column) if place.file else None
    found = E0714.warn(span, reason=reason)
    found.helps.append("leave `warp_specialize` out, or change what stands in its way")
    return found
