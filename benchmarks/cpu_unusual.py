"""Three examples that no part of the compiler was made for, beside the same fused by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cpu_handmade as handmade
import numpy as np
from bias_gelu import bias_gelu_residual
from cpu_measure import Row, slowdown
from cpu_rows import bound, normal
from logsumexp import logsumexp_columns
from matmul_relu import matmul_relu_scale

from teeny_triton import f32
from teenyc.backend.cpu import features

TARGET = 1.3


def unusual() -> Iterator[Row]:
    """Bias, GELU and residual; log-sum-exp over axis 0; a product with an epilogue."""
    for m, n in ((64, 1024), (1024, 1024), (4096, 4096)):
        x, b, residual = normal(m, n), normal(n), normal(m, n)
        outs = [np.empty((m, n), np.float32) for _ in range(2)]
        args = (x, b, residual, outs[0], m, n)
        blocks: Any = {"BLOCK_M": 16, "BLOCK_N": 128}
        ours = bound(bias_gelu_residual, (m // 16, n // 128), args, D=f32, **blocks)
        text = handmade.bias_gelu_text(16, 128)
        theirs = handmade.load(text, ("exp",))(x, b, residual, outs[1], m, n)
        yield compared(f"bias + GELU + residual {m}x{n}", ours, theirs, outs)
    for m, n in ((64, 1024), (1024, 1024), (4096, 4096)):
        x = normal(m, n)
        outs = [np.empty(n, np.float32) for _ in range(2)]
        blocks = {"BLOCK_M": 16, "BLOCK_N": 64}
        ours = bound(logsumexp_columns, (n // 64,), (x, outs[0], m, n), D=f32, **blocks)
        theirs = handmade.load(handmade.logsumexp_text(), ("exp", "log"))(x, outs[1], m, n)
        yield compared(f"log-sum-exp of axis 0 of {m}x{n}", ours, theirs, outs)
    wide = features.resolve("host").has("avx512f")
    text = handmade.matmul_relu_text(*((8, 32) if wide else (4, 16)))
    for size in (512, 1024):
        a, b, scale = normal(size, size), normal(size, size), normal(size)
        outs = [np.empty((size, size), np.float32) for _ in range(2)]
        blocks = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}
        args = (a, b, scale, outs[0], size, size, size)
        ours = bound(matmul_relu_scale, (size // 64, size // 64), args, H=f32, **blocks)
        theirs = handmade.load(text)(a, b, scale, outs[1], size, size, size)
        yield compared(f"matmul {size} with ReLU and scale", ours, theirs, outs)


def compared(what: str, ours: Any, theirs: Any, outs: list[Any]) -> Row:
    """The row of two calls, whose results are the same but for rounding."""
    ours()
    theirs()
    np.testing.assert_allclose(outs[0], outs[1], rtol=2e-4, atol=2e-4)
    return slowdown(f"{what} / by hand", ours, theirs, TARGET)
