"""What LLVM leaves undefined is defined before it sees it, and nothing else is touched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from teeny_macros.target import Target
from teeny_macros.unit import Unit, UnitModule
from teenyc import passes
from teenyc.backend.gpu.undefined import define
from teenyc.driver import compile_text
from teenyc.frontend import lower_unit
from teenyc.ir.printer import print_module
from teenyc.ir.verifier import verify_module
from teenyc.options import Options

if TYPE_CHECKING:
    from pathlib import Path

DTYPES = "i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64"


def unit_of(body: str, x: str = "i32", y: str = "i32") -> Unit:
    """A kernel of pointers to `x` and `y` and an i32 `n`; `o` are 32 offsets."""
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    lines = ["o = tl.arange(0, 32)", *body.split("\n")]
    text = "".join(f"    {line}\n" for line in lines)
    kernel = f"import teeny_triton as tl\nfrom teeny_triton import {DTYPES}\n"
    kernel += f"def k(x_ptr, y_ptr, n):\n{text}"
    entry = (
        f"from kernel import k\nfrom teeny_triton import Ptr, {DTYPES}\n"
        "@entry_point(num_warps=1, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True)\n"
        f"def k_entry_point(x_ptr: Ptr[{x}], y_ptr: Ptr[{y}], n: i32) -> None:\n"
        "    k(x_ptr, y_ptr, n)\n"
    )
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    return Unit("k", modules, TRITON_SHA, TRITON)


def before_and_after(unit: Unit) -> tuple[str, str]:
    module = lower_unit(unit)
    passes.run(module)
    before = print_module(module)
    define(module)
    verify_module(module)
    return before, print_module(module)


def ptx(unit: Unit, folder: Path) -> str:
    options = Options(Target.cuda("sm_90"), ("ptx",))
    return compile_text(unit.render(), options, folder=str(folder)).texts["ptx"]


LOADS = "x = tl.load(x_ptr + o)\nd = tl.load(y_ptr + o)\n"
TESTED = [
    LOADS + "tl.store(x_ptr + o, tl.where(d == 0, 0, x // d))",
    LOADS + "tl.store(x_ptr + o, tl.where(d > 0, x % d, 5))",
    LOADS + "tl.store(x_ptr + o, (x // d) * (d != 0).to(i32))",
    LOADS + "tl.store(x_ptr + o, x // d, mask=(d + n).to(i1))",
    "q = tl.load(x_ptr) // n\ntl.store(x_ptr + 1, q)\nif n == 0:\n    tl.store(y_ptr, 7)",
    "q = tl.load(x_ptr + o) // n\ntl.store(x_ptr + o, q)\nif n:\n    tl.store(y_ptr, 7)",
    LOADS + "s = x << d\ntl.store(x_ptr + o, tl.where(s == 0, 0, x // s))",
]
PLAIN = [
    "tl.store(x_ptr + o, ((o < n).to(f16) > 0.5).to(i32))",
    "tl.store(x_ptr + o, tl.program_id(0) // n)",
    "tl.store(x_ptr + (o % n), o, mask=o < n)",
    LOADS + "tl.store(x_ptr + o, tl.where(x == 0, 0, x // d))",
    LOADS + "tl.store(x_ptr + o, tl.where(d == 0, 0, x // 7) << 3)",
    LOADS + "tl.store(x_ptr + o, x.to(f32).to(i64).to(i32) + x.to(i16).to(f16).to(i64).to(i32))",
]


@pytest.mark.parametrize("body", TESTED)
def test_a_divisor_that_is_tested_is_never_zero(body: str) -> None:
    _, after = before_and_after(unit_of(body))
    divisor = re.findall(r"arith\.(?:div|rem)si %\S+, (%\S+) :", after)
    (name,) = divisor
    assert re.search(rf"{re.escape(name)} = arith\.select", after)


@pytest.mark.parametrize("body", PLAIN)
def test_what_nothing_can_be_concluded_from_stays_as_it_is(body: str) -> None:
    before, after = before_and_after(unit_of(body))
    assert before == after


@pytest.mark.parametrize(("dtype", "width"), [("i8", 8), ("u16", 16), ("i32", 32), ("u64", 64)])
def test_shifts_stop_at_the_width(dtype: str, width: int) -> None:
    right = "shrsi" if dtype[0] == "i" else "shrui"
    body = LOADS + "tl.store(x_ptr + o, (x << d) | (x >> d) | (x >> 3))"
    before, after = before_and_after(unit_of(body, dtype, dtype))
    assert before.count("arith.select") == before.count("arith.minui") == 0
    assert after.count("arith.select") == (1 if right == "shrsi" else 2)
    assert after.count("arith.minui") == (1 if right == "shrsi" else 0)
    assert re.search(rf"arith\.constant {width if right == 'shrui' else width - 1} :", after)
    assert after.count(f"arith.{right}") == 2


@pytest.mark.parametrize(
    ("dtype", "guards"),
    [("i32", 2), ("i64", 2), ("u32", 1), ("u64", 1), ("i16", 0), ("u8", 0), ("i1", 0)],
)
def test_integers_that_f16_may_not_hold_are_kept_from_it(dtype: str, guards: int) -> None:
    body = "tl.store(y_ptr + o, tl.load(x_ptr + o).to(f16))"
    _, after = before_and_after(unit_of(body, dtype, "f16"))
    assert len(re.findall(r"arith\.(?:min|max)[su]i", after)) == guards


def test_f32_becomes_an_integer_by_the_instruction_of_the_gpu() -> None:
    body = "x = tl.load(x_ptr + o)\ntl.store(y_ptr + o, {})"
    for cast, letter in (("x.to(i32)", "s"), ("x.to(u32)", "u")):
        _, after = before_and_after(unit_of(body.format(cast), "f32", "i32"))
        assert f'"cvt.rzi.{letter}32.f32 $0, $1;"' in after
    for cast in ("x.to(i64)", "x.to(i8)", "x.to(u16)"):
        before, after = before_and_after(unit_of(body.format(cast), "f32", "i32"))
        assert before == after


@pytest.mark.accept
def test_no_release_takes_a_divisor_for_other_than_zero(tmp_path: Path) -> None:
    for body in TESTED[:3]:
        text = ptx(unit_of(body), tmp_path)
        assert "setp" in text.partition(".debug_abbrev")[0]
    assert ptx(unit_of(TESTED[4]), tmp_path).count("st.global") == 2


@pytest.mark.accept
def test_no_release_joins_casts_by_way_of_what_holds_too_little(tmp_path: Path) -> None:
    def conversions(body: str, x: str, y: str) -> list[Any]:
        text = ptx(unit_of(body, x, y), tmp_path)
        return re.findall(r"\tcvt\.(\S+)", text)

    half = "tl.store(y_ptr + o, (tl.load(x_ptr + o) << 28).to(f16).to(f32))"
    assert any(found.startswith("rn.f16.s32") for found in conversions(half, "i32", "f32"))
    through = "tl.store(y_ptr + o, tl.load(x_ptr + o).to(i32).to(f32).to(u32))"
    assert "rzi.u32.f32" in conversions(through, "f16", "u32")
    scalar = "tl.store(y_ptr, tl.load(x_ptr).to(i32))"
    assert conversions(scalar, "f32", "i32") == ["rzi.s32.f32"]
