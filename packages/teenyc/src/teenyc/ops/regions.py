"""Regions that a function given as an argument fills: building, printing, checking, reading them.

Also the order in which every target but the GPU combines the elements of an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from teenyc.codes import E0203, E0314
from teenyc.ir.builder import Builder
from teenyc.ir.core import Block, Operation, Region
from teenyc.ir.opdef import OpDef
from teenyc.ir.printer import Names
from teenyc.ops import arrays, semantics
from teenyc.ops.families import Array, Environment
from teenyc.types import DType, IRType, element_type, scalar_of
from teenyc.values import FunctionValue, RuntimeValue, describe

Arrays = tuple[Array, ...]


def require_function(b: Builder, x: object, arg: str) -> FunctionValue:
    """A function given as an argument."""
    if isinstance(x, FunctionValue):
        return x
    raise b.fail(E0203, arg=arg, what=describe(x)).help(
        "pass a function marked with `@device`, a function of the language, or a lambda"
    )


def fill(
    b: Builder,
    function: FunctionValue,
    dtypes: Sequence[DType],
    terminator: OpDef,
    arg: str,
    wanted: Sequence[DType] = (),
) -> tuple[Region, list[RuntimeValue]]:
    """A region that calls `function` with a scalar of each dtype, and the results it hands on.

    A literal among the results takes the dtype that is `wanted` in its place.
    """
    names = function.parameters[: len(dtypes)]
    hints = names if len(names) == len(dtypes) else ()
    with b.inside(Block([element_type(d) for d in dtypes], hints)) as block:
        given = [RuntimeValue(x, d) for x, d in zip(block.args, dtypes, strict=True)]
        found = function.call(given)
        items = found if isinstance(found, tuple) else (found,)
        likes = wanted if len(wanted) == len(items) else [None] * len(items)
        results = [_result(b, x, like, function, arg) for x, like in zip(items, likes, strict=True)]
        b.emit(terminator, [value.ir for value in results], results=())
    return Region(block), results


def _result(
    b: Builder, item: object, like: DType | None, function: FunctionValue, arg: str
) -> RuntimeValue:
    """A scalar that the function returns."""
    if isinstance(item, bool | int | float):
        return semantics.to_value(b, item, like, arg=arg)
    if isinstance(item, RuntimeValue) and not item.shape and not item.is_pointer:
        return item
    raise b.fail(
        E0314, arg=arg, function=function.name, found=describe(item), wanted="scalars"
    ).help("it gets scalars, and returns a scalar or a tuple of scalars")


def combiner(
    b: Builder, function: FunctionValue, dtypes: Sequence[DType], terminator: OpDef
) -> Region:
    """A region that combines two groups of values, one of each dtype, into one such group."""
    region, results = fill(b, function, [*dtypes, *dtypes], terminator, "combine_fn", dtypes)
    found = [value.dtype for value in results]
    if found != list(dtypes):
        raise b.fail(
            E0314,
            arg="combine_fn",
            function=function.name,
            found=", ".join(map(str, found)),
            wanted=", ".join(map(str, dtypes)),
        ).help(f"it returns what it gets on each side: cast with `.to({dtypes[0]})`")
    return region


# --- text and checks ------------------------------------------------------------------------------


def format_region(op: Operation, names: Names, properties: str) -> str:
    """`"tt.reduce"(%x) <{axis = 0 : i32}> ({...}) : (tensor<4xf32>) -> f32`."""
    before = ", ".join(str(value.type) for value in op.operands)
    after = [str(value.type) for value in op.results]
    result = after[0] if len(after) == 1 else f"({', '.join(after)})"
    return (
        f'"{op.name}"({names.list(op.operands)}) <{{{properties}}}> ({{}}) : ({before}) -> {result}'
    )


def verify_combiner(op: Operation, terminator: OpDef) -> str | None:
    """Whether the region combines two groups of the operands' elements into one."""
    elements: list[IRType] = [scalar_of(value.type) for value in op.operands]
    block = op.regions[0].block
    last = block.ops[-1]
    if [arg.type for arg in block.args] != elements * 2 or last.name != terminator.name:
        return f"combines other values than two of {', '.join(map(str, elements))}"
    found = [value.type for value in last.operands]
    return None if found == elements else f"combines {elements} into {found}"


# --- reading --------------------------------------------------------------------------------------


def run_elementwise(np: Any, env: Environment, region: Region, operands: Sequence[Array]) -> Arrays:
    """The region for each element of arrays of one shape; one after the other where it branches."""
    shape = operands[0].shape
    if not any(op.regions for op in region.block.ops):
        return tuple(np.broadcast_to(found, shape) for found in env.run(region, operands))
    flat = [np.ravel(array) for array in operands]
    rows = [
        tuple(np.asarray(value) for value in env.run(region, [array[i, ...] for array in flat]))
        for i in range(flat[0].size)
    ]
    return tuple(np.stack(column).reshape(shape) for column in zip(*rows, strict=True))


def reduce_in_order(
    np: Any, op: Operation, operands: Sequence[Array], combine: Callable[[Arrays, Arrays], Arrays]
) -> Arrays:
    """All elements along the axis of `op`, combined in the order of every target but the GPU.

    Along the last axis 32 lanes (16 for elements of 64 bits) combine every 32nd element in order,
    then the lanes are halved; along other axes elements are combined in order.
    """
    axis = op.attrs["axis"]
    rest = tuple(np.moveaxis(array, axis, 0) for array in operands)
    count = rest[0].shape[0]
    lanes = 1
    if axis == operands[0].ndim - 1:
        wide = any(arrays.itemsize(scalar_of(value.type)) == 8 for value in op.operands)
        lanes = min(16 if wide else 32, count)
    total = tuple(array[:lanes] for array in rest)
    for start in range(lanes, count, lanes):
        total = combine(total, tuple(array[start : start + lanes] for array in rest))
    while lanes > 1:
        lanes //= 2
        total = combine(
            tuple(array[:lanes] for array in total), tuple(array[lanes:] for array in total)
        )
    return tuple(array[0] for array in total)


def scan_in_order(
    np: Any, op: Operation, operands: Sequence[Array], combine: Callable[[Arrays, Arrays], Arrays]
) -> Arrays:
    """The running combination along the axis of `op`, in order (backwards if reversed)."""
    axis = op.attrs["axis"]
    rest = tuple(np.moveaxis(array, axis, 0) for array in operands)
    out = tuple(np.empty_like(array) for array in rest)
    order = range(rest[0].shape[0])
    total: Arrays = ()
    for i in reversed(order) if op.attrs["reverse"] else order:
        here = tuple(array[i : i + 1] for array in rest)
        total = combine(total, here) if total else here
        for array, value in zip(out, total, strict=True):
            array[i : i + 1] = value
    return tuple(np.moveaxis(array, 0, axis) for array in out)
