"""Launches of the kernels that pool a whole plane: one program for each channel of each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import ITEMSIZES
from teeny_kernels.rows import block_of, is_wide, warps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

BLOCK_SIZE = 4096


def launch_whole(chosen: Kernel[...], x: Operand, arrays: Sequence[Operand | None]) -> None:
    """Launch a kernel of planes: those behind the first two axes of `x`."""
    rows = x.shape[0] * x.shape[1]
    columns = x.size // rows if rows else 1
    block = min(BLOCK_SIZE, block_of(columns))
    warps = warps_of(block, ITEMSIZES[x.dtype])
    launch: Any = chosen.options(num_warps=warps)[rows]
    given = (None if own is None else own.array for own in arrays)
    launch(*given, columns, WIDE=is_wide(columns), BLOCK_SIZE=block)
