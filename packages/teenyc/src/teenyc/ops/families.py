"""Families of operations that differ only by name: each helper turns a table row into a record.

A row's `fold` works on Python scalars, its `ref` on NumPy arrays; the helper adds what the family
shares: the text, the type rules, wrapping and rounding. `Reference` is the form of every record's
`ref`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from teenyc.ir.core import Operation, Region, Value
from teenyc.ir.opdef import OpDef, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays, scalars
from teenyc.types import IRType, PointerType, TensorType, scalar_of, shape_of

Array = Any
FLOAT = "float"
INT = "int"
POINTER = "pointer"


class Environment(Protocol):
    """What the interpreter offers to the operations that need more than their operands."""

    program: tuple[int, int, int]
    grid: tuple[int, int, int]

    def run(self, region: Region, args: Sequence[Array]) -> tuple[Array, ...]:
        """Run a region; the operands of its terminator."""

    def load(self, op: Operation, addresses: Array, mask: Array | None) -> Array:
        """The elements at `addresses` where `mask` holds, zero elsewhere."""

    def store(self, op: Operation, addresses: Array, value: Array, mask: Array | None) -> None:
        """Write `value` to `addresses` where `mask` holds."""

    def fail(self, op: Operation, reason: str) -> Exception:
        """The coded error of a program that cannot go on at `op`."""


# ref(np, op, operands, environment) -> the result, a tuple of results, or () for none.
Reference = Callable[[Any, Operation, Sequence[Array], Environment], Any]


def kind_of(type_: IRType) -> str:
    """`float`, `int` or `pointer`: the kind of a type's elements."""
    scalar = scalar_of(type_)
    if isinstance(scalar, PointerType):
        return POINTER
    return INT if scalar.name.startswith("i") else FLOAT


def same_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    """Result inference: the first operand's type."""
    return (operands[0].type,)


def no_result(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    """Result inference: nothing."""
    return ()


def given_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    """Result inference: the attribute `type`."""
    return (attrs["type"],)


def format_same(op: Operation, names: Names) -> str:
    """`arith.addf %x, %y : f32`."""
    return f"{op.name} {names.list(op.operands)} : {op.operands[0].type}"


def format_cast(op: Operation, names: Names, extra: str = "", arrow: str = "to") -> str:
    """`arith.extf %x : f16 to f32`."""
    source, result = op.operands[0], op.results[0]
    return f"{op.name} {names(source)}{extra} : {source.type} {arrow} {result.type}"


def require(kind: str, count: int) -> Callable[[Operation], str | None]:
    """Verification: `count` operands and the result of one type, elements of `kind`."""

    def verify(op: Operation) -> str | None:
        if len(op.operands) != count or len(op.results) != 1:
            return f"takes {count} operands and gives one result"
        types = {value.type for value in (*op.operands, *op.results)}
        if len(types) != 1:
            return f"operands and result differ in type: {', '.join(sorted(map(str, types)))}"
        found = kind_of(op.operands[0].type)
        return None if found == kind else f"needs {kind} elements, not {found}"

    return verify


def _same(name: str, kind: str, count: int, fold: Any, ref: Reference, **facts: Any) -> OpDef:
    return register(
        OpDef(
            name, same_type, format_same, verify=require(kind, count), fold=fold, ref=ref, **facts
        )
    )


def float_op(
    name: str,
    count: int,
    *,
    ref: Callable[..., Array],
    cpu: Callable[..., Any],
    fold: Callable[..., float] | None = None,
    **facts: Any,
) -> OpDef:
    """An elementwise float operation.

    `fold`, `ref` and `cpu` compute on wide numbers that are rounded once.
    """

    def emit(c: Any, op: Operation, *operands: Any) -> Any:
        return c.rounded(cpu(c, *operands), arrays.element_name(op.results[0].type))

    def read(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
        element = arrays.element_name(op.results[0].type)
        wide = (arrays.widened(np, array, element) for array in operands)
        return arrays.rounded(np, ref(np, *wide), element)

    def evaluate(op: Operation, values: list[Any]) -> float | None:
        if fold is None or None in values:
            return None
        return scalars.round_float(fold(*values), arrays.element_name(op.results[0].type))

    return _same(name, FLOAT, count, evaluate if fold else None, read, cpu=emit, **facts)


def int_op(
    name: str,
    count: int,
    *,
    ref: Callable[..., Array],
    fold: Callable[..., int | None],
    cpu: Callable[..., Any],
    unsigned: bool = False,
    **facts: Any,
) -> OpDef:
    """An elementwise integer operation that wraps; `cpu(c, *values)` never sees i1.

    `fold(bits, *values)` gives any integer, or None where the operation is undefined; both it and
    `ref(np, *arrays)` see operands without a sign when `unsigned`. i1 is computed in 8 bits.
    """

    def read(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
        found = [array.astype(np.int8) if array.dtype == bool else array for array in operands]
        if unsigned:
            found = [arrays.without_sign(array) for array in found]
        result = arrays.with_sign(np, ref(np, *found))
        return (result & 1).astype(bool) if operands[0].dtype == bool else result

    def evaluate(op: Operation, values: list[Any]) -> int | None:
        if None in values:
            return None
        bits = scalars.bits_of(arrays.element_name(op.results[0].type))
        if unsigned:
            values = [scalars.unsigned(value, bits) for value in values]
        result = fold(bits, *values)
        return None if result is None else scalars.wrap(result, bits)

    def emit(c: Any, op: Operation, *operands: Any) -> Any:
        if arrays.element_name(op.results[0].type) != "i1":
            return cpu(c, *operands)
        wide = [c.resized(operand, "i8", signed=False) for operand in operands]
        return c.truncated(cpu(c, *wide), "i1")

    return _same(name, INT, count, evaluate, read, cpu=emit, **facts)


def cast_op(
    name: str,
    source: str,
    result: str,
    *,
    ref: Callable[[Any, Array, str, str], Array],
    fold: Callable[[Any, str, str], Any],
    cpu: Callable[[Any, Any, str], Any],
    widens: bool | None = None,
    **facts: Any,
) -> OpDef:
    """A conversion between element types of the kinds `source` and `result`.

    `ref(np, array, from, to)`, `fold(value, from, to)` and `cpu(c, value, to)` get the names of the
    element types.
    `widens` says that the result must be wider (True) or narrower (False).
    """

    def verify(op: Operation) -> str | None:
        before, after = op.operands[0].type, op.results[0].type
        if shape_of(before) != shape_of(after):
            return f"changes the shape of {before} to {after}"
        if kind_of(before) != source or kind_of(after) != result:
            return f"converts {source} to {result}, not {before} to {after}"
        if widens is not None and (_bits(after) > _bits(before)) is not widens:
            return f"{before} to {after} is not {'wider' if widens else 'narrower'}"
        if widens is not None and _bits(after) == _bits(before):
            return f"{before} and {after} have the same width"
        return None

    def read(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
        return ref(np, operands[0], *_names(op))

    def evaluate(op: Operation, values: list[Any]) -> Any:
        return None if values[0] is None else fold(values[0], *_names(op))

    return register(
        OpDef(
            name,
            given_type,
            format_cast,
            attrs=("type",),
            verify=verify,
            fold=evaluate,
            ref=read,
            cpu=lambda c, op, x: cpu(c, x, _names(op)[1]),
            **facts,
        )
    )


def _names(op: Operation) -> tuple[str, str]:
    return arrays.element_name(op.operands[0].type), arrays.element_name(op.results[0].type)


def _bits(type_: IRType) -> int:
    name = arrays.element_name(type_)
    return int("".join(c for c in name.split("E")[0] if c.isdigit()))


def with_shape(type_: IRType, shape: tuple[int, ...]) -> IRType:
    """The type of the same element with another shape."""
    return TensorType(shape, scalar_of(type_)) if shape else scalar_of(type_)
