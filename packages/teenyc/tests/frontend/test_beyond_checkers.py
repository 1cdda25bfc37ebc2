"""What a type checker cannot see, in kernels without types: its code, and what to write instead."""

from __future__ import annotations

import pytest

from teeny_macros.diagnostics import CompileError
from teeny_macros.unit import Unit, UnitModule
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc.frontend import lower_unit

ENTRY = """\
from kernel import k
from teeny_triton import Ptr, f32, i32
@entry_point(num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True)
def k_entry_point(p: Ptr[f32], n: i32, f: f32) -> None:
    k(p, n, f)
"""
HEAD = """\
import teeny_triton as tl
def k(p, n, f):
    at = tl.arange(0, 16)
    x = tl.load(p + at)
"""


@pytest.mark.parametrize(
    ("body", "code", "spelling"),
    [
        ("tl.store(p + at, x, mask=at < n and at > 1)", "E0602", "`&`"),
        ("tl.store(p + at, x, mask=at < n or at > 1)", "E0602", "`|`"),
        ("tl.store(p + at, x, mask=not at < n)", "E0602", "`~`"),
        ("tl.store(p + at, x, mask=1 < at < n)", "E0602", "`(a < b) & (b < c)`"),
        ("tl.store(p + at, x, mask=at < n & at > 1)", "E0602", "`(a < b) & (b < c)`"),
        ("if x > 0:\n        tl.store(p + at, x)", "E0602", "`tl.where(condition, x, y)`"),
        ("while x > 0:\n        x = x - 1", "E0602", "reduce it first"),
        ("tl.store(p + at, x if x > 0 else 0.0)", "E0602", "`tl.where(condition, x, y)`"),
        ("y = tl.zeros((n, 4), tl.float32)", "E0210", "`n: Const[int]`"),
        ("y = tl.arange(0, n)", "E0210", "`n: Const[int]`"),
        ("y = tl.sum(x, axis=n)", "E0210", "literal"),
        ("y = tl.expand_dims(x, n)", "E0210", "literal"),
        ("y = x\n    for _ in range(n):\n        y = y[None, :]", "E0604", "before the loop"),
        ("y = x\n    if n > 3:\n        y = x[None, :]", "E0605", "one shape"),
        ("y = tl.load(p + at / 2)", "E0309", "`//`"),
        ("y = tl.load(p + n / 2)", "E0309", "`//`"),
        ("y = tl.load(p + f)", "E0309", "`pointer + x.to(i32)`"),
        ("y = tl.load(p + 0.5)", "E0309", "`pointer + x.to(i32)`"),
        ("y = tl.arange(0, n / 2)", "E0210", "`Const[int]`"),
        ("for _ in range(n / 2):\n        pass", "E0609", "`n.to(i32)`"),
        ("y = x[0.5]", "E0412", "`tl.gather`"),
    ],
)
def test_the_compiler_refuses_it_and_says_how_it_is_spelled(
    body: str, code: str, spelling: str
) -> None:
    text = f"{HEAD}    {body}\n    tl.store(p + at, x)\n"
    unit = Unit("k", (UnitModule("kernel", text), UnitModule("entry", ENTRY)), TRITON_SHA, TRITON)
    with pytest.raises(CompileError) as caught:
        lower_unit(unit)
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert any(spelling in help_ for help_ in found.helps), found.helps


def stored(dtype: str, value: int) -> Unit:
    """The unit of a kernel that stores a number."""
    text = f"import teeny_triton as tl\ndef k(p):\n    tl.store(p, {value})\n"
    entry = (
        f"from kernel import k\nfrom teeny_triton import Ptr, {dtype}\n"
        "@entry_point(num_warps=4, num_stages=3, num_ctas=1)\n"
        f"def k_entry_point(p: Ptr[{dtype}]) -> None:\n    k(p)\n"
    )
    modules = UnitModule("kernel", text), UnitModule("entry", entry)
    return Unit("k", modules, TRITON_SHA, TRITON)


@pytest.mark.parametrize(
    ("dtype", "value"), [("i16", 70000), ("u8", 256), ("i8", -129), ("u32", 1 << 32)]
)
def test_a_number_that_its_place_cannot_hold_is_refused(dtype: str, value: int) -> None:
    with pytest.raises(CompileError) as caught:
        lower_unit(stored(dtype, value))
    assert caught.value.code == "E0302"


@pytest.mark.parametrize(
    ("dtype", "value"), [("i32", 0xFFFFFFFF), ("u8", -1), ("i16", 65535), ("i1", 2), ("f16", 70000)]
)
def test_the_bits_of_a_number_may_be_meant(dtype: str, value: int) -> None:
    lower_unit(stored(dtype, value))
