"""Claiming the rows that a tile is stored to: which stores do, and which lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from teenyc.backend.cpu import claims

PARAMS = "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
HEAD = "i, j = tl.arange(0, 16), tl.arange(0, 64)\nt = tl.zeros((16, 64), f32)\n"
SUM = "for k in range(0, n):\n    t += tl.load(x_ptr + i[:, None] * 64 + j[None, :])\n"
ONCE = "x = tl.load(x_ptr + i[:, None] * 64 + i[None, :])\n"
ONCE += "y = tl.load(x_ptr + i[:, None] * 64 + j[None, :])\n"
ONCE += "t = tl.dot(x, y, t, input_precision='ieee')\n"
LOOP = "for k in range(0, n):\n" + "".join(f"    {line}\n" for line in ONCE.splitlines())
AT = "out_ptr + i[:, None] * 256 + j[None, :]"
Claimed = Callable[[], set[int]]


@pytest.fixture
def claimed(lines_asked_for: Callable[..., Claimed]) -> Claimed:
    """The lines claimed by what is compiled from now on and run."""
    return lines_asked_for(claims)


@pytest.mark.parametrize(
    "store",
    [
        f"tl.store({AT}, t)",
        f"tl.store({AT}, t * 2.0 + tl.load(x_ptr + j)[None, :])",
        f"tl.store({AT}, t, mask=j[None, :] < n + 60)",
    ],
)
def test_all_lines_that_products_are_stored_to_are_claimed(
    store: str,
    compiled: Callable[..., Any],
    claimed: Claimed,
    lines_of: Callable[[Any], set[int]],
) -> None:
    x = np.ones((16, 64), np.float32)
    out = np.zeros(16 * 256 + 4, np.float32)[4:].reshape(16, 256)
    assert compiled(PARAMS, f"{HEAD}{LOOP}{store}").launch([x, out, 3])[0] == 0
    assert out[:, :60].all()
    assert claimed() == lines_of(out[:, :64])


@pytest.mark.parametrize(
    "body",
    {
        "a row": f"{HEAD}{LOOP}tl.store(out_ptr + j, tl.sum(t, axis=0))",
        "a sum": f"{HEAD}{SUM}tl.store({AT}, t)",
        "a single product": f"{HEAD}{ONCE}tl.store({AT}, t)",
        "other values": f"{HEAD}{LOOP}tl.store({AT}, (i[:, None] * 64 + j[None, :]).to(f32))",
        "columns": f"{HEAD}{LOOP}tl.store(out_ptr + j[None, :] * 256 + i[:, None] * 3, t)",
        "places that were read": f"{HEAD}{LOOP}at = tl.load(x_ptr + j).to(i32)\n"
        "tl.store(out_ptr + i[:, None] * 256 + at[None, :], t)",
    }.values(),
)
def test_other_stores_claim_nothing(body: str, compiled: Callable[..., Any]) -> None:
    made = compiled(PARAMS, body, emit=("llvm-ir",)).made
    assert "i32 1, i32 2, i32 1)" not in made.texts["llvm-ir"]


def test_hints_change_no_result(both: Callable[..., Any]) -> None:
    data = np.arange(16 * 64, dtype=np.float32)
    both(PARAMS, f"{HEAD}{LOOP}tl.store({AT}, t, mask=i[:, None] < n)", lambda: [
        data, np.zeros((16, 256), np.float32), 7,
    ])  # fmt: skip
