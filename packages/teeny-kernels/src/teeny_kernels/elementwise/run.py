"""Calls of pointwise kernels on arrays of any layout: broadcast, copied where strided, launched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import ITEMSIZES, operand, same_place
from teeny_kernels.calls import Plans, bare, key_of, result_of
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, broadcast_shape, contiguous, expanded, require_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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
    values = (*arrays.values(), out)
    key = None if broadcast else key_of(values, dtype, heavy, *map(_kind, scalars))
    key = key and (kernel, key)
    plan = _plans.find(key)
    if plan is not None:
        return plan(values, scalars)
    given = [(name, operand(name, value)) for name, value in arrays.items()]
    options: Any = {"out": out, "dtype": dtype, "broadcast": broadcast, "heavy": heavy}
    found = launch(operation, kernel, given, scalars, **options)
    # Copies of what is strided have to be made each time.
    if (
        key is not None
        and found.numel()
        and all(own is None or own.is_contiguous() for own in values)
    ):
        _plans.keep(key, _plan(kernel, given, found, heavy))
    return found


_plans = Plans()


def _kind(number: Any) -> str:
    return type(number).__name__


def _plan(
    kernel: Kernel[...], given: Sequence[tuple[str, Operand]], found: Any, heavy: bool
) -> Callable[[Any, Any], Any]:
    """Of tensors without gaps: the result, or a new one like `found`, is filled."""
    first = given[0][1]
    shape = tuple(found.shape)
    dtype = None if found.dtype == first.array.dtype else found.dtype
    itemsize = max(ITEMSIZES[first.dtype], found.element_size())
    run = _flat(kernel, found.numel(), itemsize, heavy)

    def plan(values: Any, scalars: Any) -> Any:
        *arrays, out = values
        out = result_of(arrays[0], out, shape, dtype)
        run(out, map(bare, arrays), scalars)
        return out

    return plan


def _flat(
    kernel: Kernel[...], n: int, itemsize: int, heavy: bool
) -> Callable[[Any, Iterable[Any], Any], None]:
    """The launch over `n` elements: from the result, the arrays and numbers."""
    block, warps = flat_block(itemsize, heavy)
    grid = -(-n // block)
    tuned: Any = kernel.options(num_warps=warps)

    def run(out: Any, arrays: Iterable[Any], scalars: Any) -> None:
        alpha, beta = (*scalars, 0.0, 0.0)[:2]
        tuned[grid](out, *arrays, n, alpha, beta, BLOCK_SIZE=block)

    return run


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
        itemsize = max(ITEMSIZES[first.dtype], ITEMSIZES[result.operand.dtype])
        run = _flat(kernel, n, itemsize, heavy)
        run(result.operand.array, (own.array for own in ready), scalars)
    return result.finish()


def flat_block(itemsize: int, heavy: bool = False) -> tuple[int, int]:
    """Elements and warps of a program.

    One vector of 16 bytes for each of 256 threads; of narrow dtypes, and for `heavy` formulas, two
    for each of 128, which hide what a formula computes.
    """
    return 256 * max(1, _VECTOR // itemsize), 4 if itemsize <= 2 or heavy else 8
