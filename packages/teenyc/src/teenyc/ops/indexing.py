"""Elements picked or counted by the values of another tensor: gather and histogram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from teenyc.codes import E0301, E0402, E0403, E0413, E0416, E0502
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation, Value
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arith
from teenyc.ops.broadcasting import broadcast_pair, check_size, next_power_of_two, spell, stretch
from teenyc.ops.compare import CMPI
from teenyc.ops.families import INT, Array, Environment, kind_of, with_shape
from teenyc.ops.layout import wrap_axis
from teenyc.ops.literals import constant, numeric, to_value
from teenyc.ops.semantics import cast
from teenyc.types import I1, I32, DType, IRType, ScalarType, TensorType, shape_of
from teenyc.values import RuntimeValue, describe

# --- gather ---------------------------------------------------------------------------------------


def _format_gather(op: Operation, names: Names) -> str:
    source, index = op.operands
    types = f"({source.type}, {index.type}) -> {op.results[0].type}"
    return (
        f"tt.gather {names(source)}[{names(index)}] {{axis = {op.attrs['axis']} : i32}} : {types}"
    )


def _verify_gather(op: Operation) -> str | None:
    source, index = (shape_of(value.type) for value in op.operands)
    axis = op.attrs["axis"]
    if kind_of(op.operands[1].type) != INT:
        return f"picks with {op.operands[1].type}"
    fits = len(source) == len(index) and 0 <= axis < len(source)
    if not fits or source[:axis] + source[axis + 1 :] != index[:axis] + index[axis + 1 :]:
        return f"picks from {source} with {index} along axis {axis}"
    wanted = with_shape(op.operands[0].type, index)
    return None if op.results[0].type == wanted else f"gives {op.results[0].type}"


def _ref_gather(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    """An index outside picks the nearest element; on a GPU it picks any."""
    source, index = operands
    axis = op.attrs["axis"]
    inside = np.clip(index.astype(np.int64), 0, source.shape[axis] - 1)
    return np.take_along_axis(source, inside, axis=axis)


GATHER = register(
    OpDef(
        "tt.gather",
        lambda operands, attrs: (with_shape(operands[0].type, shape_of(operands[1].type)),),
        _format_gather,
        attrs=("axis",),
        verify=_verify_gather,
        ref=_ref_gather,
        dsl=("gather",),
    )
)


@lowers("gather")
def _gather(b: Builder, src: object, index: object, axis: object) -> RuntimeValue:
    source, _ = numeric(b, src, "gather", "src")
    picks, dtype = numeric(b, index, "gather", "index")
    if dtype.is_float or dtype.is_bool:
        raise b.fail(E0301, arg="index", op="gather", types=f"an index of {dtype}").help(
            "indices are integers: `index.to(i32)`"
        )
    if not source.shape or len(source.shape) != len(picks.shape):
        raise b.fail(
            E0413,
            arg="index",
            op="gather",
            what="an index of the source's rank",
            type=f"{source.describe()} and {picks.describe()}",
        ).help("repeat the index along the other sides: `index[:, None].broadcast_to(...)`")
    position = wrap_axis(b, axis, len(source.shape))
    for side, (old, new) in enumerate(zip(source.shape, picks.shape, strict=True)):
        if side != position and old != new:
            raise b.fail(
                E0403,
                f"axis {side}: {old} and {new}",
                arg="index",
                left=spell(source.shape),
                right=spell(picks.shape),
            ).help(f"only axis {position} of the index has a length of its own")
    found = b.value(GATHER, source.ir, picks.ir, axis=position)
    return RuntimeValue(found, source.dtype, picks.shape)


# --- histogram ------------------------------------------------------------------------------------


def _counts(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    return (TensorType((attrs["bins"],), ScalarType("i32")),)


def _format_histogram(op: Operation, names: Names) -> str:
    types = f"{op.operands[0].type} -> {op.results[0].type}"
    return f"tt.histogram {names.list(op.operands)} : {types}"


def _verify_histogram(op: Operation) -> str | None:
    values, *mask = (value.type for value in op.operands)
    if len(shape_of(values)) != 1 or kind_of(values) != INT:
        return f"counts {values}"
    if mask and mask != [TensorType(shape_of(values), ScalarType("i1"))]:
        return f"is masked by {mask[0]}"
    wanted = _counts(op.operands, op.attrs)[0]
    return None if op.results[0].type == wanted else f"gives {op.results[0].type}"


def _ref_histogram(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    values, *mask = operands
    bins = op.attrs["bins"]
    live = (values >= 0) & (values < bins)
    if mask:
        live &= mask[0]
    return np.bincount(values[live].astype(np.int64), minlength=bins).astype(np.int32)


HISTOGRAM = register(
    OpDef(
        "tt.histogram",
        _counts,
        _format_histogram,
        attrs=("bins",),
        verify=_verify_histogram,
        ref=_ref_histogram,
        dsl=("histogram",),
    )
)


@lowers("histogram")
def _histogram(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    num_bins: object,
    mask: object = None,
) -> RuntimeValue:
    value, dtype = numeric(b, input, "histogram", "input")
    if dtype.is_float:
        raise b.fail(E0301, arg="input", op="histogram", types=value.describe()).help(
            "bins are integers: `x.to(i32)`"
        )
    if len(value.shape) != 1:
        raise b.fail(
            E0413, arg="input", op="histogram", what="a tensor of one side", type=value.describe()
        ).help("flatten it: `tl.ravel(x)`")
    bins = num_bins if isinstance(num_bins, int) and not isinstance(num_bins, bool) else 0
    if bins < 1:
        raise b.fail(E0416, arg="num_bins", what=describe(num_bins), parameter="num_bins").help(
            "it is an integer known at compile time, from 1"
        )
    if bins & (bins - 1):
        raise b.fail(E0402, arg="num_bins", side=bins, shape=spell((bins,))).help(
            f"take {next_power_of_two(bins)}: what is not there is counted 0 times"
        )
    check_size(b, (bins,), "num_bins")
    chosen = _mask(b, value, mask)
    value, chosen = _only_bins(b, value, dtype, bins, chosen)
    operands = [value.ir] if chosen is None else [value.ir, chosen.ir]
    found = b.emit(HISTOGRAM, operands, attrs={"bins": bins}).result
    return RuntimeValue(found, I32, (bins,))


def _mask(b: Builder, value: RuntimeValue, mask: object) -> RuntimeValue | None:
    if mask is None:
        return None
    chosen = to_value(b, mask, arg="mask")
    if chosen.dtype != I1:
        raise b.fail(E0502, arg="mask", dtype=chosen.dtype).help("compare: `mask=offsets < n`")
    if chosen.shape not in ((), (1,), value.shape):
        raise b.fail(E0403, arg="mask", left=spell(value.shape), right=spell(chosen.shape)).help(
            "the mask has the shape of the input"
        )
    return stretch(b, chosen, value.shape)


def _only_bins(
    b: Builder, value: RuntimeValue, dtype: DType, bins: int, mask: RuntimeValue | None
) -> tuple[RuntimeValue, RuntimeValue | None]:
    """The values as i32, and a mask that drops those without a bin.

    The back ends count a value without a bin in another's, and count in the width of the values.
    """
    if dtype.is_signed or bins < 1 << dtype.bits:
        wide = cast(b, value, I32) if dtype.bits < 32 else value
        kind = wide.dtype
        assert isinstance(kind, DType)
        left, right = broadcast_pair(b, wide, constant(b, bins, kind))
        known = b.value(CMPI, left.ir, right.ir, predicate="ult")
        if mask is not None:
            known = b.value(arith.ANDI, mask.ir, known)
        mask = RuntimeValue(known, I1, value.shape)
        value = wide
    return cast(b, value, I32), mask
