"""The interpreter: a plain NumPy reading of the IR, one program after the other; the tests' oracle.

Operations are read by their records (`OpDef.ref`); this module knows none by name. Every result is
wrapped or rounded in its own type, and nothing is fused. Lanes that a mask switches off are
computed too, so floating-point warnings are silenced; what they hold is never written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from teeny_macros.source import Span
from teeny_macros.unit import parse
from teenyc.codes import E0506, E0507, E0508, E0509, E0510
from teenyc.ir.core import Function, Module, Operation, Region, Value
from teenyc.ops import arrays
from teenyc.types import DTYPES, DescriptorType, PointerType, ScalarType, scalar_of, shape_of

Array = Any
Grid = tuple[int, int, int]


def load(unit_text: str, *, overflow_checks: bool = False) -> InterpProgram:
    """Lower a unit that holds its DSL text. Raises the front end's errors and E0508.

    `overflow_checks`: as `-C overflow-checks=on`.
    """
    from teenyc import passes
    from teenyc.frontend import lower_unit
    from teenyc.passes.descriptors import lower_parameters

    module = lower_unit(parse(unit_text))
    if overflow_checks:
        from teenyc.passes.overflow import check_overflows

        check_overflows(module)
    lower_parameters(module)
    passes.run(module)
    return InterpProgram(module)


class InterpProgram:
    """A lowered unit that can be launched over host arrays."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.np = _numpy()

    @property
    def name(self) -> str:
        """The entry point's name."""
        return self.module.entry.name

    def launch(self, grid: Grid, args: Sequence[Any]) -> None:
        """Run every program of `grid` in order.

        Pointers take NumPy arrays (bf16 and 8-bit floats as ml_dtypes arrays or their bits), None,
        or integer addresses inside of another argument's array; scalars take numbers. An access
        outside of every array is E0506, a store into a read-only array E0507, a wrong argument
        E0510.
        """
        params = self.module.params
        if len(args) != len(params):
            raise E0510.error(what=f"{len(args)} arguments for {len(params)} parameters")
        named = zip((param[0] for param in params), args, strict=True)
        memory = Memory(
            self.np, {name: arg for name, arg in named if isinstance(arg, self.np.ndarray)}
        )
        values = [self._argument(param, arg) for param, arg in zip(params, args, strict=True)]
        with self.np.errstate(all="ignore"):
            for z in range(grid[2]):
                for y in range(grid[1]):
                    for x in range(grid[0]):
                        _Program(self.np, memory, (x, y, z), grid).start(self.module.entry, values)

    def _argument(self, param: tuple[str, str, str], arg: Any) -> Array:
        name, kind, dtype = param
        np = self.np
        if kind == "pointer":
            if isinstance(arg, np.ndarray):
                return np.asarray(arg.__array_interface__["data"][0], dtype=np.int64)
            if arg is None or _is_integer(np, arg):
                return np.asarray(0 if arg is None else arg, dtype=np.int64)
        elif isinstance(arg, int | float | np.generic) or getattr(arg, "shape", None) == ():
            return self._scalar(name, dtype, arg)
        raise E0510.error(what=f"{type(arg).__name__} for parameter `{name}` of type {dtype}")

    def _scalar(self, name: str, dtype: str, arg: Any) -> Array:
        np, known = self.np, DTYPES[dtype]
        if known.is_float:
            return arrays.rounded(np, np.asarray(float(arg)), known.mlir)
        number = int(arg)
        low, high = (-(1 << (known.bits - 1)), 1 << (known.bits - 1))
        if not known.is_signed:
            low, high = 0, 1 << known.bits
        if number != arg or not low <= number < high:
            raise E0510.error(what=f"{arg} for parameter `{name}` of type {dtype}")
        if known.is_bool:
            return np.asarray(bool(number))
        unsigned = np.asarray(number % (1 << known.bits), dtype=f"uint{known.bits}")
        return arrays.with_sign(np, unsigned)


def _is_integer(np: Any, arg: object) -> bool:
    return isinstance(arg, int | np.integer) and not isinstance(arg, bool)


def _numpy() -> Any:
    try:
        import numpy as np
    except ImportError as error:
        raise E0508.error().help("install it: `pip install 'teenyc[interpret]'`") from error
    return np


class Memory:
    """The bytes that the arrays of a launch span, by address. It keeps the arrays alive."""

    def __init__(self, np: Any, given: Mapping[str, Array]) -> None:
        self.np = np
        self.named = given
        self.arrays = [array for array in given.values() if array.size]
        found = sorted((*self._bounds(array), array.flags.writeable) for array in self.arrays)
        self.starts = np.asarray([start for start, _, _ in found], dtype=np.int64)
        self.ends = np.asarray([end for _, end, _ in found], dtype=np.int64)
        self.writable = np.asarray([writable for _, _, writable in found], dtype=bool)
        # Regions may overlap: an address belongs to the region that begins before it and ends last.
        self.reach = np.maximum.accumulate(self.ends) if found else self.ends

    def _bounds(self, array: Array) -> tuple[int, int]:
        """The first byte and the one after the last, whatever the signs of the strides."""
        start = end = int(array.__array_interface__["data"][0])
        for side, stride in zip(array.shape, array.strides, strict=True):
            if stride < 0:
                start += (side - 1) * stride
            else:
                end += (side - 1) * stride
        return start, end + array.itemsize

    def find(self, addresses: Array, size: int) -> Array:
        """The region of each address, or -1 where `size` bytes from it lie in no region."""
        np = self.np
        if not self.starts.size:
            return np.full(addresses.shape, -1)
        region = np.searchsorted(self.starts, addresses, side="right") - 1
        inside = (region >= 0) & (addresses + size <= self.ends[region])
        for i in np.flatnonzero(~inside & (region >= 0) & (addresses + size <= self.reach[region])):
            wanted = (self.starts <= addresses[i]) & (addresses[i] + size <= self.ends)
            region[i] = np.flatnonzero(wanted)[0] if wanted.any() else -1
            inside[i] = wanted.any()
        return np.where(inside, region, -1)

    def place(self, address: int, size: int, parameter: str) -> str:
        """`address` seen from an array, in words: that of `parameter`, else the nearest one."""
        if parameter not in self.named:
            parameter = min(self.named, key=lambda name: self._distance(address, name), default="")
        if not parameter:
            return f"at {address % (1 << 64):#x}, and no array was given"
        array = self.named[parameter]
        ahead = address - int(array.__array_interface__["data"][0])
        sign = "-" if ahead < 0 else "+"
        offset, rest = divmod(abs(ahead), size)
        where = (
            f"`{parameter} {sign} {offset}`" if not rest else f"{ahead} bytes from `{parameter}`"
        )
        start, end = self._bounds(array) if array.size else (0, 0)
        return f"at {where}, and the array spans {(end - start) // size} elements"

    def _distance(self, address: int, name: str) -> int:
        start, end = self._bounds(self.named[name]) if self.named[name].size else (0, 0)
        return max(start - address, address - end, 0)

    def bytes_of(self, region: int) -> Array:
        """A region as uint8, without a copy."""
        import ctypes

        start, end = int(self.starts[region]), int(self.ends[region])
        return self.np.frombuffer((ctypes.c_ubyte * (end - start)).from_address(start), dtype="u1")


class _Program:
    """One program of the grid: its values, and what `ops.families.Environment` asks for."""

    def __init__(self, np: Any, memory: Memory, program: Grid, grid: Grid) -> None:
        self.np = np
        self.memory = memory
        self.program = program
        self.grid = grid
        self.values: dict[int, Array] = {}

    def start(self, function: Function, args: Sequence[Array]) -> None:
        self.run(function.body, args)

    def run(self, region: Region, args: Sequence[Array]) -> tuple[Array, ...]:
        """Run a region; the operands of its terminator."""
        block, values = region.block, self.values
        for arg, value in zip(block.args, args, strict=True):
            values[id(arg)] = value
        found: Any = ()
        for op in block.ops:
            assert op.opdef.ref is not None, op.name
            operands = [values[id(operand)] for operand in op.operands]
            found = op.opdef.ref(self.np, op, operands, self)
            for result, value in zip(op.results, _results(op, found), strict=True):
                values[id(result)] = self._checked(op, result, value)
        return tuple(found)

    def _checked(self, op: Operation, result: Value, value: Array) -> Array:
        """The value, after the record has kept its word on dtype and shape."""
        value = self.np.asarray(value)
        wanted = arrays.held_dtype(arrays.element_name(result.type))
        assert value.dtype == wanted, (op.name, value.dtype, wanted)
        # A combining region sees many pairs at once, so a scalar may stand for an array there.
        assert value.shape == shape_of(result.type) or not shape_of(result.type), op.name
        return value

    def load(self, op: Operation, addresses: Array, mask: Array | None) -> Array:
        """The elements at `addresses` where `mask` holds, zero elsewhere."""
        np = self.np
        element = _pointee(op.operands[0])
        lanes, live, region = self._live(op, element, addresses, mask, "reads")
        kind = np.dtype(arrays.memory_dtype(element))
        data = np.zeros(addresses.size, dtype=kind)
        for number in np.unique(region):
            here = region == number
            index = live[here] - self.memory.starts[number]
            wide = index[:, np.newaxis] + np.arange(kind.itemsize)
            data[lanes[here]] = self.memory.bytes_of(number)[wide].view(kind)[:, 0]
        return arrays.decode(np, data.reshape(addresses.shape), element)

    def store(self, op: Operation, addresses: Array, value: Array, mask: Array | None) -> None:
        """Write `value` where `mask` holds; of two lanes at one address the later wins."""
        np = self.np
        element = _pointee(op.operands[0])
        lanes, live, region = self._live(op, element, addresses, mask, "writes")
        data = np.ascontiguousarray(arrays.encode(np, value, element)).reshape(-1, 1)
        for number in np.unique(region):
            if not self.memory.writable[number]:
                raise E0507.at(_span(op), program=self.program).help(
                    "pass an array that is writeable"
                )
            here = region == number
            index = live[here] - self.memory.starts[number]
            wide = index[:, np.newaxis] + np.arange(data.dtype.itemsize)
            self.memory.bytes_of(number)[wide] = data[lanes[here]].view(np.uint8)

    def _live(
        self,
        op: Operation,
        element: ScalarType | PointerType,
        addresses: Array,
        mask: Array | None,
        access: str,
    ) -> tuple[Array, Array, Array]:
        """The lanes that take part, their addresses and the regions these lie in."""
        np = self.np
        flat = np.ravel(addresses)
        lanes = np.arange(flat.size) if mask is None else np.flatnonzero(np.ravel(mask))
        live = flat[lanes]
        size = arrays.itemsize(element)
        region = self.memory.find(live, size)
        if (region < 0).any():
            first = int(np.flatnonzero(region < 0)[0])
            place = np.unravel_index(lanes[first], addresses.shape) if addresses.shape else ()
            raise E0506.at(
                _span(op),
                "here",
                program=self.program,
                element=tuple(map(int, place)),
                access=access,
                size=size,
                place=self.memory.place(int(live[first]), size, _parameter(op.operands[0])),
            ).help("mask what lies outside: `mask=offsets < n`")
        return lanes, live, region

    def fail(self, op: Operation, reason: str) -> Exception:
        """The coded error of a program that cannot go on at `op`."""
        return E0509.at(_span(op), "here", program=self.program, reason=reason).help(
            "look at the values that lead there with `tl.device_print`"
        )


def _results(op: Operation, found: Any) -> tuple[Array, ...]:
    if not op.results:
        return ()
    return found if isinstance(found, tuple) else (found,)


def _parameter(pointer: Value) -> str:
    """The parameter that a pointer is computed from, where a glance at the operations tells."""
    value = pointer
    while value.op is not None:
        operands = [
            one for one in value.op.operands if isinstance(scalar_of(one.type), PointerType)
        ]
        if len(operands) != 1:
            return ""
        value = operands[0]
    return value.hint


def _pointee(pointer: Value) -> ScalarType | PointerType:
    if isinstance(pointer.type, DescriptorType):
        return pointer.type.element
    found = scalar_of(pointer.type)
    assert isinstance(found, PointerType)
    return found.pointee


def _span(op: Operation) -> Span | None:
    return Span.point(op.loc.file, op.loc.line, op.loc.column) if op.loc.file else None
