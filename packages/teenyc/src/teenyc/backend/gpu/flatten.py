"""Loops that ask to be flattened with those inside: made so that libtriton does it rightly, or not.

Releases before 3.9 run an inner loop whose upper bound is below its lower one; all of them read the
bounds of inner loops before the outer one, even where it does not run, and refuse some nests. A
loop that cannot be flattened safely is compiled as a nest: it changes the speed, not the meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teeny_macros.source import Span
from teenyc.backend.gpu.specialize import ATTRIBUTE as WARP_SPECIALIZE
from teenyc.codes import E0717
from teenyc.ir.core import Operation
from teenyc.ir.opdef import Effects
from teenyc.ops import arith

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_macros.diagnostics import Diagnostic
    from teenyc.ir.core import Block, Function, Module

ATTRIBUTE = "tt.flatten"
_FOR = "scf.for"


def make_safe(module: Module) -> list[Diagnostic]:
    """Clamp the bounds of inner loops; keep loops as nests where that is not enough, and say so."""
    warnings = []
    for loop in list(_asking(module)):
        inner = [op for op in loop.walk() if op.name == _FOR and op is not loop]
        if loop.attrs.get(ATTRIBUTE) and any(_reads_early(op, loop) for op in inner):
            warnings.append(_drop(loop, "the bound of an inner loop is read from memory in it"))
        for op in inner:
            _clamp(op)
    return warnings


def drop_refused(module: Module) -> list[Diagnostic]:
    """Keep all loops as nests, after libtriton has refused the module; a warning for each."""
    loops = [op for op in module.walk() if op.attrs.get(ATTRIBUTE)]
    return [_drop(loop, "the back end refuses it here") for loop in loops]


def _asking(module: Module) -> Iterator[Operation]:
    """The loops that libtriton flattens: those that ask, and those that it specializes."""
    return (op for op in module.walk() if op.attrs.get(ATTRIBUTE) or op.attrs.get(WARP_SPECIALIZE))


def _clamp(loop: Operation) -> None:
    """Let an empty loop end where it begins, which every release takes for empty."""
    lower, upper = loop.operands[:2]
    known = [value.op.attrs.get("value") if value.op else None for value in (lower, upper)]
    if isinstance(known[0], int) and isinstance(known[1], int) and known[0] <= known[1]:
        return
    greater = Operation(arith.MAXSI, [lower, upper], [upper.type], loc=loop.loc)
    block = loop.parent
    assert block is not None
    greater.parent = block
    block.ops.insert(block.ops.index(loop), greater)
    loop.operands[1] = greater.result


def _reads_early(inner: Operation, outer: Operation) -> bool:
    """Whether a bound of `inner` is loaded inside of `outer` and is the same in each iteration."""
    inside = {id(op) for op in outer.walk() if op is not outer}
    changing = {id(arg) for block in _around(inner, outer) for arg in block.args}
    reads, pending, seen = False, list(inner.operands[:3]), set[int]()
    while pending:
        value = pending.pop()
        if id(value) in changing:
            return False  # it is computed where it stands
        op = value.op
        if op is None or id(op) not in inside or id(op) in seen:
            continue
        seen.add(id(op))
        for one in op.walk():
            reads = reads or Effects.READ in one.opdef.effects
            pending += one.operands
    return reads


def _around(inner: Operation, outer: Operation) -> Iterator[Block]:
    """The blocks that `inner` stands in, up to that of `outer`."""
    op: Operation | Function | None = inner
    while isinstance(op, Operation) and op is not outer:
        block = op.parent
        assert block is not None
        yield block
        op = block.parent.parent if block.parent else None


def _drop(loop: Operation, reason: str) -> Diagnostic:
    del loop.attrs[ATTRIBUTE]
    place = loop.loc
    while place.caller is not None and place.file.startswith("teeny_triton"):
        place = place.caller
    span = Span.point(place.file, place.line, place.column) if place.file else None
    found = E0717.warn(span, reason=reason)
    found.helps.append("leave `flatten` out, or change what stands in its way")
    return found
