"""Inputs of the examples: the sizes and dtypes at which each equals its reference, random data."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

NUMPY = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
# Spacing of 1.0 (two roundings: the kernel's and the reference's), and the smallest step near zero;
# a GPU may flush f32 subnormals.
EPS = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
TINY = {"f16": 2.0**-24, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}

SIZES = (0, 1, 1023, 1024, 1025, 4099, 2**20 + 3)
ROWS = (0, 1, 33, 1000)
COLUMNS = (1, 127, 128, 129, 1009, 4096)
DIMS = (1, 63, 64, 65, 251, 512)


class Case(NamedTuple):
    """One run of one example: `shapes` of its inputs; `out` is the dtype of its result."""

    example: str
    dtype: str
    sizes: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    out: str

    @property
    def name(self) -> str:
        """How the test is called."""
        return f"{self.example}-{self.dtype}-{'x'.join(map(str, self.sizes))}"


def _vectors(example: str) -> Iterator[Case]:
    for dtype, n in itertools.product(NUMPY, SIZES):
        yield Case(example, dtype, (n,), ((n,), (n,)), dtype)


def _copies(example: str) -> Iterator[Case]:
    for dtype, n in itertools.product(NUMPY, SIZES):
        for rows in (1, 3):
            yield Case(example, dtype, (rows, n), ((rows, n),), dtype)


def _rows(
    example: str, out: str | None, *shapes: Callable[[int, int], tuple[int, ...]]
) -> Iterator[Case]:
    for dtype, m, n in itertools.product(("f16", "bf16", "f32"), ROWS, COLUMNS):
        yield Case(example, dtype, (m, n), tuple(shape(m, n) for shape in shapes), out or dtype)


def _products(example: str, out: str | None, *, scale: bool) -> Iterator[Case]:
    for dtype, m, n, k in itertools.product(("f16", "bf16", "f32"), DIMS, DIMS, DIMS):
        shapes: tuple[tuple[int, ...], ...] = ((m, k), (k, n))
        yield Case(example, dtype, (m, n, k), (*shapes, (m,)) if scale else shapes, out or dtype)


def all_cases() -> list[Case]:
    """Every case of every example."""

    def full(m: int, n: int) -> tuple[int, ...]:
        return (m, n)

    def row(_m: int, n: int) -> tuple[int, ...]:
        return (n,)

    return [
        *_vectors("vector_add"),
        *_copies("masked_copy"),
        *_rows("softmax", None, full),
        *_rows("layer_norm", None, full, row, row),
        *_rows("bias_gelu", None, full, row, full),
        *_rows("logsumexp", "f32", full),
        *_products("matmul", None, scale=False),
        *_products("matmul_relu", "f32", scale=True),
    ]


def interpreted_cases() -> list[Case]:
    """A part of the cases for the interpreter, which spends milliseconds on each program.

    Of each example and dtype every size of each dimension is in it, and of products every pair of
    sizes; the most programs meet the longest rows on a GPU alone.
    """
    return [case for case in all_cases() if _is_interpreted(case)]


def _is_interpreted(case: Case) -> bool:
    turn = sum(map(ord, case.example + case.dtype))
    if case.example == "masked_copy":
        return case.sizes[1] != SIZES[-1] or case.sizes[0] == (1, 3)[turn % 2]
    if len(case.sizes) == 3:
        # A Latin square: with any two sizes goes one third, another for each example and dtype.
        return (sum(map(DIMS.index, case.sizes)) + turn) % len(DIMS) == 0
    if case.sizes[0] == ROWS[-1]:
        return case.sizes[1] == COLUMNS[turn % (len(COLUMNS) - 1)]
    return True


def inputs(case: Case) -> list[NDArray[Any]]:
    """Random normal data of the case's shapes and dtype; the last input of an epilogue is f32."""
    rng = np.random.default_rng([len(case.name), *case.sizes])
    dtypes = [case.dtype] * len(case.shapes)
    if case.example == "matmul_relu":
        dtypes[-1] = "f32"
    return [
        rng.standard_normal(shape).astype(NUMPY[dtype])
        for shape, dtype in zip(case.shapes, dtypes, strict=True)
    ]
