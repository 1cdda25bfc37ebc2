"""A call of attention before its launches: shapes, strides, optional arrays, checked.

Dense arrays are (batch, heads, rows, depth); packed ones (rows of all sequences, heads, depth),
with the first row of each sequence and the end in `starts`. Both become strides of batch, head and
row; only the elements of a row have to lie together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import teeny_triton as tl
from teeny_kernels.arrays import Operand, is_aligned, operand, same_place
from teeny_kernels.attention.blocks import is_hopper
from teeny_kernels.attention.options import Options, numbers_of
from teeny_kernels.attention.places import check_pages, check_starts
from teeny_kernels.codes import E1202, E1203
from teeny_kernels.layout import contiguous, permuted, require_dtype
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEEPEST = 256


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


class Plan(NamedTuple):
    """A checked call: what it is called, q, k and v, its sides, optional arrays, and numbers."""

    operation: str
    arrays: tuple[Operand, Operand, Operand]
    sides: Sides
    extras: Extras
    numbers: Mapping[str, Any]

    @property
    def packed(self) -> bool:
        """Whether sequences lie one behind the other."""
        return self.extras.starts_q is not None

    def shape_of_logarithms(self) -> tuple[int, ...]:
        """(batch, heads, rows), and (heads, rows of all) of packed sequences."""
        q = self.arrays[0]
        return (q.shape[1], q.shape[0]) if self.packed else q.shape[:3]

    def work(self) -> int:
        """About how many floating-point operations the forward is."""
        sides, left, right = self.sides, self.numbers["left"], self.numbers["right"]
        columns = min(sides.sk, left + right + 1)
        if right == 0 and columns == sides.sk:
            columns = max(sides.sk - sides.sq // 2, sides.sk // 2)
        return 2 * sides.batch * sides.heads * sides.sq * columns * (sides.dq + sides.dv)

    def strides_of_logarithms(self) -> tuple[int, int]:
        """Of batch and head."""
        *_, heads, rows = self.shape_of_logarithms()
        return (0 if self.packed else heads * rows, rows)


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
    sink_dtype: str = ""
    starts_q: Any = None
    starts_k: Any = None


def exact_of(dtype: str) -> str:
    """The dtype of sums and logarithms."""
    return "f64" if dtype == "f64" else "f32"


def dense(operation: str, arrays: tuple[Any, Any, Any], asked: Options) -> Plan:
    """A call on (batch, heads, rows, depth). Raises E1201, E1202, E1203, E1204, E1206."""
    return dense_of(operation, operands_of(arrays), asked)


def operands_of(arrays: tuple[Any, Any, Any]) -> tuple[Operand, Operand, Operand]:
    """q, k and v. Raises E1201 and E1203."""
    q, k, v = arrays
    return operand("q", q), operand("k", k), operand("v", v)


def dense_of(operation: str, arrays: tuple[Operand, Operand, Operand], asked: Options) -> Plan:
    """`dense` of arrays that were looked at already."""
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
    sides = Sides(
        q.shape[0], q.shape[1], k.shape[1], q.shape[2], k.shape[2], q.shape[3], v.shape[3]
    )
    check_depths(operation, sides)
    extras = extras_of(operation, q, sides, asked.alibi_slopes, asked.sink)
    return Plan(operation, (q, k, v), sides, extras, numbers_of(operation, sides.dq, asked))


def packed(
    operation: str, arrays: tuple[Any, Any, Any], starts: tuple[Any, Any],
    longest: tuple[int, int], asked: Options,
) -> Plan:  # fmt: skip
    """A call on (rows of all sequences, heads, depth). Raises as `dense`."""
    q, k, v = (operand(name, own) for name, own in zip("qkv", arrays, strict=True))
    check_dtypes(operation, q, k, v)
    fits = (
        q.ndim == k.ndim == v.ndim == 3
        and k.shape[:2] == v.shape[:2]
        and q.shape[2] == k.shape[2]
        and k.shape[1] > 0
        and q.shape[1] % k.shape[1] == 0
    )
    first = operand("cu_seqlens_q", starts[0])
    if not fits or first.ndim != 1 or not first.size or min(longest) < 0:
        what = f"`q` {q.shape}, `k` {k.shape}, `v` {v.shape}, `cu_seqlens_q` {first.shape}"
        raise E1202.error(operation=operation, what=what).help(
            "(rows, heads, depth) and (sequences + 1); the heads of q are a multiple of those of k"
        )
    # No sequence is longer than all rows; the grid is as large as these say.
    sq, sk = min(longest[0], q.shape[0]), min(longest[1], k.shape[0])
    sequences = first.shape[0] - 1
    sides = Sides(sequences, q.shape[1], k.shape[1], sq, sk, q.shape[2], v.shape[2])
    check_depths(operation, sides)
    extras = extras_of(operation, q, sides, asked.alibi_slopes, asked.sink)
    names = ("cu_seqlens_q", "cu_seqlens_k")
    whole = [
        whole_numbers(operation, q, name, own, first.shape)
        for name, own in zip(names, starts, strict=True)
    ]
    for name, own, array, most in zip(names, whole, (q, k), longest, strict=True):
        check_starts(operation, name, own, array.shape[0], most)
    extras = extras._replace(starts_q=whole[0].array, starts_k=whole[1].array)
    return Plan(operation, (q, k, v), sides, extras, numbers_of(operation, sides.dq, asked))


def paged(
    operation: str, arrays: tuple[Any, Any, Any], block_table: Any, context_lens: Any,
    asked: Options,
) -> tuple[Plan, Operand, Operand]:  # fmt: skip
    """A call on a cache in pages, its table and the lengths in use. Raises as `dense`.

    The caches get the axes of dense arrays, with pages in place of batches.
    """
    q, k, v = (operand(name, own) for name, own in zip("qkv", arrays, strict=True))
    check_dtypes(operation, q, k, v)
    table = operand("block_table", block_table)
    fits = (
        q.ndim == k.ndim == v.ndim == 4
        and k.shape[:3] == v.shape[:3]
        and q.shape[3] == k.shape[3]
        and k.shape[1] > 0
        and k.shape[2] > 0
        and q.shape[1] % k.shape[2] == 0
        and table.ndim == 2
    )
    if not fits:
        what = (
            f"`q` {q.shape}, `k_cache` {k.shape}, `v_cache` {v.shape}, `block_table` {table.shape}"
        )
        raise E1202.error(operation=operation, what=what).help(
            "(batch, heads, rows, depth), (pages, page size, heads of k, depth), (batch, pages)"
        )
    sides = Sides(
        q.shape[0], q.shape[1], k.shape[2], q.shape[2], table.shape[1] * k.shape[1], q.shape[3],
        v.shape[3],
    )  # fmt: skip
    check_depths(operation, sides)
    extras = extras_of(operation, q, sides, asked.alibi_slopes, asked.sink)
    shape = (sides.batch, table.shape[1])
    table = whole_numbers(operation, q, "block_table", block_table, shape)
    lengths = whole_numbers(operation, q, "context_lens", context_lens, shape[:1])
    check_pages(operation, table, lengths, k.shape[0], k.shape[1], asked.window is not None)
    numbers = numbers_of(operation, sides.dq, asked)
    turned = (q, permuted(k, (0, 2, 1, 3)), permuted(v, (0, 2, 1, 3)))
    return Plan(operation, turned, sides, extras, numbers), table, lengths


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
    describe = describer(rows, device, dtype, side, depth)
    return None if describe is None else describe(rows.array)


def describer(
    rows: Rows, device: str, dtype: str, side: int, depth: int
) -> Callable[[Any], Any] | None:
    """What makes such descriptors of arrays that are like `rows` in all but where they lie."""
    if dtype not in {"f16", "bf16"} or len(rows.shape) != 4 or not is_hopper(device):
        return None
    batch, head, row = rows.strides
    whole = all(stride > 0 and stride * 2 % 16 == 0 for stride in (batch, head, row))
    if not whole or 0 in rows.shape or not is_aligned(rows.array):
        return None
    shape, strides, block = rows.shape, (batch, head, row, 1), (1, 1, side, depth)

    def describe(array: Any) -> Any:
        return tl.tensor_descriptor(array, block, shape, strides)

    return describe


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


def extras_of(operation: str, like: Operand, sides: Sides, alibi_slopes: Any, sink: Any) -> Extras:
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
        exact = contiguous(operation, own, exact_of(like.dtype))
        found = found._replace(sink=exact, sink_dtype=own.dtype)
    return found


def whole_numbers(operation: str, like: Operand, name: str, value: Any, shape: Any) -> Operand:
    """An i32 array of `shape`, contiguous. Raises E1201, E1202, E1203, E1206."""
    own = _extra(operation, like, name, value, ("i32",))
    if own.shape != shape:
        raise E1202.error(operation=operation, what=f"`{name}` {own.shape}, not {shape}").help(
            "give an i32 array of this shape"
        )
    return contiguous(operation, own)


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
