"""topk: the largest elements of rows, or the smallest, in order, with where they lie.

Order: a NaN is greater than every number, and of equal elements the first comes first. Grid: one
program for each row, or for each chunk of 4096 elements of one, whose best are then chosen from
in turn. An element and its place are one 64-bit key, so that every order is strict and repeated
runs are bit-equal (bitonic networks, Batcher 1968); elements of f64 fill a key alone, and a program
for each chosen one then finds its place. The gradient goes to the chosen elements.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, copy, normal_axis, permuted, require_dtype, reshaped
from teeny_kernels.rows import Rows, as_rows, block_of, from_rows
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.tensor.embedding import zeros_kernel
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Elem, Ptr, bf16, f16, f32, f64, i32, i64

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

A = TypeVar("A")
D = TypeVar("D", bound=Elem)
F = TypeVar("F", bound=Elem)

TAKEN = (*FLOATS, "i32")
CHUNK = 4096
LOW = 0xFFFFFFFF
LEAST = -(2**63)
MOST = 2048  # elements asked for of rows of more than one chunk


@device
def ordered(x: Any) -> Any:
    """An i64 in the order of x, within 32 bits unless x is of f64; -0 is 0, a NaN the greatest."""
    if x.dtype == f64:
        long = (x + 0.0).to(i64, bitcast=True)
        long = tl.where(long < 0, long ^ 0x7FFFFFFFFFFFFFFF, long)
        return tl.where(x != x, 0x7FFFFFFFFFFFFFFF, long)
    if x.dtype == i32:
        return x.to(i64)
    wide = x.to(f32) + 0.0
    bits = wide.to(i32, bitcast=True)
    own = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    return tl.where(wide != wide, 0x7FFFFFFF, own).to(i64)


@kernel(dtypes=(f32, f16, bf16, f64, i32, i64), do_not_specialize=("n_chunks", "n_kept"))
def topk_kernel(
    value_ptr: Ptr[D] | None,
    index_ptr: Ptr[i64],
    x_ptr: Ptr[D],
    key_ptr: Ptr[i64] | None,
    n_cols: i64 | int,
    n_keys: i64 | int,
    n_chunks: i64 | int,
    n_kept: i64 | int,
    LARGEST: Const[bool],
    KEPT: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    row = program // n_chunks
    start = program % n_chunks * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_keys - start
    if key_ptr is not None:
        key = tl.load(key_ptr + row * n_keys + start + lanes, mask=mask, other=LEAST)
    else:
        own = ordered(tl.load(x_ptr + row * n_cols + start + lanes, mask=mask, other=0))
        own = own if LARGEST else -1 - own
        if tl.elem(x_ptr) == f64:
            key = tl.where(mask, own, LEAST)
        else:
            key = tl.where(mask, own * 0x100000000 + (LOW - (start + lanes)), LEAST)
    best = tl.topk(key, KEPT)
    place = tl.arange(0, KEPT)
    if value_ptr is not None:
        index: Any = LOW - (best & LOW)
        there = place < n_kept
        value = tl.load(x_ptr + row * n_cols + index, mask=there)
        tl.store(value_ptr + row * n_kept + place, value, mask=there)
        tl.store(index_ptr + row * n_kept + place, index, mask=there)
    else:
        tl.store(index_ptr + program * KEPT + place, best)


@kernel(dtypes=(f64, i64), do_not_specialize=("n_kept",))
def locate_kernel(
    value_ptr: Ptr[D],
    index_ptr: Ptr[i64],
    x_ptr: Ptr[D],
    key_ptr: Ptr[i64],
    n_cols: i64 | int,
    n_kept: i64 | int,
    LARGEST: Const[bool],
    KEPT: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    row = program // n_kept
    rank = program % n_kept
    ranks = tl.arange(0, KEPT)
    key = tl.load(key_ptr + row * KEPT + rank)
    equal = tl.load(key_ptr + row * KEPT + ranks) == key
    # Which of the elements that are equal it is.
    wanted = tl.sum((equal & (ranks < rank)).to(i64), axis=0) + 1
    lanes = tl.arange(0, BLOCK_SIZE)
    seen = wanted * 0
    found = wanted * 0
    for start in range(0, n_cols, BLOCK_SIZE):
        mask = lanes < n_cols - start
        own = ordered(tl.load(x_ptr + row * n_cols + start + lanes, mask=mask, other=0))
        own = own if LARGEST else -1 - own
        hits = (mask & (own == key)).to(i64)
        here = (hits == 1) & (tl.cumsum(hits, axis=0) + seen == wanted)
        found += tl.sum(tl.where(here, start + lanes, 0), axis=0)
        seen += tl.sum(hits, axis=0)
    tl.store(index_ptr + program, found)
    tl.store(value_ptr + program, tl.load(x_ptr + (row * n_cols + found)))


@kernel(dtypes=(f32, f16, bf16, f64, i32, i64), do_not_specialize=("n_elements",))
def topk_backward_kernel(
    dx_ptr: Ptr[F],
    grad_ptr: Ptr[F],
    index_ptr: Ptr[i64],
    n_elements: i64 | int,
    n_cols: i64 | int,
    n_kept: i64 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_elements
    index = tl.load(index_ptr + at, mask=mask, other=0)
    known = mask & (index >= 0) & (index < n_cols)
    grad = tl.load(grad_ptr + at, mask=mask, other=0)
    tl.store(dx_ptr + at // n_kept * n_cols + index, grad, mask=known)


def topk(
    x: A,
    k: int,
    axis: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: A002
) -> tuple[A, A]:
    """The `k` largest elements along `axis` in order, and their places, in i64; or the smallest.

    A NaN is greater than every number; of equal elements the first comes first. The results are in
    order for `sorted=False` too. `x` is of floats or i32.

    Raises:
        KernelError: E1201, E1203, E1205; E1204 when the axis has no `k` elements, and for more than
            2048 of an axis of more than 4096.
    """
    source = operand("x", x)
    require_dtype("topk", "x", source, TAKEN)
    at = normal_axis("topk", axis, source.ndim)
    side = source.shape[at]
    if not 0 <= k <= side or (k > MOST and side > CHUNK):
        most = side if side <= CHUNK else min(side, MOST)
        raise E1204.error(operation="topk", name="k", found=f"{k}").help(
            f"it lies within 0 and {most}"
        )
    rows = as_rows("topk", source, at)
    shape = (*source.shape[:at], k, *source.shape[at + 1 :])
    results = [Output("topk", source, shape, dtype=dtype) for dtype in (source.dtype, "i64")]
    flat = [empty(source, (rows.rows, k), own.operand.dtype) for own in results]
    if at == source.ndim - 1:
        flat = [reshaped(own.operand, (rows.rows, k)) for own in results]
    if flat[0].size:
        _choose(rows, k, largest, *flat)
    if at != source.ndim - 1:
        for own, made in zip(results, flat, strict=True):
            copy("topk", own.operand, from_rows(made, rows._replace(shape=(*rows.shape[:-1], k))))
    values, places = (own.finish() for own in results)
    return values, places


def topk_backward(grad: A, indices: A, x: A, axis: int = -1, *, out: A | None = None) -> A:
    """The gradient by `x` of `topk`: `grad`, that of the values, at `indices`, and 0 elsewhere.

    Of `x` only the shape matters.
    """
    operation = "topk_backward"
    source, upstream, index = operand("x", x), operand("grad", grad), operand("indices", indices)
    same_place(operation, [("x", source), ("grad", upstream), ("indices", index)])
    require_dtype(operation, "x", source, TAKEN)
    require_dtype(operation, "grad", upstream, (source.dtype,))
    require_dtype(operation, "indices", index, ("i64",))
    at = normal_axis(operation, axis, source.ndim)
    others = source.shape[:at], source.shape[at + 1 :]
    if upstream.shape != index.shape or (index.shape[:at], index.shape[at + 1 :]) != others:
        what = f"`x` {source.shape}, `grad` {upstream.shape}, `indices` {index.shape}"
        raise E1202.error(operation=operation, what=what).help("give those of the result")
    columns, kept = source.shape[at], index.shape[at]
    flat = empty(source, (source.size,))
    if source.size:
        fill_zeros: Any = zeros_kernel.options(num_warps=8)[-(-source.size // 4096)]
        fill_zeros(flat.array, source.size, BLOCK_SIZE=4096)
    if index.size:
        own, places = (as_rows(operation, given, at).array for given in (upstream, index))
        launch: Any = topk_backward_kernel[-(-index.size // 1024)]
        arrays = (flat.array, own.array, places.array)
        launch(*arrays, index.size, columns, kept, BLOCK_SIZE=1024)
    result = Output(operation, source, source.shape, out=out)
    order = [own for own in range(source.ndim) if own != at]
    order.append(at)
    shape = tuple(source.shape[own] for own in order)
    back = [order.index(own) for own in range(source.ndim)]
    copy(operation, result.operand, permuted(reshaped(flat, shape), back))
    found: A = result.finish()
    return found


def _choose(rows: Rows, k: int, largest: bool, values: Operand, places: Operand) -> None:
    """The best of each chunk, then the best of these, until one chunk is left."""
    kept = block_of(k)
    keys: Operand | None = None
    left = rows.columns
    alone = rows.array.dtype == "f64"
    while True:
        block = min(CHUNK, max(block_of(left), kept, 2))
        chunks = -(-left // block)
        last = chunks == 1
        direct = last and not alone
        target = places if direct else empty(rows.array, (rows.rows, chunks * kept), "i64")
        launch: Any = topk_kernel.options(num_warps=8 if block > 1024 else 4)[rows.rows * chunks]
        launch(
            *(values.array if direct else None, target.array, rows.array.array),
            *(None if keys is None else keys.array, rows.columns, left, chunks, k),
            LARGEST=largest,
            KEPT=kept,
            BLOCK_SIZE=block,
        )
        keys, left = target, chunks * kept
        if last:
            break
    if alone:
        locate: Any = locate_kernel[rows.rows * k]
        locate(
            *(values.array, places.array, rows.array.array, keys.array, rows.columns, k),
            LARGEST=largest,
            KEPT=kept,
            BLOCK_SIZE=1024,
        )


def _reference(x: np.ndarray, k: int, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    keys = -x if largest else x
    # NumPy sorts NaN behind everything: for the largest it has to come first.
    order = np.argsort(keys, axis=axis, kind="stable")
    if largest and x.dtype.kind == "f":
        last = np.argsort(~np.isnan(np.take_along_axis(x, order, axis)), axis=axis, kind="stable")
        order = np.take_along_axis(order, last, axis)
    order = np.take(order, range(k), axis)
    return np.take_along_axis(x, order, axis), order


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    x = arrays[0]
    found = np.zeros(x.shape)
    np.put_along_axis(found, _reference(x, **options)[1], grads[0], options.get("axis", -1))
    return [found]


def _back(
    grads: Sequence[Any], arrays: Sequence[Any], outputs: Any, options: Mapping[str, Any]
) -> Sequence[Any]:
    return (topk_backward(grads[0], outputs[1], arrays[0], options.get("axis", -1)),)


def _torch(t: Any, x: Any, k: int, axis: int = -1, largest: bool = True) -> tuple[Any, Any]:
    # torch.topk itself leaves open which of equal elements it takes.
    values, order = t.sort(x, dim=axis, descending=largest, stable=True)
    best = t.topk(x, k, axis, largest, True).values
    chosen = values.narrow(axis, 0, k)
    assert t.equal(t.nan_to_num(best, nan=7.0), t.nan_to_num(chosen, nan=7.0))
    # Sorted values, whose gradients go where they lie; topk's would, among equals, elsewhere.
    return chosen, order.narrow(axis, 0, k)


def _cost(case: Case, itemsize: int) -> Cost:
    return Cost(itemsize * prod(case.shapes[0]), 0)


def _case(shape: tuple[int, ...], k: int, values: str = "normal", **options: Any) -> Case:
    return Case((shape,), {"k": k, **options}, values)


SPEC = KernelSpec(
    name="topk",
    family="tensor",
    function=topk,
    backward=_back,
    backward_reference=_slopes,
    differentiable_outputs=1,
    kernels=(topk_kernel, locate_kernel, topk_backward_kernel),
    formula="the k largest of x, in order, and their places",
    source="PyTorch, torch.topk; Batcher 1968",
    reference=_reference,
    torch_name="torch.topk",
    torch=_torch,
    outputs=2,
    cases=(
        _case((1,), 1),
        _case((0, 5), 2),
        _case((3, 7), 0),
        _case((5, 7), 7),
        _case((5, 100), 3),
        _case((5, 100), 3, "ties", largest=False),
        _case((5, 100), 100, "special"),
        _case((5, 100), 100, "special", largest=False),
        _case((100, 5), 4, "ties", axis=0),
        _case((4, 100, 2), 3, axis=1),
        _case((2, 9001), 5),
        _case((1, 9001), 5, "special"),
        _case((5, 100), 3, "integers"),
    ),
    tolerance=Tolerance(0, "elements are chosen"),
    cost=_cost,
    benchmarks=(_case((4096, 32768), 64), _case((1024, 131072), 64)),
)
