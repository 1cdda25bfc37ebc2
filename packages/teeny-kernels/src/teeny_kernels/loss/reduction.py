"""`none`, `mean` and `sum` of losses: shares of fixed programs, then one program that adds them.

The order of additions depends on the number of elements alone, so equal inputs give equal bits.
Grid of `divided_sum`: one program. `total_ptr` gets sum(part) / sum(weight) or sum(part) / count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import empty
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import require_dtype
from teeny_macros import kernel
from teeny_triton import Const, Float, Ptr, bf16, f16, f32, f64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.arrays import Operand

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

PROGRAMS = 1056  # of a reduction: eight for each of the 132 multiprocessors of an H200
REDUCTIONS = ("none", "mean", "sum")


@kernel(dtypes=(f32, f16, bf16, f64))
def divided_sum(
    total_ptr: Ptr[D],
    part_ptr: Ptr[C],
    weight_ptr: Ptr[C] | None,
    n_parts: int,
    count: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    at = tl.arange(0, BLOCK_SIZE)
    total = tl.sum(tl.load(part_ptr + at, mask=at < n_parts, other=0.0), axis=0)
    if weight_ptr is not None:
        weights = tl.sum(tl.load(weight_ptr + at, mask=at < n_parts, other=0.0), axis=0)
        total = total / weights
    else:
        total = total / tl.cast(count, total.dtype)
    tl.store(total_ptr, total.to(tl.elem(total_ptr)))


def divide(total: Operand, part: Operand, weight: Operand | None, count: float = 1.0) -> None:
    """Store sum(part) / sum(weight), or sum(part) / `count`, in `total`, one number."""
    weights = None if weight is None else weight.array
    divided_sum.options(num_warps=8)[1](
        total.array, part.array, weights, part.size, count, BLOCK_SIZE=2048
    )


def shares(like: Operand, count: int) -> Operand:
    """An array for the sums of `count` programs, in the dtype of the computation."""
    return empty(like, (count,), computed(like))


def computed(like: Operand) -> str:
    """The dtype that sums are kept in."""
    return "f64" if like.dtype == "f64" else "f32"


def checked_reduction(operation: str, reduction: str, known: Sequence[str] = REDUCTIONS) -> str:
    """`reduction` itself. Raises E1204 when it is none of those `known`."""
    if reduction not in known:
        raise E1204.error(operation=operation, name="reduction", found=f"`{reduction}`").help(
            f"it is one of {', '.join(known)}"
        )
    return reduction


def checked_gradient(operation: str, grad: Operand, like: Operand, shape: tuple[int, ...]) -> None:
    """Raise E1203 or E1202 unless `grad` is of the dtype of `like` and of the loss's `shape`."""
    require_dtype(operation, "grad", grad, (like.dtype,))
    if grad.shape != shape:
        what: Any = f"`grad` {grad.shape}, and the loss is {shape}"
        raise E1202.error(operation=operation, what=what).help("give the gradient of the loss")
