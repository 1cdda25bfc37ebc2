"""The DSL's functions that rearrange tensors.

expand_dims, indexing with None, broadcast, trans and permute, reshape, join, split, cat.
"""

from __future__ import annotations

from math import prod

from teenyc.codes import E0210, E0301, E0403, E0405, E0412, E0413, E0414, E0417
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
from teenyc.ops.shape import CAT, JOIN, RESHAPE, SPLIT, TRANS, UNSPLAT
from teenyc.values import RuntimeValue, describe

_WHOLE = slice(None)


def wrap_axis(b: Builder, axis: object, rank: int, arg: str = "axis") -> int:
    """An axis known at compile time, counted from the front."""
    if isinstance(axis, RuntimeValue):
        raise b.fail(E0210, arg=arg, what=f"`{arg}`").help(
            "the rank of a tensor is fixed when compiling: write the axis as a literal"
        )
    if isinstance(axis, tuple):
        raise b.fail(E0405, arg=arg, axis=spell(axis), rank=rank).help(
            "one axis at a time: the rest moves up when it is gone"
        )
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
        remedy = "a tensor takes only `:` and `None`: `x[:, None]`; `tl.gather` picks elements"
        if value.is_pointer:
            remedy = "memory is read with `tl.load(pointer + offsets)`"
        raise b.fail(E0412, arg="index", what=shown).help(remedy)
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
    return _permuted(b, value, "trans", _listed(dims) or (*range(rank - 2), rank - 1, rank - 2))


def _listed(given: object) -> tuple[object, ...]:
    """`*shape` and `*dims`: one tuple, or several numbers."""
    items = given if isinstance(given, tuple) else (given,)
    return items[0] if len(items) == 1 and isinstance(items[0], tuple) else items


def _permuted(b: Builder, value: RuntimeValue, op: str, given: tuple[object, ...]) -> RuntimeValue:
    rank = len(value.shape)
    order = tuple(item for item in given if isinstance(item, int) and not isinstance(item, bool))
    if order != given or sorted(order) != list(range(rank)):
        shown = ", ".join(repr(x) if isinstance(x, int) else describe(x) for x in given)
        raise b.fail(E0414, arg="dims", op=op, dims=f"({shown})", rank=rank).help(
            f"name each of {', '.join(map(str, range(rank)))} once"
        )
    shape = tuple(value.shape[i] for i in order)
    return RuntimeValue(b.value(TRANS, value.ir, order=order), value.dtype, shape)


@lowers("permute")
def _permute(b: Builder, input: object, dims: object = ()) -> RuntimeValue:  # noqa: A002
    return _permuted(b, to_value(b, input, arg="input"), "permute", _listed(dims))


# --- reshape, join and split ----------------------------------------------------------------------


def reshape(b: Builder, value: RuntimeValue, shape: Shape, *, reorder: bool) -> RuntimeValue:
    """The same elements in a shape known to hold as many; `()` makes a scalar."""
    if not shape:
        found = b.value(UNSPLAT, value.ir) if value.shape else value.ir
        return RuntimeValue(found, value.dtype)
    found = b.value(RESHAPE, value.ir, shape=shape, reorder=reorder)
    return RuntimeValue(found, value.dtype, shape)


@lowers("reshape")
def _reshape(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    shape: object = (),
    can_reorder: object = False,
) -> RuntimeValue:
    value = to_value(b, input, arg="input")
    sides = check_shape(b, _listed(shape), "shape")
    if prod(sides) != prod(value.shape):
        raise b.fail(
            E0417,
            arg="shape",
            before=spell(value.shape),
            count=prod(value.shape),
            after=spell(sides),
            wanted=prod(sides),
        ).help("the number of elements stays; `broadcast_to` repeats them")
    if sides and not value.shape:
        return stretch(b, value, sides)
    return reshape(b, value, sides, reorder=bool(can_reorder))


def _pair(
    b: Builder, op: str, left: object, right: object, arg: str
) -> tuple[RuntimeValue, RuntimeValue]:
    """Two values of one dtype."""
    one = to_value(b, left, arg="input" if op == "cat" else "a")
    two = to_value(b, right, like=one, arg=arg)
    if one.dtype != two.dtype:
        raise b.fail(E0301, arg=arg, op=op, types=f"{one.dtype} and {two.dtype}").help(
            f"cast one side: `x.to({one.dtype})`"
        )
    return one, two


def _join_pair(b: Builder, left: RuntimeValue, right: RuntimeValue) -> RuntimeValue:
    shape = (*left.shape, 2)
    return RuntimeValue(b.value(JOIN, left.ir, right.ir), left.dtype, shape)


@lowers("join")
def _join(builder: Builder, /, a: object, b: object) -> RuntimeValue:
    left, right = _pair(builder, "join", a, b, "b")
    left, right = broadcast_pair(builder, left, right, "b")
    if left.shape:
        return _join_pair(builder, left, right)
    joined = _join_pair(builder, expand(builder, left, 0), expand(builder, right, 0))
    return reshape(builder, joined, (2,), reorder=False)


@lowers("split")
def _split(b: Builder, a: object) -> tuple[RuntimeValue, ...]:
    value = to_value(b, a, arg="a")
    if not value.shape or value.shape[-1] != 2:
        raise b.fail(
            E0413, arg="a", op="split", what="a tensor whose last side is 2", type=value.describe()
        ).help("bring the side to the end: `x.reshape(n, 2)`, or `x.permute(...)`")
    is_pair = len(value.shape) == 1
    source = expand(b, value, 0) if is_pair else value
    halves = b.emit(SPLIT, [source.ir]).results
    found = [RuntimeValue(half, value.dtype, source.shape[:-1]) for half in halves]
    return tuple(reshape(b, half, (), reorder=False) if is_pair else half for half in found)


@lowers("cat")
def _cat(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    other: object,
    can_reorder: object = False,
    dim: object = 0,
) -> RuntimeValue:
    left, right = _pair(b, "cat", input, other, "other")
    rank = len(left.shape)
    axis = wrap_axis(b, dim, rank, "dim")
    if can_reorder and rank == len(right.shape) == 1:
        shape = check_shape(b, (left.shape[0] + right.shape[0],), "other")
        return RuntimeValue(b.value(CAT, left.ir, right.ir), left.dtype, shape)
    if left.shape != right.shape:
        raise b.fail(E0403, arg="other", left=spell(left.shape), right=spell(right.shape)).help(
            "`cat` puts two tensors of one shape together"
        )
    joined = _join_pair(b, left, right)
    order = [*range(rank)]
    order.insert(axis, rank)
    turned = _permuted(b, joined, "cat", tuple(order))
    whole = check_shape(
        b, tuple(side * (2 if i == axis else 1) for i, side in enumerate(left.shape)), "other"
    )
    return reshape(b, turned, whole, reorder=False)
