"""Whole tensors in the NumPy reading: shapes, reductions, scans, sorting, products, random bits."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import reading_functions
from reading import LANGUAGE, Machine, cast, extreme, language, wide
from reading_memory import offsets_of
from tracked import (
    BF16,
    F32,
    F64,
    I1,
    I32,
    U32,
    Array,
    Dtype,
    RefusedError,
    Tracked,
    full,
    rounded,
    value,
)

# --- shapes ---------------------------------------------------------------------------------------


@language
def program_id(axis: int) -> Tracked:
    return full(Machine.program[axis], I32)


@language
def num_programs(axis: int) -> Tracked:
    return full(Machine.grid[axis], I32)


@language
def arange(start: int, end: int) -> Tracked:
    return Tracked(I32, np.arange(start, end, dtype=np.int32))


@language
def full_(shape: tuple[int, ...], value_: Any, dtype: Dtype) -> Tracked:
    one = cast(value_, dtype) if isinstance(value_, Tracked) else full(value_, dtype)
    return one.moved(lambda a: np.broadcast_to(a, shape))


@language
def zeros(shape: tuple[int, ...], dtype: Dtype) -> Tracked:
    return full(0, dtype, tuple(shape))


@language
def zeros_like(input: Tracked) -> Tracked:  # noqa: A002
    return full(0, input.d, input.shape)


def _shape(given: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple) else given


def _arrangement(name: str, f: Callable[..., Array]) -> None:
    def apply(x: Tracked, *args: Any, can_reorder: bool = False) -> Tracked:
        return x.moved(lambda a: f(a, *args))

    LANGUAGE[name] = apply


_arrangement("reshape", lambda a, *shape: a.reshape(_shape(shape)))
_arrangement("broadcast_to", lambda a, *shape: np.broadcast_to(a, _shape(shape)))
_arrangement("permute", lambda a, *dims: np.transpose(a, _shape(dims)))
_arrangement("trans", lambda a, *dims: np.transpose(a, _shape(dims) if dims else None))
_arrangement("ravel", np.ravel)
_arrangement("expand_dims", np.expand_dims)
_arrangement("unsqueeze", np.expand_dims)
_arrangement("squeeze", np.squeeze)
_arrangement("flip", lambda a, dim=None: np.flip(a, -1 if dim is None else dim))


def _pair(a: Tracked, b: Tracked, f: Callable[[Array, Array], Array]) -> Tracked:
    if a.d != b.d:
        raise RefusedError("two dtypes in one tensor")
    shape = np.broadcast_shapes(a.shape, b.shape)
    sides = [x.moved(lambda v: np.broadcast_to(v, shape)) for x in (a, b)]
    return Tracked(a.d, f(sides[0].v, sides[1].v), f(sides[0].off, sides[1].off))


@language
def join(a: Tracked, b: Tracked) -> Tracked:
    return _pair(a, b, lambda x, y: np.stack([x, y], -1))


@language
def split(a: Tracked) -> tuple[Tracked, Tracked]:
    return a[..., 0], a[..., 1]


@language
def interleave(a: Tracked, b: Tracked) -> Tracked:
    both = join(a, b)
    return both.moved(lambda v: v.reshape(*v.shape[:-2], -1))


@language
def cat(input: Tracked, other: Tracked, can_reorder: bool = False, dim: int = 0) -> Tracked:  # noqa: A002
    return _pair(input, other, lambda x, y: np.concatenate([x, y], dim))


@language
def broadcast(input: Any, other: Any) -> tuple[Tracked, Tracked]:  # noqa: A002
    shape = np.broadcast_shapes(input.shape, other.shape)
    return tuple(x.moved(lambda a: np.broadcast_to(a, shape)) for x in (input, other))


# --- reductions -----------------------------------------------------------------------------------


def _along(
    x: Tracked, axis: int | None, keep_dims: bool
) -> tuple[Tracked, Callable[[Array], Array]]:
    """The tensor with the axis that goes in front, and what shapes the result."""
    rank = len(x.shape)
    if axis is None:
        flat = x.moved(lambda a: a.reshape(-1))
        return flat, lambda a: a.reshape((1,) * rank) if keep_dims else a
    moved = x.moved(lambda a: np.moveaxis(a, axis, 0))
    return moved, lambda a: np.expand_dims(a, axis) if keep_dims else a


def _sum_dtype(own: Dtype, wanted: Dtype | None) -> Dtype:
    if wanted is not None:
        return wanted
    if own.kind == "bool" or (own.kind == "uint" and own.bits < 32):
        return U32
    return I32 if own.kind == "int" and own.bits < 32 else own


def _float_sum(x: Tracked, sizes: Array, total: Array, count: Any) -> Tracked:
    """A sum in any order: each addition may be off by half the spacing at the sum of magnitudes."""
    d = x.d
    found = rounded(d, total)
    unit = 2.0 ** (1 - d.precision)
    steps = np.maximum(count - 1, 0)
    fine = np.isfinite(sizes) & (sizes < d.greatest / 2)
    e = np.where(fine, steps * unit * sizes * 1.05, np.inf)
    return Tracked(d, found, e)


@language
def sum_(
    input: Tracked,  # noqa: A002
    axis: int | None = None,
    keep_dims: bool = False,
    dtype: Dtype | None = None,
) -> Tracked:
    d = _sum_dtype(input.d, dtype)
    if d.saturates:
        raise RefusedError("sums of 8-bit floats")
    x, shaped = _along(cast(input, d), axis, keep_dims)
    if not d.is_float:
        return Tracked(d, shaped(np.sum(x.v, 0, dtype=d.held)), shaped(np.max(x.off, 0)))
    values = wide(x)
    finite = np.where(np.isfinite(values), np.abs(values), 0.0)
    sizes = finite.sum(0) + x.off.sum(0)
    found = _float_sum(x, sizes, values.sum(0), x.shape[0])
    e = found.off + x.off.sum(0)
    special = ~np.isfinite(values.sum(0)) & (sizes < d.greatest / 2)
    return Tracked(d, shaped(found.v), shaped(np.where(special & (x.off.sum(0) == 0), 0.0, e)))


def _extreme_dtype(own: Dtype) -> Dtype:
    return own if own.bits >= 32 else F32 if own.is_float else I32


def _reduced_extreme(name: str, least: bool) -> None:
    def apply(
        input: Tracked,  # noqa: A002
        axis: int | None = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        if return_indices:
            return _with_index(input, axis, least, keep_dims)
        d = _extreme_dtype(input.d)
        x, shaped = _along(cast(input, d), axis, keep_dims)
        found = x.v[0]
        for i in builtins.range(1, x.shape[0]):
            found = extreme(d, found, x.v[i], least, False)
        return Tracked(d, shaped(found), shaped(x.off.max(0)))

    LANGUAGE[name] = apply


_reduced_extreme("max", least=False)
_reduced_extreme("min", least=True)


def _with_index(
    x: Tracked, axis: int | None, least: bool, keep_dims: bool
) -> tuple[Tracked, Tracked]:
    """The first of equals; NaN loses; among NaN alone any index."""
    if axis is None or x.d.saturates or x.d is I1:
        raise RefusedError("the place of these")
    d = F32 if x.d is BF16 else x.d
    moved, shaped = _along(cast(x, d), axis, keep_dims)
    seen = moved.v
    if d.is_float:
        seen = np.where(np.isnan(seen), np.inf if least else -np.inf, seen)
    place = (np.argmin if least else np.argmax)(seen, 0)
    unsure = moved.unsure().any(0)
    if d.is_float:
        lost = np.isnan(moved.v).all(0) | (np.isnan(moved.v).any(0) & np.isinf(seen).any(0))
        unsure |= lost
        # Zeros of both signs are equal.
        unsure |= (seen == 0).any(0) & np.signbit(np.where(seen == 0, seen, 1)).any(0)
    off = np.where(unsure, np.inf, 0.0)
    chosen = np.take_along_axis(moved.v, place[None], 0)[0]
    return Tracked(d, shaped(chosen), shaped(off)), Tracked(
        I32, shaped(place.astype(np.int32)), shaped(off)
    )


@language
def argmax(
    input: Tracked,  # noqa: A002
    axis: int,
    tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Tracked:
    return _with_index(input, axis, False, keep_dims)[1]


@language
def argmin(
    input: Tracked,  # noqa: A002
    axis: int,
    tie_break_left: bool = True,
    keep_dims: bool = False,
) -> Tracked:
    return _with_index(input, axis, True, keep_dims)[1]


@language
def reduce(input: Any, axis: int | None, combine_fn: Any, keep_dims: bool = False) -> Any:  # noqa: A002
    """One element after the other: what is combined must not depend on the order."""
    several = isinstance(input, tuple)
    sides = [_along(x, axis, keep_dims) for x in (input if several else (input,))]
    found = tuple(x[0] for x, _ in sides)
    for i in builtins.range(1, sides[0][0].shape[0]):
        step = combine_fn(*found, *(x[i] for x, _ in sides))
        found = step if several else (step,)
    shaped = tuple(x.moved(sides[0][1]) for x in found)
    return shaped if several else shaped[0]


def _on_integers(name: str, f: Any) -> None:
    def apply(input: Tracked, axis: int | None = None, keep_dims: bool = False) -> Tracked:  # noqa: A002
        if input.d.is_float:
            raise RefusedError(f"{name} of floats")
        found: Tracked = reduce(input, axis, f, keep_dims)
        return found

    LANGUAGE[name] = apply


_on_integers("xor_sum", lambda a, b: a ^ b)
_on_integers("reduce_or", lambda a, b: a | b)

# --- scans ----------------------------------------------------------------------------------------


@language
def associative_scan(input: Any, axis: int, combine_fn: Any, reverse: bool = False) -> Any:  # noqa: A002
    several = isinstance(input, tuple)
    sides = [_along(x, axis, False)[0] for x in (input if several else (input,))]
    order = builtins.range(sides[0].shape[0])
    found: list[tuple[Tracked, ...]] = []
    for i in reversed(order) if reverse else order:
        here = tuple(x[i] for x in sides)
        if found:
            step = combine_fn(*found[-1], *here)
            here = step if several else (step,)
        found.append(here)
    if reverse:
        found.reverse()
    results = tuple(
        Tracked(
            parts[0].d, np.stack([p.v for p in parts], axis), np.stack([p.off for p in parts], axis)
        )
        for parts in zip(*found, strict=True)
    )
    return results if several else results[0]


def _turning(axis: int, reverse: bool) -> Callable[[Array], Array]:
    """What a scan from the other end does before and after."""
    return lambda a: np.flip(a, axis) if reverse else a


@language
def cumsum(
    input: Tracked,  # noqa: A002
    axis: int = 0,
    reverse: bool = False,
    dtype: Dtype | None = None,
) -> Tracked:
    d = F32 if input.d is BF16 and dtype is None else _sum_dtype(input.d, dtype)
    if d.saturates:
        raise RefusedError("sums of 8-bit floats")
    x = cast(input, d)
    turn = _turning(axis, reverse)
    if not d.is_float:
        total = turn(np.cumsum(turn(x.v), axis, dtype=d.held))
        return Tracked(d, total, turn(np.maximum.accumulate(turn(x.off), axis)))
    values = wide(x)
    finite = np.where(np.isfinite(values), np.abs(values), 0.0)
    sizes = turn(np.cumsum(turn(finite + x.off), axis))
    places = np.arange(x.shape[axis]).reshape(
        [-1 if i == axis % len(x.shape) else 1 for i in builtins.range(len(x.shape))]
    )
    total = turn(np.cumsum(turn(values), axis))
    found = _float_sum(x, sizes, total, turn(places * np.ones(x.shape)) + 1)
    off = turn(np.cumsum(turn(x.off), axis))
    special = ~np.isfinite(total) & (sizes < d.greatest / 2) & (off == 0)
    return Tracked(d, found.v, np.where(special, 0.0, found.off + off))


@language
def cumprod(
    input: Tracked,  # noqa: A002
    axis: int = 0,
    reverse: bool = False,
    dtype: Dtype | None = None,
) -> Tracked:
    d = F32 if input.d is BF16 and dtype is None else _sum_dtype(input.d, dtype)
    if d.saturates:
        raise RefusedError("products of 8-bit floats")
    x = cast(input, d)
    turn = _turning(axis, reverse)
    if not d.is_float:
        total = turn(np.cumprod(turn(x.v), axis, dtype=d.held))
        return Tracked(d, total, turn(np.maximum.accumulate(turn(x.off), axis)))
    values = wide(x)
    total = turn(np.cumprod(turn(values), axis))
    size = np.abs(values)
    greatest = turn(np.cumprod(turn(np.maximum(size, 1.0)), axis))
    least = turn(np.cumprod(turn(np.where(size == 0, 1.0, np.minimum(size, 1.0))), axis))
    safe = (greatest < d.greatest / 2) & (least > 2.0 ** (d.lowest + 1)) & np.isfinite(total)
    safe &= turn(np.maximum.accumulate(turn(x.off), axis)) == 0
    found = rounded(d, total)
    e = np.abs(total) * (x.shape[axis] + 1) * 2.0 ** (1 - d.precision)
    return Tracked(d, found, np.where(safe, e, np.inf))


# --- order ----------------------------------------------------------------------------------------


def _keys(x: Tracked) -> Array:
    """Integers in the order of the values: -0.0 before 0.0, NaN last."""
    if not x.d.is_float:
        return x.v
    bits = wide(x).view(np.int64)
    keys = np.where(bits < 0, bits ^ np.int64(0x7FFFFFFFFFFFFFFF), bits)
    return np.where(np.isnan(x.v), np.iinfo(np.int64).max, keys)


@language
def sort(x: Tracked, dim: int | None = None, descending: bool = False) -> Tracked:
    order = np.argsort(_keys(x), -1, kind="stable")
    if descending:
        order = np.flip(order, -1)
    off = np.where(x.unsure().any(-1, keepdims=True), np.inf, 0.0) * np.ones(x.shape)
    return Tracked(
        x.d, np.take_along_axis(x.v, order, -1), np.nan_to_num(off, nan=0.0, posinf=np.inf)
    )


@language
def topk(x: Tracked, k: int, dim: int | None = None, descending: bool = True) -> Tracked:
    return sort(x, None, descending)[..., :k]


@language
def gather(src: Tracked, index: Tracked, axis: int) -> Tracked:
    place = offsets_of(index)
    return src.moved(lambda a: np.take_along_axis(a, place, axis))


@language
def histogram(input: Tracked, num_bins: int, mask: Any = None) -> Tracked:  # noqa: A002
    data = offsets_of(input)
    live = np.ones(data.shape, bool) if mask is None else np.broadcast_to(value(mask).v, data.shape)
    return Tracked(I32, np.bincount(data[live], minlength=num_bins).astype(np.int32))


@language
def map_elementwise(scalar_fn: Any, *args: Any, pack: int = 1) -> Any:
    shape = np.broadcast_shapes(*(x.shape for x in args))
    sides = [x.moved(lambda a: np.broadcast_to(a, shape)) for x in args]
    each = [scalar_fn(*(x[i] for x in sides)) for i in np.ndindex(shape)]
    d = each[0].d
    return Tracked(d, np.asarray([x.v for x in each], d.held).reshape(shape),
                   np.asarray([x.off for x in each]).reshape(shape))  # fmt: skip


# --- products -------------------------------------------------------------------------------------


@language
def dot(
    input: Tracked,  # noqa: A002
    other: Tracked,
    acc: Tracked | None = None,
    input_precision: str | None = None,
    out_dtype: Dtype | None = None,
) -> Tracked:
    if input.d != other.d:
        raise RefusedError("a product of two dtypes")
    d = {"i8": I32, "f64": F64}.get(input.d.name, F32)
    if acc is not None and acc.d != d:
        raise RefusedError("an accumulator of another dtype")
    if d is I32:
        total = input.v.astype(np.int64) @ other.v.astype(np.int64)
        total = total if acc is None else total + acc.v
        bad = [x for x in (input, other, acc) if x is not None and x.e is not None]
        return Tracked(d, total.astype(np.int32), np.inf if bad else None)
    x, y = wide(input), wide(other)
    plain = (np.where(np.isfinite(x), np.abs(x), 0.0), np.where(np.isfinite(y), np.abs(y), 0.0))
    sizes = plain[0] @ plain[1] + plain[0] @ other.off + input.off @ (plain[1] + other.off)
    total, off = x @ y, plain[0] @ other.off + input.off @ (plain[1] + other.off)
    if acc is not None:
        total, off, sizes = total + wide(acc), off + acc.off, sizes + np.abs(wide(acc)) + acc.off
    unit = 2.0**-52 if d is F64 else 2.0**-22
    e = (x.shape[-1] + 2) * unit * sizes + off
    if input.d is F32 and input_precision != "ieee":
        e = e + 2.0**-9 * sizes
    special = ~(np.isfinite(total) & (sizes < d.greatest / 2))
    return Tracked(d, rounded(d, total), np.where(special, np.inf, e))


# --- random bits ----------------------------------------------------------------------------------


@language
def randint4x(seed: Any, offset: Tracked, n_rounds: int = 10) -> tuple[Tracked, ...]:
    """Philox 4x32 (Salmon et al., 2011): the key is the seed, the counter the offset."""
    at, mask = offsets_of(offset), np.uint64(0xFFFFFFFF)
    low = at.astype(np.uint64) & mask
    high = (at.astype(np.uint64) >> np.uint64(32)) if offset.d.bits > 32 else low * np.uint64(0)
    return _philox(seed, [low, high, low * np.uint64(0), low * np.uint64(0)], n_rounds)


@language
def philox(seed: Any, *counter: Tracked) -> tuple[Tracked, ...]:
    """Counters of 32 bits."""
    mask = np.uint64(0xFFFFFFFF)
    return _philox(seed, [offsets_of(c).astype(np.uint64) & mask for c in counter], 10)


def _philox(seed: Any, c: list[Array], n_rounds: int) -> tuple[Tracked, ...]:
    key, mask = int(_plain_integer(seed)) % (1 << 64), np.uint64(0xFFFFFFFF)
    k = [np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32)]
    a, b = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
    shift = np.uint64(32)
    for _ in builtins.range(n_rounds):
        p, q = a * c[0], b * c[2]
        c = [(q >> shift) ^ c[1] ^ k[0], q & mask, (p >> shift) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + np.uint64(0x9E3779B9)) & mask, (k[1] + np.uint64(0xBB67AE85)) & mask]
    return tuple(Tracked(U32, x.astype(np.uint32)) for x in c)


def _plain_integer(x: Any) -> int:
    return int(x.v) if isinstance(x, Tracked) else x


@language
def randint(seed: Any, offset: Tracked, n_rounds: int = 10) -> Tracked:
    return randint4x(seed, offset, n_rounds)[0]


@language
def uint_to_uniform_float(x: Tracked) -> Tracked:
    signed = x.v.astype(np.int32)
    return Tracked(I32, np.where(signed < 0, ~signed, signed)) * 4.6566127342e-10


@language
def rand(seed: Any, offset: Tracked, n_rounds: int = 10) -> Tracked:
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@language
def rand4x(seed: Any, offsets: Tracked, n_rounds: int = 10) -> tuple[Tracked, ...]:
    return tuple(map(uint_to_uniform_float, randint4x(seed, offsets, n_rounds)))


@language
def pair_uniform_to_normal(u1: Tracked, u2: Tracked) -> tuple[Tracked, Tracked]:
    angle = 6.283185307179586 * u2
    radius = LANGUAGE["sqrt"](-2.0 * LANGUAGE["log"](LANGUAGE["maximum"](1.0e-7, u1)))
    return radius * LANGUAGE["cos"](angle), radius * LANGUAGE["sin"](angle)


@language
def randn(seed: Any, offset: Tracked, n_rounds: int = 10) -> Tracked:
    first, second, _, _ = rand4x(seed, offset, n_rounds)
    return pair_uniform_to_normal(first, second)[0]


@language
def randn4x(seed: Any, offset: Tracked, n_rounds: int = 10) -> tuple[Tracked, ...]:
    u = rand4x(seed, offset, n_rounds)
    return (*pair_uniform_to_normal(u[0], u[1]), *pair_uniform_to_normal(u[2], u[3]))


@language
def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> tuple[Tracked, Tracked]:
    """Places counted row by row, walked in groups of `size_g` rows, each column by column."""
    at = offsets_of(i) * size_j + offsets_of(j)
    group = at // (size_g * size_j)
    rows = np.minimum(size_i - group * size_g, size_g)
    inside = at - group * size_g * size_j
    found = (group * size_g + inside % rows, inside // rows)
    return Tracked(I32, found[0].astype(np.int32)), Tracked(I32, found[1].astype(np.int32))


@language
def elem(pointer: Any) -> Dtype:
    found: Dtype = pointer.memory.d
    return found


@language
def softmax(x: Tracked, dim: int | None = None, keep_dims: bool = False) -> Tracked:
    axis = 0 if dim is None else dim
    top = LANGUAGE["exp"](x - LANGUAGE["max"](x, axis, keep_dims=True))
    return top / sum_(top, axis, True)  # type: ignore[no-any-return]


# --- loops and hints ------------------------------------------------------------------------------


@language
def range_(start: Any, end: Any = None, step: Any = 1, **options: Any) -> Iterator[Tracked]:
    """Loop variables are values of the kernel, i32 here."""
    first, last = (0, start) if end is None else (start, end)
    plain = [_plain_integer(x) for x in (first, last, step)]
    return (full(i, I32) for i in builtins.range(*plain))


LANGUAGE["static_range"] = builtins.range
LANGUAGE["to_tensor"] = value


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Hints and checks say nothing about values."""


for _name in ("debug_barrier", "assume", "static_print", "device_print"):
    LANGUAGE[_name] = _nothing
for _name in ("multiple_of", "max_contiguous", "max_constancy"):
    LANGUAGE[_name] = lambda x, values: x


@language
def static_assert(cond: Any, msg: str = "") -> None:
    if not cond:
        raise AssertionError(msg)


@language
def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    found = value(cond)
    if not (found.v | found.unsure()).all():
        raise AssertionError(msg)


NAMES = LANGUAGE
__all__ = ["NAMES", "reading_functions"]
