"""Reductions, scans, sorting, counting, picking."""

from __future__ import annotations

from typing import Any

import numpy as np

from semantic_cases import (
    DTYPES,
    bf16,
    bits,
    f16,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
    program,
    refused,
    samples,
    sentence,
    u8,
    u16,
    u32,
)

Cases = Any
NAN, INF = np.nan, np.inf


def whole(expression: str, x: Any, wanted: Any, **rest: Any) -> Any:
    """An expression of the whole of `x`, a scalar of the dtype of `wanted`."""
    size = x.size
    name = next(n for n, kind in DTYPES.items() if np.dtype(kind) == wanted.dtype)
    body = f"""
x = tl.load(x_ptr + tl.arange(0, {size}))
y = {expression}
tl.static_assert(y.dtype == {name})
tl.store(y_ptr, y)"""
    return program(body, x=x, out={"y": wanted}, **rest)


def along(expression: str, x: Any, wanted: Any, **rest: Any) -> Any:
    """An expression of `x` that gives as many elements as `wanted` has."""
    name = next(n for n, kind in DTYPES.items() if np.dtype(kind) == wanted.dtype)
    body = f"""
x = tl.load(x_ptr + tl.arange(0, {x.size}))
y = {expression}
tl.static_assert(y.dtype == {name})
tl.store(y_ptr + tl.arange(0, {wanted.size}), y)"""
    return program(body, x=x, out={"y": wanted}, **rest)


@sentence("S601")
def narrow_integers_are_summed_in_32_bits() -> Cases:
    yield whole("tl.sum(x)", np.full(1024, 1, np.bool_), u32(1024))
    yield whole("tl.sum(x)", np.full(128, 2, np.int8), i32(256))
    yield whole("tl.sum(x)", np.full(64, 255, np.uint8), u32(16320))
    yield whole("tl.sum(x)", np.full(4, -30000, np.int16), i32(-120000))
    yield whole("tl.sum(x, dtype=i64)", np.full(128, 2**30, np.int32), i64(2**37))


@sentence("S602")
def sums_of_integers_wrap() -> Cases:
    yield whole("tl.sum(x)", np.full(128, 2**30, np.int32), i32(0))
    yield whole("tl.sum(x)", np.full(4, 2**63, np.uint64), np.array([0], np.uint64))


@sentence("S603")
def narrow_floats_are_summed_in_their_own_dtype() -> Cases:
    yield whole("tl.sum(x)", np.full(64, 2048, np.float16), f16(INF))
    yield whole("tl.sum(x.to(f32))", np.full(64, 2048, np.float16), f32(131072))
    yield whole("tl.sum(x, dtype=f32)", np.full(64, 2048, np.float16), f32(131072))
    yield whole("tl.sum(x)", np.full(256, 1, DTYPES["bf16"]), bf16(256))


def _near(exact: float, bound: float) -> Any:
    return lambda found: bool(abs(float(found[0]) - exact) <= bound)


@sentence("S604")
def float_sums_have_no_order() -> Cases:
    x = samples("f16", 1024, seed=40).astype(np.float32)
    exact = float(np.sum(x.astype(np.float64)))
    bound = float(np.sum(np.abs(x.astype(np.float64)))) * 1023 * 2.0**-24
    yield whole("tl.sum(x)", x, f32(exact), checks={"y": _near(exact, bound)})
    # Whatever the order, partial sums of these are exact.
    y = np.random.default_rng(41).integers(-1000, 1000, 1024).astype(np.float32)
    yield whole("tl.sum(x)", y, f32(float(y.astype(np.float64).sum())))


@sentence("S605")
def max_and_min_drop_nan() -> Cases:
    for position in (0, 1, 31, 63):
        x = np.full(64, INF, np.float32)
        x[:] = np.linspace(-5, 7, 64)
        x[position] = NAN
        yield whole("tl.max(x)", x, np.array([np.nanmax(x)]))
        yield whole("tl.min(x)", x, np.array([np.nanmin(x)]))
    yield whole("tl.max(x)", f32(*[NAN] * 16), f32(NAN))
    yield whole("tl.min(x)", f32(*[NAN] * 16), f32(NAN))
    yield whole("tl.max(x)", f32(NAN, -INF), f32(-INF))


@sentence("S606")
def max_and_min_order_the_zeros() -> Cases:
    yield whole("tl.max(x)", f32(-0.0, 0.0, -0.0, -0.0), f32(0.0))
    yield whole("tl.min(x)", f32(0.0, 0.0, -0.0, 0.0), f32(-0.0))
    yield whole("tl.max(x)", f32(-0.0, -0.0), f32(-0.0))


@sentence("S607")
def narrow_extremes_are_32_bits_wide() -> Cases:
    yield whole("tl.max(x)", f16(1, 2), f32(2))
    yield whole("tl.min(x)", bf16(1, 2), f32(1))
    yield whole("tl.max(x)", i8(-1, -2), i32(-1))
    yield whole("tl.max(x)", u8(200, 100), i32(200))
    yield whole("tl.max(x)", u32(2**31, 1), u32(2**31))


@sentence("S608")
def the_first_of_equals_is_found() -> Cases:
    yield whole("tl.argmax(x, 0)", f32(*[5] * 1024), i32(0), options={"num_warps": 8})
    yield whole("tl.argmax(x, 0)", i32(3, 7, 7, 7), i32(1))
    yield whole("tl.argmin(x, 0)", i32(3, 1, 7, 1), i32(1))
    yield whole("tl.argmax(x, 0)", f32(-1, 0.0, -0.0, 0.0), i32(1))
    yield whole(
        "tl.argmax(x, 0, tie_break_left=False)",
        i32(3, 7, 7, 7),
        i32(1),
        checks={"y": lambda found: found[0] in (1, 2, 3)},
    )


@sentence("S609")
def a_number_wins_in_argmax() -> Cases:
    yield whole("tl.argmax(x, 0)", f32(NAN, -5, NAN, -6), i32(1))
    yield whole("tl.argmin(x, 0)", f32(NAN, -5, NAN, -6), i32(3))
    yield whole("tl.argmax(x, 0)", f32(NAN, -INF), i32(1))


@sentence("S610")
def return_indices_keeps_the_dtype() -> Cases:
    for make, kept in ((f16, f16), (f32, f32), (bf16, f32), (i8, i8)):
        yield whole("tl.max(x, axis=0, return_indices=True)[0]", make(1, 4, 2, 4), kept(4))
        yield whole("tl.max(x, axis=0, return_indices=True)[1]", make(1, 4, 2, 4), i32(1))


@sentence("S611")
def xor_sum_and_reduce_or() -> Cases:
    yield whole("tl.xor_sum(x)", i32(5, 6, 7, 8), i32(5 ^ 6 ^ 7 ^ 8))
    yield whole("tl.xor_sum(x)", i1(1, 1, 1, 0), i1(1))
    yield whole("tl.reduce_or(x, 0)", u8(1, 2, 4, 128), u8(135))


@sentence("S612")
def negative_axes_count_from_the_end() -> Cases:
    x = np.random.default_rng(42).integers(-9, 9, (4, 8)).astype(np.int32)
    for axis, size in ((-1, 4), (-2, 8)):
        body = f"""
x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
tl.store(y_ptr + tl.arange(0, {size}), tl.sum(x, axis={axis}))
tl.store(z_ptr + tl.arange(0, {size}), tl.argmax(x, axis={axis}))"""
        wanted = {"y": x.sum(axis, dtype=np.int32), "z": x.argmax(axis).astype(np.int32)}
        yield program(body, x=x.ravel(), out=wanted)


@sentence("S613")
def without_an_axis_all_is_reduced() -> Cases:
    x = np.arange(32, dtype=np.int32)
    body = """
x = tl.load(x_ptr + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
tl.store(y_ptr, tl.sum(x))
y = tl.max(x, keep_dims=True)
tl.static_assert(y.shape == (1, 1))
tl.store(y_ptr + 1 + tl.zeros((1, 1), i32), y)"""
    yield program(body, x=x, out={"y": i32(496, 31)})


_GCD_LIKE = """
@device
def join(a, b):
    return a | b

@device
def affine(a, b, c, d):
    return a * c, b * c + d
"""


@sentence("S614")
def reduce_combines_in_any_order() -> Cases:
    yield whole("tl.reduce(x, 0, join)", i32(1, 2, 4, 8, 16, 1, 1, 1), i32(31), helpers=_GCD_LIKE)


@sentence("S615")
def a_scan_keeps_the_order() -> Cases:
    scale, shift = i32(2, 3, -1, 5, 1, 0, 7, 2), i32(1, 1, 4, 0, -3, 6, 1, 1)
    a, b, found = 1, 0, []
    for c, d in zip(scale.tolist(), shift.tolist(), strict=True):
        a, b = a * c, b * c + d
        found.append(b)
    body = """
i = tl.arange(0, 8)
y, z = tl.associative_scan((tl.load(x_ptr + i), tl.load(s_ptr + i)), 0, affine)
tl.store(y_ptr + i, z)"""
    yield program(body, x=scale, s=shift, out={"y": i32(*found)}, helpers=_GCD_LIKE)


@sentence("S616")
def running_sums_take_the_dtypes_of_sums() -> Cases:
    yield along("tl.cumsum(x, 0)", i8(100, 100, -1, 2), i32(100, 200, 199, 201))
    yield along("tl.cumsum(x, 0)", i1(1, 0, 1, 1), u32(1, 1, 2, 3))
    yield along("tl.cumsum(x, 0)", bf16(256, 1, 1, 1), f32(256, 257, 258, 259))
    yield along("tl.cumprod(x, 0)", i32(2, 3, -1, 5), i32(2, 6, -6, -30))
    yield along("tl.cumsum(x, 0, reverse=True)", i32(1, 2, 3, 4), i32(10, 9, 7, 4))


@sentence("S617")
def sort_puts_nan_last() -> Cases:
    x = f32(INF, 3, NAN, -1, 0.0, -0.0, -INF, 2)
    wanted = f32(-INF, -1, -0.0, 0.0, 2, 3, INF, NAN)
    yield along("tl.sort(x)", x, wanted)
    yield along("tl.sort(x, descending=True)", x, wanted[::-1].copy())
    for name in ("f16", "bf16"):
        values = samples(name, 64, seed=43)
        keys = np.argsort(values.astype(np.float64), kind="stable")
        live = np.unique(values.astype(np.float64), return_index=True)[1]
        assert live.size > 60
        yield along("tl.sort(x)", values, values[keys])


@sentence("S618")
def integers_are_sorted_by_value() -> Cases:
    for name in ("i8", "u8", "i32", "u16", "i64"):
        kind = DTYPES[name]
        info = np.iinfo(kind)
        x = np.random.default_rng(44).integers(info.min, info.max, 64, kind, endpoint=True)
        x[:2] = info.min, info.max
        yield along("tl.sort(x)", x, np.sort(x))
    yield along("tl.sort(x, descending=True)", i1(0, 1, 0, 1), i1(1, 1, 0, 0))


@sentence("S619")
def topk_takes_the_first_of_the_order() -> Cases:
    x = f32(1, NAN, 5, -2, 5, 0, INF, 3)
    yield along("tl.topk(x, 4)", x, f32(NAN, INF, 5, 5))
    yield along("tl.topk(x, 2, descending=False)", x, f32(-2, 0))
    yield along("tl.topk(x, 2)", i16(5, -7, 9, 9), i16(9, 9))


@sentence("S620")
def a_histogram_counts_what_has_a_bin() -> Cases:
    yield along(
        "tl.histogram(x, 8)", i32(21, 298, 408, 131, 315, 104, 149, 4), i32(0, 0, 0, 0, 1, 0, 0, 0)
    )
    yield along("tl.histogram(x, 4)", i32(0, 1, 2, 3, 4, 4, 5, -1), i32(1, 1, 1, 1))
    yield along("tl.histogram(x, 4)", np.zeros(512, np.int8), i32(512, 0, 0, 0))
    yield along("tl.histogram(x, 2, mask=x < 2)", u16(0, 1, 1, 2), i32(1, 2))


@sentence("S621")
def gather_picks_along_an_axis() -> Cases:
    body = """
i = tl.arange(0, 8)
tl.store(y_ptr + i, tl.gather(tl.load(x_ptr + tl.arange(0, 4)), tl.load(j_ptr + i), 0))"""
    j = i32(3, 0, 0, 1, 2, 3, 3, 0)
    yield program(body, x=f32(1, 2, 3, NAN), j=j, out={"y": f32(NAN, 1, 1, 2, 3, NAN, NAN, 1)})


@sentence("S622")
def sides_are_powers_of_two() -> Cases:
    yield refused("E0402", "tl.zeros((3, 4), f32)", at="(3, 4)")
    yield refused("E0401", "tl.arange(0, 100)", at="100")
    yield refused("E0404", "tl.zeros((1024, 2048), f32)", at="(1024, 2048)")


@sentence("S623")
def flip_and_bits() -> Cases:
    x = bits("f32", 0x7FC00001, 0x80000000, 1, 0x7F800000)
    body = """
i = tl.arange(0, 4)
tl.store(y_ptr + i, tl.flip(tl.load(x_ptr + i)).to(u32, bitcast=True))"""
    yield program(body, x=x, out={"y": x[::-1].copy().view(np.uint32)})
