"""Block pointers: a tile of a strided array, as a tensor of pointers and a mask.

Offsets, sides and strides are computed in 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from teenyc.codes import E0210, E0301, E0405, E0414, E0416, E0501, E0512
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import HANDLERS, lowers
from teenyc.ops.broadcasting import check_shape, expand
from teenyc.ops.literals import numeric, to_value
from teenyc.ops.semantics import cast
from teenyc.types import I64, AnyDType, DType, PointerDType
from teenyc.values import BlockPointer, RuntimeValue, describe


def scalars(b: Builder, given: object, arg: str, dtype: DType = I64) -> tuple[RuntimeValue, ...]:
    """A tuple of integer scalars in `dtype`."""
    if type(given) is not tuple:
        raise b.fail(E0512, arg=arg, parameter=arg, what=describe(given)).help(
            "give one integer for each side: `(m, n)`"
        )
    found = []
    for item in given:
        value, kind = numeric(b, item, arg, arg)
        if value.shape or kind.is_float:
            raise b.fail(E0512, arg=arg, parameter=arg, what=value.describe()).help(
                "sides, strides and offsets are integers: one scalar for each side"
            )
        found.append(cast(b, value, dtype, arg=arg))
    return tuple(found)


def same_rank(b: Builder, rank: int, groups: dict[str, Sequence[object]]) -> None:
    """Every group has a number for each side."""
    for arg, group in groups.items():
        if len(group) != rank:
            raise b.fail(
                E0512, arg=arg, parameter=arg, what=f"{len(group)} of them for {rank} sides"
            ).help("give one for each side of the block")


@lowers("make_block_ptr")
def _make_block_ptr(
    b: Builder,
    base: object,
    shape: object,
    strides: object,
    offsets: object,
    block_shape: object,
    order: object,
) -> BlockPointer:
    pointer = to_value(b, base, arg="base")
    if not isinstance(pointer.dtype, PointerDType) or pointer.shape:
        raise b.fail(E0501, arg="base", op="make_block_ptr", type=pointer.describe()).help(
            "give it the array's own pointer, a scalar"
        )
    block = check_shape(b, block_shape, "block_shape")
    groups = [
        scalars(b, given, arg)
        for arg, given in (("shape", shape), ("strides", strides), ("offsets", offsets))
    ]
    rank = len(block)
    same_rank(b, rank, dict(zip(("shape", "strides", "offsets"), groups, strict=True)))
    if type(order) is not tuple or sorted(order, key=str) != sorted(range(rank), key=str):
        raise b.fail(E0414, arg="order", op="make_block_ptr", dims=describe(order), rank=rank).help(
            f"name each of {', '.join(map(str, range(rank)))} once, the fastest first"
        )
    sides, steps, starts = groups
    return BlockPointer(pointer, sides, steps, starts, block)


@lowers("advance")
def _advance(b: Builder, base: object, offsets: object) -> BlockPointer:
    if not isinstance(base, BlockPointer):
        raise b.fail(E0501, arg="base", op="advance", type=describe(base)).help(
            "it moves what `make_block_ptr` gives; other pointers move with `+`"
        )
    moves = scalars(b, offsets, "offsets")
    same_rank(b, len(base.block), {"offsets": moves})
    moved = tuple(_add(b, start, move) for start, move in zip(base.offsets, moves, strict=True))
    return BlockPointer(base.base, base.shape, base.strides, moved, base.block)


def _add(b: Builder, lhs: RuntimeValue, rhs: RuntimeValue) -> RuntimeValue:
    found: RuntimeValue = HANDLERS["operator.add"](b, lhs=lhs, rhs=rhs)
    return found


def checked_axes(b: Builder, axes: object, rank: int) -> tuple[int, ...]:
    """`boundary_check`: the axes along which a tile may leave its array."""
    given = axes if type(axes) is tuple else (axes,)
    found = []
    for axis in given:
        if not isinstance(axis, int) or isinstance(axis, bool) or not -rank <= axis < rank:
            shown = axis if isinstance(axis, int) else describe(axis)
            raise b.fail(E0405, arg="boundary_check", axis=shown, rank=rank).help(
                f"axes are {', '.join(map(str, range(rank)))}"
            )
        found.append(axis % rank)
    return tuple(dict.fromkeys(found))


def tile(
    b: Builder, block: BlockPointer, axes: Sequence[int]
) -> tuple[RuntimeValue, RuntimeValue | None]:
    """The pointers of a tile, and where it lies inside along `axes`; None without them."""
    rank = len(block.block)
    pointers = block.base
    mask: RuntimeValue | None = None
    for axis, side in enumerate(block.block):
        numbers: RuntimeValue = HANDLERS["arange"](b, start=0, end=side)
        place = _add(b, block.offsets[axis], cast(b, numbers, I64))
        for position in range(rank):
            if position != axis:
                place = expand(b, place, position)
        step = HANDLERS["operator.mul"](b, lhs=place, rhs=block.strides[axis])
        pointers = _add(b, pointers, step)
        if axis in axes:
            inside = HANDLERS["operator.and"](
                b,
                lhs=HANDLERS["operator.ge"](b, lhs=place, rhs=0),
                rhs=HANDLERS["operator.lt"](b, lhs=place, rhs=block.shape[axis]),
            )
            mask = inside if mask is None else HANDLERS["operator.and"](b, lhs=mask, rhs=inside)
    return pointers, mask


def padding(b: Builder, option: object, dtype: AnyDType, arg: str = "padding_option") -> float:
    """What lies outside of the array: 0, or NaN."""
    if isinstance(option, RuntimeValue):
        raise b.fail(E0210, arg=arg, what=f"`{arg}`").help("it is a string")
    if option in (None, "", "zero"):
        return 0
    if option != "nan":
        raise b.fail(E0416, arg=arg, what=describe(option), parameter=arg).help(
            'it is "zero" or "nan", or left out'
        )
    if not isinstance(dtype, DType) or dtype.is_int:
        raise b.fail(E0301, arg=arg, op='padding_option="nan"', types=str(dtype)).help(
            "only floats have a NaN"
        )
    return float("nan")
