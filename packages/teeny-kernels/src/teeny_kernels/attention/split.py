"""The launches of attention of few rows: how many parts the columns come in, and both kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_kernels.arrays import ITEMSIZES, empty
from teeny_kernels.attention.blocks import depth_of, tuned
from teeny_kernels.attention.decode import attention_combine, attention_decode
from teeny_kernels.attention.plan import Plan, exact_of, rows_of
from teeny_kernels.layout import Output
from teeny_kernels.rows import block_of

if TYPE_CHECKING:
    from teeny_kernels.arrays import Operand

MOST_ROWS = 16  # of a call that is a decoding step
LEAST_COLUMNS = 256
MOST_SPLITS = 64


class Cache(NamedTuple):
    """Where columns lie: a table of pages, its row length, columns of a page; lengths in use."""

    pages: Any = None
    stride_pages: int = 0
    page_size: int = 1
    lengths: Any = None


def is_step(plan: Plan) -> bool:
    """Whether a call has few rows and many columns."""
    sides = plan.sides
    few = not plan.packed and 0 < sides.sq <= MOST_ROWS and sides.sk >= LEAST_COLUMNS
    return few and not plan.numbers["DROPOUT"]


def decode(plan: Plan, cache: Cache, splits: int | None = None) -> tuple[Output, Output]:
    """The result and the logarithms of the sums."""
    operation, first, sides, extras = plan.operation, plan.arrays[0], plan.sides, plan.extras
    exact = exact_of(first.dtype)
    out = Output(operation, first, (*first.shape[:3], sides.dv))
    lse = Output(operation, first, first.shape[:3], dtype=exact)
    depths = depth_of(sides.dq), depth_of(sides.dv)
    m, n = _blocks(first, max(depths), sides.group * sides.sq)
    blocks = -(-sides.group * sides.sq // m)
    programs = sides.batch * sides.shared * blocks
    splits = splits or splits_of(first.device, programs, -(-sides.sk // n))
    rows = sides.batch * sides.heads * sides.sq
    part = empty(first, (splits, rows, sides.dv), exact)
    part_lse = empty(first, (splits, rows), exact)
    q, k, v = (rows_of(operation, own) for own in plan.arrays)
    numbers = {name: own for name, own in plan.numbers.items() if name not in _DROPOUT}
    tuned(attention_decode, 4, 3)[programs * splits](
        part.array, part_lse.array, q.array, k.array, v.array, extras.slopes, cache.pages,
        cache.lengths, *q.strides, *k.strides, *v.strides, extras.stride_slopes,
        cache.stride_pages, cache.page_size, rows, sides.sk, sides.sq, sides.dq, sides.dv,
        sides.heads, sides.group, splits, **numbers, FULL=depths == (sides.dq, sides.dv),
        BLOCK_M=m, BLOCK_N=n, BLOCK_D=depths[0], BLOCK_DV=depths[1],
    )  # fmt: skip
    sink = extras.sink
    tuned(attention_combine, 4, 1)[rows](
        out.operand.array, lse.operand.array, part.array, part_lse.array,
        None if sink is None else sink.array, rows, sides.sq, sides.dv, sides.heads, splits,
        BLOCK_S=8 if splits <= 8 else MOST_SPLITS, BLOCK_DV=depths[1],
    )  # fmt: skip
    return out, lse


_DROPOUT = ("seed", "threshold", "rescale", "DROPOUT")


def splits_of(device: str, programs: int, blocks: int) -> int:
    """Parts of two blocks or more, so many that all programs run at once, two a multiprocessor."""
    wanted = 264 if device.startswith("cuda") else 8
    return max(1, min(MOST_SPLITS, wanted // max(1, programs), blocks // 2))


def _blocks(like: Operand, depth: int, rows: int) -> tuple[int, int]:
    m = min(64, max(16, block_of(rows)))
    row = depth * ITEMSIZES[like.dtype]
    if row >= 1024:
        return 16, 16
    return (min(m, 32), 32) if row >= 512 else (m, 64)
