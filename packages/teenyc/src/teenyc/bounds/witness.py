"""Refutations are run before they are reported: by the interpreter, one program at a time.

Arrays have no memory here. Each pointer starts at an address of its own, loads give numbers made
from their addresses, and what the access in question touches is noted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teenyc.interp import InterpProgram, _Program
from teenyc.ops import arrays
from teenyc.types import PointerType, scalar_of

if TYPE_CHECKING:
    from teenyc.ir.core import Module, Operation

_APART = 1 << 44  # bytes between the addresses of two arrays
_MOST_OPERATIONS = 5_000


class _Enough(Exception):  # noqa: N818 - it ends a run, it is no error
    """What was looked for was seen, or it takes too long."""


class Touched:
    """What an access touched: elements from the start of its array, with the values stored."""

    def __init__(self) -> None:
        self.elements: dict[int, Any] = {}
        self.before: set[int] = set()
        self.places: dict[int, tuple[int, ...]] = {}
        self.complete = False


class _Traced(_Program):
    """One program that notes what one operation touches."""

    def __init__(self, np: Any, program: Any, grid: Any, op: Operation, start: int) -> None:
        super().__init__(np, None, program, grid)  # type: ignore[arg-type]
        self.op = op
        self.base = start
        self.found = Touched()
        self.count = 0

    def load(self, op: Operation, addresses: Any, mask: Any) -> Any:
        np = self.np
        self.note(op, addresses, mask, None)
        pointee = scalar_of(op.operands[0].type)
        assert isinstance(pointee, PointerType)
        element = pointee.pointee
        kind = np.dtype(arrays.memory_dtype(element))
        number = (np.asarray(addresses).astype(np.int64) // max(kind.itemsize, 1)) % 97
        bits = number.astype(f"u{kind.itemsize}") if kind.kind != "f" else number
        return arrays.decode(np, bits.astype(kind), element)

    def store(self, op: Operation, addresses: Any, value: Any, mask: Any) -> None:
        self.note(op, addresses, mask, value)

    def note(self, op: Operation, addresses: Any, mask: Any, value: Any) -> None:
        """Keep what the operation in question touches."""
        np = self.np
        self.count += 1
        if self.count > _MOST_OPERATIONS:
            raise _Enough
        if op is not self.op:
            return
        pointee = scalar_of(op.operands[0].type)
        assert isinstance(pointee, PointerType)
        size = arrays.itemsize(pointee.pointee)
        flat = np.ravel(addresses)
        lanes = np.arange(flat.size) if mask is None else np.flatnonzero(np.ravel(mask))
        shape = np.asarray(addresses).shape
        values = None if value is None else np.ravel(np.broadcast_to(value, shape))
        for lane in lanes:
            element = int(flat[lane] - self.base) // size
            place = np.unravel_index(lane, shape) if shape else ()
            self.found.places.setdefault(element, tuple(map(int, place)))
            self.found.elements[element] = None if values is None else values[lane].item()


def run_program(
    module: Module,
    op: Operation,
    base: str,
    program: tuple[int, int, int],
    grid: tuple[int, int, int],
    scalars: dict[str, int],
) -> Touched:
    """What `op` touches of the array `base` in one program.

    `scalars` are the integer parameters; floats are 0.5.
    """
    interpreter = InterpProgram(module)
    np = interpreter.np
    values: list[Any] = []
    start = 0
    for at, param in enumerate(module.params):
        name, kind, dtype = param
        if kind == "pointer":
            address = (at + 1) * _APART
            start = address if name == base else start
            values.append(np.asarray(address, dtype=np.int64))
        else:
            number = scalars.get(name, 0.5 if "f" in dtype else 1)
            values.append(interpreter._scalar(name, dtype, number))  # noqa: SLF001
    traced = _Traced(np, program, grid, op, start)
    try:
        with np.errstate(all="ignore"):
            traced.start(module.entry, values)
        traced.found.complete = True
    except _Enough:
        pass
    return traced.found
