"""Reductions, scans, sorting, histograms, gathers."""

from __future__ import annotations

import numpy as np

from reported_cases import Cases, reported
from semantic_cases import bf16, f32, i1, i8, i16, i32, i64, program, samples, u8, u16, u32, values

RNG = np.random.default_rng(37)
NAN, INF = np.nan, np.inf


@reported("triton-lang/triton#7349", "triton-lang/triton#6635")
def max_and_min_drop_nan_at_every_place() -> Cases:
    rows = np.full((65, 64), INF, np.float32)
    rows[:, ::3] = RNG.standard_normal(22).astype(np.float32)
    for i in range(64):
        rows[i, i] = NAN
    rows[64] = NAN
    with np.errstate(all="ignore"):
        high, low = np.fmax.reduce(rows, 1), np.fmin.reduce(rows, 1)
    yield program(
        "p = tl.program_id(0)\nx = tl.load(x_ptr + p * 64 + tl.arange(0, 64))\n"
        "tl.store(y_ptr + p, tl.max(x, axis=0))\ntl.store(z_ptr + p, tl.min(x, axis=0))",
        x=rows.reshape(-1),
        out={"y": high, "z": low},
        grid=(65,),
    )


@reported("triton-lang/triton#1813", "triton-lang/triton#1736")
def the_first_of_equal_elements_is_found() -> Cases:
    for warps in (1, 8):
        yield program(
            "tl.store(y_ptr, tl.argmax(tl.load(x_ptr + tl.arange(0, 1024)), axis=0))\n"
            "tl.store(y_ptr + 1, tl.argmin(tl.load(x_ptr + tl.arange(0, 1024)), axis=0))",
            x=np.full(1024, 2.5, np.float32),
            out={"y": i32(0, 0)},
            options={"num_warps": warps},
        )
    yield program(
        "tl.store(y_ptr, tl.argmax(tl.load(x_ptr + tl.arange(0, 4)), axis=0))",
        x=f32(3, 7, 7, 7),
        out={"y": i32(1)},
    )


@reported("triton-lang/triton#5763")
def sums_of_narrow_integers_do_not_wrap() -> Cases:
    yield program(
        "tl.store(y_ptr, tl.sum(tl.sum(tl.full((32, 32), 1, tl.int1), axis=1), axis=0))",
        out={"y": u32(1024)},
    )
    yield program("tl.store(y_ptr, tl.full((32, 32), 1, tl.int1).sum())", out={"y": u32(1024)})
    for array, wanted in ((i8(*[2] * 128), i32(256)), (u8(*[255] * 64), u32(16320))):
        yield program(
            f"tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, {array.size}))))",
            x=array,
            out={"y": wanted},
        )


@reported("triton-lang/triton#5897")
def a_running_sum_of_conditions_counts_them() -> Cases:
    yield program(
        "i = tl.arange(0, 4)\nidx = tl.load(x_ptr + i)\nat = tl.cumsum(idx >= 0, 0) - 1\n"
        "tl.store(y_ptr + at, idx)",
        x=i32(5, 1, 7, 12),
        out={"y": i32(5, 1, 7, 12)},
    )


@reported("triton-lang/triton#11531")
def a_sum_beyond_i32_wraps_everywhere() -> Cases:
    yield program(
        "tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 128))))",
        x=i32(*[2**30] * 128),
        out={"y": i32(0)},
    )


@reported("triton-lang/triton#2848")
def a_negative_axis_is_counted_from_the_last() -> Cases:
    x = RNG.integers(-99, 99, (16, 1, 32)).astype(np.int32)
    place = (
        "a = tl.arange(0, 16)[:, None, None]\nc = tl.arange(0, 32)[None, None, :]\n"
        "x = tl.load(x_ptr + a * 32 + c)\no = tl.arange(0, 16)[:, None]\n"
    )
    for name, wanted in (("sum", x.sum(-1)), ("max", x.max(-1)), ("argmax", x.argmax(-1))):
        yield program(
            f"{place}tl.store(y_ptr + o, tl.{name}(x, axis=-1))",
            x=x.reshape(-1),
            out={"y": wanted.astype(np.int32).reshape(-1)},
        )
    yield program(
        f"{place}tl.store(y_ptr + a * 32 + c, tl.cumsum(x, axis=-1))",
        x=x.reshape(-1),
        out={"y": np.cumsum(x, -1).astype(np.int32).reshape(-1)},
    )


@reported("triton-lang/triton#3013")
def a_side_of_length_1_is_reduced_to_its_element() -> Cases:
    x = RNG.standard_normal(16).astype(np.float32)
    yield program(
        "o = tl.arange(0, 16)\nx = tl.load(x_ptr + o[:, None]) * tl.full((1, 1), 1.0, f32)\n"
        "tl.store(y_ptr + o, tl.max(x, axis=1))\ntl.store(z_ptr + o, tl.sum(x, axis=1))",
        x=x,
        out={"y": x, "z": x},
    )


@reported("triton-lang/triton#3017")
def a_scan_before_a_reduction_is_right() -> Cases:
    k, v = (RNG.integers(-4, 5, (16, 16)).astype(np.float32) for _ in "kv")
    running = np.cumsum(k[:, :, None] * v[:, None, :], 0)
    yield program(
        "i = tl.arange(0, 16)\no = i[:, None] * 16 + i[None, :]\n"
        "k = tl.load(k_ptr + o)\nv = tl.load(v_ptr + o)\n"
        "kv = k[:, :, None] * v[:, None, :]\ntl.store(y_ptr + o, tl.sum(tl.cumsum(kv, 0), 1))",
        k=k.reshape(-1),
        v=v.reshape(-1),
        out={"y": running.sum(1).astype(np.float32).reshape(-1)},
    )


@reported("triton-lang/triton#5999")
def sorting_keeps_every_nan() -> Cases:
    yield program(
        "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.sort(tl.load(x_ptr + i), descending=True))",
        x=f32(INF, 3.1416, NAN, -1),
        out={"y": f32(NAN, INF, 3.1416, -1)},
    )
    x = RNG.standard_normal(64).astype(np.float32)
    x[[3, 17, 18, 40, 63]] = NAN
    yield program(
        "i = tl.arange(0, 64)\ntl.store(y_ptr + i, tl.sort(tl.load(x_ptr + i)))",
        x=x,
        out={"y": np.sort(x)},
    )


@reported("triton-lang/triton#3873")
def every_dtype_is_sorted() -> Cases:
    kinds = {"bf16": bf16, "i8": i8, "u16": u16, "i64": i64, "i16": i16}
    arrays = {name: make(*RNG.permutation(128)[:128] - 0) for name, make in kinds.items()}
    arrays["f16"] = samples("f16", 128, 5)
    for array in arrays.values():
        rows = array.reshape(8, 16)
        keys = rows.astype(np.float64) if array.dtype.kind in "fV" else rows.astype(np.int64)
        order = np.lexsort((~np.signbit(keys), keys), axis=1)
        wanted = np.take_along_axis(rows, order, 1)
        for descending in (False, True):
            yield program(
                "o = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]\n"
                f"tl.store(y_ptr + o, tl.sort(tl.load(x_ptr + o), descending={descending}))",
                x=array,
                out={"y": (wanted[:, ::-1] if descending else wanted).reshape(-1).copy()},
            )


@reported("triton-lang/triton#9050", "triton-lang/triton#11194")
def values_without_a_bin_are_dropped() -> Cases:
    for x, bins, wanted in (
        ([21, 298, 408, 131, 315, 104, 149, 4], 8, [0, 0, 0, 0, 1, 0, 0, 0]),
        ([0, 1, 2, 3, 4, 4, 5, -1], 4, [1, 1, 1, 1]),
    ):
        yield program(
            f"h = tl.histogram(tl.load(x_ptr + tl.arange(0, 8)), {bins})\n"
            f"tl.store(y_ptr + tl.arange(0, {bins}), h)",
            x=i32(*x),
            out={"y": i32(*wanted)},
        )


@reported("triton-lang/triton#10889")
def counts_do_not_wrap_in_the_dtype_of_what_is_counted() -> Cases:
    for array, count in ((i8(*[0] * 512), 512), (i16(*[0] * 65536), 65536)):
        yield program(
            f"h = tl.histogram(tl.load(x_ptr + tl.arange(0, {count})), 4)\n"
            "tl.store(y_ptr + tl.arange(0, 4), h)",
            x=array,
            out={"y": i32(count, 0, 0, 0)},
        )


@reported("triton-lang/triton#4825")
def masked_lanes_are_not_counted() -> Cases:
    x = RNG.integers(0, 8, 100).astype(np.int32)
    yield program(
        "i = tl.arange(0, 128)\nm = i < 100\nx = tl.load(x_ptr + i, mask=m, other=0)\n"
        "tl.store(y_ptr + tl.arange(0, 8), tl.histogram(x, 8, m))",
        x=x,
        out={"y": np.bincount(x, minlength=8).astype(np.int32)},
    )


@reported("triton-lang/triton#6987")
def a_histogram_behind_a_product_counts_every_row() -> Cases:
    x = RNG.integers(-4, 5, (256, 16)).astype(np.float32)
    c = RNG.integers(-4, 5, (16, 16)).astype(np.float32)
    nearest = (x @ c.T).argmin(1)
    yield program(
        """
r = tl.arange(0, 256)
k = tl.arange(0, 16)
x = tl.load(x_ptr + r[:, None] * 16 + k[None, :])
c = tl.load(c_ptr + k[:, None] * 16 + k[None, :])
near = tl.argmin(tl.dot(x, c.T, input_precision="ieee"), axis=1)
tl.store(y_ptr + k, tl.histogram(near, 16))""",
        x=x.reshape(-1),
        c=c.reshape(-1),
        out={"y": np.bincount(nearest, minlength=16).astype(np.int32)},
    )


@reported("triton-lang/triton#5836", "triton-lang/triton#11600")
def a_gather_may_be_longer_than_its_source() -> Cases:
    yield program(
        "i = tl.arange(0, 4096)\nsrc = tl.load(x_ptr + tl.arange(0, 4))\n"
        "tl.store(y_ptr + i, tl.gather(src, i * 0, 0))",
        x=f32(1, 2, 3, 4),
        out={"y": np.ones(4096, np.float32)},
    )
    source = RNG.standard_normal((8, 2)).astype(np.float32)
    index = RNG.integers(0, 2, (8, 8)).astype(np.int32)
    for warps in (2, 4):
        yield program(
            """
r = tl.arange(0, 8)[:, None]
src = tl.load(x_ptr + r * 2 + tl.arange(0, 2)[None, :])
o = r * 8 + tl.arange(0, 8)[None, :]
tl.store(y_ptr + o, tl.gather(src, tl.load(i_ptr + o), 1))""",
            x=source.reshape(-1),
            i=index.reshape(-1),
            out={"y": np.take_along_axis(source, index, 1).reshape(-1)},
            options={"num_warps": warps},
        )


@reported("triton-lang/triton#5897")
def conditions_are_summed_beside_numbers() -> Cases:
    yield values({"x + 0 * x": i32(1, 0)}, x=i32(1, 0))
    yield program(
        "tl.store(y_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 4))))",
        x=i1(1, 1, 0, 1),
        out={"y": u32(3)},
    )
