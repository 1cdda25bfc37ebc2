"""Loops and conditionals around loop nests: what they carry, by turns and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Both = Callable[..., list[Any]]
RNG = np.random.default_rng(13)
PARAMS = "x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
HEAD = "o = tl.arange(0, 64)\nx = tl.load(x_ptr + o)\ny = tl.load(y_ptr + o)\n"
TAIL = "\ntl.store(out_ptr + o, x)\ntl.store(out_ptr + 64 + o, y)"

LOOPS = {
    "swap": """
for i in range(0, n):
    x, y = y, x + 1.0""",
    "fibonacci": """
for i in range(0, n):
    x, y = y, x + y""",
    "in place": """
for i in range(0, n):
    x = x * 0.5 + y""",
    "read after": """
for i in range(0, n):
    new = x * 0.5 + y
    y = new - x
    x = new""",
    "kept": """
for i in range(0, n):
    y = y + x""",
    "through a sum": """
for i in range(0, n):
    x = x - tl.sum(x, axis=0) / 64.0""",
    "two sums": """
for i in range(0, n):
    s = tl.sum(x)
    x = x - s
    y = y * tl.max(x) - s""",
    "scalar too": """
s = 1.0
for i in range(0, n):
    s = s * 0.5
    x = x + s * i""",
    "nested": """
for i in range(0, n):
    for j in range(0, i):
        x = x + y * j
    y = y - x""",
    "backwards": """
for i in range(0, n):
    x = tl.load(x_ptr + 63 - o) + x""",
    "conditional": """
for i in range(0, n):
    if i % 2 == 0:
        x = x + y
    else:
        y = y - 1.0""",
    "branches": """
if n > 2:
    x = x * 2.0
else:
    x = y
    y = y + 3.0""",
    "store inside": """
for i in range(0, n):
    tl.store(y_ptr + o, x + i)
    x = tl.load(y_ptr + 63 - o)""",
    "while": """
i = 0
while i < n:
    x = x + y
    i = i + 1""",
    "while on data": """
while tl.sum(x) < n * 10.0:
    x = x + 1.0
    y = y * x""",
    "while swap": """
i = 0
while i < n:
    x, y = y, x * 0.5
    i = i + 1""",
    "constants": """
x = tl.zeros((64,), f32)
for i in range(0, n):
    x = x + 1.0""",
    "integers": """
k = o
for i in range(0, n):
    k = k + 3
    x = x + k.to(f32)
    k = k * 2 % 61""",
    "moving pointers": """
p = x_ptr + o
q = p
for i in range(0, n):
    x = x + tl.load(p)
    p += 1
y = tl.load(p) + tl.load(q)""",
}


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_carries_its_tensors(loop: str, count: int, both: Both) -> None:
    x, y = RNG.standard_normal((2, 128)).astype(np.float32)
    both(
        PARAMS,
        HEAD + LOOPS[loop] + TAIL,
        lambda: [x.copy(), y.copy(), np.zeros(128, np.float32), count],
    )


MATMUL = """\
rows = tl.program_id(0) * 16 + tl.arange(0, 16)
cols = tl.program_id(1) * 32 + tl.arange(0, 32)
inner = tl.arange(0, 16)
a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
b_ptrs = b_ptr + inner[:, None] * N + cols[None, :]
acc = tl.zeros((16, 32), f32)
for k in range(0, K, 16):
    a = tl.load(a_ptrs, mask=(rows < M)[:, None] & (inner < K - k)[None, :], other=0.0)
    b = tl.load(b_ptrs, mask=(inner < K - k)[:, None] & (cols < N)[None, :], other=0.0)
    acc = {product}
    a_ptrs += 16
    b_ptrs += 16 * N
c_mask = (rows < M)[:, None] & (cols < N)[None, :]
tl.store(c_ptr + rows[:, None] * N + cols[None, :], acc, mask=c_mask)
"""


@pytest.mark.parametrize(
    "product",
    ["tl.dot(a, b, acc, input_precision='ieee')", "acc + tl.dot(a, b, input_precision='ieee')",
     "tl.dot(a, b, acc * 0.5, input_precision='ieee') + acc"],
)  # fmt: skip
def test_a_product_accumulates_in_a_loop(product: str, both: Both) -> None:
    m, n, k = 37, 45, 50
    a, b = RNG.standard_normal((m, k)), RNG.standard_normal((k, n))
    both(
        "a_ptr: Ptr[f32], b_ptr: Ptr[f32], c_ptr: Ptr[f32], M: i32, N: i32, K: i32",
        MATMUL.format(product=product),
        lambda: [a.astype("f4"), b.astype("f4"), np.zeros((m, n), "f4"), m, n, k],
        (3, 2, 1),
    )


def test_the_accumulator_of_a_loop_is_updated_in_place(compiled: Any) -> None:
    body = MATMUL.format(product="tl.dot(a, b, acc, input_precision='ieee')")
    params = "a_ptr: Ptr[f32], b_ptr: Ptr[f32], c_ptr: Ptr[f32], M: i32, N: i32, K: i32"
    made = compiled(params, body).made
    assert "carries buffer0 in place" in made.texts["clusters"]
    # And a list of 16 rows of each operand, with two growths, in whole lines.
    listed = -(-8 * (16 + 16 + 2) // 64) * 64
    assert made.arena_bytes == 4 * (16 * 32 + 16 * 16 + 16 * 32) + listed
    assert "asks for 32 strips of the next turn" in made.texts["clusters"]


KEPT = {
    # The numbers that these keep in memory are needed before that is written.
    "gather": "r = tl.arange(0, 64)\nif n == 5:\n    x = x + 1.0\n"
    "v = tl.gather(r, (r * 5) & 63, 0)\ntl.store(out_ptr + o, x + y)\n"
    "tl.store(out_ptr + 64 + r, v)",
    "reshape": "if n > 2:\n    x = x * 2.0\nv = tl.reshape(o, (8, 8))\n"
    "p = tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
    "tl.store(out_ptr + 64 + o, x)\ntl.store(out_ptr + p, v)",
    "flip": "if n > 2:\n    x = tl.sort(x)\ntl.store(out_ptr + o, x)\n"
    "tl.store(out_ptr + 64 + o, tl.flip(o))",
}


@pytest.mark.parametrize("case", KEPT)
def test_numbers_of_elements_serve_before_and_after_they_are_kept(case: str, both: Both) -> None:
    both(
        PARAMS,
        HEAD + KEPT[case],
        lambda: [*(RNG2.copy() for _ in "xy"), np.zeros(128, np.float32), 5],
    )


def test_a_function_of_elements_shares_no_constant_with_the_kernel(both: Both) -> None:
    body = (
        "o = tl.arange(0, 64)\nx = tl.load(x_ptr + o, mask=o % 3 != 0, other=0)\n"
        "tl.store(out_ptr + o, tl.map_elementwise(lambda v: (v - 3 if v > 3 else -v), x))"
    )
    both(
        "x_ptr: Ptr[i32], out_ptr: Ptr[i32]",
        body,
        lambda: [np.arange(-32, 32, dtype=np.int32), np.zeros(64, np.int32)],
    )


RNG2 = np.random.default_rng(19).standard_normal(64).astype(np.float32)
