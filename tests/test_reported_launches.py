"""Reported faults of whole launches: parameters, specialization, texts; and arrays beyond 2**31."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, bf16, f16, f32, i32, i64

TARGETS = ["interpret", "cpu", pytest.param("cuda:0", marks=pytest.mark.gpu)]


class Machine:
    """Launches over copies of NumPy arrays, which come back changed."""

    def __init__(self, name: str) -> None:
        self.name = name

    def launch(self, run: Any, grid: Any, *args: Any, **constants: Any) -> None:
        """`run[grid](*args)`; views keep their place in their array, and so their alignment."""
        if not self.name.startswith("cuda"):
            run[grid](*args, device=self.name, **constants)
            return
        from teeny_cuda.testing import require_gpu

        device = require_gpu()
        given: list[tuple[Any, int, Any]] = []
        for arg in args:
            if isinstance(arg, np.ndarray):
                whole = arg if arg.base is None else arg.base
                at = (arg.ctypes.data - whole.ctypes.data) // arg.itemsize
                given.append((device.copy_of(whole), at, whole))
            else:
                given.append((arg, 0, None))
        views = [x[at:] if at else x for x, at, _ in given]
        run[grid](*views, **constants)
        for buffer, _, host in given:
            if host is not None:
                host[...] = buffer.to_host()


@pytest.fixture(params=TARGETS)
def machine(request: pytest.FixtureRequest) -> Machine:
    return Machine(request.param)


@kernel
def times(x_ptr: Ptr[i64], out_ptr: Ptr[i64], mul: i32) -> None:
    tl.store(out_ptr, tl.load(x_ptr) * mul.to(i64))


def test_an_argument_equal_to_1_is_still_a_value_of_the_kernel(machine: Machine) -> None:
    """triton-lang/triton#2939."""
    for mul in (42, 1):
        out = np.zeros(1, np.int64)
        machine.launch(times, 1, np.ones(1, np.int64), out, mul)
        assert out[0] == mul


@kernel
def numbered(BLOCK: Const[int], NAME: Const[str]) -> None:
    tl.static_assert(BLOCK == 8)
    tl.device_assert(tl.program_id(0) >= 0, NAME)


def test_a_kernel_may_have_compile_time_parameters_alone(machine: Machine) -> None:
    """triton-lang/triton#1445."""
    numbered.on(2, device=machine.name)(BLOCK=8, NAME="any")


@kernel
def constant(out_ptr: Ptr[f32], VALUE: Const[float]) -> None:
    tl.store(out_ptr, VALUE)


def test_compile_time_values_of_any_spelling_make_kernels_of_their_own(machine: Machine) -> None:
    """triton-lang/triton#679."""
    for value in (-1, -1.5, 1.5, 1, 1e-30, -0.0):
        out = np.full(1, 7, np.float32)
        machine.launch(constant, 1, out, VALUE=value)
        assert out[0] == np.float32(value)
        assert np.signbit(out[0]) == np.signbit(np.float32(value))


@kernel
def doubled(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.load(x_ptr + o, mask=o < n) * 2.0, mask=o < n)


def test_a_view_that_is_less_aligned_gets_code_of_its_own(machine: Machine) -> None:
    """triton-lang/triton#1330."""
    x = np.arange(1200, dtype=np.float32)
    for shift in (0, 1, 0):
        out = np.zeros(1200, np.float32)
        count = 1184 if shift == 0 else 1199
        machine.launch(doubled, 5, x[shift:], out[shift:], count, BLOCK=256)
        assert np.array_equal(out[shift : shift + count], 2 * x[shift : shift + count])
        assert not out[shift + count :].any()


@kernel
def halves(out_ptr: Ptr[f32], a: f16, b: bf16) -> None:
    tl.store(out_ptr, a.to(f32))
    tl.store(out_ptr + 1, b.to(f32))


def test_a_float_for_an_annotated_half_arrives_as_itself(machine: Machine) -> None:
    """triton-lang/triton#7439."""
    out = np.zeros(2, np.float32)
    machine.launch(halves, 1, out, 42.0, 1.5)
    assert list(out) == [42.0, 1.5]


@kernel
def on_one_line(x_ptr: Ptr[f32], out_ptr: Ptr[f32], B: Const[int]) -> None:
    off = tl.arange(0, B)
    idx = tl.arange(0, B)
    x = tl.load(x_ptr + off[:, None] * B + idx[None, :])
    tl.store(out_ptr + off[:, None] * B + idx[None, :], x)


@kernel
def on_three_lines(x_ptr: Ptr[f32], out_ptr: Ptr[f32], B: Const[int]) -> None:
    off = tl.arange(0, B)
    idx = tl.arange(0, B)
    p = x_ptr + off[:, None] * B
    p = p + idx[None, :]
    x = tl.load(p)
    tl.store(out_ptr + off[:, None] * B + idx[None, :], x)


@pytest.mark.parametrize("size", [64, 128, 256])
def test_an_expression_means_the_same_on_one_line_and_on_three(size: int) -> None:
    """triton-lang/triton#441."""
    from teeny_macros.unit import parse
    from teeny_triton.triton_lang import TRITON, TRITON_SHA
    from teenyc.frontend import lower_unit
    from teenyc.ir.printer import print_module
    from teenyc.passes import run

    texts = []
    for one in (on_one_line, on_three_lines):
        unit = one.instantiate(B=size).unit(TRITON, TRITON_SHA)
        module = lower_unit(parse(unit.render()))
        run(module)
        lines = print_module(module).splitlines()
        texts.append([line.partition("= ")[2].partition(" ")[0] for line in lines])
    assert texts[0] == texts[1]


# --- beyond 2**31 elements ------------------------------------------------------------------------


@kernel
def fill(x_ptr: Ptr[f16], n: i64 | int, BLOCK: Const[int]) -> None:
    o = tl.program_id(0).to(i64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + o, tl.where(o % 2 == 0, 1.0, -1.0).to(f16), mask=o < n)


@kernel
def count_wrong(x_ptr: Ptr[f16], wrong_ptr: Ptr[i32], n: i64 | int, BLOCK: Const[int]) -> None:
    o = tl.program_id(0).to(i64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n, other=0.0).to(f32)
    wanted = tl.where(o % 2 == 0, 1.0, -1.0)
    wrong = tl.where(o < n, x, wanted) != wanted
    tl.atomic_add(wrong_ptr, tl.sum(wrong.to(i32), axis=0))


@pytest.mark.gpu
@pytest.mark.large
def test_more_elements_than_an_i32_counts_are_all_written() -> None:
    """triton-lang/triton#832, triton-lang/triton#1058, triton-lang/triton#6748."""
    from teeny_cuda.testing import require_gpu

    device: Any = require_gpu()
    n = 3_270_680_000
    x, wrong = device.buffer(n, "f16"), device.buffer(1, "i32")
    x.fill(0.0)
    wrong.fill(0)
    grid = -(-n // 1024)
    fill[grid](x, n, BLOCK=1024)
    count_wrong[grid](x, wrong, n, BLOCK=1024)
    assert wrong.to_host()[0] == 0
    x.release()


@kernel
def softmax(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    o = tl.arange(0, BLOCK)
    at = tl.program_id(0).to(i64) * n + o
    x = tl.load(x_ptr + at, mask=o < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + at, e / tl.sum(e, axis=0), mask=o < n)


@kernel
def numbers(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    o = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = ((o * 37 + row * 11) % 101).to(f32) * 0.1
    tl.store(x_ptr + row.to(i64) * n + o, x, mask=o < n)


@pytest.mark.gpu
@pytest.mark.large
def test_the_first_and_the_last_row_of_a_softmax_near_2_to_the_31_are_right() -> None:
    """jax-ml/jax#16973."""
    from teeny_cuda.testing import require_gpu

    device: Any = require_gpu()
    rows, columns = 42692, 50304
    x, out = device.buffer((rows, columns), "f32"), device.buffer((rows, columns), "f32")
    numbers.options(num_warps=16)[rows](x, columns, BLOCK=65536)
    softmax.options(num_warps=16)[rows](x, out, columns, BLOCK=65536)
    for row in (0, 1, rows // 2, rows - 1):
        values = (np.arange(columns) * 37 + row * 11) % 101 * 0.1
        wanted = np.exp(values - values.max())
        found = out[row : row + 1].to_host().reshape(-1)
        assert np.allclose(found, wanted / wanted.sum(), rtol=2e-5, atol=0)
    x.release()
    out.release()
