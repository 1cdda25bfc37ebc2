"""Steps: what the blocks of a kernel become. A cluster is a loop nest that several roots share.

Roots are what must happen: stores, writes of a value to its place, reductions. Everything else is
computed where a root asks for it. plan.py decides; nest.py writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from teenyc.backend.cpu.arena import Place
    from teenyc.ir.core import Operation, Value


class Store(NamedTuple):
    """A `tt.store`. With `guarded`, it waits for the end of the nest when arrays may overlap.

    `source` then holds what is stored after the nest, as it lies in memory.
    """

    op: Operation
    guarded: bool = False
    source: Place | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """Where it writes in the arena."""
        return ()

    @property
    def values(self) -> list[Value]:
        """What it needs."""
        return self.op.operands


class Write(NamedTuple):
    """`value` goes to `place`."""

    value: Value
    place: Place

    @property
    def values(self) -> list[Value]:
        """What it needs."""
        return [self.value]

    @property
    def places(self) -> tuple[Place, ...]:
        """Where it writes in the arena."""
        return (self.place,)


class Reduce(NamedTuple):
    """A `tt.reduce`; its results go to `places`, or become scalars where there are none."""

    op: Operation
    places: tuple[Place, ...] = ()

    @property
    def values(self) -> list[Value]:
        """What it needs."""
        return self.op.operands


class Scan(NamedTuple):
    """A `tt.scan`; its results go to `places`."""

    op: Operation
    places: tuple[Place, ...]

    @property
    def values(self) -> list[Value]:
        """What it needs."""
        return self.op.operands


class Atomic(NamedTuple):
    """An atomic operation on tensors; what it read goes to `places` where anyone asks."""

    op: Operation
    places: tuple[Place, ...] = ()

    @property
    def values(self) -> list[Value]:
        """What it needs."""
        return self.op.operands


class Assert(NamedTuple):
    """A `tt.assert` on a tensor."""

    op: Operation

    @property
    def places(self) -> tuple[Place, ...]:
        """It writes nothing."""
        return ()

    @property
    def values(self) -> list[Value]:
        """What it needs."""
        return self.op.operands


Root = Store | Write | Reduce | Scan | Atomic | Assert


class Cluster:
    """A loop nest over `shape` with its roots in order."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.roots: list[Root] = []

    @property
    def stores(self) -> list[Store]:
        """The roots that write the user's memory."""
        return [root for root in self.roots if isinstance(root, Store)]

    @property
    def axis(self) -> int | None:
        """The axis that its reductions and scans run along."""
        found = (root for root in self.roots if isinstance(root, Reduce | Scan))
        return next((root.op.attrs["axis"] for root in found), None)

    @property
    def scans(self) -> bool:
        """Whether it goes along its axis element by element, whatever the axis."""
        return any(isinstance(root, Scan) for root in self.roots)

    @property
    def reverse(self) -> bool:
        """Whether it goes along its axis backwards."""
        return any(isinstance(root, Scan) and root.op.attrs["reverse"] for root in self.roots)


class Scalar(NamedTuple):
    """An operation on scalars alone."""

    op: Operation


class Dot(NamedTuple):
    """A product of matrices whose operands lie in places; `out` holds the accumulator already."""

    op: Operation
    left: Place
    right: Place
    out: Place


class Slot:
    """A tensor that a loop carries: where it is, and where its next value goes.

    They are one where every reader of the old value comes before the writer of the new one.
    """

    def __init__(self, index: int, current: Place, following: Place) -> None:
        self.index = index
        self.current = current
        self.following = following
        self.in_place = False
        self.is_kept = False


class Structured:
    """A region operation: the steps of its regions, and the tensors that they hand on."""

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.bodies: list[list[Step]] = []
        self.slots: list[Slot] = []
        self.handed: list[tuple[int, Place]] = []


class Serial(NamedTuple):
    """An operation that goes through its tensors one element after the other."""

    op: Operation
    sources: tuple[Place, ...]
    places: tuple[Place, ...]
    body: tuple[Step, ...] = ()


Step = Cluster | Scalar | Dot | Structured | Serial
