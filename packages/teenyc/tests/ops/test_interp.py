"""The interpreter: memory and its checks, arguments, control flow, reductions and products."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_macros.diagnostics import LaunchError, ToolchainError
from teenyc import interp

MakeKernel = Callable[..., Any]
COPY = """\
offsets = tl.program_id(0) * 32 + tl.arange(0, 32)
mask = offsets < n
tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)"""
RNG = np.random.default_rng(3)


def launch(kernel: Any, *args: Any, grid: tuple[int, int, int] = (1, 1, 1)) -> None:
    kernel.program().launch(grid, args)


def failure(kernel: Any, *args: Any, grid: tuple[int, int, int] = (1, 1, 1)) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        launch(kernel, *args, grid=grid)
    return caught.value


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 100])
def test_a_masked_copy_writes_what_the_mask_names_and_no_more(n: int, kernel: MakeKernel) -> None:
    x, out = RNG.random(128).astype("f4"), np.full(128, -1, "f4")
    launch(
        kernel("x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32", COPY),
        x, out, n, grid=(-(-n // 32), 1, 1),
    )  # fmt: skip
    assert np.array_equal(out[:n], x[:n])
    assert (out[n:] == -1).all()


def test_a_unit_is_loaded_from_its_text(kernel: MakeKernel) -> None:
    made = kernel("x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32", COPY)
    program = interp.load(made.unit.render())
    assert program.name == "kernel_under_test_entry_point"
    x, out = np.ones(32, "f4"), np.zeros(32, "f4")
    program.launch((1, 1, 1), [x, out, 32])
    assert np.array_equal(out, x)


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("i1", np.bool_), ("i8", np.int8), ("u16", np.uint16), ("i64", np.int64),
        ("u64", np.uint64), ("f16", np.float16), ("bf16", ml_dtypes.bfloat16),
        ("f8e4m3", ml_dtypes.float8_e4m3fn), ("f8e5m2", ml_dtypes.float8_e5m2),
        ("f64", np.float64),
    ],
)  # fmt: skip
def test_every_dtype_is_copied_bit_by_bit(dtype: str, kind: Any, kernel: MakeKernel) -> None:
    size = np.dtype(kind).itemsize
    data = RNG.integers(0, 2 if dtype == "i1" else 256, 32 * size).astype(np.uint8)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        wide = data.view(kind).astype(np.float64)
    data = np.where(np.isnan(np.repeat(wide, size)), 0, data).astype(np.uint8)
    x, out = data.view(kind), np.zeros(32, kind)
    made = kernel(f"x_ptr: Ptr[{dtype}], out_ptr: Ptr[{dtype}], n: i32", COPY)
    launch(made, x, out, 32)
    assert np.array_equal(out.view(np.uint8), data)


def test_views_are_addressed_as_they_lie_in_memory(kernel: MakeKernel) -> None:
    base = np.arange(64, dtype=np.float32)
    x, out = base[62::-2], np.zeros(32, np.float32)
    made = kernel(
        "x_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        "o = tl.arange(0, 32)\ntl.store(out_ptr + o, tl.load(x_ptr - o * 2))",
    )
    launch(made, x, out)
    assert np.array_equal(out, x)


def test_pointers_to_pointers_are_followed(kernel: MakeKernel) -> None:
    x = np.arange(4, dtype=np.float32)
    table = np.asarray([x.__array_interface__["data"][0]], dtype=np.int64)
    out = np.zeros(4, np.float32)
    made = kernel(
        "table_ptr: Ptr[i64], x_ptr: Ptr[f32], out_ptr: Ptr[f32]",
        "p = tl.load(table_ptr).to(Ptr[f32])\n"
        "o = tl.arange(0, 4)\ntl.store(out_ptr + o, tl.load(p + o))",
    )
    launch(made, table, x, out)
    assert np.array_equal(out, x)


def test_an_access_outside_of_every_array_names_line_program_and_element(
    kernel: MakeKernel,
) -> None:
    made = kernel(
        "x_ptr: Ptr[f32], n: i32",
        "o = tl.program_id(1) * 8 + tl.arange(0, 8)\ntl.store(x_ptr + o, 0.0, mask=o < n)",
    )
    error = failure(made, np.zeros(10, np.float32), 12, grid=(1, 2, 1))
    (found,) = error.diagnostics
    assert found.code == "E0506"
    assert found.message == (
        "program (0, 1, 0), element (2,): writes 4 bytes at `x_ptr + 10`, "
        "and the array spans 10 elements"
    )
    assert found.span is not None
    assert (found.span.file, found.span.line) == ("kernel_under_test.py", 5)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("tl.store(y_ptr, tl.load(x_ptr + 5))", "reads 4 bytes at `x_ptr + 5`"),
        ("tl.store(y_ptr - 3, 0.0)", "writes 4 bytes at `y_ptr - 3`"),
        # The operations do not say which parameter it was: the nearest array is named.
        ("tl.store((y_ptr.to(i64) + 16).to(Ptr[f32]), 0.0)", "writes 4 bytes at `y_ptr + 4`"),
        ("tl.store((y_ptr.to(i64) - 6).to(Ptr[f32]), 0.0)", "writes 4 bytes at -6 bytes from `y_"),
    ],
)
def test_an_access_outside_is_told_from_the_parameter_it_came_from(
    code: str, message: str, kernel: MakeKernel
) -> None:
    both = np.zeros(8000, np.float32)  # one memory, so that the other array is not far
    made = kernel("x_ptr: Ptr[f32], y_ptr: Ptr[f32]", code)
    error = failure(made, both[:4], both[4000:4004])
    assert message in error.diagnostics[0].message
    assert error.diagnostics[0].message.endswith("and the array spans 4 elements")


@pytest.mark.parametrize("offset", [-1, 4, 2**30, -(2**30)])
def test_each_side_of_an_array_is_guarded(offset: int, kernel: MakeKernel) -> None:
    made = kernel("x_ptr: Ptr[f32], n: i32", "tl.store(x_ptr, tl.load(x_ptr + n))")
    assert failure(made, np.zeros(4, np.float32), offset).code == "E0506"
    launch(made, np.zeros(4, np.float32), 3)


def test_a_null_pointer_is_outside_unless_nothing_is_read(kernel: MakeKernel) -> None:
    made = kernel("x_ptr: Ptr[f32], n: i32", "tl.store(x_ptr, 0.0, mask=n > 0)")
    launch(made, None, 0)
    error = failure(made, None, 1)
    assert error.code == "E0506"
    assert error.diagnostics[0].message.endswith("writes 4 bytes at 0x0, and no array was given")


def test_empty_arrays_and_empty_grids_do_nothing(kernel: MakeKernel) -> None:
    made = kernel("x_ptr: Ptr[f32], n: i32", "tl.store(x_ptr, 0.0, mask=n > 0)")
    launch(made, np.zeros(0, np.float32), 0)
    launch(made, None, 1, grid=(0, 1, 1))
    launch(made, None, 1, grid=(3, 0, 1))


def test_a_read_only_array_is_read_and_never_written(kernel: MakeKernel) -> None:
    made = kernel("x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32", COPY)
    fixed, free = np.zeros(32, np.float32), np.ones(32, np.float32)
    fixed.flags.writeable = False
    launch(made, fixed, free, 32)
    assert (free == 0).all()
    error = failure(made, free, fixed, 32)
    assert error.code == "E0507"


def test_overlapping_arrays_are_all_reached(kernel: MakeKernel) -> None:
    base = np.arange(64, dtype=np.float32)
    made = kernel("x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32", COPY)
    launch(made, base, base[8:16], 8)
    assert np.array_equal(base[8:16], np.arange(8))
    launch(made, base, base[4:], 32)


@pytest.mark.parametrize(
    ("params", "args"),
    [
        ("x_ptr: Ptr[f32], n: i32", [1.5, 3]),
        ("x_ptr: Ptr[f32], n: i32", [None, "3"]),
        ("x_ptr: Ptr[f32], n: i32", [None, 1 << 31]),
        ("x_ptr: Ptr[f32], n: u8", [None, -1]),
        ("x_ptr: Ptr[f32], n: i32", [None, 1.5]),
        ("x_ptr: Ptr[f32], n: i32", [None]),
        ("x_ptr: Ptr[f32], n: i32", [None, np.zeros(3)]),
    ],
)
def test_arguments_of_another_kind_are_refused(
    params: str, args: list[Any], kernel: MakeKernel
) -> None:
    assert failure(kernel(params, "tl.store(x_ptr, n)"), *args).code == "E0510"


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("f16", 1.5), ("bf16", 42.0), ("f64", 0.1), ("i1", True), ("u8", 200), ("i64", -(2**40)),
     ("u64", 2**64 - 1), ("f32", np.float32(0.1)), ("i32", np.int64(-5))],
)  # fmt: skip
def test_scalars_arrive_as_they_are(dtype: str, value: Any, kernel: MakeKernel) -> None:
    wide = np.float64 if dtype[0] in "fb" else np.uint64 if dtype == "u64" else np.int64
    name = {np.float64: "f64", np.uint64: "u64", np.int64: "i64"}[wide]
    out = np.zeros(1, wide)
    launch(kernel(f"out_ptr: Ptr[{name}], n: {dtype}", "tl.store(out_ptr, n)"), out, value)
    assert out[0] == value


def test_the_grid_is_walked_in_three_axes(kernel: MakeKernel) -> None:
    out = np.zeros((4, 3, 2), np.int32)
    made = kernel(
        "out_ptr: Ptr[i32]",
        "x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)\n"
        "place = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x\n"
        "tl.store(out_ptr + place, x + 10 * y + 100 * z)",
    )
    launch(made, out, grid=(2, 3, 4))
    z, y, x = np.indices((4, 3, 2))
    assert np.array_equal(out, x + 10 * y + 100 * z)


def test_loops_branches_and_while_carry_their_values(kernel: MakeKernel) -> None:
    out = np.zeros(3, np.int32)
    made = kernel(
        "out_ptr: Ptr[i32], n: i32",
        """\
total = 0
for i in range(n, 0, -1):
    if i % 2 == 0:
        total = total + i
    else:
        total = total - 1
steps = 0
r = n
while r > 1:
    r = (r + 1) // 2
    steps = steps + 1
tl.store(out_ptr, total)
tl.store(out_ptr + 1, steps)
tl.store(out_ptr + 2, r)""",
    )
    launch(made, out, 17)
    assert list(out) == [sum(range(2, 17, 2)) - 9, 5, 1]


def test_sums_are_halved_and_rounded_at_each_step(kernel: MakeKernel) -> None:
    x = (RNG.random((4, 64)) * 100).astype(np.float16)
    out = np.zeros(4, np.float16)
    made = kernel(
        "x_ptr: Ptr[f16], out_ptr: Ptr[f16]",
        "r = tl.arange(0, 4)\nc = tl.arange(0, 64)\n"
        "tl.store(out_ptr + r, tl.sum(tl.load(x_ptr + r[:, None] * 64 + c[None, :]), axis=1))",
    )
    launch(made, x, out)
    rest = x
    while rest.shape[1] > 1:
        half = rest.shape[1] // 2
        rest = rest[:, :half] + rest[:, half:]
    assert np.array_equal(out, rest[:, 0])


@pytest.mark.parametrize("batch", [0, 2])
@pytest.mark.parametrize(
    ("dtype", "kind", "result"),
    [("f16", np.float16, "f32"), ("bf16", ml_dtypes.bfloat16, "f32"), ("f32", np.float32, "f32"),
     ("f64", np.float64, "f64"), ("i8", np.int8, "i32")],
)  # fmt: skip
def test_products_are_those_of_exact_arithmetic(
    dtype: str, kind: Any, result: str, batch: int, kernel: MakeKernel
) -> None:
    a, b = RNG.integers(-8, 8, (2, max(batch, 1), 16, 32))
    b = np.swapaxes(b, 1, 2)
    out = np.zeros((max(batch, 1), 16, 16), {"f32": "f4", "f64": "f8", "i32": "i4"}[result])
    index = (
        "b = tl.arange(0, 2)[:, None, None]\nm = tl.arange(0, 16)\nk = tl.arange(0, 32)\n"
        "x = tl.load(x_ptr + b * 512 + m[None, :, None] * 32 + k[None, None, :])\n"
        "y = tl.load(y_ptr + b * 512 + k[None, :, None] * 16 + m[None, None, :])\n"
        "tl.store(out_ptr + b * 256 + m[None, :, None] * 16 + m[None, None, :], tl.dot(x, y))"
        if batch
        else "m = tl.arange(0, 16)\nk = tl.arange(0, 32)\n"
        "x = tl.load(x_ptr + m[:, None] * 32 + k[None, :])\n"
        "y = tl.load(y_ptr + k[:, None] * 16 + m[None, :])\n"
        "tl.store(out_ptr + m[:, None] * 16 + m[None, :], tl.dot(x, y))"
    )
    made = kernel(f"x_ptr: Ptr[{dtype}], y_ptr: Ptr[{dtype}], out_ptr: Ptr[{result}]", index)
    launch(made, a.astype(kind), np.ascontiguousarray(b).astype(kind), out)
    assert np.array_equal(out, a @ b)


def test_without_numpy_the_interpreter_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, kernel: MakeKernel
) -> None:
    module = kernel("x_ptr: Ptr[f32], n: i32", "tl.store(x_ptr, n)").lower()
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ToolchainError) as caught:
        interp.InterpProgram(module)
    assert caught.value.code == "E0508"
    assert "teenyc[interpret]" in caught.value.diagnostics[0].helps[0]
