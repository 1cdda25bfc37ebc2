"""Units for the tests of the whole compiler: a kernel and its entry point, as capture writes it."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest

from teeny_macros.unit import Unit, UnitModule

if TYPE_CHECKING:
    from collections.abc import Callable

VECTOR_ADD = """\
import teeny_triton as tl
def vector_add(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE):
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)
"""
_ENTRY = """\
from kernel import {name}
from teeny_triton import Ptr, f32, i32
@entry_point(num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True, \
divisible_by_16=("x_ptr", "y_ptr", "out_ptr"), equal_to_1=())
def {name}_entry_point(x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n_elements: i32) \
-> None:
    {name}(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE=1024)
"""


@pytest.fixture(scope="session")
def make_unit() -> Callable[..., Unit]:
    """A function that makes the unit of a kernel with vector add's parameters from its text."""
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    assert sha256(TRITON.encode()).hexdigest() == TRITON_SHA

    def make(kernel: str = VECTOR_ADD, *, with_dsl: bool = True) -> Unit:
        match = re.search(r"^def (\w+)", kernel, re.MULTILINE)
        assert match is not None
        name = match[1]
        modules = (UnitModule("kernel", kernel), UnitModule("entry", _ENTRY.format(name=name)))
        return Unit(name, modules, TRITON_SHA, TRITON if with_dsl else None)

    return make


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault planted here reaches the back end's process by forking, whatever threads run here."""
    monkeypatch.setattr("teenyc.backend.gpu.child._can_fork", lambda: True)
