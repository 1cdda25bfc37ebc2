"""Operations that make or rearrange tensors without touching values.

The DSL's handlers are in layout.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, register
from teenyc.ir.printer import Names
from teenyc.ops.families import Array, Environment, Reference, format_cast, with_shape
from teenyc.types import IRType, ScalarType, TensorType, scalar_of, shape_of

_I32 = ScalarType("i32")
_Shape = tuple[int, ...]


def _value_of_operand(op: Operation, values: list[Any]) -> Any:
    """Folding: what repeats or rearranges one value gives that value."""
    return values[0]


def _rearranges(
    name: str,
    shape: Callable[[_Shape, dict[str, Any]], _Shape],
    ref: Callable[[Any, Operation, Array], Array],
    *,
    attrs: tuple[str, ...],
    text: Callable[[Operation], str] = lambda op: "",
    check: Callable[[Operation], bool] = lambda op: True,
    **facts: Any,
) -> OpDef:
    """An operation whose result has the operand's elements in the shape `shape(before, attrs)`."""

    def result(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
        before = operands[0].type
        return (with_shape(before, shape(shape_of(before), attrs)),)

    def verify(op: Operation) -> str | None:
        before, after = op.operands[0].type, op.results[0].type
        if after != result(op.operands, op.attrs)[0] or not check(op):
            return f"cannot turn {before} into {after}"
        return None

    read: Reference = lambda np, op, operands, env: ref(np, op, operands[0])  # noqa: E731
    return register(
        OpDef(
            name,
            result,
            lambda op, names: format_cast(op, names, text(op), "->"),
            attrs=attrs,
            verify=verify,
            fold=_value_of_operand,
            ref=read,
            **facts,
        )
    )


def _is_broadcast(op: Operation) -> bool:
    before, after = shape_of(op.operands[0].type), shape_of(op.results[0].type)
    return len(before) == len(after) and all(
        old in (1, new) for old, new in zip(before, after, strict=True)
    )


def _inserted(shape: _Shape, attrs: dict[str, Any]) -> _Shape:
    return (*shape[: attrs["axis"]], 1, *shape[attrs["axis"] :])


SPLAT = _rearranges(
    "tt.splat",
    lambda before, attrs: attrs["shape"],
    lambda np, op, array: np.broadcast_to(array, op.attrs["shape"]),
    attrs=("shape",),
    check=lambda op: not shape_of(op.operands[0].type) and bool(op.attrs["shape"]),
    dsl=("full", "zeros"),
)
EXPAND_DIMS = _rearranges(
    "tt.expand_dims",
    _inserted,
    lambda np, op, array: np.expand_dims(array, op.attrs["axis"]),
    attrs=("axis",),
    text=lambda op: f" {{axis = {op.attrs['axis']} : i32}}",
    check=lambda op: 0 <= op.attrs["axis"] <= len(shape_of(op.operands[0].type)),
    dsl=("expand_dims",),
)
BROADCAST = _rearranges(
    "tt.broadcast",
    lambda before, attrs: attrs["shape"],
    lambda np, op, array: np.broadcast_to(array, op.attrs["shape"]),
    attrs=("shape",),
    check=_is_broadcast,
    dsl=("broadcast", "broadcast_to"),
)
TRANS = _rearranges(
    "tt.trans",
    lambda before, attrs: tuple(before[i] for i in attrs["order"]),
    lambda np, op, array: np.transpose(array, op.attrs["order"]),
    attrs=("order",),
    text=lambda op: f" {{order = array<i32: {', '.join(map(str, op.attrs['order']))}>}}",
    check=lambda op: sorted(op.attrs["order"]) == list(range(len(shape_of(op.operands[0].type)))),
    dsl=("trans", "permute"),
)
# With `reorder` the elements may come in any order; here they keep theirs.
RESHAPE = _rearranges(
    "tt.reshape",
    lambda before, attrs: attrs["shape"],
    lambda np, op, array: np.reshape(array, op.attrs["shape"]),
    attrs=("shape", "reorder"),
    text=lambda op: " allow_reorder" if op.attrs["reorder"] else "",
    check=lambda op: (
        bool(op.attrs["shape"]) and prod(shape_of(op.operands[0].type)) == prod(op.attrs["shape"])
    ),
    dsl=("reshape",),
)


def _verify_unsplat(op: Operation) -> str | None:
    before, after = op.operands[0].type, op.results[0].type
    good = shape_of(before) and prod(shape_of(before)) == 1 and scalar_of(before) == after
    return None if good else f"cannot turn {before} into {after}"


UNSPLAT = register(
    OpDef(
        "tt.unsplat",
        lambda operands, attrs: (scalar_of(operands[0].type),),
        lambda op, names: f"{op.name} {names(op.operands[0])} : {op.operands[0].type}",
        verify=_verify_unsplat,
        fold=_value_of_operand,
        ref=lambda np, op, operands, env: np.reshape(operands[0], ()),
        dsl=("reshape", "split"),
    )
)


def _joins(
    name: str,
    shape: Callable[[_Shape, _Shape], _Shape | None],
    ref: Callable[[Any, Array, Array], Array],
    text: Callable[[Operation], str],
    dsl: str,
) -> OpDef:
    """Two tensors in one; `shape` gives None for shapes that do not fit."""

    def result(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
        found = shape(*(shape_of(value.type) for value in operands))
        return (with_shape(operands[0].type, found or ()),)

    def verify(op: Operation) -> str | None:
        left, right = (value.type for value in op.operands)
        found = shape(shape_of(left), shape_of(right))
        good = found is not None and scalar_of(left) == scalar_of(right)
        if not good or op.results[0].type != result(op.operands, op.attrs)[0]:
            return f"cannot make {op.results[0].type} of {left} and {right}"
        return None

    return register(
        OpDef(
            name,
            result,
            lambda op, names: f"{name} {names.list(op.operands)} : {text(op)}",
            verify=verify,
            ref=lambda np, op, operands, env: ref(np, *operands),
            dsl=(dsl,),
        )
    )


JOIN = _joins(
    "tt.join",
    lambda left, right: (*left, 2) if left == right and left else None,
    lambda np, left, right: np.stack((left, right), axis=-1),
    lambda op: f"{op.operands[0].type} -> {op.results[0].type}",
    "join",
)
# The elements may come in any order; here they keep theirs.
CAT = _joins(
    "tt.cat",
    lambda left, right: (left[0] + right[0],) if len(left) == len(right) == 1 else None,
    lambda np, left, right: np.concatenate((left, right)),
    lambda op: f"{op.operands[0].type} -> {op.results[0].type}",
    "cat",
)


def _split_types(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    before = operands[0].type
    return (with_shape(before, shape_of(before)[:-1]),) * 2


def _verify_split(op: Operation) -> str | None:
    shape = shape_of(op.operands[0].type)
    found = tuple(value.type for value in op.results)
    if len(shape) < 2 or shape[-1] != 2 or found != _split_types(op.operands, op.attrs):
        return f"cannot turn {op.operands[0].type} into {', '.join(map(str, found))}"
    return None


SPLIT = register(
    OpDef(
        "tt.split",
        _split_types,
        lambda op, names: (
            f"{op.name} {names(op.operands[0])} : {op.operands[0].type} -> {op.results[0].type}"
        ),
        verify=_verify_split,
        ref=lambda np, op, operands, env: (operands[0][..., 0], operands[0][..., 1]),
        dsl=("split",),
    )
)


def _range_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    return (TensorType((attrs["end"] - attrs["start"],), _I32),)


def _format_range(op: Operation, names: Names) -> str:
    start, end = op.attrs["start"], op.attrs["end"]
    return f"tt.make_range {{end = {end} : i32, start = {start} : i32}} : {op.results[0].type}"


def _verify_range(op: Operation) -> str | None:
    found = op.results[0].type
    length = op.attrs["end"] - op.attrs["start"]
    good = scalar_of(found) == _I32 and shape_of(found) == (length,)
    return None if good and length > 0 else f"makes {length} numbers as {found}"


def _ref_range(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    return np.arange(op.attrs["start"], op.attrs["end"], dtype=np.int32)


MAKE_RANGE = register(
    OpDef(
        "tt.make_range",
        _range_type,
        _format_range,
        attrs=("start", "end"),
        verify=_verify_range,
        ref=_ref_range,
        dsl=("arange",),
    )
)
