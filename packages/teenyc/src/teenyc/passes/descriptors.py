"""Turns tensor descriptors into pointers and masks, for targets without hardware for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teeny_macros.source import Span
from teeny_macros.unit import DSL_MODULE
from teenyc.ir.builder import Builder
from teenyc.ir.core import Value
from teenyc.ir.opdef import HANDLERS
from teenyc.ops import descriptor
from teenyc.ops.broadcasting import expand
from teenyc.ops.semantics import cast, constant
from teenyc.ops.tiles import tile
from teenyc.types import (
    DTYPES,
    F32,
    I1,
    I32,
    I64,
    DescriptorType,
    DType,
    PointerDType,
    PointerType,
    ScalarType,
    shape_of,
)
from teenyc.values import BlockPointer, RuntimeValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teenyc.ir.core import Block, Module, Operation
    from teenyc.types import IRType


class _Made(NamedTuple):
    """What a descriptor is made of: values, and what its type says."""

    base: RuntimeValue
    sides: tuple[Value, ...]
    strides: tuple[Value, ...]
    nan: Value  # i1: outside of the array there is NaN instead of 0
    block: tuple[int, ...]
    dtype: DType

    @property
    def values(self) -> list[Value]:
        """The parts, as a loop carries them in the descriptor's place."""
        return [self.base.ir, *self.sides, *self.strides, self.nan]


def lower_descriptors(module: Module) -> None:
    """Replace every descriptor and every operation on one, in place.

    A parameter becomes two: the pointer, and an i1 that says whether outside of the array there is
    NaN. Its sides and strides follow already.
    """
    made: dict[int, _Made] = {}
    _lower_parameters(module, made)
    _lower_block(module.entry.body.block, made, {})


def lower_parameters(module: Module) -> None:
    """Replace all descriptors where one is a parameter: none can be made on the host."""
    if any(kind == "descriptor" for _, kind, _ in module.params):
        lower_descriptors(module)


def _lower_parameters(module: Module, made: dict[int, _Made]) -> None:
    block = module.entry.body.block
    if not any(isinstance(arg.type, DescriptorType) for arg in block.args):
        return
    ops, block.ops = block.ops, []
    one = constant(Builder(block), 1, I64).ir  # the last stride, by the rules of descriptors
    block.ops += ops
    aligned: dict[int, int] = {}
    args: list[Value] = []
    params: list[tuple[str, str, str]] = []
    attributes: list[dict[str, int]] = []
    rows = zip(block.args, module.params, module.entry.arg_attrs, strict=True)
    for at, (arg, param, found) in enumerate(rows):
        if not isinstance(arg.type, DescriptorType):
            args.append(arg)
            params.append(param)
            attributes.append(
                {"tt.divisibility": aligned[id(arg)]} if id(arg) in aligned else found
            )
            continue
        base = Value(PointerType(arg.type.element), block, 0, arg.hint)
        nan = Value(ScalarType("i1"), block, 0, f"{arg.hint}.padding")
        rank = len(arg.type.shape)
        rest = block.args[at + 1 : at + 2 * rank]
        made[id(arg)] = _gathered(arg.type, [base, *rest, one, nan])
        args += [base, nan]
        params += [(param[0], "pointer", param[2].partition("[")[0]), (nan.hint, "scalar", "i1")]
        # What every launch has checked.
        attributes += [{"tt.divisibility": 16}, {}]
        aligned.update(dict.fromkeys(map(id, rest[rank:]), 16 // made[id(arg)].dtype.itemsize))
    for index, arg in enumerate(args):
        arg.index = index
    block.args, module.params, module.entry.arg_attrs = args, params, attributes


def _part_types(type_: DescriptorType) -> list[IRType]:
    rank = len(type_.shape)
    sides, strides = [ScalarType("i32")] * rank, [ScalarType("i64")] * rank
    return [PointerType(type_.element), *sides, *strides, ScalarType("i1")]


def _expanded(values: list[Value], owner: Operation | Block, made: dict[int, _Made]) -> list[Value]:
    """Arguments or results with the parts of each descriptor in its place."""
    found: list[Value] = []
    for value in values:
        if not isinstance(value.type, DescriptorType):
            found.append(value)
            continue
        parts = [Value(type_, owner, 0, value.hint) for type_ in _part_types(value.type)]
        made[id(value)] = _gathered(value.type, parts)
        found += parts
    for index, value in enumerate(found):
        value.index = index
    return found


def _gathered(type_: DescriptorType, parts: Sequence[Value]) -> _Made:
    rank = len(type_.shape)
    kinds = [kind for kind in DTYPES.values() if kind.mlir == type_.element.name]
    dtype = next((kind for kind in kinds if kind.is_signed == type_.is_signed), kinds[0])
    base = RuntimeValue(parts[0], PointerDType(dtype))
    sides, strides = tuple(parts[1 : rank + 1]), tuple(parts[rank + 1 : 2 * rank + 1])
    return _Made(base, sides, strides, parts[-1], type_.shape, dtype)


def _lower_block(block: Block, made: dict[int, _Made], replaced: dict[int, Value]) -> None:
    old, block.ops = block.ops, []
    for op in old:
        op.operands = [replaced.get(id(value), value) for value in op.operands]
        if op.opdef is descriptor.MAKE:
            b = _builder(block, op)
            nan = constant(b, op.attrs["nan"], I1).ir
            type_ = op.result.type
            assert isinstance(type_, DescriptorType)
            made[id(op.result)] = _gathered(type_, [*op.operands, nan])
        elif op.opdef in _LOWERED:
            b = _builder(block, op)
            found = _LOWERED[op.opdef](b, op, made[id(op.operands[0])])
            if found is not None:
                replaced[id(op.result)] = found.ir
        else:
            _hand_on_parts(op, made, replaced)
            block.ops.append(op)


def _builder(block: Block, op: Operation) -> Builder:
    """A builder at the place of an operation; errors point at the user's line."""
    b = Builder(block)
    b.loc = place = op.loc
    while place.caller is not None and place.file.startswith(DSL_MODULE):
        place = place.caller
    b.span = Span.point(place.file, place.line, place.column) if place.file else None
    return b


def _hand_on_parts(op: Operation, made: dict[int, _Made], replaced: dict[int, Value]) -> None:
    """Let a loop, a branch or its end carry the parts of descriptors."""
    operands: list[Value] = []
    for value in op.operands:
        found = made.get(id(value))
        operands += [value] if found is None else found.values
    op.operands = operands
    op.results = _expanded(op.results, op, made)
    for region in op.regions:
        for inner in region.blocks:
            inner.args = _expanded(inner.args, inner, made)
            _lower_block(inner, made, replaced)


def _filling(b: Builder, made: _Made) -> object:
    """What is read outside of the array."""
    op = made.nan.op
    if op is not None and "value" in op.attrs:
        return float("nan") if op.attrs["value"] else 0
    if not made.dtype.is_float:
        return 0
    # Nothing chooses between two numbers of 8 bits.
    dtype = F32 if made.dtype.bits == 8 else made.dtype
    x, y = constant(b, float("nan"), dtype), constant(b, 0.0, dtype)
    return cast(b, HANDLERS["where"](b, condition=RuntimeValue(made.nan, I1), x=x, y=y), made.dtype)


def _wide(b: Builder, values: tuple[Value, ...] | list[Value]) -> tuple[RuntimeValue, ...]:
    dtypes = (I64 if str(value.type) == "i64" else I32 for value in values)
    pairs = zip(values, dtypes, strict=True)
    return tuple(cast(b, RuntimeValue(value, dtype), I64) for value, dtype in pairs)


def _tile(b: Builder, op: Operation, made: _Made) -> tuple[RuntimeValue, RuntimeValue]:
    rank = len(made.block)
    block = BlockPointer(
        made.base,
        _wide(b, made.sides),
        _wide(b, made.strides),
        _wide(b, op.operands[1 : rank + 1]),
        made.block,
    )
    pointers, mask = tile(b, block, range(rank))
    assert mask is not None
    return pointers, mask


def _rows(b: Builder, op: Operation, made: _Made) -> tuple[RuntimeValue, RuntimeValue]:
    """The elements of the rows, and which of them the array has."""
    rows = op.operands[1]
    kind = DTYPES[str(rows.type).rpartition("x")[2].rstrip(">")]
    first = cast(b, RuntimeValue(rows, kind, shape_of(rows.type)), I64)
    numbers = HANDLERS["arange"](b, start=0, end=made.block[1])
    (column,) = _wide(b, [op.operands[2]])
    second = HANDLERS["operator.add"](b, lhs=cast(b, numbers, I64), rhs=column)
    pointers, mask = made.base, None
    sides, strides = _wide(b, made.sides), _wide(b, made.strides)
    for axis, place in enumerate((expand(b, first, 1), expand(b, second, 0))):
        step = HANDLERS["operator.mul"](b, lhs=place, rhs=strides[axis])
        pointers = HANDLERS["operator.add"](b, lhs=pointers, rhs=step)
        low = HANDLERS["operator.ge"](b, lhs=place, rhs=0)
        high = HANDLERS["operator.lt"](b, lhs=place, rhs=sides[axis])
        inside = HANDLERS["operator.and"](b, lhs=low, rhs=high)
        mask = inside if mask is None else HANDLERS["operator.and"](b, lhs=mask, rhs=inside)
    assert mask is not None
    return pointers, mask


def _reads(places: Callable[..., tuple[RuntimeValue, RuntimeValue]]) -> Callable[..., RuntimeValue]:
    def lower(b: Builder, op: Operation, made: _Made) -> RuntimeValue:
        pointers, mask = places(b, op, made)
        found: RuntimeValue = HANDLERS["load"](
            b, pointer=pointers, mask=mask, other=_filling(b, made)
        )
        return found

    return lower


def _value(op: Operation, made: _Made) -> RuntimeValue:
    value = op.operands[-1]
    return RuntimeValue(value, made.dtype, shape_of(value.type))


def _writes(places: Callable[..., tuple[RuntimeValue, RuntimeValue]]) -> Callable[..., None]:
    def lower(b: Builder, op: Operation, made: _Made) -> None:
        pointers, mask = places(b, op, made)
        HANDLERS["store"](b, pointer=pointers, value=_value(op, made), mask=mask)

    return lower


def _reduce(b: Builder, op: Operation, made: _Made) -> None:
    pointers, mask = _tile(b, op, made)
    name = f"atomic_{op.attrs['kind']}"
    HANDLERS[name](b, pointer=pointers, val=_value(op, made), mask=mask)


_LOWERED: dict[object, Callable[..., RuntimeValue | None]] = {
    descriptor.LOAD: _reads(_tile),
    descriptor.STORE: _writes(_tile),
    descriptor.GATHER: _reads(_rows),
    descriptor.SCATTER: _writes(_rows),
    descriptor.REDUCE: _reduce,
}
