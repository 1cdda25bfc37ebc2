"""Reductions over one axis, or over all elements: sum, max, min.

The interpreter and the CPU combine in one fixed order, each step rounded in the type of the
elements. Along the last axis, lane j of L (`lanes_of`) combines the elements j, j + L, j + 2L, ...
in order; then the lanes are halved, lane i meeting lane i + L/2, until one is left. Along any other
axis elements are combined in the order of their index. Other targets may choose another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from teenyc.codes import E0199, E0210, E0301, E0413
from teenyc.ir.builder import Builder
from teenyc.ir.core import Block, Operation, Region, Value
from teenyc.ir.opdef import OpDef, lowers, register
from teenyc.ir.printer import Names
from teenyc.ops import arith, arrays, semantics
from teenyc.ops.broadcasting import expand
from teenyc.ops.control import REDUCE_RETURN
from teenyc.ops.creation import require_dtype
from teenyc.ops.families import Array, Environment, with_shape
from teenyc.ops.layout import wrap_axis
from teenyc.ops.literals import numeric
from teenyc.ops.shape import RESHAPE
from teenyc.types import F32, I32, U32, DType, IRType, element_type, scalar_of, shape_of
from teenyc.values import RuntimeValue, describe

# --- the record -----------------------------------------------------------------------------------


def _reduced_type(operands: Sequence[Value], attrs: dict[str, Any]) -> tuple[IRType, ...]:
    before, axis = operands[0].type, attrs["axis"]
    shape = shape_of(before)
    return (with_shape(before, shape[:axis] + shape[axis + 1 :]),)


def _format_reduce(op: Operation, names: Names) -> str:
    source, result = op.operands[0], op.results[0]
    head = f'"tt.reduce"({names(source)}) <{{axis = {op.attrs["axis"]} : i32}}> ({{}})'
    return f"{head} : ({source.type}) -> {result.type}"


def _verify_reduce(op: Operation) -> str | None:
    before = op.operands[0].type
    if not 0 <= op.attrs["axis"] < len(shape_of(before)):
        return f"has no axis {op.attrs['axis']} in {before}"
    if op.results[0].type != _reduced_type(op.operands, op.attrs)[0]:
        return f"turns {before} into {op.results[0].type}"
    block, element = op.regions[0].block, scalar_of(before)
    last = block.ops[-1]
    if [arg.type for arg in block.args] != [element] * 2 or last.name != REDUCE_RETURN.name:
        return f"combines other values than two of {element}"
    found = [value.type for value in last.operands]
    return None if found == [element] else f"combines {element} into {found}"


def lanes_of(type_: IRType, count: int) -> int:
    """How many lanes the last axis, of `count` elements of `type_`, is combined in."""
    return min(16 if arrays.itemsize(scalar_of(type_)) == 8 else 32, count)


def _ref_reduce(np: Any, op: Operation, operands: Sequence[Array], env: Environment) -> Array:
    axis, array = op.attrs["axis"], operands[0]
    rows = np.moveaxis(array, axis, 0)
    lanes = 1
    if axis == array.ndim - 1:
        lanes = lanes_of(op.operands[0].type, rows.shape[0])
        rows = rows.reshape(-1, lanes, *rows.shape[1:])
    total = rows[0]
    for row in rows[1:]:
        (total,) = env.run(op.regions[0], (total, row))
    while lanes > 1:
        lanes //= 2
        (total,) = env.run(op.regions[0], (total[:lanes], total[lanes:]))
    return total[0] if axis == array.ndim - 1 else total


REDUCE = register(
    OpDef(
        "tt.reduce",
        _reduced_type,
        _format_reduce,
        attrs=("axis",),
        verify=_verify_reduce,
        ref=_ref_reduce,
        dsl=("sum", "max", "min"),
        labelled=(0,),
    )
)

# --- handlers -------------------------------------------------------------------------------------


def _reduce(
    b: Builder, value: RuntimeValue, combine: OpDef, axis: object, keep_dims: object
) -> RuntimeValue:
    """`value` combined over `axis`, or over all its elements."""
    rank = len(value.shape)
    if axis is None:
        position, source = 0, value.ir
        if rank > 1:
            source = b.value(RESHAPE, value.ir, shape=(prod(value.shape),))
        shape: tuple[int, ...] = ()
    else:
        position, source = wrap_axis(b, axis, rank), value.ir
        shape = value.shape[:position] + value.shape[position + 1 :]
    region = Region(_combiner(b, value, combine))
    found = b.emit(REDUCE, [source], attrs={"axis": position}, regions=[region]).result
    result = RuntimeValue(found, value.dtype, shape)
    if not keep_dims:
        return result
    for place in (position,) if axis is not None else (0,) * rank:
        result = expand(b, result, place)
    return result


def _combiner(b: Builder, value: RuntimeValue, combine: OpDef) -> Block:
    element = element_type(value.dtype)
    with b.inside(Block([element, element], ("left", "right"))) as block:
        b.emit(REDUCE_RETURN, [b.value(combine, *block.args)])
    return block


def _input(b: Builder, x: object, op: str) -> tuple[RuntimeValue, DType]:
    value, dtype = numeric(b, x, op, "input")
    if not value.shape:
        raise b.fail(E0413, arg="input", op=op, what="a tensor", type=value.describe()).help(
            "a scalar is its own sum, maximum and minimum"
        )
    if dtype.is_float and dtype.bits == 8:
        raise b.fail(E0301, arg="input", op=op, types=value.describe()).help(
            "cast it first: `x.to(f32)`"
        )
    return value, dtype


def _refuse_run_time(b: Builder, op: str, **options: object) -> None:
    for name, given in options.items():
        if isinstance(given, RuntimeValue):
            raise b.fail(E0210, arg=name, what=f"`{name}` of `{op}` ({describe(given)})").help(
                "write a number, or make it a `Const` parameter"
            )


@lowers("sum")
def _sum(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    axis: object = None,
    keep_dims: object = False,
    dtype: object = None,
) -> RuntimeValue:
    _refuse_run_time(b, "sum", axis=axis, keep_dims=keep_dims)
    value, own = _input(b, input, "sum")
    if dtype is not None:
        value = semantics.cast(b, value, require_dtype(b, dtype))
    elif own.is_int and own.bits < 32:
        value = semantics.cast(b, value, I32 if own.is_signed else U32)
    assert isinstance(value.dtype, DType)
    return _reduce(b, value, arith.ADDF if value.dtype.is_float else arith.ADDI, axis, keep_dims)


def _extreme(
    b: Builder, op: str, records: tuple[OpDef, OpDef, OpDef], x: object, axis: object, keep: object
) -> RuntimeValue:
    """The records are those for floats, signed and unsigned integers.

    Narrow values are widened first.
    """
    _refuse_run_time(b, op, axis=axis, keep_dims=keep)
    value, dtype = _input(b, x, op)
    if dtype.bits < 32:
        dtype = F32 if dtype.is_float else I32
        value = semantics.cast(b, value, dtype)
    floats, signed, unsigned = records
    record = floats if dtype.is_float else signed if dtype.is_signed else unsigned
    return _reduce(b, value, record, axis, keep)


def _refuse_indices(b: Builder, return_indices: object) -> None:
    if return_indices:
        raise b.fail(E0199, arg="return_indices", what="`return_indices`").help(
            "leave it out for the values alone"
        )


@lowers("max")
def _max(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> RuntimeValue:
    _refuse_indices(b, return_indices)
    return _extreme(b, "max", (arith.MAXNUMF, arith.MAXSI, arith.MAXUI), input, axis, keep_dims)


@lowers("min")
def _min(
    b: Builder,
    input: object,  # noqa: A002 - the DSL's name
    axis: object = None,
    return_indices: object = False,
    return_indices_tie_break_left: object = True,
    keep_dims: object = False,
) -> RuntimeValue:
    _refuse_indices(b, return_indices)
    return _extreme(b, "min", (arith.MINNUMF, arith.MINSI, arith.MINUI), input, axis, keep_dims)
