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
    dsl=("trans",),
)
# The elements of a flattened tensor may come in any order; here they keep theirs.
RESHAPE = _rearranges(
    "tt.reshape",
    lambda before, attrs: attrs["shape"],
    lambda np, op, array: np.reshape(array, op.attrs["shape"]),
    attrs=("shape",),
    text=lambda op: " allow_reorder",
    check=lambda op: prod(shape_of(op.operands[0].type)) == prod(op.attrs["shape"]),
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
