"""Offsets, masks, atomics."""

from __future__ import annotations

import numpy as np

from reported_cases import Cases, reported
from semantic_cases import bf16, f32, i32, i64, program, u32

RNG = np.random.default_rng(31)


@reported("microsoft/dion#102", "microsoft/dion#103")
def an_offset_is_as_wide_as_it_is_written() -> Cases:
    yield program(
        "i = tl.load(x_ptr)\nstride = tl.load(s_ptr)\ntl.store(y_ptr, i.to(i64) * stride)\n"
        "tl.store(y_ptr + 1, i * stride)",
        x=i32(319),
        s=i32(2560 * 3072),
        out={"y": i64(2_508_718_080, -1_786_249_216)},
    )


@reported("triton-lang/triton#3281")
def a_zero_in_place_of_masked_lanes_is_a_zero() -> Cases:
    x = RNG.integers(-9, 9, 16).astype(np.float32)
    for other in ("0.0", "0", "-0.0", "False"):
        yield program(
            f"i = tl.arange(0, 256)\nx = tl.load(x_ptr + i, mask=i < 16, other={other})\n"
            "tl.store(y_ptr, tl.sum(x))",
            x=x,
            out={"y": f32(x.sum())},
        )


@reported("triton-lang/triton#737", "triton-lang/triton#9917", "pytorch/pytorch#126535")
def what_masked_lanes_hold_does_not_show_behind_where() -> Cases:
    x = RNG.integers(-9, 9, (8, 8)).astype(np.float16)
    padded = np.pad(x.astype(np.float32), 1)
    wanted = sum(padded[a : a + 8, b : b + 8] for a in range(3) for b in range(3))
    for other in (", other=float('nan')", "", ", other=7.0"):
        yield program(
            f"""
i = tl.arange(0, 8)[:, None]
j = tl.arange(0, 8)[None, :]
total = tl.zeros((8, 8), f32)
for a in tl.static_range(-1, 2):
    for b in tl.static_range(-1, 2):
        inside = (i + a >= 0) & (i + a < 8) & (j + b >= 0) & (j + b < 8)
        v = tl.load(x_ptr + (i + a) * 8 + j + b, mask=inside{other})
        total += tl.where(inside, v, 0.0)
tl.store(y_ptr + i * 8 + j, total)""",
            x=x.reshape(-1),
            out={"y": np.asarray(wanted, np.float32).reshape(-1)},
        )


@reported("triton-lang/triton#745")
def nibbles_of_a_masked_row_keep_their_sign() -> Cases:
    row = RNG.integers(0, 256, 100).astype(np.uint8)
    low = (row & 15).astype(np.int8)
    yield program(
        "i = tl.arange(0, 128)\nv = tl.load(x_ptr + i, mask=i < 100, other=0)\n"
        "n = ((v & 15) << 4).to(i8) >> 4\ntl.store(y_ptr + i, n, mask=i < 100)",
        x=row,
        out={"y": np.where(low > 7, low - 16, low).astype(np.int8)},
    )


def _rows(x: np.ndarray, shift: int) -> np.ndarray:
    wanted = np.zeros_like(x)
    for row in range(4):
        start = 1185 * row + shift
        wanted[start : start + 1184] = 2 * x[start : start + 1184]
    return wanted


@reported("triton-lang/triton#1330")
def rows_of_an_odd_length_are_not_read_as_aligned() -> Cases:
    x = RNG.standard_normal(4 * 1185).astype(np.float32)
    for shift in (0, 1):
        yield program(
            f"""
row = tl.program_id(0)
start = tl.load(n_ptr) * row + {shift}
i = tl.arange(0, 1024)
tl.store(y_ptr + start + i, tl.load(x_ptr + start + i, mask=i < 1024) * 2, mask=i < 1024)
tl.store(y_ptr + start + 1024 + i, tl.load(x_ptr + start + 1024 + i, mask=i < 160) * 2,
         mask=i < 160)""",
            x=x,
            n=i32(1185),
            y=np.zeros(4 * 1185, np.float32),
            out={"y": _rows(x, shift)},
            grid=(4,),
        )


@reported("triton-lang/triton#9838")
def the_variance_of_a_row_leaves_its_padding_out() -> Cases:
    for count in (3, 17, 127):
        x = np.arange(1, count + 1, dtype=np.float64)
        wanted = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
        size = 1 << (count - 1).bit_length()
        yield program(
            f"""
i = tl.arange(0, {size})
m = i < {count}
x = tl.load(x_ptr + i, mask=m, other=0.0)
d = tl.where(m, x - tl.sum(x, axis=0) / {count}, 0.0)
tl.store(y_ptr + i, d * tl.rsqrt(tl.sum(d * d, axis=0) / {count} + 1e-5), mask=m)""",
            x=x.astype(np.float32),
            out={"y": wanted.astype(np.float32)},
            ulp=16,
        )


# --- atomics --------------------------------------------------------------------------------------


@reported("triton-lang/triton#4992", "triton-lang/triton#5894")
def halves_are_added_atomically() -> Cases:
    x = RNG.standard_normal(256).astype(np.float16)
    yield program(
        "i = tl.arange(0, 256)\nm = i < 200\nold = tl.atomic_add(c_ptr + i, tl.load(x_ptr + i), "
        "mask=m)\ntl.store(y_ptr + i, tl.where(m, old, 0.0))",
        x=x,
        c=np.zeros(256, np.float16),
        out={"c": np.where(np.arange(256) < 200, x, np.float16(0)), "y": np.zeros(256, "f2")},
    )


@reported("triton-lang/triton#1387", "triton-lang/triton#7011")
def bf16_is_added_atomically() -> Cases:
    yield program(
        "i = tl.arange(0, 512)\ntl.atomic_add(c_ptr + i, tl.full((512,), 1.0, bf16))",
        c=bf16(*[0, 1] * 256),
        out={"c": bf16(*[1, 2] * 256)},
    )
    yield program(
        "tl.store(y_ptr + tl.program_id(0), tl.atomic_add(c_ptr, 1.0))",
        c=bf16(0),
        out={"c": bf16(64), "y": bf16(*range(64))},
        checks={"y": lambda found: sorted(found.astype(float)) == list(range(64))},
        grid=(64,),
    )


@reported("triton-lang/triton#1470")
def the_greatest_of_each_place_is_found_atomically() -> Cases:
    x = RNG.standard_normal(256).astype(np.float32)
    x[::9] = -0.0
    place = RNG.integers(0, 16, 256)
    wanted = np.full(16, -np.inf, np.float32)
    np.maximum.at(wanted, place, x)
    yield program(
        "i = tl.arange(0, 256)\ntl.atomic_max(c_ptr + tl.load(p_ptr + i), tl.load(x_ptr + i))",
        x=x,
        p=place.astype(np.int32),
        c=np.full(16, -np.inf, np.float32),
        out={"c": wanted},
    )
    yield program(
        "i = tl.arange(0, 4)\ntl.atomic_max(c_ptr + i * 0, tl.load(x_ptr + i))",
        x=u32(3, 2**31 + 5, 7, 0),
        c=u32(1),
        out={"c": u32(2**31 + 5)},
    )
