"""Joining arrays along an axis, cutting one into parts, and joining axes; forward and backward.

`cat` and `chunk` are each the other's gradient. Every result is an array of its own, `flatten`'s
too. Grid: one program for each tile of rows and columns that is copied; the axes before the joined
one are rows, and a row of each array lies contiguous. Any dtype; bits are kept.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, normal_axis, require_dtype
from teeny_kernels.reduce.kernels import TILE, block_of
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance
from teeny_macros import kernel
from teeny_triton import (
    Axis,
    Const,
    Elem,
    Ptr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
    u8,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

A = TypeVar("A")
D = TypeVar("D", bound=Elem)

DTYPES = (f32, f16, bf16, f64, i64, i32, i16, i8, u8, i1)


@kernel(dtypes=DTYPES, do_not_specialize=("n_rows",))
def copy_columns(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_rows: i64 | int,
    n_cols: i64 | int,
    out_step: i64 | int,
    out_start: i64 | int,
    x_step: i64 | int,
    x_start: i64 | int,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    blocks = tl.cdiv(n_cols, BLOCK_SIZE)
    row = (program // blocks * ROWS + tl.arange(0, ROWS))[:, None]
    col = (program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))[None, :]
    mask = (row < n_rows) & (col < n_cols)
    x = tl.load(x_ptr + row * x_step + x_start + col, mask=mask)
    tl.store(out_ptr + row * out_step + out_start + col, x, mask=mask)


def cat(arrays: Sequence[A], axis: int = 0, *, out: A | None = None) -> A:
    """The arrays one after the other along `axis`, as `torch.cat`.

    They are of one dtype, and of one shape but for `axis`.

    Raises:
        KernelError: E1202 for shapes that do not fit and for no array, E1203, E1205-E1207.
    """
    return _cat("cat", arrays, axis, out)


def cat_backward(grad: A, arrays: Sequence[A], axis: int = 0) -> tuple[A, ...]:
    """The part of `grad` that belongs to each array; of these only the shapes matter."""
    return _cat_backward("cat_backward", grad, arrays, axis)


def channel_cat(arrays: Sequence[A], axis: int = 1, *, out: A | None = None) -> A:
    """`cat` along the channels of arrays (N, C, ...)."""
    return _cat("channel_cat", arrays, axis, out)


def channel_cat_backward(grad: A, arrays: Sequence[A], axis: int = 1) -> tuple[A, ...]:
    """The part of `grad` that belongs to each array; of these only the shapes matter."""
    return _cat_backward("channel_cat_backward", grad, arrays, axis)


def chunk(x: A, chunks: int, axis: int = 0) -> tuple[A, ...]:
    """`x` cut along `axis` into at most `chunks` parts, as `torch.chunk`; each is a copy.

    All are of ceil(n / chunks) elements but the last, which may be smaller.

    Raises:
        KernelError: E1201, E1203, E1204 for fewer than one part, E1205.
    """
    return _chunk("chunk", x, chunks, axis)


def chunk_backward(grads: Sequence[A], x: A, chunks: int, axis: int = 0) -> A:
    """The gradient by x of `chunk`: the gradients of the parts, joined again."""
    return _chunk_backward("chunk_backward", grads, x, chunks, axis)


def channel_chunk(x: A, chunks: int, axis: int = 1) -> tuple[A, ...]:
    """`chunk` along the channels of an array (N, C, ...)."""
    return _chunk("channel_chunk", x, chunks, axis)


def channel_chunk_backward(grads: Sequence[A], x: A, chunks: int, axis: int = 1) -> A:
    """The gradient by x of `channel_chunk`: the gradients of the parts, joined again."""
    return _chunk_backward("channel_chunk_backward", grads, x, chunks, axis)


def flatten(x: A, start_dim: int = 0, end_dim: int = -1, *, out: A | None = None) -> A:
    """A copy of `x` whose axes from `start_dim` to `end_dim` are one, as `torch.flatten`.

    Raises:
        KernelError: E1201, E1203, E1204 when `end_dim` comes before `start_dim`, E1205, E1207.
    """
    source = operand("x", x)
    shape = _flat("flatten", source, start_dim, end_dim)
    result = Output("flatten", source, shape, out=out)
    _copied("flatten", result.operand, source)
    found: A = result.finish()
    return found


def flatten_backward(grad: A, x: A, start_dim: int = 0, end_dim: int = -1) -> A:
    """`grad` in the shape of `x`; of `x` only the shape matters."""
    source, upstream = operand("x", x), operand("grad", grad)
    same_place("flatten_backward", [("x", source), ("grad", upstream)])
    shape = _flat("flatten_backward", source, start_dim, end_dim)
    if upstream.shape != shape:
        what = f"`grad` {upstream.shape}, the result is {shape}"
        raise E1202.error(operation="flatten_backward", what=what).help("give one of its shape")
    result = Output("flatten_backward", upstream, source.shape)
    _copied("flatten_backward", result.operand, upstream)
    found: A = result.finish()
    return found


def _copied(operation: str, target: Operand, source: Operand) -> None:
    count = (source.size,)
    _place(target, contiguous(operation, source), count, 0, (source.size, 0), (source.size, 0))


def _flat(operation: str, x: Operand, start_dim: int, end_dim: int) -> tuple[int, ...]:
    if not x.ndim and {start_dim, end_dim} <= {0, -1}:
        return (1,)
    first, last = (normal_axis(operation, own, x.ndim) for own in (start_dim, end_dim))
    if last < first:
        raise E1204.error(operation=operation, name="end_dim", found=f"{end_dim}").help(
            f"it comes after `start_dim`, which is {start_dim}"
        )
    return (*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :])


def _given(
    operation: str, arrays: Sequence[Any], axis: int, called: str = "arrays"
) -> tuple[list[Operand], int]:
    if not len(arrays):
        raise E1202.error(operation=operation, what="no array was given").help("give at least one")
    names = [f"{called}[{at}]" for at in range(len(arrays))]
    given = [(name, operand(name, own)) for name, own in zip(names, arrays, strict=True)]
    same_place(operation, given)
    first = given[0][1]
    at = normal_axis(operation, axis, first.ndim)
    for name, own in given:
        require_dtype(operation, name, own, (first.dtype,))
        fits = own.ndim == first.ndim and all(
            one == other or side == at
            for side, (one, other) in enumerate(zip(own.shape, first.shape, strict=True))
        )
        if not fits:
            what = f"`{names[0]}` {first.shape}, `{name}` {own.shape}"
            raise E1202.error(operation=operation, what=what).help(
                f"give arrays that differ along axis {axis} alone"
            )
    require_dtype(operation, names[0], first, copy_columns.dtypes)
    return [own for _, own in given], at


def _joined(first: Operand, sides: Sequence[int], at: int) -> tuple[int, ...]:
    return (*first.shape[:at], sum(sides), *first.shape[at + 1 :])


def _cat(operation: str, arrays: Sequence[Any], axis: int, out: Any) -> Any:
    given, at = _given(operation, arrays, axis)
    sides = [own.shape[at] for own in given]
    result = Output(operation, given[0], _joined(given[0], sides, at), out=out)
    start = 0
    for own, side in zip(given, sides, strict=True):
        ready = contiguous(operation, own)
        _place(result.operand, ready, ready.shape, at, (sum(sides), start), (side, 0))
        start += side
    return result.finish()


def _cat_backward(operation: str, grad: Any, arrays: Sequence[Any], axis: int) -> tuple[Any, ...]:
    given, at = _given(operation, arrays, axis)
    upstream = operand("grad", grad)
    same_place(operation, [("arrays[0]", given[0]), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (given[0].dtype,))
    sides = [own.shape[at] for own in given]
    shape = _joined(given[0], sides, at)
    if upstream.shape != shape:
        what = f"`grad` {upstream.shape}, the result is {shape}"
        raise E1202.error(operation=operation, what=what).help("give one of its shape")
    return _cut(operation, upstream, at, sides)


def _cut(operation: str, x: Operand, at: int, sides: Sequence[int]) -> tuple[Any, ...]:
    ready = contiguous(operation, x)
    found: list[Any] = []
    start = 0
    for side in sides:
        shape = (*x.shape[:at], side, *x.shape[at + 1 :])
        result = Output(operation, x, shape)
        _place(result.operand, ready, shape, at, (side, 0), (x.shape[at], start))
        found.append(result.finish())
        start += side
    return tuple(found)


def _parts(operation: str, chunks: int, side: int) -> list[int]:
    if chunks < 1:
        raise E1204.error(operation=operation, name="chunks", found=f"{chunks!r}").help(
            "give at least 1"
        )
    if not side:
        return [0] * chunks
    share = -(-side // chunks)
    return [min(share, side - start) for start in range(0, side, share)]


def _chunk(operation: str, x: Any, chunks: int, axis: int) -> tuple[Any, ...]:
    source = operand("x", x)
    require_dtype(operation, "x", source, copy_columns.dtypes)
    at = normal_axis(operation, axis, source.ndim)
    return _cut(operation, source, at, _parts(operation, chunks, source.shape[at]))


def _chunk_backward(operation: str, grads: Sequence[Any], x: Any, chunks: int, axis: int) -> Any:
    source = operand("x", x)
    given, at = _given(operation, grads, axis, "grads")
    same_place(operation, [("x", source), ("grads[0]", given[0])])
    wanted = _parts(operation, chunks, source.shape[normal_axis(operation, axis, source.ndim)])
    sides = [own.shape[at] for own in given]
    if sides != wanted or _joined(given[0], sides, at) != source.shape:
        what = f"`x` {source.shape}, gradients {', '.join(str(own.shape) for own in given)}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of each part")
    return _cat(operation, grads, axis, None)


def _place(
    target: Operand,
    source: Operand,
    shape: Sequence[int],
    at: int,
    to: tuple[int, int],
    of: tuple[int, int],
) -> None:
    """Copy elements of `shape` between arrays of so many elements along `at`, from a start on."""
    inner = prod(shape[at + 1 :])
    rows, columns = prod(shape[:at]), shape[at] * inner
    if not rows * columns:
        return
    width = block_of(columns)
    height = TILE // width
    launch: Any = copy_columns.options(num_warps=8)[-(-rows // height) * -(-columns // width)]
    launch(
        target.array,
        source.array,
        *(rows, columns),
        *(own * inner for own in (*to, *of)),
        ROWS=height,
        BLOCK_SIZE=width,
    )


def _torch_parts(t: Any, x: Any, chunks: int, axis: int = 1) -> Any:
    return [own * 1 for own in t.chunk(x, chunks, axis)]


def _reference_parts(x: np.ndarray, chunks: int, axis: int = 1) -> list[np.ndarray]:
    share = -(-x.shape[axis] // chunks)
    if not share:
        return [x] * chunks
    return np.split(x, range(share, x.shape[axis], share), axis)


def _reference_flat(x: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> np.ndarray:
    last = end_dim % x.ndim if x.ndim else 0
    return x.reshape(*x.shape[:start_dim], -1 if x.size else 0, *x.shape[last + 1 :])


def _cost(case: Case, itemsize: int) -> Cost:
    return Cost(2 * itemsize * sum(prod(shape) for shape in case.shapes), 0)


def _cat_slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    axis = options.get("axis", 1)
    ends = np.cumsum([own.shape[axis] for own in arrays])[:-1]
    return np.split(grads[0], ends, axis)


_COPY = Tolerance(0, "a copy")
_LARGE = (64, 256, 56, 56)

SPECS = (
    KernelSpec(
        name="channel_cat",
        family="tensor",
        function=channel_cat,
        call=lambda *arrays, **options: channel_cat(arrays, **options),
        backward=lambda grads, arrays, _outputs, options: channel_cat_backward(
            grads[0], arrays, **options
        ),
        differentiable=(0, 1, 2),
        kernels=(copy_columns,),
        formula="x_1, ..., x_n one after the other",
        source="ONNX, Concat",
        reference=lambda *arrays, axis=1: np.concatenate(arrays, axis),
        backward_reference=_cat_slopes,
        torch_name="torch.cat",
        torch=lambda t, *tensors, axis=1: t.cat(tensors, axis),
        cases=(
            Case(((2, 3),)),
            Case(((0, 3), (0, 2))),
            Case(((4, 0), (4, 5))),
            Case(((1, 1), (1, 1), (1, 1))),
            Case(((2, 3, 5, 7), (2, 4, 5, 7))),
            Case(((2, 3, 5, 7), (2, 3, 5, 7)), {"axis": 0}),
            Case(((17,), (1,), (30,)), {"axis": 0}, "special"),
            Case(((9, 33), (9, 64), (9, 3)), {"axis": -1}, "special"),
            Case(((3, 5000), (3, 77))),
            Case(((600, 3), (600, 2)), {}, "ties"),
            Case(((40, 16), (3, 16)), {"axis": 0}, "wide"),
            Case(((5, 4, 6), (5, 4, 1)), {"axis": 2}, "integers"),
        ),
        tolerance=_COPY,
        cost=_cost,
        benchmarks=(Case((_LARGE, _LARGE)),),
    ),
    KernelSpec(
        name="channel_chunk",
        family="tensor",
        function=channel_chunk,
        backward=lambda grads, arrays, _outputs, options: (
            channel_chunk_backward(grads, arrays[0], **options),
        ),
        kernels=(copy_columns,),
        formula="x[k s : (k + 1) s] for each k, s = ceil(n / chunks)",
        source="ONNX, Split",
        reference=_reference_parts,
        backward_reference=lambda grads, arrays, options: (
            np.concatenate(grads, options.get("axis", 1)),
        ),
        torch_name="torch.chunk",
        torch=_torch_parts,
        cases=tuple(
            Case((shape,), {"chunks": chunks, **axis}, values)
            for shape, chunks, axis, values in (
                ((2, 3), 1, {}, "normal"),
                ((2, 3), 5, {}, "normal"),
                ((0, 6), 2, {}, "normal"),
                ((4, 0), 3, {}, "normal"),
                ((1, 1), 1, {}, "normal"),
                ((2, 7, 5, 3), 2, {}, "normal"),
                ((9, 3, 5), 4, {"axis": 0}, "special"),
                ((33, 64), 4, {"axis": -1}, "special"),
                ((3, 5001), 2, {}, "wide"),
                ((600, 6), 3, {}, "ties"),
                ((17,), 3, {"axis": 0}, "normal"),
                ((5, 4, 6), 2, {"axis": 2}, "integers"),
            )
        ),
        tolerance=_COPY,
        cost=_cost,
        benchmarks=(Case((_LARGE,), {"chunks": 2}),),
    ),
    KernelSpec(
        name="flatten",
        family="tensor",
        function=flatten,
        backward=lambda grads, arrays, _outputs, options: (
            flatten_backward(grads[0], arrays[0], **options),
        ),
        kernels=(copy_columns,),
        formula="x with some axes as one",
        source="ONNX, Flatten",
        reference=_reference_flat,
        backward_reference=lambda grads, arrays, options: (grads[0].reshape(arrays[0].shape),),
        torch_name="torch.flatten",
        torch=lambda t, x, **options: t.flatten(x, **options) * 1,
        cases=tuple(
            Case((shape,), options, values)
            for shape, options, values in (
                ((), {}, "normal"),
                ((1,), {}, "normal"),
                ((17,), {}, "special"),
                ((2, 3), {}, "normal"),
                ((2, 3, 5, 7), {}, "special"),
                ((2, 3, 5, 7), {"start_dim": 1}, "normal"),
                ((2, 3, 5, 7), {"start_dim": 1, "end_dim": 2}, "normal"),
                ((2, 3, 5, 7), {"end_dim": -2}, "ties"),
                ((0, 4), {}, "normal"),
                ((3, 0, 5), {}, "normal"),
                ((33, 77), {}, "wide"),
                ((9, 11), {}, "integers"),
            )
        ),
        tolerance=_COPY,
        cost=_cost,
        benchmarks=(Case((_LARGE,), {"start_dim": 1}),),
    ),
)
