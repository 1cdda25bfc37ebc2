"""Pointwise kernels over arrays of unequal strides: what repeats or has gaps is read where it lies.

Grid: one program for each tile of the output, `ROWS` of the leading axes by `BLOCK_SIZE` elements
of the last one. The output is contiguous, and no input unless it has its layout. Up to four axes
that cannot be joined; computed in f32 for f16 and bf16, else in the dtype of the first input.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, row_major
from teeny_kernels.elementwise.templates import FLOATS
from teeny_kernels.layout import Output, contiguous, expanded, joined
from teeny_kernels.numerics import number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Elem, Ptr, Tensor, f64, i64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)
F = TypeVar("F", bound=Elem)
G = TypeVar("G", bound=Elem)

LEADING_AXES = 3
_TILE_BYTES = 8192  # 32 bytes of the widest array for each of 256 threads

# Their values are worth no other compilation.
_PLAIN = ("n_rows", "size_1", "size_2", "alpha", "beta")


@device
def leading_offsets(
    row: Tensor[i64, Any],
    size_1: i64 | int,
    size_2: i64 | int,
    stride_0: i64 | int,
    stride_1: i64 | int,
    stride_2: i64 | int,
    LEADING: Const[int],
) -> Tensor[i64, Any]:
    """Where rows, counted over up to three leading axes, begin in an array."""
    offset = row * 0
    if LEADING > 2:
        offset += (row % size_2) * stride_2
        row = row // size_2
    if LEADING > 1:
        offset += (row % size_1) * stride_1
        row = row // size_1
    return offset + row * stride_0


def broadcasting(
    name: str,
    formula: Callable[..., Any],
    *,
    inputs: int = 2,
    scalars: int = 0,
    dtypes: Sequence[Any] = FLOATS,
) -> Kernel[...]:
    """The kernel `name` that stores `formula(*elements, *numbers)` of two or three arrays."""
    return (_two, _three)[inputs - 2](name, formula, scalars, dtypes)


def _two(
    name: str, formula: Callable[..., Any], scalars: int, dtypes: Sequence[Any]
) -> Kernel[...]:
    @kernel(name=name, dtypes=dtypes, do_not_specialize=_PLAIN)
    def broadcasting_2(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        y_ptr: Ptr[F],
        n_rows: i64 | int,
        n_cols: i64 | int,
        size_1: i64 | int,
        size_2: i64 | int,
        x_stride_0: i64 | int,
        x_stride_1: i64 | int,
        x_stride_2: i64 | int,
        x_stride: i64 | int,
        y_stride_0: i64 | int,
        y_stride_1: i64 | int,
        y_stride_2: i64 | int,
        y_stride: i64 | int,
        alpha: f64 | float,
        beta: f64 | float,
        LEADING: Const[int],
        ROWS: Const[int],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        blocks = tl.cdiv(n_cols, BLOCK_SIZE)
        row = program // blocks * ROWS + tl.arange(0, ROWS)
        col = (program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))[None, :]
        mask = (row < n_rows)[:, None] & (col < n_cols)
        x_row = leading_offsets(row, size_1, size_2, x_stride_0, x_stride_1, x_stride_2, LEADING)
        y_row = leading_offsets(row, size_1, size_2, y_stride_0, y_stride_1, y_stride_2, LEADING)
        x = widen(tl.load(x_ptr + x_row[:, None] + col * x_stride, mask=mask))
        y = widen(tl.load(y_ptr + y_row[:, None] + col * y_stride, mask=mask))
        if scalars == 0:
            z = formula(x, y)
        elif scalars == 1:
            z = formula(x, y, number(alpha, x))
        else:
            z = formula(x, y, number(alpha, x), number(beta, x))
        at = (row * n_cols)[:, None] + col
        tl.store(out_ptr + at, z.to(tl.elem(out_ptr)), mask=mask)

    return broadcasting_2


def _three(
    name: str, formula: Callable[..., Any], scalars: int, dtypes: Sequence[Any]
) -> Kernel[...]:
    @kernel(name=name, dtypes=dtypes, do_not_specialize=_PLAIN)
    def broadcasting_3(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        y_ptr: Ptr[F],
        z_ptr: Ptr[G],
        n_rows: i64 | int,
        n_cols: i64 | int,
        size_1: i64 | int,
        size_2: i64 | int,
        x_stride_0: i64 | int,
        x_stride_1: i64 | int,
        x_stride_2: i64 | int,
        x_stride: i64 | int,
        y_stride_0: i64 | int,
        y_stride_1: i64 | int,
        y_stride_2: i64 | int,
        y_stride: i64 | int,
        z_stride_0: i64 | int,
        z_stride_1: i64 | int,
        z_stride_2: i64 | int,
        z_stride: i64 | int,
        alpha: f64 | float,
        beta: f64 | float,
        LEADING: Const[int],
        ROWS: Const[int],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        blocks = tl.cdiv(n_cols, BLOCK_SIZE)
        row = program // blocks * ROWS + tl.arange(0, ROWS)
        col = (program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))[None, :]
        mask = (row < n_rows)[:, None] & (col < n_cols)
        x_row = leading_offsets(row, size_1, size_2, x_stride_0, x_stride_1, x_stride_2, LEADING)
        y_row = leading_offsets(row, size_1, size_2, y_stride_0, y_stride_1, y_stride_2, LEADING)
        z_row = leading_offsets(row, size_1, size_2, z_stride_0, z_stride_1, z_stride_2, LEADING)
        x = widen(tl.load(x_ptr + x_row[:, None] + col * x_stride, mask=mask))
        y = widen(tl.load(y_ptr + y_row[:, None] + col * y_stride, mask=mask))
        z = widen(tl.load(z_ptr + z_row[:, None] + col * z_stride, mask=mask))
        if scalars == 0:
            w = formula(x, y, z)
        elif scalars == 1:
            w = formula(x, y, z, number(alpha, x))
        else:
            w = formula(x, y, z, number(alpha, x), number(beta, x))
        at = (row * n_cols)[:, None] + col
        tl.store(out_ptr + at, w.to(tl.elem(out_ptr)), mask=mask)

    return broadcasting_3


def launch_broadcasting(
    operation: str,
    kernel: Kernel[...],
    arrays: Sequence[Operand],
    shape: Sequence[int],
    scalars: Sequence[float] = (),
    *,
    like: Operand | None = None,
    out: Any = None,
    dtype: str | None = None,
) -> Output:
    """The result, of `shape` and of the dtype of `like` (else of the first), of a kernel.

    The arrays broadcast to `shape`; their dtypes may differ. Raises E1207.
    """
    result = Output(operation, like or arrays[0], shape, dtype=dtype, out=out)
    if not result.operand.size:
        return result
    ready = [expanded(own, shape) for own in arrays]
    run, ready = plan_broadcasting(operation, kernel, ready, result.operand)
    run(result.operand.array, [own.array for own in ready], scalars)
    return result


def plan_broadcasting(
    operation: str, kernel: Kernel[...], arrays: list[Operand], target: Operand
) -> tuple[Callable[[Any, Sequence[Any], Sequence[float]], None], list[Operand]]:
    """The launch that fills `target`, of the shape that all `arrays` have, and what it reads.

    That is the arrays, or copies without gaps where they have too many axes.
    """
    ready, shape = arrays, target.shape
    sides, strides = joined(shape, *(own.strides for own in ready), row_major(shape))
    if len(sides) > LEADING_AXES + 1:
        ready = [contiguous(operation, own) for own in ready]
        sides, strides = [prod(shape)], [[1] for _ in ready]
    if not sides:
        sides, strides = [1], [[0] for _ in ready]
    cols, leading = sides[-1], sides[:-1]
    rows = prod(leading)
    itemsize = max(ITEMSIZES[own.dtype] for own in (*ready, target))
    tile = _TILE_BYTES // itemsize
    block = 4  # powers of four: few kernels to compile
    while block < cols and block < tile:
        block = min(4 * block, tile)
    height = tile // block
    missing = LEADING_AXES - len(leading)
    steps: list[int] = []
    for own in strides[: len(ready)]:
        steps += [*own[:-1], *[0] * missing, own[-1]]
    size_1, size_2 = (*leading[1:], 1, 1)[:2]
    grid = -(-rows // height) * -(-cols // block)
    tuned: Any = kernel.options(num_warps=8)
    sizes, axes = (rows, cols, size_1, size_2, *steps), max(1, len(leading))

    def run(out: Any, given: Sequence[Any], scalars: Sequence[float]) -> None:
        alpha, beta = (*scalars, 0.0, 0.0)[:2]
        tuned[grid](out, *given, *sizes, alpha, beta, LEADING=axes, ROWS=height, BLOCK_SIZE=block)

    return run, ready
