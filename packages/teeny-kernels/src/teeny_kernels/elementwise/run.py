"""Calls of pointwise kernels on arrays of any layout: broadcast, copied where strided, launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import ITEMSIZES, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, broadcast_shape, contiguous, expanded, require_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

_VECTOR = 16  # bytes that a thread reads at once


def run(
    operation: str,
    kernel: Kernel[...],
    arrays: Mapping[str, Any],
    scalars: tuple[float, ...] = (),
    *,
    out: Any = None,
    dtype: str | None = None,
    broadcast: bool = False,
    heavy: bool = False,
) -> Any:
    """The result of a pointwise kernel over `arrays`, by their names.

    `dtype` is that of the result where it is not the inputs'. Without `broadcast`, the shapes have
    to be equal.

    Raises:
        KernelError: E1201-E1203, E1206 and E1207.
    """
    given = [(name, operand(name, value)) for name, value in arrays.items()]
    options: Any = {"out": out, "dtype": dtype, "broadcast": broadcast, "heavy": heavy}
    return launch(operation, kernel, given, scalars, **options)


def launch(
    operation: str,
    kernel: Kernel[...],
    given: list[tuple[str, Operand]],
    scalars: tuple[float, ...] = (),
    *,
    out: Any = None,
    dtype: str | None = None,
    broadcast: bool = False,
    heavy: bool = False,
) -> Any:
    """`run` for arrays that were looked at already."""
    same_place(operation, given)
    first_name, first = given[0]
    require_dtype(operation, first_name, first, kernel.dtypes)
    for name, other in given[1:]:
        require_dtype(operation, name, other, (first.dtype,))
    shapes = [own.shape for _, own in given]
    shape = broadcast_shape(operation, *shapes) if broadcast else first.shape
    if not broadcast and any(own != shape for own in shapes):
        listed = ", ".join(f"`{name}` {own.shape}" for name, own in given)
        raise E1202.error(operation=operation, what=listed).help("give arrays of one shape")
    result = Output(operation, first, shape, dtype=dtype, out=out)
    ready = [contiguous(operation, expanded(own, shape)) for _, own in given]
    n = result.operand.size
    if n:
        block, warps = flat_block(
            max(ITEMSIZES[first.dtype], ITEMSIZES[result.operand.dtype]), heavy
        )
        alpha, beta = (*scalars, 0.0, 0.0)[:2]
        grid = -(-n // block)
        kernel.options(num_warps=warps)[grid](
            result.operand.array, *(own.array for own in ready), n, alpha, beta, BLOCK_SIZE=block
        )
    return result.finish()


def flat_block(itemsize: int, heavy: bool = False) -> tuple[int, int]:
    """Elements and warps of a program.

    One vector of 16 bytes for each of 256 threads; of narrow dtypes, and for `heavy` formulas, two
    for each of 128, which hide what a formula computes.
    """
    return 256 * max(1, _VECTOR // itemsize), 4 if itemsize <= 2 or heavy else 8
