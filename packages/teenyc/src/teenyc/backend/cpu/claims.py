"""Rows of a tile that are about to be stored, claimed all at once.

Stores leave a core in their order and wait one after the other for lines that another cache holds;
asked for together, the lines come together. Hints: no address needs to be right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.backlog import offsets, prefetch
from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.cluster import Cluster, Store
from teenyc.backend.cpu.evaluate import Evaluator
from teenyc.backend.cpu.memory import pointer
from teenyc.backend.cpu.nest import Nest
from teenyc.backend.cpu.structure import LOAD
from teenyc.backend.cpu.text import WIDTHS
from teenyc.ops import arrays

if TYPE_CHECKING:
    from teenyc.backend.cpu.scope import Scope


def claim(scope: Scope, cluster: Cluster) -> None:
    """Ask for the lines that the rows of `cluster` are stored to.

    Only where values are there already: what a nest loads takes longer than its stores.
    """
    if sum(side > 1 for side in cluster.shape) < 2:
        return
    values = [value for root in cluster.roots for value in root.values]
    lazy = scope.classes.lazy(values, lambda value: scope.place(value) is not None)
    if any(op.opdef is LOAD for op in lazy):
        return
    for root in cluster.stores:
        _claim_rows(scope, root, cluster.shape)


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
