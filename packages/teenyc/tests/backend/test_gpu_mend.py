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


SUMS_KEPT_TWICE = """\
\twgmma.fence.sync.aligned;
\t// begin inline asm
\twgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%r1,%r2}, %rd1, %rd2, %p1, 1, 1;
\t// end inline asm
\tadd.f32 \t%r5, %r5, %r1;
\tadd.f32 \t%r6, %r6, %r2;
\t// begin inline asm
\twgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%r3,%r4}, %rd1, %rd2, %p1, 1, 1;
\t// end inline asm
\tadd.f32 \t%r7, %r7, %r3;
\tadd.f32 \t%r8, %r8, %r4;
\twgmma.commit_group.sync.aligned;
"""


COMMIT, WAIT = "\twgmma.commit_group.sync.aligned;\n", "\twgmma.wait_group.sync.aligned 0;\n"
FENCE = "\twgmma.fence.sync.aligned;\n"


def test_sums_are_waited_for_once_before_they_are_added() -> None:
    """Ptxas waited after every product of a sum that was added without a wait."""
    mended = mend_ptx(SUMS_KEPT_TWICE)
    for first in ("\tadd.f32 \t%r5,", "\tadd.f32 \t%r7,"):
        assert COMMIT + WAIT + first in mended
    assert mended.count(FENCE + "\t// begin inline asm\n\twgmma.mma_async") == 2
    # What was inserted is all that differs, but for the group at the end, which held nothing more.
    left = mended.replace(COMMIT + WAIT, "").replace(FENCE, "") + COMMIT
    assert left == SUMS_KEPT_TWICE.replace(FENCE, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("%r5, %r5, %r1", "%r5, %r5, %r9"),
        ("\tadd.f32 \t%r5", WAIT + "\tadd.f32 \t%r5"),
        ("\tadd.f32 \t%r5", "$L__BB0_3:\n\tadd.f32 \t%r5"),
    ],
)
def test_other_sums_are_not_waited_for(before: str, after: str) -> None:
    one = SUMS_KEPT_TWICE.split("\tadd.f32 \t%r6", maxsplit=1)[0]
    assert mend_ptx(one) != one
    changed = one.replace(before, after)
    assert changed != one
    assert mend_ptx(changed) == changed


def test_no_sum_of_8_bit_floats_is_added_before_it_is_there(backend: Backend) -> None:
    text = backend.module("matmul").replace("f16", "f8E4M3FN")
    precise = text.replace("%bv, %acc :", "%bv, %acc {maxNumImpreciseAcc = 32 : i32} :")
    assert precise != text
    ptx = backend.ptx(backend.job("matmul", "sm_90", mlir=precise))
    assert "wgmma.mma_async" in ptx
    assert mend_ptx(ptx) == ptx
    assert re.search(r"wait_group\.sync\.aligned 0;\n\tadd\.f32", ptx)
