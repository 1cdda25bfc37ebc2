"""The CPU target's kernels beside NumPy's: elementwise, rows, products, checks. One thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from cpu_measure import Row, least, slowdown, speedup
from layer_norm import layer_norm_forward
from matmul import matmul
from softmax import softmax_rows
from vector_add import vector_add

from teeny_compiler import CompileOptions, compile_kernel
from teeny_cpu import Device
from teeny_macros import Target
from teeny_triton import bf16, f16, f32

DEVICE = Device(threads=1)
SIZES = {"64 K": 1 << 16, "1 M": 1 << 20, "16 M": 1 << 24}
TYPES: dict[str, tuple[Any, Any]] = {
    "f32": (f32, np.float32),
    "f16": (f16, np.float16),
}
if find_spec("ml_dtypes") is not None:
    TYPES["bf16"] = (bf16, import_module("ml_dtypes").bfloat16)
_random = np.random.default_rng(0)


def bound(
    kernel: Any,
    grid: tuple[int, ...],
    args: tuple[Any, ...],
    *,
    checks: bool = False,
    threads: int | None = 1,
    **consts: Any,
) -> Callable[[], None]:
    """A prepared launch of a kernel on one thread; with None, on all."""
    options = CompileOptions(bounds_checks=True) if checks else None
    artifact = compile_kernel(kernel.instantiate(**consts), Target.cpu(), options=options)
    return DEVICE.load(artifact).bind(grid, *args, threads=threads)


def normal(*shape: int, dtype: Any = np.float32) -> Any:
    """Random numbers."""
    return _random.standard_normal(shape, np.float32).astype(dtype)


def elementwise() -> Iterator[Row]:
    """Addition of two arrays beside `np.add(out=)`, and what checks cost there."""
    for name, n in SIZES.items():
        x, y, out = normal(n), normal(n), np.empty(n, np.float32)
        ours = bound(vector_add, (n // 1024,), (x, y, out, n), D=f32, BLOCK_SIZE=1024)
        numpy = partial(np.add, x, y, out=out)
        yield slowdown(f"vector add {name} / np.add(out=)", ours, numpy, 1.1)


def softmax_numpy(x: Any, out: Any) -> None:
    """Softmax of rows with one temporary at most."""
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(axis=1, keepdims=True), out=out)


def layer_norm_numpy(x: Any, w: Any, b: Any, out: Any) -> None:
    """Layer norm of rows without temporaries of the whole size but one."""
    np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
    variance = np.square(out).mean(axis=1, keepdims=True)
    np.multiply(out, 1 / np.sqrt(variance + 1e-5), out=out)
    np.multiply(out, w, out=out)
    np.add(out, b, out=out)


def rows() -> Iterator[Row]:
    """Softmax and layer norm; also rows that fill three quarters of their block."""
    shapes = [(64, 1024), (1024, 1024), (16384, 1024), (512, 1000), (512, 3001)]
    for m, n in shapes:
        x, out = normal(m, n), np.empty((m, n), np.float32)
        block = 1 << (n - 1).bit_length()
        ours = bound(softmax_rows, (m,), (out, x, n), D=f32, BLOCK_SIZE=block)
        yield speedup(f"softmax {m}x{n}", ours, partial(softmax_numpy, x, out), 2.0)
        w, b = normal(n), normal(n)
        args = (x, w, b, out, n, 1e-5)
        ours = bound(layer_norm_forward, (m,), args, D=f32, BLOCK_SIZE=block)
        yield speedup(f"layer norm {m}x{n}", ours, partial(layer_norm_numpy, x, w, b, out), 2.0)


def product(size: int, dtype: str, block: tuple[int, int, int], **more: Any) -> Any:
    """A prepared product of two square matrices."""
    type_, element = TYPES[dtype]
    a, b = normal(size, size, dtype=element), normal(size, size, dtype=element)
    c = np.empty((size, size), element)
    grid = (-(-size // block[0]) * -(-size // block[1]),)
    consts: Any = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), block, strict=True))
    call = bound(matmul, grid, (a, b, c, *[size] * 3), H=type_, GROUP=8, **consts, **more)
    return call, a, b, c


def products() -> Iterator[Row]:
    """Products of f32 beside BLAS, and those of f16 and bf16 beside ours of f32."""
    for size in (512, 1024):
        for block, target in (((64, 64, 32), 0.7), ((32, 32, 32), 0.5)):
            ours, a, b, c = product(size, "f32", block)
            name = "x".join(map(str, block))
            mine, blas = least(ours, partial(np.matmul, a, b, out=c))
            note = f"{2e-9 * size**3 / mine:.0f} GFLOP/s"
            yield Row(
                f"matmul {size}, blocks of {name} / BLAS", blas / mine, "x", target,
                at_least=True, ours=mine, theirs=blas, note=note,
            )  # fmt: skip
    for dtype in ("f16", "bf16"):
        if dtype not in TYPES:
            print(f"  {dtype} not measured: ml_dtypes is not installed")
            continue
        f32s, *_ = product(512, "f32", (64, 64, 32))
        ours, *_ = product(512, dtype, (64, 64, 32))
        yield slowdown(f"matmul 512 of {dtype} / of f32", ours, f32s, 1.3)


def checks() -> Iterator[Row]:
    """What bounds checks cost."""
    n = 1 << 20
    x, y, out = normal(n), normal(n), np.empty(n, np.float32)
    calls = [
        bound(vector_add, (n // 1024,), (x, y, out, n), D=f32, BLOCK_SIZE=1024, checks=on)
        for on in (True, False)
    ]
    yield slowdown("vector add 1 M with checks", calls[0], calls[1], 5.0)
    z, soft = normal(512, 1000), np.empty((512, 1000), np.float32)
    calls = [
        bound(softmax_rows, (512,), (soft, z, 1000), D=f32, BLOCK_SIZE=1024, checks=on)
        for on in (True, False)
    ]
    yield slowdown("softmax 512x1000 with checks", calls[0], calls[1], 5.0)
    for size in (512, 500):
        pair = [product(size, "f32", (64, 64, 32), checks=on)[0] for on in (True, False)]
        yield slowdown(f"matmul {size} with checks", pair[0], pair[1], 5.0)
