"""Products of matrices: precision of the operands, of the sum, and special values."""

from __future__ import annotations

from typing import Any

import numpy as np

from semantic_cases import DTYPES, program, refused, sentence

Cases = Any

_BODY = """
i = tl.arange(0, {n})
k = tl.arange(0, {k})
a = tl.load(a_ptr + i[:, None] * {k} + k[None, :])
b = tl.load(b_ptr + k[:, None] * {n} + i[None, :])
c = {call}
tl.static_assert(c.dtype == {result})
tl.store(c_ptr + i[:, None] * {n} + i[None, :], c)"""


def product(a: Any, b: Any, result: str, call: str = "tl.dot(a, b)", **rest: Any) -> Any:
    """A product; the exact one, rounded, unless `check` is given."""
    n, k = a.shape
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    out = {"c": wanted.astype(DTYPES[result]).ravel()}
    body = _BODY.format(n=n, k=k, call=call, result=result)
    return program(body, a=a.ravel(), b=b.ravel(), out=out, **rest)


def _within(a: Any, b: Any, relative: float) -> Any:
    """A check that each error is at most `relative` of the sum of the products' magnitudes."""
    exact = a.astype(np.float64) @ b.astype(np.float64)
    size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)

    def check(found: Any) -> bool:
        error = np.abs(found.reshape(exact.shape).astype(np.float64) - exact)
        return bool((error <= relative * size).all())

    return {"c": check}


def _small(name: str, seed: int, n: int = 32, k: int = 32, most: int = 8) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-most, most + 1, (n, k)), rng.integers(-most, most + 1, (k, n))
    return a.astype(DTYPES[name]), b.astype(DTYPES[name])


def _normal(seed: int, n: int = 32, k: int = 128) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, k), np.float32), rng.standard_normal((k, n), np.float32)


@sentence("S701")
def narrow_products_are_exact_and_summed_in_f32() -> Cases:
    for name in ("f16", "bf16"):
        a, b = _small(name, 50)
        yield product(a, b, "f32")
        a, b = (x.astype(DTYPES[name]) for x in _normal(51))
        yield product(a, b, "f32", checks=_within(a, b, 128 * 2.0**-23))


@sentence("S702")
def f32_operands_may_be_rounded_to_tf32() -> Cases:
    a, b = _normal(52)
    yield product(a, b, "f32", checks=_within(a, b, 2.0**-9))
    a, b = _small("f32", 53, most=256)  # tf32 holds these
    yield product(a, b, "f32")


@sentence("S703")
def ieee_keeps_f32() -> Cases:
    a, b = _normal(54)
    call = 'tl.dot(a, b, input_precision="ieee")'
    yield product(a, b, "f32", call, checks=_within(a, b, 128 * 2.0**-24))
    call = "tl.dot(a, b, allow_tf32=False)"
    yield product(a, b, "f32", call, checks=_within(a, b, 128 * 2.0**-24))


@sentence("S704")
def three_products_come_close_to_f32() -> Cases:
    a, b = _normal(55)
    call = 'tl.dot(a, b, input_precision="tf32x3")'
    yield product(a, b, "f32", call, checks=_within(a, b, 2.0**-17))


@sentence("S705")
def i8_products_are_exact() -> Cases:
    rng = np.random.default_rng(56)
    a = rng.integers(-128, 128, (32, 64)).astype(np.int8)
    b = rng.integers(-128, 128, (64, 32)).astype(np.int8)
    yield product(a, b, "i32")


@sentence("S706")
def eight_bit_float_products_are_exact() -> Cases:
    for name in ("f8e4m3", "f8e5m2"):
        a, b = _small(name, 57, n=64, k=32, most=4)
        yield product(a, b, "f32")


@sentence("S707")
def out_dtype_and_acc_set_the_dtype() -> Cases:
    a, b = _small("f16", 58, most=3)
    yield product(a, b, "f16", "tl.dot(a, b, out_dtype=f16)")
    call = "tl.dot(a, b, tl.full((32, 32), 0.0, f32))"
    yield product(a, b, "f32", call)
    a, b = _small("f64", 61, n=16, k=16)
    yield product(a, b, "f64")


@sentence("S708")
def acc_is_added() -> Cases:
    a, b = _small("f16", 59)
    body = _BODY.format(
        n=32, k=32, call="tl.dot(a, b, tl.full((32, 32), 1000.0, f32))", result="f32"
    )
    wanted = (a.astype(np.float64) @ b.astype(np.float64) + 1000).astype(np.float32)
    yield program(body, a=a.ravel(), b=b.ravel(), out={"c": wanted.ravel()})


@sentence("S709")
def nan_and_infinity_go_through_products() -> Cases:
    a, b = _small("f16", 60)
    a[0, 0], a[1, 0], b[0, :] = np.nan, np.inf, 0
    b[0, 1] = 2
    a[1, 1:], a[0, 1:] = 0, 0
    with np.errstate(all="ignore"):
        wanted = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    assert np.isnan(wanted[0]).all()
    assert wanted[1, 1] == np.inf
    yield program(
        _BODY.format(n=32, k=32, call="tl.dot(a, b)", result="f32"),
        a=a.ravel(), b=b.ravel(), out={"c": wanted.ravel()},
    )  # fmt: skip


@sentence("S710")
def small_or_mixed_products_are_refused() -> Cases:
    lines = ["a = tl.zeros((16, 8), f16)", "b = tl.zeros((8, 16), f16)"]
    yield refused("E0411", "tl.dot(a, b)", at="a", before=lines)
    lines = ["a = tl.zeros((16, 16), i8)", "b = tl.zeros((16, 16), i8)"]
    yield refused("E0411", "tl.dot(a, b)", at="a", before=lines)
    lines = ["a = tl.zeros((16, 16), f16)", "b = tl.zeros((16, 16), bf16)"]
    yield refused("E0301", "tl.dot(a, b)", at="b", before=lines)
    lines = ["a = tl.zeros((16, 16), i32)", "b = tl.zeros((16, 16), i32)"]
    yield refused("E0301", "tl.dot(a, b)", at="a", before=lines)
