"""Writing a cluster: a nest, the values of its roots, then their effects in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.cluster import Cluster, Reduce, Store, Write
from teenyc.backend.cpu.evaluate import Evaluator, strip_alignment
from teenyc.backend.cpu.memory import load, masked_store, pointer, scatter, store
from teenyc.backend.cpu.nest import Nest
from teenyc.backend.cpu.reduction import Reduction
from teenyc.ops import arrays

if TYPE_CHECKING:
    from teenyc.backend.cpu.scope import Scope
    from teenyc.backend.cpu.text import Val
    from teenyc.ir.core import Operation, Value


def emit_cluster(scope: Scope, cluster: Cluster) -> None:
    """Append the loop nest of `cluster` to the function."""
    scope.arena.tick()
    for root in cluster.roots:
        for place in root.places:
            if not place.target.pointer:
                scope.arena.allocate(place.target)
    own = frozenset(
        id(root.value)
        for root in cluster.roots
        if isinstance(root, Write) and scope.places.get(id(root.value)) is root.place
    )
    nest = Nest(scope, cluster)
    evaluator = Evaluator(nest, own)
    reductions = {id(r): Reduction(evaluator, r) for r in cluster.roots if isinstance(r, Reduce)}
    for root in cluster.roots:  # everything is read before anything is written
        if isinstance(root, Reduce):
            reductions[id(root)].prepare()
        else:
            evaluator.value(_source(root), nest.identity)
    for root in cluster.roots:
        if isinstance(root, Store):
            _store(evaluator, root)
        elif isinstance(root, Write):
            _write(evaluator, root)
        else:
            reductions[id(root)].accumulate()
    for reduction in reductions.values():
        reduction.finish()
    nest.finish()


def _source(root: Store | Write) -> Value:
    return root.value if isinstance(root, Write) else root.op.operands[1]


def _write(e: Evaluator, root: Write) -> None:
    place, nest, c = root.place, e.nest, e.c
    e.scope.arena.touch(place)
    found = e.value(root.value, nest.identity)
    found = c.splat(c.encode(found, "i1") if place.element == "i1" else found, nest.width)
    at, step, _ = e.address(place, nest.identity)
    e.scope.work += e.elements
    if step in (None, 1):
        store(c, at, found, nest.top, strip_alignment(found.type, nest.width))
    else:
        e.scatter_strip(c, at, step, found)


def _store(e: Evaluator, root: Store) -> None:
    nest, c, op = e.nest, e.c, root.op
    address, mask = op.operands[0], op.operands[2:]
    element = arrays.element_name(op.operands[1].type)
    found = c.encode(e.value(op.operands[1], nest.identity), element)
    found = c.splat(found, nest.width)
    e.scope.work += e.elements
    contiguous = e.contiguity(address, nest.identity, memory_type(element))
    if contiguous and not mask:
        first = e.value(address, e.first(nest.identity))
        store(c, pointer(c, first, first.level), found, nest.top)
    elif contiguous is not None and e.can_stage([address, *mask]):
        _store_staged(e, op, found, certain=contiguous)
    elif contiguous:
        first = e.value(address, e.first(nest.identity))
        at = pointer(c, first, nest.top)
        on = c.splat(e.value(mask[0], nest.identity), nest.width)
        masked_store(e.scope, c, at, found, on, nest.top)
    else:
        _store_scattered(e, op, found)


def _store_scattered(e: Evaluator, op: Operation, found: Val) -> None:
    addresses = e.c.splat(e.value(op.operands[0], e.nest.identity), e.nest.width)
    mask = e.store_mask(op)
    scatter(e.scope, e.c, addresses, found, mask, e.nest.top)


def _store_staged(e: Evaluator, op: Operation, found: Val, *, certain: bool) -> None:
    """Into memory where all lanes are on, else into a slot that is carried out afterwards."""
    nest, c = e.nest, e.c
    real, slot = e.stage(op.operands[0], op.operands[2:3], nest.identity, certain=certain)
    store(c, e.choose(real, slot), found, nest.top)
    nest.has_drain = True
    with e.inside(nest.drain):
        value = load(c, slot, found.type, nest.width, nest.top, 64)
        if certain:
            masked_store(e.scope, c, real, value, e.store_mask(op), nest.top)
        else:
            _store_scattered(e, op, value)
