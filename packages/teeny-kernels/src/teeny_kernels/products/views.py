"""Operands of products as kernels take them: batches of matrices, turned, described, along k."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, Operand, arch_of, empty, is_aligned
from teeny_kernels.layout import contiguous, expanded, permuted, reshaped
from teeny_kernels.products.kernels import transpose_kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Sides from which on turning a matrix costs less than what it saves.
_WORTH_TURNING = 256


def batched(x: Operand, batch: Sequence[int]) -> Operand:
    """`x` with one leading axis: a view where the leading axes join, else a copy."""
    full = expanded(x, (*batch, *x.shape[-2:]))
    count = prod(batch)
    lengths = [(side, step) for side, step in zip(batch, full.strides, strict=False) if side != 1]
    joined = all(step == below * length for (_, step), (length, below) in pairwise(lengths))
    if not joined:
        return reshaped(contiguous("matmul", full), (count, *x.shape[-2:]))
    step = lengths[-1][1] if lengths else 0
    return x._replace(shape=(count, *x.shape[-2:]), strides=(step, *full.strides[-2:]))


def _copied(x: Operand) -> Operand:
    """A row-major copy of matrices whose columns lie side by side."""
    if x.strides[1] != 1:
        return contiguous("matmul", x)
    if x.strides[0] == 0 and x.shape[0] > 1:  # one matrix, many times
        once = _copied(x._replace(shape=(1, *x.shape[1:])))
        return once._replace(shape=x.shape, strides=(0, *once.strides[1:]))
    made = empty(x, x.shape)
    count, m, n = x.shape
    launch: Any = transpose_kernel.options(num_warps=8)[count * -(-m // 64) * -(-n // 64)]
    launch(made.array, x.array, m, n, x.strides[0], x.strides[2], BLOCK=64)
    return made


def turned(x: Operand) -> Operand:
    """The transposes of the matrices; nothing is copied."""
    order = list(range(x.ndim))
    order[-2:] = reversed(order[-2:])
    return permuted(x, order)


def along_k(arch: str, x: Operand, y: Operand, *, relaxed: bool) -> tuple[Operand, Operand]:
    """The operands, copied to lie along k where the tensor cores of sm_90 take nothing else.

    They turn tiles of 16-bit numbers themselves; turning others costs more than copying large ones.
    """
    few = min(x.shape[1], y.shape[2]) < _WORTH_TURNING
    exact = x.dtype == "f64" or (x.dtype == "f32" and not relaxed)
    if few or exact or ITEMSIZES[x.dtype] == 2 or x.dtype != y.dtype or arch != "sm_90":
        return x, y
    a = x if lies_along(x) == 1 else _copied(x)
    b = y if lies_along(y) == 0 else turned(_copied(turned(y)))
    return a, b


def described(x: Operand, rows: int, columns: int, *, turned: bool = False) -> Any:
    """The descriptor of the matrices, of their transposes if they are `turned`."""
    return describer(x, rows, columns, turned=turned)(x.array)


def describer(x: Operand, rows: int, columns: int, *, turned: bool = False) -> Callable[..., Any]:
    """What makes the descriptors of arrays that are like `x` in all but where they lie."""
    sides, block = x.shape[1:], (rows, columns)
    if turned:
        sides, block = sides[::-1], block[::-1]
    strides = (_row_step(x), 1)
    if x.shape[0] > 1:
        sides, block, strides = (x.shape[0], *sides), (1, *block), (x.strides[0], *strides)

    def describe(array: Any) -> Any:
        return tl.tensor_descriptor(array, block, sides, strides)

    return describe


def lies_along(x: Operand) -> int:
    """The axis of the matrix whose elements lie side by side: 1, or 0 when it is turned."""
    return 0 if x.strides[1] == 1 and x.strides[2] != 1 and x.shape[1] != 1 else 1


def _row_step(x: Operand) -> int:
    """From one row to the next; of a single row, any that descriptors take."""
    along = lies_along(x)
    step, side, wide = x.strides[2 - along], x.shape[2 - along], x.shape[1 + along]
    return step if side != 1 else -(-wide // 16) * 16


def _can_be_described(x: Operand) -> bool:
    """Whether a descriptor takes it: aligned, its elements side by side, its steps forward."""
    along = lies_along(x)
    if 0 in x.shape or (x.strides[1 + along] != 1 and x.shape[1 + along] != 1):
        return False
    steps = [_row_step(x), *(x.strides[:1] if x.shape[0] > 1 else ())]
    size = ITEMSIZES[x.dtype]
    return all(step > 0 and step * size % 16 == 0 for step in steps) and is_aligned(x.array)


def takes_descriptors(*operands: Operand) -> bool:
    """Whether descriptors can describe the operands, and their device reads tiles by them."""
    arch = arch_of(operands[0].device)
    return bool(arch) and int(arch[3:]) >= 90 and all(map(_can_be_described, operands))
