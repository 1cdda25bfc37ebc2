"""Rows of a tile that are about to be stored, claimed all at once.

Stores leave a core in their order and wait one after the other for lines that another cache holds;
asked for together, the lines come together. Hints: no address needs to be right. It pays where a
program is long and meets its lines for the first time at its end: behind loops of products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.backlog import offsets, prefetch
from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.cluster import Cluster, Store
from teenyc.backend.cpu.evaluate import Evaluator
from teenyc.backend.cpu.memory import pointer
from teenyc.backend.cpu.nest import Nest
from teenyc.backend.cpu.text import WIDTHS
from teenyc.ops import arrays

if TYPE_CHECKING:
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Value


def claim(scope: Scope, cluster: Cluster) -> None:
    """Ask for the lines that rows made of products are stored to."""
    if sum(side > 1 for side in cluster.shape) < 2:
        return
    for root in cluster.stores:
        if _is_product(scope, root.op.operands[1]):
            _claim_rows(scope, root, cluster.shape)


def _is_product(scope: Scope, value: Value) -> bool:
    """Whether `value` is computed from what a loop of products has left."""
    buffers: set[str] = set()

    def placed(value: Value) -> bool:
        place = scope.place(value)
        if place is not None:
            buffers.update(buffer.name for buffer in place.buffers)
        return place is not None

    for _ in scope.classes.lazy([value], placed):
        pass
    return not buffers.isdisjoint(scope.multiplied)


def _claim_rows(scope: Scope, root: Store, shape: tuple[int, ...]) -> None:
    address, value = root.op.operands[:2]
    type_ = memory_type(arrays.element_name(value.type))
    own = Cluster(shape)
    own.roots.append(root)
    nest = Nest(scope, own)
    e = Evaluator(nest, frozenset())
    if not scope.classes.is_cheap(address) or e.contiguity(address, nest.identity, type_) is None:
        return
    first = e.value(address, e.first(nest.identity))
    at = pointer(nest.c, first, first.level)
    for offset in offsets(nest.width * WIDTHS[type_] // 8):
        line = nest.c.put(f"getelementptr i8, ptr {at}, i64 {offset}", "ptr", 0, first.level)
        nest.c.do(prefetch(scope.output, line.text, to_write=True), first.level)
    nest.finish()
