"""Writing a cluster: a nest, the values of its roots, then their effects in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.arena import Place
from teenyc.backend.cpu.atomics import emit_atomic, prepare_atomic
from teenyc.backend.cpu.builder import memory_type
from teenyc.backend.cpu.claims import claim
from teenyc.backend.cpu.cluster import Assert, Atomic, Cluster, Reduce, Scan, Store, Write
from teenyc.backend.cpu.describe import note, note_nest
from teenyc.backend.cpu.evaluate import Evaluator
from teenyc.backend.cpu.memory import load, masked_store, pointer, scatter, store
from teenyc.backend.cpu.nest import Nest
from teenyc.backend.cpu.reduction import Reduction
from teenyc.backend.cpu.tails import find_tail
from teenyc.backend.cpu.text import WIDTHS, Val, number
from teenyc.ops import arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.scope import Scope
    from teenyc.ir.core import Operation, Value


def emit_cluster(scope: Scope, cluster: Cluster) -> None:
    """Append the loop nest of `cluster` to the function, and what waits for its end."""
    scope.arena.tick()
    for root in cluster.roots:
        for place in root.places:
            if not place.root.pointer:
                scope.arena.allocate(place.root)
    claim(scope, cluster)
    waiting = {}
    for root in cluster.roots:
        if isinstance(root, Store) and root.guarded:
            waiting[id(root)] = _waiting_place(scope, root)
    _emit_nest(scope, cluster, waiting)
    if waiting:
        _emit_waiting(scope, cluster, waiting)


def _waiting_place(scope: Scope, root: Store) -> Place:
    """Where the values of a guarded store wait, as they lie in memory."""
    value = root.op.operands[1].type
    element = arrays.element_name(value)
    width = WIDTHS[memory_type(element)]
    raw = element if memory_type(element) in ("float", "double") else f"i{width}"
    place = Place(shape_of(value), raw)
    scope.arena.allocate(place)
    scope.arena.touch(place)
    return place


def _emit_waiting(scope: Scope, cluster: Cluster, waiting: dict[int, Place]) -> None:
    """Where arrays may overlap, store now what the nest has put aside."""
    main, late, done = scope.main, scope.label("late"), scope.label("stored")
    main.lines.append(f"  br i1 %apart, label %{done}, label %{late}")
    main.open(late)
    scope.arena.tick()
    note(scope, "only where arrays may overlap:")
    scope.depth += 1
    for root in cluster.stores:
        if id(root) in waiting:
            own = Cluster(cluster.shape)
            own.roots.append(Store(root.op, source=waiting[id(root)]))
            _emit_nest(scope, own, {})
    scope.depth -= 1
    main.lines.append(f"  br label %{done}")
    main.open(done)


def _emit_nest(scope: Scope, cluster: Cluster, waiting: dict[int, Place]) -> None:
    own = frozenset(
        id(root.value)
        for root in cluster.roots
        if isinstance(root, Write) and scope.places.get(id(root.value)) is root.place
    )
    nest = Nest(scope, cluster)
    evaluator = Evaluator(nest, own)
    reductions = {
        id(r): Reduction(evaluator, r) for r in cluster.roots if isinstance(r, Reduce | Scan)
    }
    for root in cluster.roots:  # everything is read before anything is written
        if isinstance(root, Reduce | Scan):
            reductions[id(root)].prepare()
        elif isinstance(root, Atomic):
            prepare_atomic(evaluator, root)
        elif not (isinstance(root, Store) and root.source):
            evaluator.value(_source(root), nest.identity)
    for root in cluster.roots:
        if isinstance(root, Store):
            _store(evaluator, root, waiting.get(id(root)))
        elif isinstance(root, Write):
            _write(evaluator, root)
        elif isinstance(root, Atomic):
            emit_atomic(evaluator, root)
        elif isinstance(root, Assert):
            evaluator.assert_strip(root.op)
        else:
            reductions[id(root)].accumulate()
            if isinstance(root, Scan):
                reductions[id(root)].running()
    find_tail(evaluator, reductions.values())
    for reduction in reductions.values():
        if isinstance(reduction.root, Reduce):
            reduction.finish()
    nest.finish()
    note_nest(scope, nest)


def _source(root: Store | Write | Assert) -> Value:
    if isinstance(root, Write):
        return root.value
    return root.op.operands[1 if isinstance(root, Store) else 0]


def _write(e: Evaluator, root: Write) -> None:
    e.scope.work += e.elements
    e.put(root.place, e.nest.identity, e.value(root.value, e.nest.identity))


def _store(e: Evaluator, root: Store, waiting: Place | None) -> None:
    nest, c, op = e.nest, e.c, root.op
    address, mask = op.operands[0], op.operands[2:]
    element = arrays.element_name(op.operands[1].type)
    if root.source is not None:
        found = e.read(root.source, nest.identity)
    else:
        found = c.encode(e.value(op.operands[1], nest.identity), element)
    found = c.splat(found, nest.width)
    e.scope.work += e.elements
    contiguous = e.contiguity(address, nest.identity, memory_type(element))
    stageable = e.can_stage([address, *mask])
    if contiguous and not mask and not (e.checks and stageable):
        e.check_strip(op, nest.identity, number(1, "i1"), nest.top)
        first = e.value(address, e.first(nest.identity))
        at = pointer(c, first, first.level)
        store(c, _aside(e, at, waiting), found, nest.top)
    elif contiguous is not None and stageable:
        _store_staged(e, op, found, waiting, certain=contiguous)
    elif contiguous:
        first = e.value(address, e.first(nest.identity))
        at = pointer(c, first, nest.top)
        on = c.splat(e.value(mask[0], nest.identity), nest.width)
        e.check_strip(op, nest.identity, on, nest.top)
        if waiting is not None:
            place, _, _ = e.address(waiting, nest.identity)
            store(c, place, found, nest.top)
            on = c.binary("and", on, Val("%apart", "i1"))
        masked_store(e.scope, c, at, found, on, nest.top)
    else:
        _store_scattered(e, op, found)


def _aside(e: Evaluator, at: str, waiting: Place | None) -> str:
    """The pointer, or that of the place where a guarded store's values wait."""
    if waiting is None:
        return at
    place, _, _ = e.address(waiting, e.nest.identity)
    text = f"select i1 %apart, ptr {at}, ptr {place}"
    return e.c.put(text, "ptr", 0, e.nest.top).text


def _store_scattered(e: Evaluator, op: Operation, found: Val) -> None:
    addresses = e.c.splat(e.value(op.operands[0], e.nest.identity), e.nest.width)
    mask = e.store_mask(op)
    e.check_strip(op, e.nest.identity, mask, e.nest.top)
    scatter(e.scope, e.c, addresses, found, mask, e.nest.top)


def _store_staged(
    e: Evaluator, op: Operation, found: Val, waiting: Place | None, *, certain: bool
) -> None:
    """Into memory where all lanes are on, else into a slot that is carried out afterwards."""
    nest, c = e.nest, e.c
    real, slot = e.stage(op.operands[0], op.operands[2:3], nest.identity, certain=certain)
    store(c, _aside(e, e.choose(real, slot), waiting), found, nest.top)
    nest.has_drain = True
    if len(nest.cluster.roots) == 1 and len(op.operands) > 2:
        with e.inside(nest.pre):
            nest.skips += e.masks.surely_off(op.operands[2], nest.identity)
    with e.inside(nest.fill):
        e.check_strip(op, nest.identity, e.store_mask(op), nest.top)
    with e.inside(nest.drain):
        value = load(c, slot, found.type, nest.width, nest.top, 64)
        if not certain:
            _store_scattered(e, op, value)
            return
        mask = e.store_mask(op)
        if waiting is not None:
            mask = c.binary("and", mask, Val("%apart", "i1"))
        masked_store(e.scope, c, real, value, mask, nest.top)
