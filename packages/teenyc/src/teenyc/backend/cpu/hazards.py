"""May a load be delayed past a store? What is known of two pointers decides."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from teenyc.backend.cpu.structure import VIEWS
from teenyc.ops import casts
from teenyc.ops.memory import ADDPTR
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.classes import Classes
    from teenyc.ir.core import Operation, Value


class Hazard(IntEnum):
    """How two accesses may meet: never, only where arrays overlap, or as far as anyone knows."""

    NONE = 0
    OVERLAP = 1
    ALWAYS = 2


def base_of(pointer: Value) -> Value | None:
    """The parameter that an address is computed from, if only one can be."""
    while True:
        op = pointer.op
        if op is None:
            return pointer if not shape_of(pointer.type) else None
        if op.opdef is ADDPTR or op.opdef in VIEWS or op.opdef is casts.BITCAST:
            pointer = op.operands[0]
        else:
            return None


class Hazards:
    """Relations of the loads and stores of one kernel; `params` are its pointer parameters."""

    def __init__(self, classes: Classes, params: frozenset[int]) -> None:
        self._classes = classes
        self._params = params

    def between(self, load: Operation, store: Operation) -> Hazard:
        """What happens when a store that follows a load in the text is done before it.

        The same cheap address is no hazard inside of one strip: each element is read first.
        """
        left, right = load.operands[0], store.operands[0]
        if left is right and self._is_injective(left):
            return Hazard.NONE
        one, two = base_of(left), base_of(right)
        known = all(base is not None and id(base) in self._params for base in (one, two))
        return Hazard.OVERLAP if known and one is not two else Hazard.ALWAYS

    def _is_injective(self, pointer: Value) -> bool:
        """No two elements have the same address, as far as a stride may be trusted."""
        if not self._classes.is_cheap(pointer):
            return False
        sides = zip(shape_of(pointer.type), self._classes.axes.strides(pointer), strict=True)
        return all(n == 1 or stride not in (0, None) for n, stride in sides)
