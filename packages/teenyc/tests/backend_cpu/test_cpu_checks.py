"""Bounds checks: what leaves the arrays is recorded with its place, and stops the launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

PARAMS = "x_ptr: Ptr[f32], i_ptr: Ptr[i32], out_ptr: Ptr[f32], n: i32"
HEAD = "o = tl.program_id(0) * 64 + tl.arange(0, 64)\n"  # line 4 of the body
CASES = {
    "side by side": "tl.store(out_ptr + o, tl.load(x_ptr + o, mask=o < n), mask=o < n)",
    "without a mask": "tl.store(out_ptr + o, tl.load(x_ptr + o))",
    "gathered": "tl.store(out_ptr + o, tl.load(x_ptr + o * 1 % 1000, mask=o < n), mask=o < n)",
}


def launch(compiled: Any, body: str, *args: Any, grid: int = 2) -> tuple[int, list[int]]:
    made = compiled(PARAMS, HEAD + body, checks=True)
    found: tuple[int, list[int]] = made.launch(list(args), (grid, 1, 1), apart=True)
    return found


def arrays(x: int = 128, out: int = 128) -> tuple[Any, Any, Any]:
    return np.ones(x, "f4"), np.arange(128, dtype="i4"), np.zeros(out, "f4")


@pytest.mark.parametrize("case", CASES)
def test_what_stays_inside_runs_as_ever(case: str, compiled: Any) -> None:
    x, index, out = arrays()
    status, _ = launch(compiled, CASES[case], x, index, out, 128)
    assert status == 0
    assert (out == 1).all()


@pytest.mark.parametrize("case", CASES)
def test_a_load_outside_names_line_program_lane_and_address(case: str, compiled: Any) -> None:
    x, index, out = arrays(x=100)
    status, record = launch(compiled, CASES[case], x, index, out, 128)
    kind, line, _, program, lane, address, parameter, size = record
    assert status == 1
    assert (kind, line, program, lane, parameter, size) == (1, 5, 1, 36, 0, 4)
    assert address == x.ctypes.data + 400
    assert (out[96:] == 0).all()  # the strip before this one had been written


@pytest.mark.parametrize("case", ["side by side", "without a mask"])
def test_a_store_outside_is_caught_before_it_happens(case: str, compiled: Any) -> None:
    x, index, whole = arrays(out=256)
    status, record = launch(compiled, CASES[case], x, index, whole[:70], 128)
    assert (status, record[0], record[3], record[4]) == (1, 2, 1, 6)
    assert (whole[70:] == 0).all()


def test_masked_lanes_may_be_anywhere(compiled: Any) -> None:
    x, index, out = arrays(x=10, out=10)
    assert launch(compiled, CASES["side by side"], x, index, out, 10)[0] == 0
    assert (out == 1).all()


def test_scalars_and_indices_are_checked_too(compiled: Any) -> None:
    x, index, out = arrays()
    status, record = launch(compiled, "tl.store(x_ptr + n, 1.0)", x, index, out, 128)
    assert (status, record[0], record[1], record[4]) == (1, 2, 5, 0)
    index[70] = -1
    body = "tl.store(out_ptr + o, tl.load(x_ptr + tl.load(i_ptr + o)))"
    status, record = launch(compiled, body, x, index, out, 0)
    assert (status, record[0], record[3], record[4], record[6]) == (1, 1, 1, 6, 0)
    assert record[5] == x.ctypes.data - 4
