"""Products of matrices in the interpreter against NumPy: dtypes, batches, microscaling formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from teeny_macros.diagnostics import TeenyError

MakeKernel = Callable[..., Any]
Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)
KINDS: dict[str, Any] = {
    "i8": np.int8, "i32": np.int32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "f32": np.float32, "f64": np.float64, "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2, "u8": np.uint8, "u16": np.uint16,
}  # fmt: skip
NAMES = {np.dtype(kind): name for name, kind in KINDS.items()}
# OCP Microscaling Formats specification 1.0, 5.3.3.
E2M1 = np.asarray([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def matrix(rows: int, columns: int, name: str) -> str:
    at = f"tl.arange(0, {rows})[:, None] * {columns} + tl.arange(0, {columns})[None, :]"
    return f"{name} + {at}"


def product(
    kernel: MakeKernel, expression: str, shape: tuple[int, int], result: str, **inputs: Array
) -> Array:
    """`expression` of matrices by name, which has `shape`, as `result`."""
    params = [f"{name}_ptr: Ptr[{NAMES[array.dtype]}]" for name, array in inputs.items()]
    lines = [
        f"{name} = tl.load({matrix(len(array), array.shape[1], f'{name}_ptr')})"
        for name, array in inputs.items()
    ]
    lines.append(f"tl.store({matrix(*shape, 'out_ptr')}, {expression})")
    made = kernel(", ".join([*params, f"out_ptr: Ptr[{result}]"]), "\n".join(lines))
    out = np.zeros(shape, KINDS[result])
    made.program().launch((1, 1, 1), [*map(np.ascontiguousarray, inputs.values()), out])
    return out


def sample(shape: tuple[int, ...], dtype: str) -> Array:
    if dtype[0] in "iu":
        return RNG.integers(-50, 50, shape).astype(KINDS[dtype])
    return RNG.standard_normal(shape).astype(KINDS[dtype])


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        ("i8", "i8", "i32"), ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f32", "f32", "f32"),
        ("f64", "f64", "f64"), ("f8e4m3", "f8e4m3", "f32"), ("f8e5m2", "f8e4m3", "f32"),
    ],
)  # fmt: skip
def test_products_of_each_dtype_are_numpys(
    left: str, right: str, result: str, kernel: MakeKernel
) -> None:
    x, y = sample((16, 32), left), sample((32, 8), right)
    wanted = x.astype(np.float64) @ y.astype(np.float64)
    found = product(kernel, "tl.dot(x, y)", (16, 8), result, x=x, y=y)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    acc = sample((16, 8), result)
    found = product(kernel, "tl.dot(x, y, acc)", (16, 8), result, x=x, y=y, acc=acc)
    np.testing.assert_allclose(found, wanted + acc, rtol=1e-5, atol=1e-5)


def test_an_8_bit_product_may_be_f16(kernel: MakeKernel) -> None:
    x, y = sample((16, 32), "f8e5m2"), sample((32, 16), "f8e5m2")
    found = product(kernel, "tl.dot(x, y, out_dtype=f16)", (16, 16), "f16", x=x, y=y)
    np.testing.assert_allclose(found, x.astype(np.float32) @ y.astype(np.float32), atol=0.1)


@pytest.mark.parametrize("batch", [(4,), (2, 2), (2, 1, 2)])
def test_sides_before_the_last_two_are_a_batch(batch: tuple[int, ...], kernel: MakeKernel) -> None:
    x = sample((16, 64), "f32")
    rank = len(batch) + 2
    order = (*range(rank - 2), rank - 1, rank - 2)
    tiles = f"x.reshape({(*batch, 8, 32)}), x.reshape({(*batch, 8, 32)}).permute({order})"
    found = product(kernel, f"tl.dot({tiles}).reshape(16, 16)", (16, 16), "f32", x=x)
    tile = x.reshape(4, 8, 32)
    wanted = (tile @ tile.transpose(0, 2, 1)).reshape(16, 16)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["e4m3", "e5m2", "bf16", "fp16"])
@pytest.mark.parametrize("as_bits", [False, True])
def test_scaled_products_are_products_of_scaled_numbers(
    name: str, as_bits: bool, kernel: MakeKernel
) -> None:
    dtype = {"e4m3": "f8e4m3", "e5m2": "f8e5m2", "fp16": "f16"}.get(name, name)
    x, y = sample((16, 64), dtype), sample((64, 32), dtype)
    s, t = (RNG.integers(120, 134, (rows, 2)).astype(np.uint8) for rows in (16, 32))
    one, two = (np.repeat(2.0 ** (scale - 127.0), 32, 1) for scale in (s, t))
    wanted = (x.astype(np.float64) * one) @ (y.astype(np.float64) * two.T)
    bits = {1: np.uint8, 2: np.uint16}[x.dtype.itemsize]
    call = f"tl.dot_scaled(x, s, '{name}', y, t, '{name}')"
    given = x.view(bits) if as_bits else x
    found = product(kernel, call, (16, 32), "f32", x=given, s=s, y=y, t=t)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5 * np.abs(wanted).max())


@pytest.mark.parametrize("along_k", [True, False])
def test_two_numbers_are_packed_in_a_byte_the_first_in_the_lower_bits(
    along_k: bool, kernel: MakeKernel
) -> None:
    x, y = RNG.integers(0, 16, (16, 64)), RNG.integers(0, 16, (64, 32))
    pairs = ((x[:, ::2], x[:, 1::2]), (y[::2], y[1::2]))
    if not along_k:
        pairs = ((x[::2], x[1::2]), (y[:, ::2], y[:, 1::2]))
    packed = [(low | high << 4).astype(np.uint8) for low, high in pairs]
    flags = f"lhs_k_pack={along_k}, rhs_k_pack={along_k}"
    call = f"tl.dot_scaled(x, None, 'e2m1', y, None, 'e2m1', {flags})"
    found = product(kernel, call, (16, 32), "f32", x=packed[0], y=packed[1])
    assert np.array_equal(found, E2M1[x] @ E2M1[y])


def test_scales_of_16_numbers_and_the_scale_that_is_no_number(kernel: MakeKernel) -> None:
    x, y = sample((16, 64), "f8e4m3"), sample((64, 16), "f8e4m3")
    scale = np.abs(sample((16, 4), "f8e4m3"))
    wanted = x.astype(np.float64) * np.repeat(scale.astype(np.float64), 16, 1) @ y.astype(float)
    call = "tl.dot_scaled(x, s, 'e4m3', y, None, 'e4m3')"
    found = product(kernel, call, (16, 16), "f32", x=x, s=scale, y=y)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    scale = np.full((16, 2), 127, np.uint8)
    scale[3, 1] = 255
    found = product(kernel, call, (16, 16), "f32", x=x, s=scale, y=y)
    assert np.flatnonzero(np.isnan(found).all(axis=1)).tolist() == [3]


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("tl.dot(h, b)", "E0301"), ("tl.dot(b.to(u8), b.to(u8))", "E0301"),
        ("tl.dot(e, e, max_num_imprecise_acc=64)", "E0416"),
        ("tl.dot(e, e, max_num_imprecise_acc=n)", "E0416"),
        ("tl.dot(h, h, out_dtype=bf16)", "E0301"),
        ("tl.dot(h, h, input_precision='tf64')", "E0416"),
        ("tl.dot(h[0:1], h)", "E0412"), ("tl.dot(h.reshape(2, 16, 32), h)", "E0410"),
        ("tl.dot_scaled(e, None, 'e3m2', e, None, 'e5m2')", "E0416"),
        ("tl.dot_scaled(h, None, 'e5m2', e, None, 'e5m2')", "E0301"),
        ("tl.dot_scaled(e, e, 'e5m2', e, None, 'e5m2')", "E0301"),
        ("tl.dot_scaled(e, b.to(u8), 'e5m2', e, None, 'e5m2')", "E0410"),
        ("tl.dot_scaled(e, None, 'e5m2', e, None, 'e5m2', lhs_k_pack=False)", "E0416"),
        ("tl.dot_scaled(e, None, 'e5m2', e, None, 'e5m2', out_dtype=f16)", "E0416"),
        ("tl.dot_scaled(e, None, 'e5m2', e, None, 'e5m2', fast_math=n)", "E0210"),
        ("tl.dot_scaled(e, None, 'e5m2', e, None, 'e5m2', acc=h)", "E0410"),
        ("tl.dot_scaled(e, None, 'e5m2', b.to(u8), None, 'e2m1')", "E0410"),
    ],
)  # fmt: skip
def test_what_cannot_be_multiplied_is_a_coded_error(
    expression: str, code: str, kernel: MakeKernel
) -> None:
    body = f"""\
h = tl.load({matrix(32, 32, "h_ptr")})
e = h.to(f8e5m2)
b = h.to(i8)
y = {expression}
tl.store(h_ptr, 0.0)"""
    with pytest.raises(TeenyError) as caught:
        kernel("h_ptr: Ptr[f16], n: i32", body).lower()
    assert [found.code for found in caught.value.diagnostics] == [code]
