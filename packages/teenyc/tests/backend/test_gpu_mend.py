"""LLVM IR and PTX are rewritten where older tools are wrong, and only there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from teenyc.backend.gpu.mend import mend, mend_ptx

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


DESCRIPTOR = """\
\tbfe.u32 \t%r2, %r1, 4, 14;
\tcvt.u64.u32 \t%rd4, %r2;
\tor.b64 \t%rd5, %rd4, -9223371899415822336;
\tadd.s64 \t%rd6, %rd4, -9223371899415822272;
\twgmma.fence.sync.aligned;
"""


def test_the_words_of_a_descriptor_are_made_one_by_one() -> None:
    """Ptxas 12.8 took a stale register for both words of the address: results were wrong."""
    mended = mend_ptx(DESCRIPTOR)
    assert "add.s64" not in mended
    low, high = re.findall(r"(?:add.s32 \t%low, %r2|mov.b32 \t%high), (\d+);", mended)
    assert (int(high) << 32) + int(low) == -9223371899415822272 % 2**64
    assert mended.count("\tor.b64 \t%rd5, %rd4, -9223371899415822336;") == 1
    assert "mov.b64 \t%rd6, {%low, %high};" in mended


@pytest.mark.parametrize(
    ("sound", "other"),
    [
        ("4, 14;", "4, 16;"),  # no address of shared memory
        ("cvt.u64.u32", "cvt.s64.s32"),
        ("-9223371899415822272", "-9223371895120855041"),  # the sum may need the upper word
        ("wgmma.fence.sync.aligned", "bar.sync 0"),
    ],
)
def test_other_sums_of_64_bits_stay(sound: str, other: str) -> None:
    text = DESCRIPTOR.replace(sound, other)
    assert text != DESCRIPTOR
    assert mend_ptx(text) == text


def test_no_descriptor_of_a_product_is_a_sum_of_64_bits(backend: Backend) -> None:
    ptx = backend.ptx(backend.job("matmul", "sm_90"))
    assert "wgmma.mma_async" in ptx
    assert not re.search(r"add\.s64 \t%rd\d+, %rd\d+, -?\d{15,};", ptx)
