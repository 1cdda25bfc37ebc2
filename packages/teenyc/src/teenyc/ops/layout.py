"""The DSL's functions that rearrange tensors: expand_dims, indexing with None, broadcast, trans."""

from __future__ import annotations

from teenyc.codes import E0403, E0405, E0412, E0413, E0414
from teenyc.ir.builder import Builder
from teenyc.ir.opdef import lowers
from teenyc.ops.broadcasting import (
    Shape,
    broadcast_pair,
    check_shape,
    expand,
    spell,
    stretch,
)
from teenyc.ops.literals import to_value
from teenyc.ops.shape import TRANS
from teenyc.values import RuntimeValue, describe

_WHOLE = slice(None)


def wrap_axis(b: Builder, axis: object, rank: int, arg: str = "axis") -> int:
    """An axis known at compile time, counted from the front."""
    if not isinstance(axis, int) or isinstance(axis, bool) or not -rank <= axis < rank:
        shown = axis if isinstance(axis, int) else describe(axis)
        raise b.fail(E0405, arg=arg, axis=shown, rank=rank).help(
            f"axes are {', '.join(map(str, range(rank)))}, or -1 for the last"
            if rank
            else "a scalar has no axes"
        )
    return axis % rank


@lowers("expand_dims")
def _expand_dims(b: Builder, input: object, axis: object) -> RuntimeValue:  # noqa: A002
    value = to_value(b, input, arg="input")
    given = axis if isinstance(axis, tuple) else (axis,)
    rank = len(value.shape) + len(given)
    axes = sorted(wrap_axis(b, item, rank) for item in given)
    if len(set(axes)) != len(axes):
        raise b.fail(E0414, arg="axis", op="expand_dims", dims=spell(tuple(axes)), rank=rank).help(
            "name each new side once"
        )
    for position in axes:
        value = expand(b, value, position)
    return value


@lowers("operator.getitem")
def _getitem(b: Builder, x: object, index: object) -> RuntimeValue:
    value = to_value(b, x, arg="x")
    items = index if isinstance(index, tuple) else (index,)
    kept = sum(item == _WHOLE for item in items)
    if any(item is not None and item != _WHOLE for item in items):
        wrong = next(item for item in items if item is not None and item != _WHOLE)
        shown = "a slice with bounds" if isinstance(wrong, slice) else describe(wrong)
        raise b.fail(E0412, arg="index", what=shown).help(
            "a tensor takes only `:` and `None`: `x[:, None]`; single elements have no address"
        )
    if kept > len(value.shape):
        raise b.fail(E0412, arg="index", what=f"{kept} times `:` for {value.describe()}").help(
            "write one `:` for each side, and `None` for each new one"
        )
    for position, item in enumerate(items):
        if item is None:
            value = expand(b, value, position)
    return value


@lowers("broadcast")
def _broadcast(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    other: object,
) -> tuple[RuntimeValue, RuntimeValue]:
    left, right = to_value(b, input, arg="input"), to_value(b, other, arg="other")
    return broadcast_pair(b, left, right, "other")


@lowers("broadcast_to")
def _broadcast_to(b: Builder, input: object, shape: object) -> RuntimeValue:  # noqa: A002
    value = to_value(b, input, arg="input")
    if isinstance(shape, tuple) and len(shape) == 1 and isinstance(shape[0], tuple):
        shape = shape[0]
    sides = check_shape(b, shape, "shape")
    if value.shape and not _stretches(value.shape, sides):
        raise b.fail(E0403, arg="shape", left=spell(value.shape), right=spell(sides)).help(
            "only sides of length 1 are repeated, and the rank stays: see `expand_dims`"
        )
    return stretch(b, value, sides)


def _stretches(old: Shape, new: Shape) -> bool:
    return len(old) == len(new) and all(a in (1, b) for a, b in zip(old, new, strict=True))


@lowers("trans")
def _trans(b: Builder, input: object, dims: object = ()) -> RuntimeValue:  # noqa: A002
    value = to_value(b, input, arg="input")
    rank = len(value.shape)
    if rank < 2:
        raise b.fail(
            E0413,
            arg="input",
            op="trans",
            what="a tensor of two or more sides",
            type=value.describe(),
        ).help("put a side in first: `x[:, None]`")
    given = dims if isinstance(dims, tuple) else (dims,)
    if len(given) == 1 and isinstance(given[0], tuple):
        given = given[0]
    order = given or (*range(rank - 2), rank - 1, rank - 2)
    if sorted(order, key=str) != sorted(range(rank), key=str):
        raise b.fail(E0414, arg="dims", op="trans", dims=repr(order), rank=rank).help(
            f"name each of {', '.join(map(str, range(rank)))} once"
        )
    shape = tuple(value.shape[i] for i in order)
    return RuntimeValue(b.value(TRANS, value.ir, order=order), value.dtype, shape)
