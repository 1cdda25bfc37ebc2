"""Who needs what: values that several clusters need are stored by the first of them.

Values are visited against the order of the text, so that all demands on one are known when it comes
up, and what it is made of is then asked for only where it is really computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from teenyc.backend.cpu.arena import Place
from teenyc.backend.cpu.classes import is_tensor, lazy_operands, size_of
from teenyc.backend.cpu.cluster import Cluster, Step, Store, Write
from teenyc.backend.cpu.hazards import Hazard
from teenyc.backend.cpu.structure import LOAD, VIEWS
from teenyc.ops import arrays
from teenyc.types import shape_of

if TYPE_CHECKING:
    from teenyc.backend.cpu.plan import Planner
    from teenyc.ir.core import Block, Operation, Value


class Demand:
    """The demands inside of one block; `readers` are the steps that read each value's place."""

    def __init__(self, planner: Planner, block: Block, steps: list[Step]) -> None:
        self.planner = planner
        self.classes = planner.classes
        self.places = planner.places
        self.block = block
        self.steps = steps
        self.own = {id(v) for op in block.ops for v in op.results}
        self.needs: dict[int, dict[int, Cluster]] = {}
        self.grown: set[tuple[int, int]] = set()
        self.writers: dict[int, Cluster] = {}
        self.readers: dict[int, list[tuple[Cluster, bool]]] = {}

    def settle(self) -> None:
        """Decide which values get places, and where."""
        for step in self.steps:
            if not isinstance(step, Cluster):
                continue
            for root in step.roots:
                if isinstance(root, Write) and self.places.get(id(root.value)) is root.place:
                    self.writers[id(root.value)] = step
                for value in root.values:
                    self._need(value, step, grown=False)
        for op in reversed(self.block.ops):
            for value in op.results:
                if is_tensor(value) and id(value) in self.needs:
                    self._visit(op, value)

    def release(self) -> None:
        """Stores need not wait where their nest reads nothing that they may overlap."""
        hazards = self.planner.hazards
        for step in self.steps:
            if not isinstance(step, Cluster) or not any(store.guarded for store in step.stores):
                continue
            reads = self._reads(step)
            for i, root in enumerate(step.roots):
                if not isinstance(root, Store) or not root.guarded or len(step.stores) > 1:
                    continue
                if all(hazards.between(x, root.op) is Hazard.NONE for x in reads):
                    step.roots[i] = root._replace(guarded=False)

    def _reads(self, cluster: Cluster) -> list[Operation]:
        """The loads that a cluster runs."""
        own = {id(root.value) for root in cluster.roots if isinstance(root, Write)}
        values = [value for root in cluster.roots for value in root.values]
        lazy = self.classes.lazy(values, lambda v: self._placed(v) and id(v) not in own)
        return [op for op in lazy if op.opdef is LOAD]

    def _need(self, value: Value, cluster: Cluster, *, grown: bool, moved: bool = False) -> None:
        if not is_tensor(value) or self.classes.is_cheap(value):
            return
        self.needs.setdefault(id(value), {})[id(cluster)] = cluster
        if grown:
            self.grown.add((id(value), id(cluster)))
        if id(value) not in self.own:
            self.readers.setdefault(id(value), []).append((cluster, moved))

    def _visit(self, op: Operation, value: Value) -> None:
        clusters = list(self.needs[id(value)].values())
        if op.opdef in VIEWS:
            grows = size_of(value) > size_of(op.operands[0])
            for cluster in clusters:
                grown = grows or (id(value), id(cluster)) in self.grown
                self._need(op.operands[0], cluster, grown=grown)
            return
        asked = lazy_operands(op)
        if not asked:
            return  # it has a place by nature
        writer = self.writers.get(id(value))
        if writer is not None and self._is_late(writer, clusters):
            self._withdraw(value, writer)
            writer = self._write(value, [c for c in clusters if c is not writer])
        if writer is None:
            dear = any((id(value), id(c)) in self.grown for c in clusters) and self.classes.is_dear(
                value, self._placed
            )
            if len(clusters) > 1 or dear:
                writer = self._write(value, clusters)
        for x in asked:
            for cluster in [writer] if writer is not None else clusters:
                grown = writer is None and (id(value), id(cluster)) in self.grown
                self._need(x, cluster, grown=grown)

    def _is_late(self, writer: Cluster, clusters: list[Cluster]) -> bool:
        """Whether another cluster needs a value before its writer comes."""
        return min(map(self.steps.index, clusters)) < self.steps.index(writer)

    def _withdraw(self, value: Value, writer: Cluster) -> None:
        place = self.places[id(value)]
        writer.roots = [
            root
            for root in writer.roots
            if not (isinstance(root, Write) and root.value is value and root.place is place)
        ]

    def _placed(self, value: Value) -> bool:
        return id(value) in self.places

    def _write(self, value: Value, clusters: list[Cluster]) -> Cluster:
        """Let the first cluster that needs `value` store it, or one of its own before that."""
        shape = shape_of(value.type)
        place = self.places.get(id(value))
        if place is None:
            place = self.places[id(value)] = Place(shape, arrays.element_name(value.type))
        first = min(clusters, key=self.steps.index)
        if first.shape != shape or (id(value), id(first)) in self.grown:
            at = self.steps.index(first)
            first = Cluster(shape)
            self.steps.insert(at, first)
        first.roots.insert(0, Write(value, place))
        self.writers[id(value)] = first
        return first

    # --- values that are handed on ----------------------------------------------------------------

    def forward(self, moved: Sequence[Write]) -> None:
        """A value that has a place of its own moves into the place that it is handed on in."""
        for write in moved:
            place = self.places.get(id(write.value))
            if place is None or id(write.value) not in self.own:
                continue
            if place.is_fixed or place.forward is not None:
                continue
            place.forward = write.place
            for step in self.steps:
                if isinstance(step, Cluster):
                    step.roots = [root for root in step.roots if root is not write]
