"""Shapes of values.

Checking them, and bringing two values to one shape in the order Triton does.
"""

from __future__ import annotations

from math import prod

from teenyc.codes import E0210, E0402, E0403, E0404, E0406
from teenyc.ir.builder import Builder
from teenyc.ops.literals import as_constant, splat
from teenyc.ops.shape import BROADCAST, EXPAND_DIMS
from teenyc.values import RuntimeValue, describe

Shape = tuple[int, ...]
MAX_ELEMENTS = 1 << 20


def next_power_of_two(n: int) -> int:
    """The least power of two that is not below `n`."""
    return 1 << max(0, n - 1).bit_length()


def spell(shape: Shape) -> str:
    """`(4, 8)`, as errors spell it."""
    return repr(tuple(shape))


def check_shape(b: Builder, shape: object, arg: str = "") -> Shape:
    """A shape known at compile time: powers of two, at most 2**20 elements."""
    if isinstance(shape, int) and not isinstance(shape, bool):
        shape = (shape,)
    if not isinstance(shape, tuple):
        raise b.fail(E0406, arg=arg, what=describe(shape)).help("write a tuple: `(64, 64)`")
    sides: list[int] = []
    for side in shape:
        if isinstance(side, RuntimeValue):
            raise b.fail(E0210, arg=arg, what=f"a side of a shape ({side.describe()})").help(
                as_constant(side, "make it a `Const[int]` parameter")
            )
        if not isinstance(side, int) or isinstance(side, bool) or side < 1:
            raise b.fail(E0406, arg=arg, what=describe(side)).help("sides are integers from 1")
        if side & (side - 1):
            raise b.fail(E0402, arg=arg, side=side, shape=spell(shape)).help(
                f"take {next_power_of_two(side)} and mask what is too much"
            )
        sides.append(side)
    return check_size(b, tuple(sides), arg)


def check_size(b: Builder, shape: Shape, arg: str = "") -> Shape:
    """`shape`, unless a tensor of it has more than 2**20 elements."""
    count = prod(shape)
    if count > MAX_ELEMENTS:
        raise b.fail(E0404, arg=arg, shape=spell(shape), count=count, limit=MAX_ELEMENTS).help(
            "let more programs, or a loop, each handle a smaller tile"
        )
    return shape


def common_shape(b: Builder, left: Shape, right: Shape, arg: str = "") -> Shape:
    """The shape that both broadcast to, ranks aligned at the last axis."""
    rank = max(len(left), len(right))
    padded = ((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right)
    sides: list[int] = []
    for axis, (old, new) in enumerate(zip(*padded, strict=True)):
        if 1 not in (old, new) and old != new:
            raise b.fail(
                E0403,
                f"axis {axis}: {old} and {new}",
                arg=arg,
                left=spell(left),
                right=spell(right),
            ).help("sides must be equal, or one of them 1: put one in with `x[:, None]`")
        sides.append(new if old == 1 else old)
    return check_size(b, tuple(sides), arg)


def expand(b: Builder, value: RuntimeValue, axis: int) -> RuntimeValue:
    """A side of length 1 more, at position `axis` of the result."""
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    if not value.shape:
        return splat(b, value, shape)
    return RuntimeValue(b.value(EXPAND_DIMS, value.ir, axis=axis), value.dtype, shape)


def _with_rank(b: Builder, value: RuntimeValue, rank: int) -> RuntimeValue:
    """A tensor with sides of length 1 in front; a scalar stays one."""
    while value.shape and len(value.shape) < rank:
        value = expand(b, value, 0)
    return value


def stretch(b: Builder, value: RuntimeValue, shape: Shape) -> RuntimeValue:
    """`value` repeated along its sides of length 1; the shape is known to fit."""
    if value.shape == shape:
        return value
    if not value.shape:
        return splat(b, value, shape)
    value = _with_rank(b, value, len(shape))
    if value.shape == shape:
        return value
    return RuntimeValue(b.value(BROADCAST, value.ir, shape=shape), value.dtype, shape)


def broadcast_pair(
    b: Builder, left: RuntimeValue, right: RuntimeValue, arg: str = ""
) -> tuple[RuntimeValue, RuntimeValue]:
    """Both values in their common shape; raises E0403 when there is none."""
    shape = common_shape(b, left.shape, right.shape, arg)
    left, right = (_with_rank(b, value, len(shape)) for value in (left, right))
    return stretch(b, left, shape), stretch(b, right, shape)
