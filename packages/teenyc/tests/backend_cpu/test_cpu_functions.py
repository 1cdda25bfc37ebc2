"""Exact functions, libdevice's and random numbers on a CPU: the interpreter's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_macros.diagnostics import CompileError

Both = Callable[..., list[Any]]
RNG = np.random.default_rng(17)
KINDS: dict[str, Any] = {
    "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
ODD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5, 0.5, 1e-7, -1e-40, 3.4e38, 2.0**-133]


def samples(dtype: str, seed: int) -> Any:
    rng, kind = np.random.default_rng(seed), KINDS[dtype]
    if dtype[0] in "iu":
        info = np.iinfo(kind)
        found = rng.integers(info.min, info.max, 128, dtype=kind, endpoint=True)
        found[:4] = [0, 1, info.max, info.min]
        return found
    with np.errstate(over="ignore"):
        found = (rng.standard_normal(128) * 10.0 ** rng.integers(-3, 3, 128)).astype(kind)
        found[: len(ODD)] = np.roll(np.asarray(ODD), seed).astype(kind)
    return found


FLOATS = ["tl.floor(x)", "tl.ceil(x)", "tl.sqrt_rn(x)", "tl.div_rn(x, y)", "tl.fma(x, y, z)"]
FLOATS += ["tl.clamp(x, -1.0, 2.0)", "tl.fdiv(x, y, ieee_rounding=True)", "tl.math.rint(x)"]
FLOATS += ["tl.clamp(x, -1.0, 2.0, propagate_nan=tl.PropagateNan.ALL)", "tl.math.trunc(x)"]
FLOATS += ["tl.math.round(x)", "tl.math.copysign(x, y)", "tl.math.nearbyint(x)"]
FLOATS += ["tl.math.add_rn(x, y)", "tl.math.mul_rn(x, y)", "tl.math.fma_rn(x, y, z)"]
FLOATS += ["tl.math.isnan(x)", "tl.math.isinf(x)", "tl.math.fmod(x, y)"]
INTS = ["tl.math.popc(x)", "tl.math.clz(x)", "tl.math.brev(x)", "tl.umulhi(x, y)"]
INTS += ["tl.clamp(x, 0, 1000)", "tl.mul(x, y, sanitize_overflow=False)"]
CASES = [
    *((expression, dtype) for expression in FLOATS for dtype in ("f32", "f64")),
    *((expression, dtype) for expression in INTS for dtype in ("i32", "u32", "i64", "u64")),
    ("tl.fma(x, y, z)", "f16"), ("tl.clamp(x, y, 9.0)", "f16"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "dtype"), CASES)
def test_a_function_leaves_the_bits_of_the_interpreter(
    expression: str, dtype: str, both: Both
) -> None:
    result = "i32" if "isnan" in expression or "isinf" in expression else dtype
    both(
        ", ".join(f"{name}_ptr: Ptr[{dtype}]" for name in "xyz") + f", out_ptr: Ptr[{result}]",
        "o = tl.arange(0, 128)\n"
        "x, y, z = tl.load(x_ptr + o), tl.load(y_ptr + o), tl.load(z_ptr + o)\n"
        f"tl.store(out_ptr + o, {expression})",
        lambda: [*(samples(dtype, seed) for seed in range(3)), np.zeros(128, KINDS[result])],
    )


def test_a_fused_sum_of_bf16_is_rounded_once_however_far_its_sides_lie_apart(both: Both) -> None:
    bf16 = ml_dtypes.bfloat16
    # 1.5 * (1 + 2**-7) lies in the middle between two bf16; a tiny addend decides.
    addends = [2.0**-100, -(2.0**-100), 2.0**-120, 0.0, 1.0, -1.5, 2.0**100, np.inf]
    found = both(
        "x_ptr: Ptr[bf16], out_ptr: Ptr[bf16]",
        "o = tl.arange(0, 8)\nx = tl.load(x_ptr + o)\nz = tl.full((8,), 1.0078125, bf16)\n"
        "tl.store(out_ptr + o, tl.fma(tl.full((8,), 1.5, bf16), z, x))",
        lambda: [np.asarray(addends, bf16), np.zeros(8, bf16)],
    )
    assert list(found[1][:4]) == [1.515625, 1.5078125, 1.515625, 1.515625]


def test_random_bits_are_those_of_the_interpreter(both: Both) -> None:
    for name, dtype in (("randint", "u32"), ("rand", "f32")):
        both(
            f"out_ptr: Ptr[{dtype}], seed: i64",
            "o = tl.program_id(0) * 256 + tl.arange(0, 256)\n"
            f"tl.store(out_ptr + o, tl.{name}(seed, o))",
            lambda dtype=dtype: [np.zeros(1024, KINDS[dtype]), 0x123456789ABC],
            (4, 1, 1),
        )


def test_tiles_move_through_descriptors_and_block_pointers(both: Both) -> None:
    found = both(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32], m: i32, n: i32",
        """\
i, j = tl.program_id(0) * 8, tl.program_id(1) * 16
p = tl.make_block_ptr(x_ptr, (m, n), (n, 1), (i, j), (8, 16), (1, 0))
x = tl.load(p, boundary_check=(0, 1), padding_option="zero")
q = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (i, j), (8, 16), (1, 0))
tl.store(q, x * 2, boundary_check=(0, 1))""",
        lambda: [np.arange(20 * 37, dtype=np.float32), np.zeros(20 * 37, np.float32), 20, 37],
        (3, 3, 1),
    )
    assert np.array_equal(found[1], 2 * found[0])


def test_a_function_of_a_scalar_is_that_of_a_lane(compiled: Callable[..., Any]) -> None:
    body = "tl.store(x_ptr, tl.math.erfinv(tl.load(x_ptr)))"
    x = np.full(1, 0.75, np.float32)
    assert compiled("x_ptr: Ptr[f32]", body).launch([x])[0] == 0
    assert abs(x[0] - 0.8134198) < 1e-6


def test_what_a_cpu_lacks_is_named(compiled: Callable[..., Any]) -> None:
    asm = "tl.inline_asm_elementwise('neg.f32 $0, $1;', '=r,r', [tl.load(x_ptr)], f32, True, 1)"
    with pytest.raises(CompileError) as caught:
        compiled("x_ptr: Ptr[f32]", f"tl.store(x_ptr, {asm})")
    assert caught.value.code == "E0803"
    assert "`tt.elementwise_inline_asm`" in str(caught.value)
