"""Turns tensor descriptors into pointers and masks, for targets without hardware for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from teenyc.ir.builder import Builder
from teenyc.ir.core import Block
from teenyc.ir.opdef import HANDLERS
from teenyc.ops import descriptor
from teenyc.ops.broadcasting import expand
from teenyc.ops.semantics import cast
from teenyc.ops.tiles import tile
from teenyc.types import DTYPES, I32, I64, DescriptorType, DType, PointerDType, shape_of
from teenyc.values import BlockPointer, RuntimeValue

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.ir.core import Module, Operation, Value


class _Made(NamedTuple):
    """What a descriptor was made of."""

    base: RuntimeValue
    sides: tuple[Value, ...]
    strides: tuple[Value, ...]
    filling: float
    block: tuple[int, ...]
    dtype: DType


def lower_descriptors(module: Module) -> None:
    """Replace every descriptor operation of the module, in place."""
    made: dict[int, _Made] = {}
    replaced: dict[int, Value] = {}
    for function in module.functions:
        _lower_block(function.body.block, made, replaced)


def _lower_block(block: Block, made: dict[int, _Made], replaced: dict[int, Value]) -> None:
    old, block.ops = block.ops, []
    for op in old:
        op.operands = [replaced.get(id(value), value) for value in op.operands]
        for region in op.regions:
            for inner in region.blocks:
                _lower_block(inner, made, replaced)
        if op.opdef is descriptor.MAKE:
            made[id(op.result)] = _take_apart(op)
        elif op.opdef in _LOWERED:
            b = Builder(block)
            b.loc = op.loc
            found = _LOWERED[op.opdef](b, op, made[id(op.operands[0])])
            if found is not None:
                replaced[id(op.result)] = found.ir
        else:
            block.ops.append(op)


def _take_apart(op: Operation) -> _Made:
    type_ = op.result.type
    assert isinstance(type_, DescriptorType)
    rank = len(type_.shape)
    kinds = [kind for kind in DTYPES.values() if kind.mlir == type_.element.name]
    dtype = next((kind for kind in kinds if kind.is_signed == type_.is_signed), kinds[0])
    base = RuntimeValue(op.operands[0], PointerDType(dtype))
    sides, strides = tuple(op.operands[1 : rank + 1]), tuple(op.operands[rank + 1 :])
    filling = float("nan") if op.attrs["nan"] else 0
    return _Made(base, sides, strides, filling, type_.shape, dtype)


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
        found: RuntimeValue = HANDLERS["load"](b, pointer=pointers, mask=mask, other=made.filling)
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
