"""Which operations share a loop nest: the steps of a block, in the order of its text.

Three passes: roots are collected into clusters; then what several clusters need is given a place in
the first of them; then values that are handed on move straight into the place they go to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from teenyc.backend.cpu.arena import Place, row_major
from teenyc.backend.cpu.classes import is_mapped, is_tensor, lazy_operands
from teenyc.backend.cpu.cluster import (
    Assert,
    Atomic,
    Cluster,
    Dot,
    Reduce,
    Root,
    Scalar,
    Scan,
    Serial,
    Slot,
    Step,
    Store,
    Structured,
    Write,
)
from teenyc.backend.cpu.demand import Demand
from teenyc.backend.cpu.hazards import Hazard, Hazards
from teenyc.backend.cpu.structure import (
    ASSERT,
    ATOMICS,
    CAT,
    DOT,
    GATHER,
    HISTOGRAM,
    JOIN,
    LOAD,
    MAP_ELEMENTWISE,
    PRINT,
    REDUCE,
    REGIONS,
    RESHAPE,
    SCAN,
    SCF_FOR,
    SCF_IF,
    SPLIT,
    STORE,
    STRUCTURAL,
    TERMINATORS,
    UNSPLAT,
    VIEWS,
    refusal,
)
from teenyc.ir.opdef import Effects
from teenyc.ops import arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.classes import Classes
    from teenyc.ir.core import Block, Operation, Value


def new_place(value: Value) -> Place:
    """A place for the elements of `value`."""
    return Place(shape_of(value.type), arrays.element_name(value.type))


class Planner:
    """Plans the blocks of one kernel; `places` is where its tensors go, by value."""

    def __init__(self, classes: Classes, hazards: Hazards, places: dict[int, Place]) -> None:
        self.classes = classes
        self.hazards = hazards
        self.places = places

    def block(self, block: Block, targets: Sequence[tuple[Value, Place]] = ()) -> list[Step]:
        """The steps of a block; `targets` are values to leave in places at its end."""
        return _BlockPlan(self, block).run(targets)


class _BlockPlan:
    def __init__(self, planner: Planner, block: Block) -> None:
        self.planner = planner
        self.classes = planner.classes
        self.places = planner.places
        self.block = block
        self.steps: list[Step] = []
        self.open: Cluster | None = None
        self.pending: set[int] = set()
        self.index = {id(op): i for i, op in enumerate(block.ops)}
        self.last_use = _last_uses(block)
        self.now = 0

    def run(self, targets: Sequence[tuple[Value, Place]]) -> list[Step]:
        for now, op in enumerate(self.block.ops):
            self.now = now
            self._visit(op)
        self.now = len(self.block.ops)
        moved: list[Write] = []
        for value, place in targets:
            write = Write(value, place)
            moved.append(write)
            self._add(write, shape_of(value.type))
        self._flush()
        demand = Demand(self.planner, self.block, self.steps)
        demand.settle()
        demand.release()
        demand.forward(moved)
        self.steps = [s for s in self.steps if not isinstance(s, Cluster) or s.roots]
        return self.steps

    # --- the text in order ------------------------------------------------------------------------

    def _visit(self, op: Operation) -> None:
        if op.opdef in TERMINATORS:
            return
        if op.opdef in REGIONS:
            self._visit_regions(op)
        elif op.opdef is DOT:
            self._visit_dot(op)
        elif op.opdef is REDUCE:
            self._visit_reduce(op)
        elif op.opdef is STORE and is_tensor(op.operands[0]):
            self._visit_store(op)
        elif op.opdef is RESHAPE:
            self._visit_reshape(op)
        elif op.opdef is ASSERT and is_tensor(op.operands[0]):
            self._add(Assert(op), shape_of(op.operands[0].type))
        elif op.opdef is SCAN:
            self._visit_scan(op)
        elif op.opdef is GATHER:
            self._ensure(op.operands[0], even_cheap=True)
            self.pending.add(id(op.operands[0]))
        elif op.opdef in ATOMICS and is_tensor(op.operands[0]):
            self._visit_atomic(op)
        elif op.opdef in (JOIN, CAT):
            self._visit_join(op)
        elif op.opdef is SPLIT:
            self._visit_split(op)
        elif op.opdef is UNSPLAT:
            self._ensure(op.operands[0], even_cheap=True)
            self._flush()
            self.steps.append(Serial(op, (self._where(op.operands[0]),), ()))
        elif op.opdef is PRINT:
            tensors = [x for x in op.operands if is_tensor(x)]
            for x in tensors:
                self._ensure(x, even_cheap=True)
            self._flush()
            self.steps.append(Serial(op, tuple(map(self._where, tensors)), ()))
        elif op.opdef is HISTOGRAM or (op.opdef is MAP_ELEMENTWISE and not is_mapped(op)):
            self._visit_serial(op)
        elif not any(map(is_tensor, (*op.operands, *op.results))):
            self._visit_scalar(op)
        elif not op.results:
            raise refusal(op)  # nothing would ask for it

    def _visit_scalar(self, op: Operation) -> None:
        waits = any(id(x) in self.pending for x in op.operands)
        reads = op.opdef is LOAD and self.open is not None and self.open.stores
        if op.opdef.cpu is None and op.opdef not in STRUCTURAL:
            raise refusal(op)
        if op.opdef is STORE or op.opdef in ATOMICS:
            self._flush()
            self._settle_loads([op])
        elif waits or reads:
            self._flush()
        self.steps.append(Scalar(op))

    def _visit_reduce(self, op: Operation) -> None:
        made = tuple(new_place(x) for x in op.results if is_tensor(x))
        for result, place in zip(op.results, made, strict=False):
            self.places[id(result)] = place
        self._add(Reduce(op, made), shape_of(op.operands[0].type))
        self.pending.update(id(result) for result in op.results)

    def _visit_scan(self, op: Operation) -> None:
        made = tuple(new_place(x) for x in op.results)
        for result, place in zip(op.results, made, strict=True):
            self.places[id(result)] = place
        self._add(Scan(op, made), shape_of(op.operands[0].type))
        self._flush()

    def _visit_atomic(self, op: Operation) -> None:
        """It happens where it stands: nothing is delayed past it, and nothing comes before."""
        made = tuple(new_place(x) for x in op.results)
        for x in op.operands:
            self._ensure(x)
        self._flush()
        self._settle_loads([op])
        for result, place in zip(op.results, made, strict=True):
            self.places[id(result)] = place
        self._add(Atomic(op, made), shape_of(op.operands[0].type))
        self._flush()

    def _visit_join(self, op: Operation) -> None:
        """Both sides are written into their part of the result."""
        out = self.places[id(op.result)] = new_place(op.result)
        offset = 0
        for x in op.operands:
            shape = shape_of(x.type)
            strides = out.strides[:-1] if op.opdef is JOIN else out.strides
            self._add(Write(x, out.view(shape, offset, strides)), shape)
            offset += 1 if op.opdef is JOIN else shape[0]
        self.pending.add(id(op.result))

    def _visit_reshape(self, op: Operation) -> None:
        """The same elements under another shape: a view of them, row by row."""
        source = op.operands[0]
        self._ensure(source, even_cheap=True)
        place = self._where(source)
        if place.strides != row_major(place.shape):
            place = new_place(source)
            self._add(Write(source, place), place.shape)
        shape = shape_of(op.result.type)
        self.places[id(op.result)] = place.view(shape, 0, row_major(shape))
        self.pending.add(id(op.result))

    def _visit_split(self, op: Operation) -> None:
        self._ensure(op.operands[0], even_cheap=True)
        source = self._where(op.operands[0])
        for i, result in enumerate(op.results):
            view = source.view(shape_of(result.type), i * source.strides[-1], source.strides[:-1])
            self.places[id(result)] = view
        self._flush()

    def _visit_serial(self, op: Operation) -> None:
        for x in op.operands:
            self._ensure(x, even_cheap=True)
        self._flush()
        made = tuple(new_place(x) for x in op.results)
        for result, place in zip(op.results, made, strict=True):
            self.places[id(result)] = place
        body: tuple[Step, ...] = ()
        if op.regions:
            body = tuple(self.planner.block(op.regions[0].block))
        self.steps.append(Serial(op, tuple(self._where(x) for x in op.operands), made, body))

    def _visit_dot(self, op: Operation) -> None:
        left, right, acc = op.operands
        self._ensure(left, even_cheap=True)
        self._ensure(right, even_cheap=True)
        out = self.places[id(op.result)] = new_place(op.result)
        self._add(Write(acc, out), out.shape)
        self._flush()
        self.steps.append(Dot(op, self._where(left), self._where(right), out))

    def _where(self, value: Value) -> Place:
        return self.places[id(value)]

    def _visit_store(self, op: Operation) -> None:
        shape = shape_of(op.operands[0].type)
        root = Store(op)
        if not self._may_join(root, shape):
            self._flush()
        found = self._hazard(root, self.open)
        if self.open is not None and self.open.stores:
            found = max(found, Hazard.OVERLAP)
            others = [
                r._replace(guarded=True) if isinstance(r, Store) else r for r in self.open.roots
            ]
            self.open.roots[:] = others
        if found is Hazard.ALWAYS or (found is Hazard.OVERLAP and not self._is_side_by_side(op)):
            # What it reads is brought to safety first; then it is alone.
            for value in op.operands:
                self._ensure(value)
            self._flush()
            found = Hazard.NONE
        self._add(Store(op, guarded=found is Hazard.OVERLAP), shape)

    def _is_side_by_side(self, op: Operation) -> bool:
        pointer = op.operands[0]
        size = arrays.itemsize(pointer.type.element.pointee)  # type: ignore[union-attr]
        axes = [a for a, n in enumerate(shape_of(pointer.type)) if n > 1]
        cheap = all(self.classes.is_cheap(x) for x in (pointer, *op.operands[2:]))
        return bool(axes) and cheap and self.classes.axes.strides(pointer)[axes[-1]] == size

    def _visit_regions(self, op: Operation) -> None:
        captured = _captured(op)
        inside = {id(x) for inner in op.walk() for x in _placed_operands(inner)}
        for value in captured:
            self._ensure(value, even_cheap=id(value) in inside)
        made = Structured(op)
        carried = op.operands[3:] if op.opdef is SCF_FOR else op.operands
        if op.opdef is not SCF_IF:
            for i, value in enumerate(carried):
                if is_tensor(value):
                    current, following = new_place(value), new_place(value)
                    made.slots.append(Slot(i, current, following))
                    self._add(Write(value, current), current.shape)
        self._flush()
        if any(Effects.WRITE in inner.opdef.effects for inner in op.walk()):
            stores = [x for x in op.walk() if x.opdef is STORE or x.opdef in ATOMICS]
            self._settle_loads(stores)
        from teenyc.backend.cpu.regions import plan_regions

        plan_regions(self.planner, made)
        self.steps.append(made)

    # --- clusters ---------------------------------------------------------------------------------

    def _placed(self, value: Value) -> bool:
        return id(value) in self.places

    def _ensure(self, value: Value, *, even_cheap: bool = False) -> None:
        """Give `value` a place, unless it has one or is computed again wherever it is needed."""
        if not is_tensor(value) or self._placed(value):
            return
        op = value.op
        if not even_cheap:
            if self.classes.is_cheap(value):
                return
            if op is not None and op.opdef in VIEWS:
                self._ensure(op.operands[0])
                return
        write = Write(value, new_place(value))
        if not self._may_join(write, write.place.shape):
            self._flush()  # which may have to bring `value` to safety itself
        if not self._placed(value):
            self.places[id(value)] = write.place
            self._add(write, write.place.shape)

    def _add(self, root: Root, shape: tuple[int, ...]) -> None:
        if not self._may_join(root, shape):
            self._flush()
        if self.open is None:
            self.open = Cluster(shape)
        if isinstance(root, Store) is False:
            self._guard_stores(root)
        self.open.roots.append(root)

    def _may_join(self, root: Root, shape: tuple[int, ...]) -> bool:
        cluster = self.open
        if cluster is None or cluster.shape != shape:
            return cluster is None
        if cluster.scans or isinstance(root, Scan):
            return False
        if isinstance(root, Reduce) and cluster.axis not in (None, root.op.attrs["axis"]):
            return False
        loads = self._loads(root)
        if self._waits(root):
            return False
        for store in cluster.stores:
            for load in loads:
                found = self.planner.hazards.between(load, store.op)
                late = self.index.get(id(load), -1) > self.index[id(store.op)]
                if late or found is Hazard.ALWAYS:
                    return False
                if found is Hazard.OVERLAP and not self._is_side_by_side(store.op):
                    return False
            if isinstance(root, Store) and (
                not self._independent(root, store) or self._is_read_between(store, root)
            ):
                return False
        return True

    def _is_read_between(self, one: Store, other: Store) -> bool:
        """Whether a load between two stores waits: it comes after the one and before the other."""
        between = self.block.ops[self.index[id(one.op)] : self.index[id(other.op)]]
        return any(
            op.opdef is LOAD
            and is_tensor(op.result)
            and not self._placed(op.result)
            and self.last_use.get(id(op.result), -1) > self.now
            for op in between
        )

    def _independent(self, one: Store, other: Store) -> bool:
        """Two stores whose order does not matter, or only where arrays overlap: then both wait."""
        found = self.planner.hazards.between(one.op, other.op)
        return found is Hazard.OVERLAP and all(map(self._is_side_by_side, (one.op, other.op)))

    def _waits(self, root: Root) -> bool:
        """Whether it needs what the open cluster has only at its end."""
        if not self.pending:
            return False
        placed = self._placed_before(root)
        settled = lambda x: placed(x) and id(x) not in self.pending  # noqa: E731
        for op in self.classes.lazy(root.values, settled):
            if any(id(x) in self.pending for x in (*op.operands, *op.results)):
                return True
        if any(id(x) in self.pending for x in root.values):
            return True
        return any(self._cheaply_waits(value) for value in root.values)

    def _cheaply_waits(self, value: Value) -> bool:
        """The same through cheap values (a splat of a sum)."""
        seen, stack = set[int](), [value]
        while stack:
            at = stack.pop()
            if id(at) in self.pending:
                return True
            if at.op is None or id(at) in seen or at.op.parent is not self.block:
                continue
            seen.add(id(at))
            if not at.op.regions:
                stack.extend(at.op.operands)
        return False

    def _loads(self, root: Root) -> list[Operation]:
        lazy = self.classes.lazy(root.values, self._placed_before(root))
        return [op for op in lazy if op.opdef is LOAD]

    def _placed_before(self, root: Root) -> Callable[[Value], bool]:
        """Which values have places already; what `root` itself writes has none yet."""
        own = root.value if isinstance(root, Write) else None
        if own is not None and self.places.get(id(own)) is not root.places[0]:
            own = None
        return lambda value: self._placed(value) and value is not own

    def _hazard(self, store: Store, cluster: Cluster | None) -> Hazard:
        """What stands between a store and the loads of the cluster that it would join."""
        loads = self._loads(store)
        for root in cluster.roots if cluster is not None else ():
            own = [root.value] if isinstance(root, Write) else root.values
            lazy = self.classes.lazy(own, lambda v: False)
            loads += [op for op in lazy if op.opdef is LOAD and id(op) in self.index]
        found = [self.planner.hazards.between(load, store.op) for load in loads]
        return max(found, default=Hazard.NONE)

    def _guard_stores(self, root: Root) -> None:
        """A root that reads what an earlier store of its cluster may overlap makes that wait."""
        assert self.open is not None
        for i, other in enumerate(self.open.roots):
            if isinstance(other, Store) and self._hazard_of(root, other) is Hazard.OVERLAP:
                self.open.roots[i] = other._replace(guarded=True)

    def _hazard_of(self, root: Root, store: Store) -> Hazard:
        found = [self.planner.hazards.between(load, store.op) for load in self._loads(root)]
        return max(found, default=Hazard.NONE)

    def _flush(self) -> None:
        """Close the open cluster."""
        cluster, self.open = self.open, None
        if cluster is None:
            return
        if cluster.stores:
            self._settle_loads([store.op for store in cluster.stores], cluster)
        self.pending.clear()
        self.steps.append(cluster)

    def _settle_loads(self, stores: Iterable[Operation], cluster: Cluster | None = None) -> None:
        """Loads that come before `stores` in the text but are needed after them get places."""
        for op in self.block.ops[: self.now]:
            if op.opdef is not LOAD or not is_tensor(op.result) or self._placed(op.result):
                continue
            if self.last_use.get(id(op.result), -1) < self.now:
                continue
            late = [s for s in stores if self.index.get(id(s), self.now) > self.index[id(op)]]
            found = max((self.planner.hazards.between(op, s) for s in late), default=Hazard.NONE)
            if found is Hazard.NONE and cluster is None and not late:
                continue
            if found is Hazard.NONE and not late:
                continue
            self._settle(op.result, cluster, found)

    def _settle(self, value: Value, cluster: Cluster | None, found: Hazard) -> None:
        place = self.places[id(value)] = new_place(value)
        write = Write(value, place)
        joins = cluster is not None and cluster.shape == place.shape
        if joins and found is Hazard.NONE:
            assert cluster is not None
            cluster.roots.insert(0, write)
            return
        own = Cluster(place.shape)
        own.roots.append(write)
        self.steps.append(own)


def _last_uses(block: Block) -> dict[int, int]:
    """For each value the last operation of the block that needs it, through all that is lazy."""
    found: dict[int, int] = {}
    for i in range(len(block.ops) - 1, -1, -1):
        op = block.ops[i]
        at = i
        if op.results and is_tensor(op.results[0]) and lazy_operands(op):
            at = max(found.get(id(x), i) for x in op.results)
        if op.opdef in TERMINATORS:
            at = len(block.ops)
        used = [*op.operands, *(_captured(op) if op.regions else ())]
        for value in used:
            found[id(value)] = max(found.get(id(value), -1), at)
    return found


def _captured(op: Operation) -> list[Value]:
    """Tensors from outside that the regions of `op` use, in the order of their uses."""
    inside: set[int] = set()
    found: dict[int, Value] = {}
    for region in op.regions:
        for block in region.blocks:
            inside.update(map(id, block.args))
    for inner in op.walk():
        if inner is op:
            continue
        for region in inner.regions:
            for block in region.blocks:
                inside.update(map(id, block.args))
        for value in inner.operands:
            if id(value) not in inside and is_tensor(value):
                found.setdefault(id(value), value)
        inside.update(id(result) for result in inner.results)
    return list(found.values())


def _placed_operands(op: Operation) -> list[Value]:
    """The operands of `op` that must lie in places, whatever they are."""
    if op.opdef is DOT:
        return op.operands[:2]
    if op.opdef in (GATHER, RESHAPE, SPLIT, UNSPLAT):
        return op.operands[:1]
    if op.opdef is PRINT:
        return [x for x in op.operands if is_tensor(x)]
    if op.opdef is HISTOGRAM or (op.opdef is MAP_ELEMENTWISE and not is_mapped(op)):
        return op.operands
    return []
