"""Loads and stores: masks, gathers, arrays that overlap, and memory that must not be touched."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Both = Callable[..., list[Any]]
RNG = np.random.default_rng(17)
PARAMS = "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
COPY = "o = tl.arange(0, 1024)\nm = o < n\nx = tl.load(x_ptr + o, mask=m)\n"

OVERLAPS = {
    "masked": COPY + "tl.store(out_ptr + o, x * 2.0, mask=m)",
    "later load": COPY + "tl.store(out_ptr + o, x * 2.0)\ny = tl.load(x_ptr + o + 1)\n"
    "tl.store(out_ptr + o + 5, y + x)",
    "itself": COPY + "tl.store(x_ptr + o + 1, x * 2.0)",
    "one place often": COPY + "z = tl.load(x_ptr + o % 7)\ntl.store(x_ptr + o % 7, z + o)",
    "backwards": COPY + "tl.store(x_ptr + o, x + 1.0)\nz = tl.load(x_ptr + 1023 - o)\n"
    "tl.store(out_ptr + o, x + z)",
    "behind a branch": COPY + "if n > 2:\n    tl.store(x_ptr + o, x * 3.0)\n"
    "tl.store(out_ptr + o, x + 1.0)",
    "scalar": COPY + "tl.store(x_ptr + 3, 77.0)\ny = tl.load(x_ptr + 3)\n"
    "tl.store(out_ptr + o, x + y)",
    "two stores": COPY + "tl.store(out_ptr + o, x)\ntl.store(out_ptr + o + 1, x + 1.0)",
    "between two stores": COPY + "tl.store(out_ptr + o, x * 2.0)\ny = tl.load(out_ptr + o)\n"
    "tl.store(x_ptr + o, x + 1.0)\ntl.store(out_ptr + 1100 + o % 64, y)",
    "backwards between two stores": COPY + "tl.store(out_ptr + o, x * 2.0)\n"
    "y = tl.load(out_ptr + 1023 - o)\ntl.store(x_ptr + o, x + 1.0)\ntl.store(out_ptr + o, y)",
    "scattered": COPY + "tl.store(out_ptr + (o * 5) % 1024, x + 1.0)",
    "transposed": "o = tl.arange(0, 32)\nx = tl.load(x_ptr + o[:, None] * 32 + o[None, :])\n"
    "tl.store(out_ptr + o[None, :] * 32 + o[:, None], x + 1.0)",
}


@pytest.mark.parametrize("shift", [0, 1, 33, -7, 2000])
@pytest.mark.parametrize("case", OVERLAPS)
def test_every_load_comes_before_the_stores_behind_it(case: str, shift: int, both: Both) -> None:
    base = RNG.standard_normal(5000).astype(np.float32)

    def make() -> list[Any]:
        data = base.copy()
        return [data[500:1800], data[500 + shift : 1800 + shift], 1000]

    both(PARAMS, OVERLAPS[case], make)
    if shift == 2000:  # nothing overlaps, and the launcher may say so
        both(PARAMS, OVERLAPS[case], make, apart=True)


def at_the_end_of_a_page(count: int, dtype: Any) -> tuple[Any, mmap.mmap]:
    """An array whose last byte is the last of a page that no readable page follows."""
    import ctypes

    size = mmap.PAGESIZE
    area = mmap.mmap(-1, 2 * size)
    whole = np.frombuffer(area, np.uint8)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    assert libc.mprotect(whole.ctypes.data + size, size, 0) == 0
    nbytes = count * np.dtype(dtype).itemsize
    return whole[size - nbytes : size].view(dtype), area


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32", "f64"])
@pytest.mark.parametrize("arch", ["host", "x86-64", "x86-64-v3"])
def test_masked_lanes_touch_no_memory(dtype: str, arch: str, compiled: Any) -> None:
    kind = {"i8": np.int8, "f16": np.float16, "f32": np.float32, "f64": np.float64}[dtype]
    body = (
        "o = tl.program_id(0) * 64 + tl.arange(0, 64)\nm = o < n\n"
        "tl.store(out_ptr + o, tl.load(x_ptr + o, mask=m), mask=m)"
    )
    params = f"x_ptr: Ptr[{dtype}], out_ptr: Ptr[{dtype}], n: i32"
    made = compiled(params, body, arch=arch)
    for count in (1, 31, 32, 33, 64, 100):
        (x, _x), (out, _out) = (at_the_end_of_a_page(count, kind) for _ in range(2))
        x[:] = np.arange(count) % 100
        status, _ = made.launch([x, out, count], ((count + 63) // 64, 1, 1))
        assert status == 0
        np.testing.assert_array_equal(x, out)


@pytest.mark.parametrize("dtype", ["i8", "i16", "f16", "bf16", "i32", "f32", "i64", "f64", "i1"])
def test_elements_are_gathered_and_scattered(dtype: str, both: Both) -> None:
    import ml_dtypes

    kinds = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_}
    kind = kinds.get(dtype) or np.dtype(dtype.replace("f", "float").replace("i", "int"))
    index = RNG.permutation(128).astype(np.int32)
    x = RNG.integers(0, 2, 128).astype(kind)
    both(
        f"x_ptr: Ptr[{dtype}], out_ptr: Ptr[{dtype}], i_ptr: Ptr[i32]",
        "o = tl.arange(0, 128)\ni = tl.load(i_ptr + o)\nm = i % 3 != 0\n"
        "tl.store(out_ptr + i, tl.load(x_ptr + 127 - i, mask=m), mask=i != 5)",
        lambda: [x.copy(), np.zeros(128, kind), index.copy()],
    )


def test_addresses_that_wrap_around_are_read_side_by_side_where_they_are(
    both: Both, compiled: Any
) -> None:
    body = (
        "o = (tl.program_id(0) * 128 + tl.arange(0, 128)) % n\n"
        "p = tl.program_id(0) * 128 + tl.arange(0, 128)\n"
        "tl.store(out_ptr + p, tl.load(x_ptr + o))"
    )
    x = RNG.standard_normal(300).astype(np.float32)
    for n in (1, 3, 31, 100, 129, 300):
        both(PARAMS, body, lambda n=n: [x.copy(), np.zeros(512, np.float32), n], (4, 1, 1))
    assert "tests hold" in compiled(PARAMS, body).made.texts["clusters"]


def test_scalars_are_loaded_and_stored_behind_their_masks(both: Both) -> None:
    both(
        PARAMS,
        "pid = tl.program_id(0)\nx = tl.load(x_ptr + pid, mask=pid < n, other=9.0)\n"
        "tl.store(out_ptr + pid, x * 2.0, mask=pid != 1)",
        lambda: [np.arange(4, dtype="f4"), np.zeros(8, "f4"), 3],
        (8, 1, 1),
    )


def test_pointers_are_loaded_and_followed(compiled: Any) -> None:
    x = np.arange(64, dtype=np.float32)
    table = np.asarray([x.ctypes.data + 4 * i for i in range(64)], np.int64)
    out = np.zeros(64, np.float32)
    made = compiled(
        "t_ptr: Ptr[i64], out_ptr: Ptr[f32]",
        "o = tl.arange(0, 64)\np = tl.load(t_ptr + 63 - o).to(Ptr[f32])\n"
        "tl.store(out_ptr + o, tl.load(p))",
    )
    assert made.launch([table, out])[0] == 0
    np.testing.assert_array_equal(out, x[::-1])


def test_all_three_axes_of_the_grid_are_counted(both: Both) -> None:
    both(
        "out_ptr: Ptr[i32]",
        "x = tl.program_id(0)\ny = tl.program_id(1)\nz = tl.program_id(2)\n"
        "a = tl.num_programs(0)\nb = tl.num_programs(1)\n"
        "tl.store(out_ptr + x + a * (y + b * z), x + 10 * y + 100 * z + 1000 * tl.num_programs(2))",
        lambda: [np.zeros(24, np.int32)],
        (2, 3, 4),
    )
