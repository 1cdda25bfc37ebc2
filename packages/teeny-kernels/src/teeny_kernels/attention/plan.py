"""A call of attention before its launches: shapes, strides, masks and options, checked.

Dense arrays are (batch, heads, rows, depth); packed ones (rows of all sequences, heads, depth),
with the first row of each sequence and the end in `starts`. Both become strides of batch, head and
row; only the elements of a row have to lie together.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import teeny_triton as tl
from teeny_kernels.arrays import Operand, operand, same_place
from teeny_kernels.attention.blocks import is_hopper
from teeny_kernels.codes import E1202, E1203, E1204
from teeny_kernels.layout import contiguous, require_dtype
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

DEEPEST = 256
NO_LIMIT = 1 << 30


class Sides(NamedTuple):
    """Batches, heads, heads of k and v, longest rows of q and of k, depths of q and of v."""

    batch: int
    heads: int
    shared: int
    sq: int
    sk: int
    dq: int
    dv: int

    @property
    def group(self) -> int:
        """Heads of q for each head of k and v."""
        return self.heads // self.shared


class Rows(NamedTuple):
    """An array whose rows lie together, and its strides of batch, head and row in elements."""

    array: Any
    shape: tuple[int, ...]
    strides: tuple[int, int, int]


class Extras(NamedTuple):
    """What a call may bring besides q, k and v: slopes, sinks, where packed sequences begin."""

    slopes: Any = None
    stride_slopes: int = 0
    sink: Operand | None = None
    starts_q: Any = None
    starts_k: Any = None


def exact_of(dtype: str) -> str:
    """The dtype of sums and logarithms."""
    return "f64" if dtype == "f64" else "f32"


def rows_of(operation: str, x: Operand) -> Rows:
    """The array as rows; a copy only where the elements of a row do not lie together."""
    ready = x if x.strides[-1] == 1 or x.shape[-1] == 1 or not x.size else contiguous(operation, x)
    *outer, row, _ = ready.strides
    if x.ndim == 3:
        (row, head), batch = ready.strides[:2], 0
        return Rows(ready.array, x.shape, (batch, head, row))
    return Rows(ready.array, x.shape, (outer[0], outer[1], row))


def described(rows: Rows, device: str, dtype: str, side: int, depth: int) -> Any:
    """A descriptor of tiles of `side` rows for the hardware to copy, where it can; else None."""
    if dtype not in {"f16", "bf16"} or len(rows.shape) != 4 or not is_hopper(device):
        return None
    batch, head, row = rows.strides
    whole = all(stride > 0 and stride * 2 % 16 == 0 for stride in (batch, head, row))
    info = devices_describe(rows.array)
    if not whole or info is None or info.pointer % 16 or 0 in rows.shape:
        return None
    strides = (batch, head, row, 1)
    return tl.tensor_descriptor(rows.array, (1, 1, side, depth), rows.shape, strides)


def devices_describe(array: Any) -> Any:
    """What the devices know of an array."""
    from teeny_macros import devices

    return devices.describe(array)


def sides_of(operation: str, arrays: Sequence[Operand]) -> Sides:
    """The sides of dense q, k and v. Raises E1202, E1203, E1206."""
    q, k, v = arrays
    check_dtypes(operation, q, k, v)
    fits = (
        q.ndim == k.ndim == v.ndim == 4
        and q.shape[0] == k.shape[0]
        and k.shape[:3] == v.shape[:3]
        and q.shape[3] == k.shape[3]
        and k.shape[1] > 0
        and q.shape[1] % k.shape[1] == 0
    )
    if not fits:
        what = f"`q` {q.shape}, `k` {k.shape}, `v` {v.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "(batch, heads, rows, depth); the heads of q are a multiple of those of k and v"
        )
    found = Sides(
        q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3]
    )
    check_depths(operation, found)
    return found


def check_dtypes(operation: str, q: Operand, k: Operand, v: Operand) -> None:
    """Raise E1203 or E1206 unless all are floats of one dtype in one place."""
    same_place(operation, [("q", q), ("k", k), ("v", v)])
    require_dtype(operation, "q", q, FLOATS)
    for name, own in (("k", k), ("v", v)):
        require_dtype(operation, name, own, (q.dtype,))


def check_depths(operation: str, sides: Sides) -> None:
    """Raise E1202 unless the kernels hold rows of these depths."""
    if not 0 < sides.dq <= DEEPEST or not 0 < sides.dv <= DEEPEST:
        what = f"depths of {sides.dq} and {sides.dv}"
        raise E1202.error(operation=operation, what=what).help(f"depths go from 1 to {DEEPEST}")


def extras_of(
    operation: str, like: Operand, sides: Sides, alibi_slopes: Any, sink: Any, **starts: Any
) -> Extras:
    """The optional arrays, checked. Raises E1201, E1202, E1203, E1206."""
    found = Extras()
    if alibi_slopes is not None:
        own = _extra(operation, like, "alibi_slopes", alibi_slopes, ("f32",))
        if own.shape not in {(sides.heads,), (sides.batch, sides.heads)}:
            what = f"`alibi_slopes` {own.shape}, {sides.batch} batches of {sides.heads} heads"
            raise E1202.error(operation=operation, what=what).help("(heads) or (batch, heads)")
        stride = sides.heads if own.ndim == 2 else 0
        found = found._replace(slopes=contiguous(operation, own).array, stride_slopes=stride)
    if sink is not None:
        own = _extra(operation, like, "sink", sink, (like.dtype, exact_of(like.dtype)))
        if own.shape != (sides.heads,):
            what = f"`sink` {own.shape}, and {sides.heads} heads"
            raise E1202.error(operation=operation, what=what).help("give one for each head of q")
        found = found._replace(sink=contiguous(operation, own, exact_of(like.dtype)))
    for name, given in starts.items():
        own = _extra(operation, like, name, given, ("i32",))
        if own.ndim != 1 or own.shape[0] != sides.batch + 1:
            what = f"`{name}` {own.shape}, and {sides.batch} sequences"
            raise E1202.error(operation=operation, what=what).help(
                "give the first row of each sequence, and the end of the last"
            )
        found = found._replace(**{f"starts_{name[-1]}": contiguous(operation, own).array})
    return found


def _extra(
    operation: str, like: Operand, name: str, value: Any, dtypes: tuple[str, ...]
) -> Operand:
    own = operand(name, value)
    same_place(operation, [("q", like), (name, own)])
    if own.dtype not in dtypes:
        raise E1203.error(
            name=name, found=own.dtype, reason=f"{operation} takes {' or '.join(dtypes)}"
        ).help("convert it first")
    return own


def limits_of(
    operation: str, causal: bool, window: int | tuple[int, int] | None, sink_tokens: int
) -> dict[str, int]:
    """How far left and right of its own a row sees columns, and how many first ones always."""
    left = right = NO_LIMIT
    if isinstance(window, tuple):
        sizes = [NO_LIMIT if size == -1 else size for size in window]
        if len(sizes) != 2 or min(sizes) < 0:
            raise E1204.error(operation=operation, name="window", found=f"{window}").help(
                "give (left, right): columns on either side of a row's own, or -1 for all"
            )
        left, right = (min(size, NO_LIMIT) for size in sizes)
    elif window is not None:
        if window < 1:
            raise E1204.error(operation=operation, name="window", found=f"{window}").help(
                "give the number of columns that a row sees, (left, right), or None"
            )
        left = min(window - 1, NO_LIMIT)
    if sink_tokens < 0:
        raise E1204.error(operation=operation, name="sink_tokens", found=f"{sink_tokens}").help(
            "give how many first columns every row sees, or 0"
        )
    return {
        "left": left,
        "right": 0 if causal else right,
        "sinks": min(sink_tokens, NO_LIMIT),
    }


def options_of(
    operation: str, sides: Sides, scale: float | None, soft_cap: float, dropout: float, seed: int,
    *, sloped: bool,
) -> dict[str, Any]:  # fmt: skip
    """How scores become probabilities, as the kernels take it. Raises E1204."""
    if soft_cap < 0.0:
        raise E1204.error(operation=operation, name="soft_cap", found=f"{soft_cap}").help(
            "give a positive number, or 0 for none"
        )
    if not 0.0 <= dropout < 1.0:
        raise E1204.error(operation=operation, name="dropout", found=f"{dropout}").help(
            "give the probability of a zero, at least 0 and less than 1"
        )
    factor = 1.0 / sqrt(sides.dq) if scale is None else float(scale)
    plain = factor > 0.0 and not soft_cap and not sloped
    log2e = 1.4426950408889634
    return {
        "scale": factor,
        "unit": log2e * factor if plain else log2e,
        "cap": float(soft_cap),
        "seed": _signed(seed),
        "threshold": threshold_of(dropout),
        "rescale": 1.0 / (1.0 - dropout),
        "PLAIN": plain,
        "CAP": soft_cap > 0.0,
        "DROPOUT": dropout > 0.0,
    }


def threshold_of(dropout: float) -> int:
    """Random 32 bits below this are dropped."""
    return min(round(dropout * 2.0**32), 2**32 - 1)


def _signed(seed: int) -> int:
    """The 64 bits of a seed as a signed number."""
    seed &= 2**64 - 1
    return seed - 2**64 if seed >= 2**63 else seed
