"""Hints for the next turn of a loop: where they are written, and how far they reach."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

PARAMS = "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
TILE = "i = tl.arange(0, 8)[:, None]\nj = tl.arange(0, 32)[None, :]\nt = tl.zeros((8, 32), f32)\n"
END = "tl.store(out_ptr + i * 32 + j, t)"
# name -> (body, bytes from a turn to the next; None: not a constant)
FOR = "for k in range(0, n):\n    "
BY_8 = "for k in range(0, n, 8):\n    "
MOVING = {
    "pointers": (f"p = x_ptr + i * 64 + j\n{FOR}t += tl.load(p)\n    p += 512", 2048),
    "a product": (f"p = x_ptr + i * 64 + j\n{FOR}t += tl.load(p)\n    p += n * 8", None),
    "a scalar": (f"p = x_ptr\n{FOR}t += tl.load(p + i * 64 + j)\n    p += 768", 3072),
    "the counter": (f"{BY_8}t += tl.load(x_ptr + (k + i) * 128 + j)", 4096),
    "a stride": (f"{BY_8}t += tl.load(x_ptr + (k + i) * n + j)", None),
    "a mask": (f"{BY_8}t += tl.load(x_ptr + (k + i) * 128 + j, mask=k + i < n, other=0.0)", 4096),
}
STILL = {
    "the same tile": "for k in range(0, n):\n    t += tl.load(x_ptr + i * 64 + j)",
    "addresses from memory": "for k in range(0, n):\n"
    "    at = tl.load(x_ptr + k).to(i32)\n    t += tl.load(x_ptr + at + i * 64 + j)",
    "amounts that change": "p = x_ptr + i * 64 + j\n"
    "for k in range(0, n):\n    t += tl.load(p)\n    p += k",
    "rows by themselves": "q = tl.zeros((32,), f32)\nc = tl.arange(0, 32)\n"
    "for k in range(0, n):\n    q += tl.load(x_ptr + k * 64 + c)\nt += q[None, :]",
}
_HINT = re.compile(r"call void @llvm\.prefetch\.p0\([^)]*, i32 0, i32 2, i32 1\)")  # to read


def text_of(compiled: Callable[..., Any], body: str) -> str:
    made = compiled(PARAMS, f"{TILE}{body}\n{END}", emit=("llvm-ir",)).made
    return str(made.texts["llvm-ir"])


@pytest.mark.parametrize("case", MOVING)
def test_tiles_that_move_on_are_asked_for_a_turn_ahead(
    case: str, compiled: Callable[..., Any]
) -> None:
    body, nbytes = MOVING[case]
    text = text_of(compiled, body)
    assert len(_HINT.findall(text)) == 3  # two lines, and the end of the strip in a third
    if nbytes is not None:
        assert re.search(rf"add (nsw |nuw )*i64 %[\w.]+, {nbytes}\b", text)


@pytest.mark.parametrize("case", STILL)
def test_what_is_not_known_to_move_is_not_asked_for(
    case: str, compiled: Callable[..., Any]
) -> None:
    assert not _HINT.search(text_of(compiled, STILL[case]))


@pytest.mark.parametrize("case", MOVING)
def test_hints_change_no_result(case: str, both: Callable[..., Any]) -> None:
    data = np.arange(40_000, dtype=np.float32)
    body = f"{TILE}{MOVING[case][0]}\n{END}"
    both(PARAMS, body, lambda: [data, np.zeros((8, 32), np.float32), 24])
