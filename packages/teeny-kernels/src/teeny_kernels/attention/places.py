"""The numbers that say where rows lie, checked where the host can read them.

Starts of sequences and tables of pages steer what kernels read and write. On the host a wrong one
would touch memory of others, and reading them costs nothing there; on a GPU it would wait for the
device, so that nothing is checked.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from teeny_kernels.codes import E1204

if TYPE_CHECKING:
    from teeny_kernels.arrays import Operand


def check_starts(operation: str, name: str, starts: Operand, rows: int, longest: int) -> None:
    """Raise E1204 unless sequences lie in `rows`, in order, none longer than `longest`."""
    if not _readable(starts):
        return
    values: list[int] = starts.array.tolist()
    lengths = [after - before for before, after in pairwise(values)]
    side = name.rpartition("_")[2]
    if values[0] < 0 or values[-1] > rows or min(lengths, default=0) < 0:
        raise E1204.error(operation=operation, name=name, found=_shown(values)).help(
            f"it begins at 0 or later, never falls and ends at {rows}, the rows of `{side}`, "
            "or earlier"
        )
    if max(lengths, default=0) > longest:
        raise E1204.error(operation=operation, name=f"max_seqlen_{side}", found=longest).help(
            f"the longest sequence of `{name}` has {max(lengths)} rows"
        )


def check_pages(
    operation: str, table: Operand, lengths: Operand, pages: int, size: int, windowed: bool
) -> None:
    """Raise E1204 unless the pages in use exist; those before a window may be named by -1."""
    if not _readable(table):
        return
    rows: list[list[int]] = table.array.tolist()
    counts: list[int] = lengths.array.tolist()
    most = table.shape[1] * size
    if any(not 0 <= count <= most for count in counts):
        raise E1204.error(operation=operation, name="context_lens", found=_shown(counts)).help(
            f"lengths go from 0 to {most}, what the pages of a row of `block_table` hold"
        )
    for row, count in zip(rows, counts, strict=True):
        used = row[: -(-count // size)]
        if any(page >= pages or (page < 0 and not windowed) for page in used):
            raise E1204.error(operation=operation, name="block_table", found=_shown(used)).help(
                f"pages go from 0 to {pages - 1}"
            )


def _readable(x: Operand) -> bool:
    return x.device == "cpu" and x.library in {"numpy", "torch"}


def _shown(values: list[Any]) -> str:
    return str(values) if len(values) <= 8 else f"[{', '.join(map(str, values[:8]))}, ...]"
