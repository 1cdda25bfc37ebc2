"""embedding: rows of a table by their indices, and the gradient of the table.

    out[i] = weight[index[i]]      dweight[v] = sum of grad[i] over the i with index[i] = v

Grid: forward one program for each tile of rows. Backward: the indices are sorted (sorting.py); a
program for each chunk of `CHUNK` of them, and each block of columns, adds the rows of equal indices
in the order they had, and stores what begins and ends within the chunk; the parts of longer runs
are added by the program of the chunk where a run begins. No atomics: repeated runs are bit-equal,
and an index that comes often costs no more than others. Sums in f32, f64 for f64.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.numerics import widen
from teeny_kernels.reduce.kernels import TILE, block_of, exact
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.tensor.sorting import KERNELS, sorted_keys
from teeny_kernels.testing import fill
from teeny_macros import kernel
from teeny_triton import Axis, Const, Elem, Float, Ptr, bf16, f16, f32, f64, i32, i64

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from teeny_macros import Kernel

A = TypeVar("A")
D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)
Z = TypeVar("Z", bound=Elem)

DTYPES = (f32, f16, bf16, f64)
INDICES = ("i64", "i32", "i16", "i8", "u8")
CHUNK = 32
WIDEST = 1024
MOST = 2**31 - 2


@kernel(dtypes=(*DTYPES, i64), do_not_specialize=("n_rows", "n_known"))
def embedding_forward_kernel(
    out_ptr: Ptr[D],
    index_ptr: Ptr[i64],
    w_ptr: Ptr[D],
    n_rows: i64 | int,
    n_cols: i64 | int,
    n_known: i64 | int,
    ROWS: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    blocks = tl.cdiv(n_cols, BLOCK_SIZE)
    row = program // blocks * ROWS + tl.arange(0, ROWS)
    col = (program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE))[None, :]
    mask = (row < n_rows)[:, None] & (col < n_cols)
    index = tl.load(index_ptr + row, mask=row < n_rows, other=0)
    known = ((index >= 0) & (index < n_known))[:, None]
    x = tl.load(w_ptr + (index * n_cols)[:, None] + col, mask=mask & known, other=0.0)
    tl.store(out_ptr + (row * n_cols)[:, None] + col, x, mask=mask)


@kernel(dtypes=(i32, i64), do_not_specialize=("n_tokens", "n_known", "padding"))
def known_keys(
    key_ptr: Ptr[i32],
    index_ptr: Ptr[i64],
    n_tokens: i64 | int,
    n_known: i64 | int,
    padding: i64 | int,
    BLOCK_SIZE: Const[int],
) -> None:
    at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = at < n_tokens
    index = tl.load(index_ptr + at, mask=mask, other=0)
    known = (index >= 0) & (index < n_known) & (index != padding)
    tl.store(key_ptr + at, tl.where(known, index, n_known).to(i32), mask=mask)


@kernel(dtypes=(*DTYPES, i32))
def zeros_kernel(out_ptr: Ptr[Z], n_elements: i64 | int, BLOCK_SIZE: Const[int]) -> None:
    at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    zeros = tl.zeros((BLOCK_SIZE,), tl.elem(out_ptr))
    tl.store(out_ptr + at, zeros, mask=at < n_elements)


@kernel(dtypes=(*DTYPES, i32, i64), do_not_specialize=("n_tokens", "n_known"))
def run_sums_kernel(
    dw_ptr: Ptr[D],
    head_ptr: Ptr[C],
    tail_ptr: Ptr[C],
    grad_ptr: Ptr[D],
    key_ptr: Ptr[i32],
    order_ptr: Ptr[i64],
    n_tokens: i64 | int,
    n_cols: i64 | int,
    n_known: i64 | int,
    CHUNK: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    blocks = tl.cdiv(n_cols, BLOCK_SIZE)
    chunk = program // blocks
    col = program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = col < n_cols
    begin = chunk * CHUNK
    end = tl.minimum(begin + CHUNK, n_tokens)
    current = tl.load(key_ptr + begin)
    # Whether the run at hand began in an earlier chunk: then its sum is a part.
    is_part = tl.load(key_ptr + (begin - 1), mask=begin > 0, other=-1) == current
    part = chunk * n_cols + col
    total: Any = widen(tl.zeros((BLOCK_SIZE,), tl.elem(grad_ptr)))
    for at in range(begin, end):
        key = tl.load(key_ptr + at)
        ends = key != current
        whole = ends & (current < n_known)
        row = current.to(i64) * n_cols + col
        tl.store(head_ptr + part, total, mask=mask & (ends & is_part))
        if whole & ~is_part:
            tl.store(dw_ptr + row, total.to(tl.elem(dw_ptr)), mask=mask)
        total = tl.where(ends, 0.0, total)
        is_part = is_part & (key == current)
        current = key
        place = tl.load(order_ptr + at) * n_cols
        total += widen(tl.load(grad_ptr + place + col, mask=mask, other=0.0))
    goes_on = tl.load(key_ptr + end, mask=end < n_tokens, other=-1) == current
    row = current.to(i64) * n_cols + col
    tl.store(head_ptr + part, total, mask=mask & is_part)
    tl.store(tail_ptr + part, total, mask=mask & (goes_on & ~is_part))
    if (current < n_known) & ~is_part & ~goes_on:
        tl.store(dw_ptr + row, total.to(tl.elem(dw_ptr)), mask=mask)


@kernel(dtypes=(*DTYPES, i32), do_not_specialize=("n_tokens", "n_known"))
def join_runs_kernel(
    dw_ptr: Ptr[D],
    head_ptr: Ptr[C],
    tail_ptr: Ptr[C],
    key_ptr: Ptr[i32],
    n_tokens: i64 | int,
    n_cols: i64 | int,
    n_known: i64 | int,
    CHUNK: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    program = tl.program_id(Axis.X).to(i64)
    blocks = tl.cdiv(n_cols, BLOCK_SIZE)
    chunk = program // blocks
    col = program % blocks * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = col < n_cols
    begin = chunk * CHUNK
    end = tl.minimum(begin + CHUNK, n_tokens)
    current = tl.load(key_ptr + (end - 1))
    goes_on = tl.load(key_ptr + end, mask=end < n_tokens, other=-1) == current
    # A run that fills the chunk and began before it is another program's.
    is_part = tl.load(key_ptr + (begin - 1), mask=begin > 0, other=-1) == current
    if goes_on & (current < n_known) & ~is_part:
        total = tl.load(tail_ptr + chunk * n_cols + col, mask=mask, other=0.0)
        follower = chunk
        while goes_on:
            follower += 1
            total += tl.load(head_ptr + follower * n_cols + col, mask=mask, other=0.0)
            last = tl.minimum((follower + 1) * CHUNK, n_tokens)
            goes_on = tl.load(key_ptr + last, mask=last < n_tokens, other=-1) == current
        row = current.to(i64) * n_cols + col
        tl.store(dw_ptr + row, total.to(tl.elem(dw_ptr)), mask=mask)


def embedding(indices: A, weight: A, padding_idx: int | None = None, *, out: A | None = None) -> A:
    """The rows of `weight` (V, D) that `indices`, integers of any shape, name: (..., D).

    `padding_idx` matters for the gradient alone. An index that is none of V gives zeros.

    Raises:
        KernelError: E1202 for a weight that is no matrix, E1203, E1204, E1206, E1207.
    """
    operation = "embedding"
    index, table, _ = _checked(operation, indices, weight, padding_idx)
    columns = table.shape[1]
    result = Output(operation, table, (*index.shape, columns), out=out)
    if result.operand.size:
        width = block_of(columns)
        height = TILE // width
        grid = -(-index.size // height) * -(-columns // width)
        launch: Any = embedding_forward_kernel.options(num_warps=8)[grid]
        launch(
            *(result.operand.array, index.array, contiguous(operation, table).array),
            *(index.size, columns, table.shape[0]),
            ROWS=height,
            BLOCK_SIZE=width,
        )
    found: A = result.finish()
    return found


def embedding_backward(
    grad: A, indices: A, weight: A, padding_idx: int | None = None, *, out: A | None = None
) -> A:
    """The gradient by `weight`, of which only the shape matters; 0 for the row `padding_idx`."""
    operation = "embedding_backward"
    index, table, padding = _checked(operation, indices, weight, padding_idx)
    upstream = operand("grad", grad)
    same_place(operation, [("weight", table), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (table.dtype,))
    rows, columns = table.shape
    if upstream.shape != (*index.shape, columns):
        what = f"`grad` {upstream.shape}, the result is {(*index.shape, columns)}"
        raise E1202.error(operation=operation, what=what).help("give one of its shape")
    result = Output(operation, table, table.shape, out=out)
    if table.size:
        fill_zeros: Any = zeros_kernel.options(num_warps=8)[-(-table.size // 4096)]
        fill_zeros(result.operand.array, table.size, BLOCK_SIZE=4096)
    if upstream.size and rows:
        _sum_runs(operation, result.operand, contiguous(operation, upstream), index, padding)
    found: A = result.finish()
    return found


def _sum_runs(operation: str, result: Operand, grad: Operand, index: Operand, padding: int) -> None:
    (rows, columns), n = result.shape, index.size
    keys = empty(index, (n,), "i32")
    make: Any = known_keys[-(-n // 1024)]
    make(keys.array, index.array, n, rows, padding, BLOCK_SIZE=1024)
    ordered, order = sorted_keys(operation, keys, rows)
    chunks = -(-n // CHUNK)
    heads, tails = (empty(grad, (chunks, columns), exact(grad)) for _ in range(2))
    block = min(WIDEST, block_of(columns))
    grid = chunks * -(-columns // block)
    sums: Any = run_sums_kernel[grid]
    sums(
        *(result.array, heads.array, tails.array, grad.array, ordered.array, order.array),
        *(n, columns, rows),
        CHUNK=CHUNK,
        BLOCK_SIZE=block,
    )
    join: Any = join_runs_kernel[grid]
    join(
        *(result.array, heads.array, tails.array, ordered.array, n, columns, rows),
        CHUNK=CHUNK,
        BLOCK_SIZE=block,
    )


def _checked(
    operation: str, indices: Any, weight: Any, padding_idx: int | None
) -> tuple[Operand, Operand, int]:
    """The indices in i64, contiguous, the weight, and the padding index from 0 on, or -1."""
    index, table = operand("indices", indices), operand("weight", weight)
    same_place(operation, [("indices", index), ("weight", table)])
    require_dtype(operation, "indices", index, INDICES)
    require_dtype(operation, "weight", table, FLOATS)
    if table.ndim != 2 or table.shape[0] > MOST:
        raise E1202.error(operation=operation, what=f"`weight` {table.shape}").help(
            "give a matrix of at most 2^31 - 2 rows"
        )
    padding = -1
    if padding_idx is not None:
        rows = table.shape[0]
        if not -rows <= padding_idx < rows:
            raise E1204.error(operation=operation, name="padding_idx", found=f"{padding_idx}").help(
                f"it is one of the {rows} rows"
            )
        padding = padding_idx % rows
    return contiguous(operation, index, "i64"), table, padding


def _reference(index: Any, weight: Any, padding_idx: int | None = None) -> Any:
    return weight[index]


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    index, weight = arrays
    total = np.zeros(weight.shape, np.longdouble)
    np.add.at(total, index.reshape(-1), grads[0].reshape(-1, weight.shape[1]))
    if options.get("padding_idx") is not None:
        total[options["padding_idx"]] = 0
    return [total.astype(np.float64)]


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    return _slopes([np.abs(grads[0])], arrays, options)


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    shape, (rows, columns) = case.shapes
    # Low indices come often, as words do.
    index = np.minimum(rng.geometric(0.3, shape) - 1, rows - 1) if case.values == "ties" else None
    index = rng.integers(0, rows, shape) if index is None else index
    values = "normal" if case.values == "ties" else case.values
    return [np.asarray(index, np.int64), fill(rng, (rows, columns), values)]


def _case(
    shape: tuple[int, ...], rows: int, columns: int, values: str = "normal", **options: Any
) -> Case:
    return Case((shape, (rows, columns)), options, values)


def _cost(case: Case, itemsize: int) -> Cost:
    return Cost(2 * itemsize * prod(case.shapes[0]) * case.shapes[1][1], 0)


_OWN: tuple[Kernel[...], ...] = (
    embedding_forward_kernel,
    known_keys,
    zeros_kernel,
    run_sums_kernel,
    join_runs_kernel,
)

SPEC = KernelSpec(
    name="embedding",
    family="tensor",
    function=embedding,
    backward=lambda grads, arrays, _outputs, options: (
        embedding_backward(grads[0], *arrays, **options),
    ),
    differentiable=(1,),
    kernels=(*_OWN, *KERNELS),
    formula="weight[index]",
    source="PyTorch, torch.nn.functional.embedding",
    reference=_reference,
    backward_reference=_slopes,
    backward_magnitude=_sizes,
    make=_make,
    torch_name="torch.nn.functional.embedding",
    torch=lambda t, index, weight, **options: t.nn.functional.embedding(index, weight, **options),
    torch_error=1e-13,
    cases=(
        _case((), 5, 3),
        _case((1,), 1, 1),
        _case((0,), 5, 3),
        _case((17,), 5, 8),
        _case((4, 33), 100, 8),
        _case((300,), 7, 8, "ties"),
        _case((2000,), 40, 8, "ties"),
        _case((300,), 7, 8, "ties", padding_idx=0),
        _case((64,), 5, 8, "ties", padding_idx=-1),
        _case((2, 3, 4), 9, 70, "special"),
        _case((40,), 300, 1030, "wide"),
        _case((1000,), 1, 8),
    ),
    tolerance=Tolerance(0, "a copy"),
    backward_tolerance=Tolerance(64, "a sum of rows, one after the other within chunks of 32"),
    cost=_cost,
    benchmarks=(_case((32768,), 32768, 4096), _case((32768,), 32768, 4096, "ties")),
)
