"""Products of matrices.

The interpreter adds the products to the accumulator one k after the other, each rounded in the type
of the result; f32 operands are not rounded to tf32 there, whatever `input_precision` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from teenyc.codes import E0301, E0410, E0411, E0413, E0416
from teenyc.ir.builder import Builder
from teenyc.ir.core import Operation
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arrays
from teenyc.ops.broadcasting import Shape, check_size, spell
from teenyc.ops.creation import require_dtype
from teenyc.ops.families import Array, Environment
from teenyc.ops.layout import reshape
from teenyc.ops.literals import constant, numeric
from teenyc.types import BF16, F8E4M3, F8E5M2, F16, F32, F64, I8, I32, DType, shape_of
from teenyc.values import RuntimeValue, describe

_PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
_F8 = (F8E4M3, F8E5M2)
# How many products of 8-bit floats Hopper may add up before they go to the accumulator: all.
_ALL_IMPRECISE = 1 << 30


def _format_dot(op: Operation, names: Names) -> str:
    left, right, acc = (value.type for value in op.operands)
    precision = op.attrs["input_precision"]
    extra = "" if precision == "ieee" else f", inputPrecision = {precision}"
    if op.attrs["max_num_imprecise_acc"]:
        extra += f" {{maxNumImpreciseAcc = {op.attrs['max_num_imprecise_acc']} : i32}}"
    return f"tt.dot {names.list(op.operands)}{extra} : {left} * {right} -> {acc}"


def _verify_dot(op: Operation) -> str | None:
    left, right, acc = (shape_of(value.type) for value in op.operands)
    if op.operands[2].type != op.results[0].type:
        return f"adds to {op.operands[2].type} and gives {op.results[0].type}"
    good = len(left) == len(right) >= 2 and left[-1] == right[-2]
    if not good or acc != (*left[:-1], right[-1]) or left[:-2] != right[:-2]:
        return f"multiplies {left} by {right} into {acc}"
    if op.attrs["input_precision"] not in _PRECISIONS:
        return f"has no input precision `{op.attrs['input_precision']}`"
    return None


def _ref_dot(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    left, right, acc = operands
    name = arrays.element_name(op.results[0].type)
    return accumulate(np, left, right, acc, np.float32 if name == "f16" else acc.dtype)


def accumulate(np: Any, left: Array, right: Array, acc: Array, wide: Any) -> Array:
    """`acc` plus the product of two matrices, one k after the other, each step in `wide`."""
    left, right, total = left.astype(wide), right.astype(wide), acc.astype(wide)
    for k in range(left.shape[-1]):
        product = left[..., :, k, np.newaxis] * right[..., np.newaxis, k, :]
        total = (total + product).astype(wide)
    return total.astype(acc.dtype)


DOT = register(
    OpDef(
        "tt.dot",
        lambda operands, attrs: (operands[2].type,),
        _format_dot,
        attrs=("input_precision", "max_num_imprecise_acc"),
        verify=_verify_dot,
        ref=_ref_dot,
        dsl=("dot",),
    )
)


def _result_dtype(b: Builder, dtype: DType, acc: object, out_dtype: object) -> DType:
    """The dtype of the product.

    That of `acc`, else `out_dtype`, else the natural one; only f16 and 8-bit floats have two.
    """
    natural = {I8: I32, F64: F64}.get(dtype, F32)
    allowed = (F32, F16) if dtype in (F16, *_F8) else (natural,)
    wanted: object = natural
    arg = "out_dtype"
    if isinstance(acc, RuntimeValue):
        wanted, arg = acc.dtype, "acc"
    elif out_dtype is not None:
        wanted = require_dtype(b, out_dtype, "out_dtype")
        if out_dtype == F32 and natural != F32:
            wanted = natural  # f32 is Triton's default, and ignored for these
    if wanted not in allowed:
        raise b.fail(E0301, arg=arg, op="dot", types=f"{arg} of {wanted} for {dtype}").help(
            f"accumulate in {' or '.join(map(str, allowed))} and cast the result"
        )
    assert isinstance(wanted, DType)
    return wanted


def _precision(b: Builder, input_precision: object, allow_tf32: object) -> str:
    if input_precision is None:
        return "ieee" if allow_tf32 is False else "tf32"
    if allow_tf32 is not None:
        raise b.fail(
            E0416, arg="allow_tf32", what=describe(allow_tf32), parameter="allow_tf32"
        ).help("give `input_precision` alone")
    if input_precision not in _PRECISIONS:
        raise b.fail(
            E0416,
            arg="input_precision",
            what=describe(input_precision),
            parameter="input_precision",
        ).help(f"it is one of {', '.join(map(repr, _PRECISIONS))}")
    return str(input_precision)


def _imprecise(b: Builder, given: object, inner: int, *, is_f8: bool) -> int:
    if given is None:
        return _ALL_IMPRECISE if is_f8 else 0
    if isinstance(given, int) and not isinstance(given, bool):
        most = inner if is_f8 else _ALL_IMPRECISE
        if 0 <= given <= most:
            return given
    raise b.fail(
        E0416, arg="max_num_imprecise_acc", what=describe(given), parameter="max_num_imprecise_acc"
    ).help(f"it is a number of products known at compile time, at most {inner} here")


def _check_shapes(b: Builder, left: RuntimeValue, right: RuntimeValue, bits: int) -> Shape:
    """The shape of the product."""
    one, two = left.shape, right.shape
    for value, arg in ((left, "input"), (right, "other")):
        if len(value.shape) < 2:
            raise b.fail(
                E0413, arg=arg, op="dot", what="a tensor of 2 or more sides", type=value.describe()
            ).help("a vector becomes a matrix with `x[:, None]`")
    if len(one) != len(two) or one[:-2] != two[:-2] or one[-1] != two[-2]:
        raise b.fail(
            E0410,
            f"{one[-1]} columns times {two[-2]} rows",
            arg="other",
            left=spell(one),
            right=spell(two),
        ).help("the last side of the first operand is the second to last of the other")
    least = 32 if bits == 8 else 16
    if one[-1] < least:
        raise b.fail(E0411, arg="input", inner=one[-1], least=least).help(
            "take a greater block along k, and mask with zeros"
        )
    return check_size(b, (*one[:-1], two[-1]), "input")


@lowers("dot")
def _dot(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    other: object,
    acc: object = None,
    input_precision: object = None,
    allow_tf32: object = None,
    max_num_imprecise_acc: object = None,
    out_dtype: object = None,
) -> RuntimeValue:
    left, dtype = numeric(b, input, "dot", "input")
    right, other_dtype = numeric(b, other, "dot", "other")
    for found, arg in ((dtype, "input"), (other_dtype, "other")):
        if found not in (I8, *_F8, F16, BF16, F32, F64):
            raise b.fail(E0301, arg=arg, op="dot", types=str(found)).help(
                "it takes i8, f8e4m3, f8e5m2, f16, bf16, f32 and f64"
            )
    is_f8 = dtype in _F8 and other_dtype in _F8
    if dtype != other_dtype and not is_f8:
        raise b.fail(E0301, arg="other", op="dot", types=f"{dtype} and {other_dtype}").help(
            f"cast one side: `x.to({dtype})`"
        )
    shape = _check_shapes(b, left, right, dtype.bits)
    result = _result_dtype(b, dtype, acc, out_dtype)
    precision = _precision(b, input_precision, allow_tf32)
    imprecise = _imprecise(b, max_num_imprecise_acc, left.shape[-1], is_f8=is_f8)
    if acc is None:
        total = constant(b, 0, result, shape)
    else:
        total, _ = numeric(b, acc, "dot", "acc")
        if total.shape != shape:
            raise b.fail(E0410, arg="acc", left=spell(shape), right=spell(total.shape)).help(
                f"start with `zeros({shape}, {result})`"
            )
    left, right, total = (_three_sides(b, value) for value in (left, right, total))
    attrs = {"input_precision": precision, "max_num_imprecise_acc": imprecise}
    found = b.emit(DOT, [left.ir, right.ir, total.ir], attrs=attrs).result
    product = RuntimeValue(found, result, total.shape)
    return product if product.shape == shape else reshape(b, product, shape, reorder=False)


def _three_sides(b: Builder, value: RuntimeValue) -> RuntimeValue:
    """A batch of more than one side as a batch of one."""
    batch = value.shape[:-2]
    if len(batch) < 2:
        return value
    return reshape(b, value, (prod(batch), *value.shape[-2:]), reorder=False)
