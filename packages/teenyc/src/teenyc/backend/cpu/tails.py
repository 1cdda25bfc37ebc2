"""The end of a masked axis: strips behind it are alike, so one of them stands for all.

Behind the last lane that a mask like `offsets < n` lets through, loads give `other`, stores do
nothing, and whatever is computed from such values is the same in every strip. A loop that meets
such a strip ends with it, as soon as its reductions no longer change; what it writes to places is
filled up with the strip's value. So results are the same bit for bit, and lanes that are off cost
next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from teenyc.backend.cpu.classes import is_mapped
from teenyc.backend.cpu.cluster import Reduce, Store, Write
from teenyc.backend.cpu.masks import through
from teenyc.backend.cpu.structure import LOAD, MAP_ELEMENTWISE, VIEWS
from teenyc.backend.cpu.text import WIDTHS, Section, Val, number, vector
from teenyc.ops.arith import CONSTANT
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.evaluate import Evaluator
    from teenyc.backend.cpu.reduction import Reduction
    from teenyc.ir.core import Operation, Value

Seen = tuple[int, ...]
Ends = dict[tuple[int, Seen], tuple["Operation", Seen]]


class Tail(NamedTuple):
    """Where `off` holds the loop goes to `section`, and leaves where `same` holds after it."""

    off: str
    same: str | None
    section: Section


def find_tail(e: Evaluator, reductions: Iterable[Reduction]) -> None:
    """Let the innermost loop of the nest end early, where all of its strips have such an end."""
    nest, c = e.nest, e.c
    innermost = (
        nest.depth and nest.order[-1] == nest.strip and nest.levels[nest.strip] == nest.depth
    )
    if not innermost or nest.cluster.reverse or any(x is None for x in nest.written):
        return
    ends = _ends(e)
    if not ends:
        return
    with e.inside(nest.pre):
        found = [scalar for op, seen in ends.values() for scalar in e.masks.ended(op, seen)]
        off = found[0]
        for more in found[1:]:
            off = c.binary("and", off, more)
    section = Section(nest.scope.label("tail"))
    same: Val | None = None
    with e.inside(section):
        for reduction in reductions:
            for before, after in zip(reduction.before, reduction.totals, strict=True):
                equal = _equal(e, before, after)
                same = equal if same is None else c.binary("and", same, equal)
    nest.tail = Tail(off.text, None if same is None else same.text, section)


def _equal(e: Evaluator, x: Val, y: Val) -> Val:
    """Whether all lanes have the same bits."""
    c, top = e.c, e.nest.top
    differ = c.compare("ne", c.bits(x), c.bits(y)) if WIDTHS[x.type] > 1 else c.binary("xor", x, y)
    if not differ.lanes:
        return c.binary("xor", differ, number(1, "i1"))
    type_ = f"i{differ.lanes}"
    mask = c.put(f"bitcast {vector('i1', differ.lanes)} {differ.text} to {type_}", type_, 0, top)
    return c.compare("eq", mask, number(0, type_))


def _ends(e: Evaluator) -> Ends | None:
    """The comparisons behind whose ends every root does the same in each strip, or None."""
    nest, ends = e.nest, dict[tuple[int, Seen], tuple["Operation", Seen]]()
    pending: list[tuple[Value, Seen]] = []
    for root in nest.cluster.roots:
        if isinstance(root, Store):
            mask = root.op.operands[2:3]
            if root.guarded or root.source or not mask or not _add(e, mask[0], nest.identity, ends):
                return None
        elif isinstance(root, Reduce | Write):
            pending += [(value, nest.identity) for value in root.values]
        else:
            return None
    known: set[tuple[int, Seen]] = set()
    while pending:
        value, seen = pending.pop()
        seen = e.normal(value, seen)
        if nest.strip not in seen or (id(value), seen) in known:
            continue
        known.add((id(value), seen))
        needs = _needs(e, value, seen, ends)
        if needs is None:
            return None
        pending += needs
    return ends


def _needs(e: Evaluator, value: Value, seen: Seen, ends: Ends) -> list[tuple[Value, Seen]] | None:
    """What must be the same behind the end so that `value` is; None where it is not."""
    op = value.op
    if op is None:
        return None
    if op.opdef is CONSTANT or _add(e, value, seen, ends):
        return []
    if op.opdef is LOAD:
        if len(op.operands) == 1 or not _add(e, op.operands[1], seen, ends):
            return None
        return [(x, seen if shape_of(x.type) else ()) for x in op.operands[2:]]
    if op.opdef in VIEWS:
        return [(op.operands[0], through(op, seen))]
    if op.opdef is MAP_ELEMENTWISE and not is_mapped(op):
        return None
    if (op.opdef.cpu is None and op.opdef is not MAP_ELEMENTWISE) or not op.operands:
        return None
    return [(x, seen if shape_of(x.type) else ()) for x in op.operands]


def _add(e: Evaluator, mask: Value, seen: Seen, ends: Ends) -> bool:
    """Note where `mask` ends along the strips, if it does."""
    found = e.masks.find_end(mask, seen)
    if found is None:
        return False
    ends[id(found[0]), found[1]] = found
    return True
