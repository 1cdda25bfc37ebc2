"""Classes of tensor values: which are re-computed wherever they are needed, and what reads memory.

*Cheap* values (indices, masks, addresses, constants) are never stored. All others are computed
once: inside of the only loop nest that needs them, or into a place of the arena.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod

from teenyc.backend.cpu.axis import Axes
from teenyc.backend.cpu.inline import is_inlined
from teenyc.backend.cpu.structure import GATHER, LOAD, MAKE_RANGE, MAP_ELEMENTWISE, VIEWS
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef
from teenyc.ops import arrays
from teenyc.ops.arith import CONSTANT
from teenyc.types import shape_of

_DEAR = 4  # the cost from which on a result is rather stored than computed again


def is_tensor(value: Value) -> bool:
    """Has at least one axis."""
    return bool(shape_of(value.type))


def is_elementwise(opdef: OpDef) -> bool:
    """Computes each element from the elements at the same place."""
    return opdef.cpu is not None


class Classes:
    """Facts about values, found once each."""

    def __init__(self) -> None:
        self.axes = Axes()
        self.guesses = Axes(guess=True)
        self._cheap: dict[int, bool] = {}

    def learn(self, ops: Iterable[Operation]) -> None:
        """Find the facts of all results in the order of the text, so that no chain is too long."""
        for op in ops:
            for value in op.results:
                self.is_cheap(value)
                self.axes.strides(value)
                self.guesses.strides(value)

    def is_cheap(self, value: Value) -> bool:
        """Made of indices, scalars and constants alone, by light operations."""
        known = self._cheap.get(id(value))
        if known is None:
            known = self._find_cheap(value)
            self._cheap[id(value)] = known
        return known

    def _find_cheap(self, value: Value) -> bool:
        if not is_tensor(value):
            return True
        op = value.op
        if op is None:
            return False
        if op.opdef in (CONSTANT, MAKE_RANGE):
            return True
        if op.opdef in VIEWS:
            return self.is_cheap(op.operands[0])
        # A remainder of an index is recomputed: it is part of addresses that wrap around.
        light = op.opdef.cost < _DEAR or arrays.element_name(value.type).startswith("i")
        return is_elementwise(op.opdef) and light and all(map(self.is_cheap, op.operands))

    def lazy(self, values: Iterable[Value], placed: Callable[[Value], bool]) -> Iterator[Operation]:
        """The operations that computing `values` runs, down to what is cheap or `placed`."""
        seen: set[int] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            op = value.op
            if op is None or id(value) in seen or self.is_cheap(value) or placed(value):
                continue
            seen.add(id(value))
            yield op
            pending.extend(lazy_operands(op))

    def is_dear(self, value: Value, placed: Callable[[Value], bool]) -> bool:
        """Costs more to compute again than to store."""
        return any(op.opdef.cost >= _DEAR for op in self.lazy([value], placed))


def lazy_operands(op: Operation) -> list[Value]:
    """The operands that are computed where the result of `op` is; none where that has a place."""
    if op.opdef is GATHER:
        return op.operands[1:]
    if op.opdef is MAP_ELEMENTWISE:
        return op.operands if is_mapped(op) else []
    if is_elementwise(op.opdef) or op.opdef in VIEWS or op.opdef is LOAD:
        return op.operands
    return []


def is_mapped(op: Operation) -> bool:
    """A `tt.map_elementwise` that is computed in vectors."""
    return op.attrs["pack"] == 1 and is_inlined(op.regions[0])


def size_of(value: Value) -> int:
    """The number of elements."""
    return prod(shape_of(value.type))
