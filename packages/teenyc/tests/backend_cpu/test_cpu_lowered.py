"""What GPUs have hardware for and a CPU does in steps: scaled products, tensor descriptors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Both = Callable[..., list[Any]]
RNG = np.random.default_rng(23)
READ = """
m, n, k = tl.arange(0, 16), tl.arange(0, 32), tl.arange(0, 64)
x = tl.load(x_ptr + m[:, None] * 64 + k[None, :])
y = tl.load(y_ptr + k[:, None] * 32 + n[None, :])
"""
OUT = "\ntl.store(out_ptr + m[:, None] * 32 + n[None, :], z)"


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "bf16", "fp16"])
def test_scaled_products_have_the_interpreters_bits(name: str, both: Both, kinds: Any) -> None:
    dtype = {"e4m3": "f8e4m3", "e5m2": "f8e5m2", "fp16": "f16"}.get(name, name)
    params = f"x_ptr: Ptr[{dtype}], y_ptr: Ptr[{dtype}], s_ptr: Ptr[u8], t_ptr: Ptr[u8]"
    body = READ + (
        "h = tl.arange(0, 2)\n"
        "s = tl.load(s_ptr + m[:, None] * 2 + h[None, :])\n"
        "t = tl.load(t_ptr + n[:, None] * 2 + h[None, :])\n"
        f"z = tl.dot_scaled(x, s, '{name}', y, t, '{name}')"
    )
    x, y = (RNG.standard_normal(shape).astype(kinds[dtype]) for shape in ((16, 64), (64, 32)))
    s, t = (RNG.integers(110, 140, (rows, 2)).astype(np.uint8) for rows in (16, 32))
    s[3, 1], s[4, 0] = 255, 0
    both(
        f"{params}, out_ptr: Ptr[f32]",
        body + OUT,
        lambda: [x, y, s, t, np.zeros((16, 32), np.float32)],
    )


@pytest.mark.parametrize("along_k", [True, False])
def test_packed_numbers_have_the_interpreters_bits(along_k: bool, both: Both) -> None:
    shapes = ((16, 32), (32, 32)) if along_k else ((8, 64), (64, 16))
    (a, b), (c, d) = shapes
    body = (
        f"m, n = tl.arange(0, 16), tl.arange(0, 32)\n"
        f"x = tl.load(x_ptr + tl.arange(0, {a})[:, None] * {b} + tl.arange(0, {b})[None, :])\n"
        f"y = tl.load(y_ptr + tl.arange(0, {c})[:, None] * {d} + tl.arange(0, {d})[None, :])\n"
        f"z = tl.dot_scaled(x, None, 'e2m1', y, None, 'e2m1', "
        f"lhs_k_pack={along_k}, rhs_k_pack={along_k})"
    )
    x, y = (RNG.integers(0, 256, shape).astype(np.uint8) for shape in shapes)
    both(
        "x_ptr: Ptr[u8], y_ptr: Ptr[u8], out_ptr: Ptr[f32]",
        body + OUT,
        lambda: [x, y, np.zeros((16, 32), np.float32)],
    )


def test_an_access_through_a_descriptor_is_checked(compiled: Callable[..., Any]) -> None:
    """The sides that the descriptor was made with are more than the array has."""
    body = (
        "d = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, 32])\n"
        "x = d.load([8 * tl.program_id(0), 32])\n"
        "i = tl.arange(0, 8)\n"
        "tl.store(out_ptr + i, tl.sum(x, axis=1))"
    )
    kernel = compiled("x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32", body, checks=True)
    x, out = np.ones((16, 64), np.float32), np.zeros(8, np.float32)
    assert kernel.launch([x, out, 16], (2, 1, 1))[0] == 0
    assert (out == 32).all()
    status, record = kernel.launch([x, out, 24], (3, 1, 1))
    kind, line, _, program, lane, _, parameter, _ = record
    assert (status, kind, program, lane, parameter) == (1, 1, 2, 0, 0)
    assert line > 0


def test_an_access_through_a_block_pointer_is_checked(compiled: Callable[..., Any]) -> None:
    body = (
        "p = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 64), (1, 0))\n"
        "p = tl.advance(p, (8, 0))\n"
        "x = tl.load(p, boundary_check=(0,))\n"
        "i = tl.arange(0, 8)\n"
        "tl.store(out_ptr + i, tl.sum(x, axis=1))"
    )
    kernel = compiled("x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32", body, checks=True)
    x, out = np.ones((9, 64), np.float32), np.zeros(8, np.float32)
    assert kernel.launch([x, out, 9])[0] == 0
    np.testing.assert_array_equal(out, [64, 0, 0, 0, 0, 0, 0, 0])
    status, record = kernel.launch([x, out, 16])
    kind, line, _, program, lane, _, parameter, _ = record
    assert (status, kind, program, lane, parameter) == (1, 1, 0, 64, 0)
    assert line > 0
