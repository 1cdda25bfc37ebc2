"""Loops that end where a mask ends: the same bits as if every strip had run."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

PARAMS = "x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32"
HEAD = "o = tl.arange(0, 512)\nm = o < n\n"

CASES = {
    "maximum": "x = tl.load(x_ptr + o, mask=m, other=-float('inf'))\n"
    "tl.store(out_ptr + o, x - tl.max(x, axis=0), mask=m)",
    "maximum of the padding": "x = tl.load(x_ptr + o, mask=m, other=3.0)\n"
    "tl.store(out_ptr, tl.max(x, axis=0))",
    "minimum": "x = tl.load(x_ptr + o, mask=m, other=0.0)\ntl.store(out_ptr, tl.min(x, axis=0))",
    "sum": "x = tl.load(x_ptr + o, mask=m, other=0.0)\ntl.store(out_ptr, tl.sum(x, axis=0))",
    "sum of the padding": "x = tl.load(x_ptr + o, mask=m, other=0.1)\n"
    "tl.store(out_ptr, tl.sum(x, axis=0))",
    "sum that rounds": "x = tl.load(x_ptr + o, mask=m, other=1e-7)\n"
    "tl.store(out_ptr, tl.sum(x + 1.0, axis=0))",
    "minus zero": "x = tl.load(x_ptr + o, mask=m, other=-0.0)\ny = -(x * 0.0)\n"
    "tl.store(out_ptr, 1.0 / tl.sum(y, axis=0))",
    "where": "x = tl.load(x_ptr + o, mask=m, other=1.0)\ny = tl.where(m, x * x, 0.25)\n"
    "tl.store(out_ptr, tl.sum(y, axis=0))\ntl.store(out_ptr + 1 + o, y)",
    "two reductions": "x = tl.load(x_ptr + o, mask=m, other=0.0)\n"
    "e = tl.where(m, x - tl.max(x, axis=0), -1.0)\n"
    "tl.store(out_ptr + o, e / tl.sum(e, axis=0))",
    "index": "x = tl.load(x_ptr + o, mask=m, other=0.0) + o\ntl.store(out_ptr, tl.sum(x, axis=0))",
    "index of the greatest": "x = tl.load(x_ptr + o, mask=m, other=-1.0)\n"
    "tl.store(out_ptr, tl.argmax(x, axis=0).to(f32))",
    "two masks": "k = (o < n) & (o >= 7)\nx = tl.load(x_ptr + o, mask=k, other=2.0)\n"
    "tl.store(out_ptr, tl.max(x, axis=0))\ntl.store(out_ptr + 1 + o, x, mask=k)",
    "turned round": "m2 = n > o\nx = tl.load(x_ptr + o, mask=m2, other=0.0)\n"
    "tl.store(out_ptr, tl.sum(x, axis=0))\ntl.store(out_ptr + 1 + o, x, mask=m2)",
    "at most": "m2 = o <= n\nx = tl.load(x_ptr + o, mask=m2, other=0.0)\n"
    "tl.store(out_ptr + o, x, mask=m2)\ntl.store(out_ptr + 600, tl.sum(x, axis=0))",
    "inverted": "x = tl.load(x_ptr + o, mask=o >= n, other=0.0)\n"
    "tl.store(out_ptr, tl.sum(x, axis=0))\ntl.store(out_ptr + 1 + o, x, mask=o >= n)",
    "equal only": "x = tl.load(x_ptr + o, mask=o == n, other=0.0)\n"
    "tl.store(out_ptr, tl.sum(x, axis=0))",
    "wraps": "q = o + 2147483500\nx = tl.load(x_ptr + o, mask=q < n, other=0.0)\n"
    "tl.store(out_ptr, tl.sum(x, axis=0))\ntl.store(out_ptr + 1 + o, x, mask=q < n)",
    "unsigned": "q = o.to(u32)\nx = tl.load(x_ptr + o, mask=q < tl.cast(n, u32), other=0.0)\n"
    "tl.store(out_ptr, tl.sum(x, axis=0))",
    "rows": "r = tl.arange(0, 4)\nc = tl.arange(0, 128)\nm2 = (r < 3)[:, None] & (c < n)[None, :]\n"
    "x = tl.load(x_ptr + r[:, None] * 128 + c[None, :], mask=m2, other=1.5)\n"
    "tl.store(out_ptr + r, tl.sum(x, axis=1))\n"
    "tl.store(out_ptr + 8 + r[:, None] * 128 + c[None, :], x * 2.0, mask=m2)",
    "read turned": "r = tl.arange(0, 16)\nc = tl.arange(0, 128)\n"
    "x = tl.load(x_ptr + r[:, None] * 128 + c[None, :], mask=(c < n)[None, :], other=1.5)\n"
    "y = x - tl.sum(x, axis=1)[:, None]\n"
    "tl.store(out_ptr + c[:, None] * 16 + r[None, :], tl.trans(y))",
}


def sample(kind: str, size: int) -> Any:
    """Numbers of one kind."""
    found = np.random.default_rng(5).standard_normal(size).astype(np.float32)
    if kind == "nan":
        found[:] = np.nan
    if kind == "minus zero":
        found[:] = -0.0
    if kind == "some nan":
        found[::3] = np.nan
    return found


@pytest.mark.parametrize("case", CASES)
def test_behind_the_end_of_a_mask_nothing_changes(
    case: str,
    compiled: Callable[..., Any],
    interpreted: Callable[..., None],
    same_bits: Callable[[Any, Any], None],
) -> None:
    kernel = compiled(PARAMS, HEAD + CASES[case])
    for n in (0, 1, 33, 128, 480, 481, 2000):
        for kind in ("numbers", "nan", "some nan", "minus zero"):
            found, wanted = np.full(4096, 9, np.float32), np.full(4096, 9, np.float32)
            x = sample(kind, 2048)
            assert kernel.launch([x, found, n])[0] == 0
            interpreted(PARAMS, HEAD + CASES[case], [x, wanted, n], (1, 1, 1))
            same_bits(found, wanted)


@pytest.mark.parametrize(("body", "loops"), [(CASES["maximum"], 2), (CASES["index"], 0)])
def test_only_loops_whose_strips_become_alike_end_early(
    body: str, loops: int, module_of: Callable[[str, str], Any]
) -> None:
    from teenyc.backend.cpu import features
    from teenyc.backend.cpu.lower import lower_module

    text = lower_module(module_of(PARAMS, HEAD + body), features.resolve("host"), fusion=False).text
    assert len(re.findall(r"^tail\.\d+:", text, re.MULTILINE)) == loops
