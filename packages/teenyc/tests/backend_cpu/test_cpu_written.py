"""The parameters that a kernel writes through are known to those who launch it."""

from __future__ import annotations

from typing import Any

import pytest

from teenyc.passes.written import written_parameters

PARAMS = "x_ptr: Ptr[f32], y_ptr: Ptr[f32], z_ptr: Ptr[i32], n: i32"
INDEX = "i = tl.arange(0, 16)\n"
DESCRIPTOR = "d = tl.make_tensor_descriptor(y_ptr, [n, 8], [8, 1], [4, 8])\n"
CASES = {
    "a store": ("tl.store(y_ptr + i, tl.load(x_ptr + i))", ("y_ptr",)),
    "two stores": ("tl.store(y_ptr + i, 1.0)\ntl.store(z_ptr + i, i)", ("y_ptr", "z_ptr")),
    "an atomic": ("tl.atomic_add(z_ptr + i, i)", ("z_ptr",)),
    "only loads": ("tl.device_print('x', tl.load(x_ptr + i))", ()),
    "a loop": (
        "p = y_ptr + i\nfor k in range(n):\n    tl.store(p, tl.load(x_ptr + k))\n    p += 16",
        ("y_ptr",),
    ),
    "a branch": (
        "p = x_ptr\nif n > 2:\n    p = y_ptr\ntl.store(p + i, 1.0)",
        ("x_ptr", "y_ptr"),
    ),
    "a choice": ("tl.store(tl.where(i > n, x_ptr + i, y_ptr + i), 1.0)", ("x_ptr", "y_ptr")),
    "a number": (
        "a = tl.load(z_ptr).to(i64)\ntl.store(a.to(tl.pointer_type(f32), bitcast=True), 1.0)",
        ("x_ptr", "y_ptr", "z_ptr"),
    ),
    "a descriptor": (f"{DESCRIPTOR}d.store([0, 0], d.load([4, 0]))", ("y_ptr",)),
}


@pytest.mark.parametrize("case", CASES)
def test_what_a_kernel_writes_is_named(case: str, module_of: Any) -> None:
    body, wanted = CASES[case]
    assert written_parameters(module_of(PARAMS, INDEX + body)) == wanted
