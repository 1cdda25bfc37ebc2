"""LLVM IR is rewritten where older code generators are wrong, and only there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teenyc.backend.gpu.mend import mend

if TYPE_CHECKING:
    from conftest import Backend

ONES, ZEROS = "bfloat 0xRBF80, bfloat 0xRBF80", "bfloat 0xR0000, bfloat 0xR0000"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "  %3 = sitofp i1 %2 to bfloat, !dbg !9\n",
            "  %3 = select i1 %2, bfloat 0xRBF80, bfloat 0xR0000, !dbg !9\n",
        ),
        (
            "  %3 = sitofp <2 x i1> %2 to <2 x bfloat>\n",
            f"  %3 = select <2 x i1> %2, <2 x bfloat> <{ONES}>, <2 x bfloat> <{ZEROS}>\n",
        ),
    ],
)
def test_a_bit_becomes_minus_one_in_bf16(before: str, after: str) -> None:
    assert mend(before) == after


@pytest.mark.parametrize(
    "line",
    [
        "  %3 = sitofp i32 %2 to bfloat\n",
        "  %3 = uitofp i1 %2 to bf16\n",
        "  %3 = sitofp i1 %2 to float\n",
        "  %3 = sitofp i16 %2 to bfloat\n",
    ],
)
def test_sound_instructions_stay(line: str) -> None:
    assert mend(line) == line


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_the_sign_of_bf16_below_zero_is_minus_one(backend: Backend, arch: str) -> None:
    """LLVM makes one conversion of a bit from two selects, a conversion and a rounding."""
    ptx = backend.ptx(backend.job("sign", arch))
    assert "0xBF80" in ptx  # -1 as bf16
    assert "cvt.rn.bf16.s32" not in ptx
    assert "cvt.rn.f32.s32" not in ptx
