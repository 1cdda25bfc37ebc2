"""Products of matrices, casts, functions at the edges, random numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from reported_cases import Cases, reported
from semantic_cases import (
    Refusal,
    bits,
    f16,
    f32,
    i32,
    i64,
    kernel_text,
    nearest,
    program,
    values,
)

RNG = np.random.default_rng(41)
INF, NAN = np.inf, np.nan
BF16 = bits("bf16", 0).dtype


def _dot(m: int, n: int, k: int, precision: str) -> str:
    return f"""
m = tl.arange(0, {m})
n = tl.arange(0, {n})
k = tl.arange(0, {k})
a = tl.load(a_ptr + m[:, None] * {k} + k[None, :])
b = tl.load(b_ptr + k[:, None] * {n} + n[None, :])
tl.store(y_ptr + m[:, None] * {n} + n[None, :], tl.dot(a, b, input_precision="{precision}"))"""


@reported("triton-lang/triton#8654", "triton-lang/triton#9080")
def a_product_of_f32_is_as_exact_as_asked() -> Cases:
    ones = np.ones((64, 64), np.float32)
    v = RNG.standard_normal((64, 64)).astype(np.float32)
    exact = np.broadcast_to(v.astype(np.float64).sum(0), (64, 64))
    size = np.abs(v.astype(np.float64)).sum(0)

    def within(bound: float) -> object:
        return lambda found: bool(np.all(np.abs(found.reshape(64, 64) - exact) <= bound * size))

    for precision, bound in (("ieee", 1e-5), ("tf32x3", 1e-5), ("tf32", 2.0**-9)):
        yield program(
            _dot(64, 64, 64, precision),
            a=ones.reshape(-1),
            b=v.reshape(-1),
            out={"y": np.zeros(4096, np.float32)},
            checks={"y": within(bound)},  # type: ignore[dict-item]
        )


@reported("triton-lang/triton#4603", "triton-lang/triton#4934")
def three_products_drift_no_more_than_f32_as_k_grows() -> Cases:
    for size in (64, 512):
        a, b = (RNG.standard_normal((16, size)).astype(np.float32) for _ in "ab")
        exact = a.astype(np.float64) @ b.T.astype(np.float64)
        body = f"""
m = tl.arange(0, 16)
k = tl.arange(0, 64)
acc = tl.zeros((16, 16), f32)
for i in range(0, {size}, 64):
    a = tl.load(a_ptr + m[:, None] * {size} + i + k[None, :])
    b = tl.load(b_ptr + m[None, :] * {size} + i + k[:, None])
    acc = tl.dot(a, b, acc, input_precision="tf32x3")
tl.store(y_ptr + m[:, None] * 16 + m[None, :], acc)"""
        yield program(
            body,
            a=a.reshape(-1),
            b=b.reshape(-1),
            out={"y": np.zeros(256, np.float32)},
            checks={"y": lambda found, exact=exact, size=size: bool(
                np.mean((found.reshape(16, 16) - exact) ** 2) < 4e-13 * size
            )},  # type: ignore[misc]
        )  # fmt: skip


@reported("fla-org/flash-linear-attention#88")
def a_product_below_the_least_size_names_the_limit() -> Cases:
    lines = ["i = tl.arange(0, 8)", "x = tl.load(x_ptr + i[:, None] * 8 + i[None, :])",
             "tl.store(x_ptr + i[:, None] * 8 + i[None, :], tl.dot(x, x))"]  # fmt: skip
    yield Refusal("8x8", kernel_text("x_ptr: Ptr[f32]", lines), "E0411", "x")


@reported("triton-lang/triton#5927")
def casts_to_e5m2_saturate_as_documented() -> Cases:
    wanted = bits("f8e5m2", 0x7B, 0xFB, 0x7B, 0x7B, 0x7B)
    yield values({"x.to(f8e5m2)": wanted}, x=f16(INF, -INF, 65504, 61440, 57344), folded=False)


@reported("triton-lang/triton#11784", "intel/intel-xpu-backend-for-triton#7771")
def every_byte_of_8_bit_floats_is_read_as_it_is() -> Cases:
    for name in ("f8e5m2", "f8e4m3"):
        every = bits(name, *range(256))
        with np.errstate(invalid="ignore"):
            wide = every.astype(np.float32)
        for target in ("bf16", "f32", "f16"):
            # The source is converted by NumPy and ml_dtypes, which read every byte exactly.
            wanted = wide.astype({"f32": np.float32, "f16": np.float16}.get(target, BF16))
            yield values({f"x.to({target})": wanted}, x=every, folded=False)


@reported("triton-lang/triton#8322")
def every_half_is_rounded_to_e5m2_once() -> Cases:
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        numbers = x.astype(np.float64)
    finite = np.isfinite(numbers)
    # Rounded to nearest even, the upper byte of a half and its rest; beyond it, the greatest.
    pattern = np.arange(65536, dtype=np.int64)
    upper = (pattern + 0x7F + ((pattern >> 8) & 1)) >> 8
    magnitude = np.minimum(upper & 0x7F, 0x7B)
    rounded = np.where(finite, magnitude, np.where(np.isinf(numbers), 0x7B, 0x7F))
    wanted = (rounded | (pattern >> 8 & 0x80)).astype(np.uint8)
    yield program(
        "i = tl.program_id(0) * 1024 + tl.arange(0, 1024)\n"
        "tl.store(y_ptr + i, tl.load(x_ptr + i).to(f8e5m2))",
        x=x,
        out={"y": wanted.view(bits("f8e5m2", 0).dtype)},
        grid=(64,),
    )


@reported("ROCm/triton#900")
def tanh_does_not_overflow() -> Cases:
    x = [20, 50, 100, -100, INF, -INF, 0, -0.0]
    wanted = [1, 1, 1, -1, 1, -1, 0, -0.0]
    yield values({"tl.math.tanh(x)": f32(*wanted)}, x=f32(*x), folded=False)
    yield values({"tl.math.tanh(x.to(f32)).to(f16)": f16(*wanted)}, x=f16(*x), folded=False)


@reported("pytorch/pytorch#125557", "triton-lang/triton#8557")
def subnormal_numbers_survive_where_rounding_is_promised() -> Cases:
    tiny = bits("f32", 1, 3, 0x7FFFFF, 0x800000, 0x400000)
    half = np.array([nearest("f32", Fraction(float(t)) / 3) for t in tiny], np.float32)
    root = np.sqrt(tiny.astype(np.float64)).astype(np.float32)
    yield values(
        {"tl.div_rn(x, tl.full(x.shape, 3.0, f32))": half, "tl.sqrt_rn(x)": root},
        x=tiny,
        folded=False,
    )


@reported("pytorch/pytorch#125557")
def powers_of_two_reach_the_least_number_on_a_cpu() -> Cases:
    wanted = f32(2.0**-126, 2.0**-127, 2.0**-149, 0)
    for case in values({"tl.exp2(x)": wanted}, x=f32(-126, -127, -149, -151), folded=False):
        yield case._replace(targets=("interpreter", "cpu"))


@reported("triton-lang/triton#6832", "triton-lang/triton#10601", "triton-lang/triton#427")
def random_numbers_do_not_depend_on_the_width_of_the_offset() -> Cases:
    yield program(
        """
i = tl.arange(0, 64)
for p in tl.static_range(4):
    narrow = tl.randint4x(7, i)[p]
    wide = tl.randint4x(7, i.to(i64))[p]
    tl.static_assert(narrow.dtype == u32 and wide.dtype == u32)
    tl.store(y_ptr + p * 64 + i, (narrow == wide).to(i32))""",
        out={"y": np.ones(256, np.int32)},
    )
    x = np.array([-(2**31), 2**31 - 1, -1, 0], np.int64).astype(np.uint32)
    yield program(
        "i = tl.arange(0, 4)\nu = tl.uint_to_uniform_float(tl.load(x_ptr + i))\n"
        "tl.store(y_ptr + i, ((u >= 0) & (u < 1)).to(i32))",
        x=x,
        out={"y": i32(1, 1, 1, 1)},
    )
    yield program(
        "i = tl.program_id(0) * 4096 + tl.arange(0, 4096)\nu = tl.rand(123, i)\n"
        "tl.store(y_ptr + tl.program_id(0), tl.sum(u, axis=0) / 4096)",
        out={"y": np.zeros(64, np.float32)},
        checks={"y": lambda found: abs(float(found.mean()) - 0.5) < 2e-3},
        grid=(64,),
    )


@reported("facebookresearch/xformers#173", "pytorch/pytorch#197563")
def a_dropout_mask_depends_on_seed_and_place_alone() -> Cases:
    x = RNG.standard_normal(16).astype(np.float32)
    yield program(
        """
i = tl.arange(0, 16)
x = tl.load(x_ptr + i)
seed = tl.load(s_ptr)
keep = tl.rand(seed, i) > 0.5
forward = tl.where(keep, x * 2, 0.0)
backward = tl.where(tl.rand(seed, i) > 0.5, 2.0, 0.0)
same = (forward != 0) == (backward != 0)
tl.store(y_ptr + i, same.to(i32))
scaled = (forward == 0) | (forward == x * 2)
tl.store(z_ptr + i, scaled.to(i32))""",
        x=x,
        s=i64(4711),
        out={"y": np.ones(16, np.int32), "z": np.ones(16, np.int32)},
    )
