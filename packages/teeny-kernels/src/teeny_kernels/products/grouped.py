"""Products of groups of rows with a matrix for each group, as in a mixture of experts.

    out[t] = x[t] y[g], where row t is of group g: offs[g - 1] <= t < offs[g]

The ends of groups lie on the device and are read by the kernels, so that no launch waits for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeVar

import numpy as np

from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.products.grouped_kernels import (
    grouped_described,
    grouped_matrices,
    grouped_rows,
)
from teeny_kernels.products.shapes import SUM_OF_PRODUCTS, check
from teeny_kernels.products.views import described, lies_along, takes_descriptors, turned
from teeny_kernels.spec import Case, Cost, KernelSpec, Tolerance

A = TypeVar("A")


def grouped_mm(x: A, y: A, offs: Any, *, allow_tf32: bool = False) -> A:
    """Rows of x, (t, k), in groups, each times its own matrix of y, (g, k, n): (t, n).

    `offs` (g) of i32 are the ends of the groups, ascending, on the device of x, as
    `torch.nn.functional.grouped_mm` takes them; a group may be empty. Rows after the last are zero.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1206.
    """
    source, w, ends = operand("x", x), operand("y", y), operand("offs", offs)
    _check("grouped_mm", source, w, ends)
    result = Output("grouped_mm", source, (source.shape[0], w.shape[2]))
    _rows(result.operand, source, w, contiguous("grouped_mm", ends), allow_tf32)
    found: A = result.finish()
    return found


def grouped_mm_backward(grad: A, x: A, y: A, offs: Any, *, allow_tf32: bool = False) -> tuple[A, A]:
    """The gradients by x, `grad` times the transpose of each row's matrix, and by y."""
    source, w, ends = operand("x", x), operand("y", y), operand("offs", offs)
    upstream, name = operand("grad", grad), "grouped_mm_backward"
    _check(name, source, w, ends)
    check(name, source, upstream)
    if upstream.shape != (source.shape[0], w.shape[2]):
        what = f"`grad` {upstream.shape}, `x` {source.shape}, `y` {w.shape}"
        raise E1202.error(operation=name, what=what).help("grad is (t, n)")
    ends = contiguous(name, ends)
    dx = Output(name, source, source.shape)
    _rows(dx.operand, upstream, turned(w), ends, allow_tf32)
    dy = Output(name, w, w.shape)
    _matrices(dy.operand, source, upstream, ends, allow_tf32)
    return dx.finish(), dy.finish()


def _check(operation: str, x: Operand, y: Operand, offs: Operand) -> None:
    check(operation, x, y)
    same_place(operation, [("x", x), ("offs", offs)])
    require_dtype(operation, "offs", offs, ("i32",))
    fits = x.ndim == 2 and y.ndim == 3 and x.shape[1] == y.shape[1]
    if not fits or offs.shape != y.shape[:1]:
        what = f"`x` {x.shape}, `y` {y.shape}, `offs` {offs.shape}"
        raise E1202.error(operation=operation, what=what).help("give (t, k), (g, k, n) and (g)")


def _tiles(x: Operand, rows: int) -> tuple[int, int, int, int, int]:
    """Sides of a tile, warps and stages, for so many rows in a group."""
    if x.device == "cpu" or x.dtype in ("f32", "f64"):
        return (64, 64, 32, 4, 2)
    if rows <= 64:
        return (64 if rows > 16 else 16, 128, 64, 4, 4)
    return (128, 128, 64, 8, 4)


def _rows(out: Operand, x: Operand, y: Operand, offs: Operand, allow_tf32: bool) -> None:
    (m, k), (groups, _, n) = x.shape, y.shape
    if not m * n:
        return
    tm, tn, tk, warps, stages = _tiles(x, m // max(groups, 1))
    most = -(-m // tm) + groups
    precision = "tf32" if allow_tf32 and x.dtype == "f32" else "ieee"
    tiles: dict[str, Any] = {
        "PRECISION": precision, "BLOCK_G": 1 << groups.bit_length(), "BLOCK_M": tm,
        "BLOCK_N": tn, "BLOCK_K": tk, "GROUP_M": 8,
    }  # fmt: skip
    launch: Any
    whole = x._replace(shape=(1, m, k), strides=(0, *x.strides))
    fits = tm >= 64 and x.dtype in ("f16", "bf16") and groups > 1
    if fits and lies_along(whole) == 1 and takes_descriptors(whole, y):
        y_turned = lies_along(y) == 0
        warps, stages = 4, 3  # so that two programs share a multiprocessor
        pair = described(whole, tm, tk), described(y, tk, tn, turned=y_turned)
        launch = grouped_described.options(num_warps=warps, num_stages=stages)[most * -(-n // tn)]
        launch(out.array, *pair, offs.array, m, n, k, groups, most, **tiles, Y_TURNED=y_turned)
        return
    launch = grouped_rows.options(num_warps=warps, num_stages=stages)[most * -(-n // tn)]
    launch(
        out.array, x.array, y.array, offs.array, m, n, k, groups, most, *x.strides, *y.strides,
        EVEN_K=k % tk == 0, **tiles,
    )  # fmt: skip


def _matrices(out: Operand, x: Operand, y: Operand, offs: Operand, allow_tf32: bool) -> None:
    groups, k, n = out.shape
    if not out.size:
        return
    tm, tn, tk, warps, stages = _tiles(x, k)
    launch: Any = grouped_matrices.options(num_warps=warps, num_stages=stages)[
        groups * -(-k // tm) * -(-n // tn)
    ]
    launch(
        out.array, x.array, y.array, offs.array, x.shape[0], k, n, *x.strides, *y.strides,
        PRECISION="tf32" if allow_tf32 and x.dtype == "f32" else "ieee",
        BLOCK_M=tm, BLOCK_N=tn, BLOCK_K=tk, GROUP_M=8,
    )  # fmt: skip


def _groups(offs: Any) -> list[tuple[int, int]]:
    ends = [int(own) for own in offs]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _reference(x: Any, y: Any, offs: Any) -> Any:
    found = np.zeros((x.shape[0], y.shape[2]))
    for group, (begin, end) in enumerate(_groups(offs)):
        found[begin:end] = x[begin:end] @ y[group]
    return found


def _gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    (grad,), (x, y, offs) = grads, arrays
    dy = [x[begin:end].T @ grad[begin:end] for begin, end in _groups(offs)]
    dx = _reference(grad, np.swapaxes(y, 1, 2), offs)
    return dx, np.stack(dy) if dy else np.zeros(y.shape)


def _gradient_sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], _rounding: float
) -> Sequence[Any]:
    x, y, offs = arrays
    return _gradients([np.abs(grads[0])], [np.abs(x), np.abs(y), offs], options)


def _torch(t: Any, x: Any, y: Any, offs: Any) -> Any:
    if x.is_cuda:
        return t.nn.functional.grouped_mm(x, y, offs=offs)
    pairs = zip(_groups(offs.tolist()), y, strict=True)
    parts = [x[begin:end] @ own for (begin, end), own in pairs]
    rest = x.new_zeros((len(x) - sum(map(len, parts)), y.shape[2]))
    return t.cat([*parts, rest])


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    """Rows, matrices, and ends of groups of the sizes that `values` names."""
    x, y, (groups,) = case.shapes
    rows = x[0]
    cuts = np.sort(rng.integers(0, rows + 1, max(groups - 1, 0)))
    offs = np.append(cuts, rows)[-groups:] if groups else np.zeros(0)
    if case.values == "equal":
        offs = np.arange(1, groups + 1) * (rows // groups)
    if case.values == "one":
        offs = np.where(np.arange(groups) < groups // 2, 0, rows)
    normal = [rng.standard_normal(x), rng.standard_normal(y)]
    if case.values == "special":
        normal[0][::3, 0], normal[1][0, 0] = np.nan, np.inf
    return [*normal, offs.astype(np.int32)]


def _cost(case: Case, itemsize: int) -> Cost:
    (t, k), y, _ = case.shapes
    return Cost(itemsize * (t * k + prod(y) + t * y[2]), 2 * t * k * y[2])


SPEC = KernelSpec(
    name="grouped_mm",
    family="linear algebra",
    function=grouped_mm,
    kernels=(grouped_rows, grouped_described, grouped_matrices),
    backward=lambda grads, arrays, outputs, options: grouped_mm_backward(grads[0], *arrays),
    differentiable=(0, 1),
    formula="out[t, n] = sum over k of x[t, k] y[g(t), k, n], offs[g - 1] <= t < offs[g]",
    source="PyTorch, torch.nn.functional.grouped_mm",
    reference=_reference,
    backward_reference=_gradients,
    torch_name="torch.nn.functional.grouped_mm",
    torch=_torch,
    make=_make,
    cases=tuple(
        Case(((t, k), (g, k, n), (g,)), {}, values)
        for t, k, g, n, values in (
            (1, 1, 1, 1, "normal"),
            (0, 4, 3, 5, "normal"),
            (6, 0, 2, 4, "normal"),
            (16, 16, 1, 16, "normal"),
            (40, 24, 4, 16, "normal"),
            (130, 33, 5, 70, "normal"),
            (100, 16, 4, 16, "one"),
            (96, 32, 3, 64, "equal"),
            (65, 40, 16, 9, "normal"),
            (7, 20, 9, 12, "normal"),
            (200, 8, 2, 130, "normal"),
            (50, 16, 4, 16, "equal"),
            (30, 12, 3, 20, "special"),
        )
    ),
    tolerance=Tolerance(3, SUM_OF_PRODUCTS),
    magnitude=lambda x, y, offs: _reference(np.abs(x), np.abs(y), offs),
    backward_magnitude=_gradient_sizes,
    cost=_cost,
    benchmarks=(
        Case(((16384, 4096), (8, 4096, 2048), (8,))),
        Case(((8192, 2048), (64, 2048, 1024), (64,))),
    ),
)
