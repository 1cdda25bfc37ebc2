"""What products ask for: the next turn's rows, all of them, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from teenyc.backend.cpu import ahead, backlog

PARAMS = "x_ptr: Ptr[{0}], y_ptr: Ptr[{0}], out_ptr: Ptr[f32], n: i32"
BODY = """\
i, j, k = tl.arange(0, {m}), tl.arange(0, {n}), tl.arange(0, {k})
x_ptrs = x_ptr + i[:, None] * 256 + k[None, :]
y_ptrs = y_ptr + k[:, None] * 64 + j[None, :]
t = tl.zeros(({m}, {n}), f32)
for turn in range(0, n):
    x = tl.load(x_ptrs)
    y = tl.load(y_ptrs)
    t = tl.dot(x, y, t, input_precision="ieee")
    x_ptrs += {k}
    y_ptrs += {k} * 64
tl.store(out_ptr + i[:, None] * {n} + j[None, :], t)
"""
TWO = """\
i, k = tl.arange(0, 16), tl.arange(0, 32)
t = tl.zeros((16, 32), f32)
for turn in range(0, n):
    x = tl.load(x_ptr + i[:, None] * 256 + turn * 32 + k[None, :])
    y = tl.load(y_ptr + (turn * 32 + k[:, None]) * 64 + k[None, :])
    s = tl.dot(x, y, input_precision="ieee")
    z = tl.load(y_ptr + (turn * 32 + k[:, None]) * 64 + k[None, :] + 32)
    t = tl.dot(s, z, t, input_precision="ieee")
tl.store(out_ptr + i[:, None] * 32 + k[None, :], t)
"""
TURNS = 4
Log = Callable[[], set[int]]


@pytest.fixture
def log(lines_asked_for: Callable[..., Log]) -> Log:
    """The lines asked for by what is compiled from now on and run."""
    return lines_asked_for(backlog, ahead)


def arrays_of(element: str) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    dtype = {"f32": np.float32, "f16": np.float16}[element]
    # Where the next turn's tile begins in the middle of a line, as arrays of NumPy mostly do.
    x, y = random.standard_normal(64 * 256 + 8), random.standard_normal(256 * 64 + 8)
    return x.astype(dtype)[4:-4].reshape(64, 256), y.astype(dtype)[4:-4].reshape(256, 64)


@pytest.mark.parametrize(
    ("m", "n", "k", "element"),
    [(64, 64, 32, "f32"), (16, 32, 32, "f32"), (4, 16, 32, "f32"), (32, 32, 64, "f16")],
)
def test_a_product_asks_for_all_rows_of_the_next_turn(
    m: int,
    n: int,
    k: int,
    element: str,
    compiled: Callable[..., Any],
    log: Log,
    lines_of: Callable[[Any], set[int]],
) -> None:
    made = compiled(PARAMS.format(element), BODY.format(m=m, n=n, k=k))
    x, y = arrays_of(element)
    out = np.zeros((m, n), np.float32)
    assert made.launch([x, y, out, TURNS - 1])[0] == 0
    inner = (TURNS - 1) * k
    np.testing.assert_allclose(
        out, x[:m, :inner].astype("f4") @ y[:inner, :n].astype("f4"), rtol=1e-3, atol=1e-3
    )
    tiles = [slice(t * k, (t + 1) * k) for t in range(1, TURNS)]
    wanted = [lines_of(x[:m, t]) | lines_of(y[t, :n]) for t in tiles]
    assert log() == set().union(*wanted)


def test_each_product_asks_for_what_was_read_before_it(
    compiled: Callable[..., Any],
    log: Log,
    lines_of: Callable[[Any], set[int]],
) -> None:
    made = compiled(PARAMS.format("f32"), TWO, emit=("llvm-ir",))
    x, y = arrays_of("f32")
    assert made.launch([x, y, np.zeros((16, 32), np.float32), TURNS - 1])[0] == 0
    tiles = [slice(t * 32, (t + 1) * 32) for t in range(1, TURNS)]
    assert log() == set().union(*(lines_of(x[:16, t]) | lines_of(y[t, :64]) for t in tiles))
    functions = re.split(r"^define ", made.made.texts["llvm-ir"], flags=re.MULTILINE)
    asking = [text for text in functions if "call void @teeny.log" in text]
    assert len(asking) == 2
    assert all(text.startswith("internal void @teeny.dot.") for text in asking)


def test_products_of_a_batch_leave_it_to_the_loads(compiled: Callable[..., Any]) -> None:
    body = """\
b, i, k = tl.arange(0, 2), tl.arange(0, 16), tl.arange(0, 32)
at = b[:, None, None] * 4096 + i[None, :, None] * 256 + k[None, None, :]
of = b[:, None, None] * 4096 + k[None, :, None] * 64 + k[None, None, :]
t = tl.zeros((2, 16, 32), f32)
for turn in range(0, n):
    x = tl.load(x_ptr + at + turn * 32)
    y = tl.load(y_ptr + of + turn * 32 * 64)
    t = tl.dot(x, y, t, input_precision="ieee")
tl.store(out_ptr + b[:, None, None] * 512 + i[None, :, None] * 32 + k[None, None, :], t)
"""
    text = compiled(PARAMS.format("f32"), body, emit=("llvm-ir",)).made.texts["llvm-ir"]
    entry = text[text.index("define i32 @k_entry_point") :]
    assert "@llvm.prefetch" in entry
    product = text[text.index("define internal void @teeny.dot.") :].partition("\n}")[0]
    assert "@llvm.prefetch" not in product


def test_what_a_loop_reads_before_the_product_is_asked_for_by_the_load(
    compiled: Callable[..., Any],
    log: Log,
    lines_of: Callable[[Any], set[int]],
) -> None:
    body = BODY.format(m=16, n=32, k=32).replace(
        "    t = tl.dot",
        "    for inner in range(0, n):\n        t += x * 0.0\n    t = tl.dot",
    )
    made = compiled(PARAMS.format("f32"), body, emit=("llvm-ir",))
    text = made.made.texts["llvm-ir"]
    assert "call void @teeny.log" in text[text.index("define i32 @k_entry_point") :]
    x, y = arrays_of("f32")
    assert made.launch([x, y, np.zeros((16, 32), np.float32), TURNS - 1])[0] == 0
    tiles = [slice(t * 32, (t + 1) * 32) for t in range(1, TURNS)]
    assert log() == set().union(*(lines_of(x[:16, t]) | lines_of(y[t, :32]) for t in tiles))
