"""What a function knows while it is written: scalars, places, slots on the stack, its section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from teenyc.backend.cpu.arena import Arena, Place
from teenyc.backend.cpu.builder import Builder
from teenyc.backend.cpu.classes import Classes
from teenyc.backend.cpu.text import Output, Section, Val

if TYPE_CHECKING:
    from teenyc.backend.cpu.ahead import Growth
    from teenyc.backend.cpu.backlog import Backlog
    from teenyc.ir.core import Operation, Value

SLOT_BYTES = 256


class Scope:
    """The state of writing one function; `main` is the code written so far."""

    def __init__(self, output: Output, classes: Classes) -> None:
        self.output = output
        self.classes = classes
        self.arena = Arena()
        self.main = Section("program")
        self.scalars: dict[int, Val] = {}
        self.places: dict[int, Place] = {}
        self.slots = 0
        self.program: dict[str, Val] = {}
        self.grid: dict[str, Val] = {}
        self.work = 0.0
        self.loop_depth = 0
        self.growth: Growth | None = None  # of the innermost loop
        self.backlog: Backlog | None = None  # where a product follows
        self.multiplied: set[str] = set()  # buffers that products in loops are added to
        self.depth = 0
        # Parameters by value (those that are pointers counted alone, and all), and the blocks
        # that failed checks end in.
        self.arrays: dict[int, int] = {}
        self.parameters: dict[int, int] = {}
        self.stops: list[str] = []
        self.dump: list[str] = []

    def builder(self, sections: list[Section] | None = None) -> Builder:
        """A builder at the end of `main`, or for the sections of a nest."""
        made = Builder(self.output, sections or [self.main])
        made.program, made.grid = self.program, self.grid
        return made

    def slot(self, number: int) -> str:
        """The address of a stack slot for one strip."""
        self.slots = max(self.slots, number + 1)
        return f"%slot{number}"

    def place(self, value: Value) -> Place | None:
        """Where `value` is stored, if it is; a cheap one may be needed before it is written."""
        found = self.places.get(id(value))
        if found is None or (not found.root.pointer and self.classes.is_cheap(value)):
            return None
        return found.target

    def label(self, prefix: str) -> str:
        """A new label."""
        return self.output.fresh(f"{prefix}.")

    def scalar(self, value: Value) -> Val:
        """A scalar computed earlier."""
        return self.scalars[id(value)]

    def scalar_operation(self, op: Operation) -> None:
        """Compute an elementwise operation on scalars."""
        assert op.opdef.cpu is not None
        operands = [self.scalar(x) for x in op.operands]
        found = op.opdef.cpu(self.builder(), op, *operands)
        if op.results:
            self.scalars[id(op.result)] = found
