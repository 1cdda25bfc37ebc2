"""Reading aids on texts alone: places of lines, what is counted, limits, differences."""

from __future__ import annotations

import pytest

from teeny_compiler.reading import counts, lines
from teeny_compiler.reading.compare import compare
from teeny_compiler.reading.cost import roofline
from teeny_compiler.reading.limits import CARDS, LIMITS, occupancy
from teeny_compiler.reading.ptx_facts import accesses, read_log
from teeny_macros.target import CUDA_ARCHS

MLIR = """\
#loc1 = loc("k.py":4:9)
#loc2 = loc("teeny_triton.py":99:3)
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("k.py":20:1)) attributes {noinline = false} {
    %a = tt.load %x : !tt.ptr<f32> loc("k.py":3:5)
    %b = arith.addf %a, %a : f32 loc(#loc3)
    %c = arith.addf %b, %b : f32 loc(callsite("t.py":7:1 at callsite(#loc2 at "k.py":5:2)))
    %d = arith.addf %c, %c : f32 loc("x"(#loc1))
    tt.return loc(unknown)
  } loc("k.py":20:1)
}
#loc3 = loc(callsite(#loc2 at #loc1))
"""


def places(stage: str, text: str) -> list[tuple[str, lines.Place | None]]:
    return [(line.text.strip(), line.place) for line in lines.parse(stage, text, "k.py")]


def test_mlir_says_where_each_operation_comes_from() -> None:
    assert places("mlir", MLIR) == [
        ("module {", None),
        ("tt.func public @k(%x: !tt.ptr<f32>) attributes {noinline = false} {", (20, 1)),
        ("%a = tt.load %x : !tt.ptr<f32>", (3, 5)),
        ("%b = arith.addf %a, %a : f32", (4, 9)),
        ("%c = arith.addf %b, %b : f32", (5, 2)),
        ("%d = arith.addf %c, %c : f32", (4, 9)),
        ("tt.return", None),
        ("}", (20, 1)),
        ("}", None),
    ]


LLVM = """\
define void @k() !dbg !4 {
  %1 = add i32 0, 0, !dbg !12
  %2 = add i32 0, 0, !dbg !18
  %3 = add i32 0, 0
}
!1 = !DIFile(filename: "k.py", directory: "")
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 20)
!12 = !DILocation(line: 3, column: 5, scope: !4)
!18 = !DILocation(line: 2951, column: 12, scope: !19, inlinedAt: !21)
!19 = distinct !DILexicalBlockFile(scope: !4, file: !20, discriminator: 0)
!20 = !DIFile(filename: "teeny_triton.py", directory: "")
!21 = !DILocation(line: 14, column: 28, scope: !22)
!22 = distinct !DILexicalBlockFile(scope: !4, file: !1, discriminator: 0)
"""


def test_llvm_ir_says_it_in_its_metadata() -> None:
    assert places("llvm-ir", LLVM) == [
        ("define void @k() {", None),
        ("%1 = add i32 0, 0", (3, 5)),
        ("%2 = add i32 0, 0", (14, 28)),
        ("%3 = add i32 0, 0", None),
        ("}", None),
    ]


PTX = """\
.visible .entry k(
)
{
\t.loc\t1 20 0
$L__func_begin0:
\tmov.u32 %r1, %ctaid.x;
$L__tmp0:
\t.loc\t1 3 5
\t@%p1 ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];
\t.loc\t2 2951 12, function_name $L__info_string0, inlined_at 1 14 28
\tmax.f32 %r5, %r1, %r2;
\t.loc\t2 2862 12, function_name $L__info_string0, inlined_at 2 2951 12
\tadd.f32 %r5, %r1, %r2;
$L__BB0_1:
\tst.global.b16 [%rd1], %rs1;
}
\t.file\t1 "k.py"
\t.file\t2 "teeny_triton.py"
\t.section\t.debug_abbrev
.b8 1
"""


def test_ptx_says_it_in_its_directives() -> None:
    found = places("ptx", PTX)
    assert [place for _, place in found] == [
        None, None, None, (20, 0), (3, 5), (14, 28), (14, 28), (14, 28), (14, 28), None,
    ]  # fmt: skip
    assert found[7][0] == "$L__BB0_1:"


SASS = """\
.text.k:
\t//## File "k.py", line 20
        /*0000*/                   LDC R1, c[0x0][0x28] ;            /* 0x00000a00ff017b82 */
\t//## File "teeny_triton.py", line 2862 inlined at "teeny_triton.py", line 2881
\t//## File "teeny_triton.py", line 2881 inlined at "k.py", line 15
\t//## File "k.py", line 15
        /*0010*/                   FADD R9, R12, R17 ;
        /*0020*/                   EXIT ;
.L_x_0:
\t//## File "teeny_triton.py", line 9
        /*0030*/                   NOP ;
"""


def test_ptx_of_older_versions_says_calls_in_comments() -> None:
    call = "// teeny_triton.py:2930:12 @[ teeny_triton.py:2949:12 @[ k.py:15:21 ] ]"
    text = "{\n\t.loc\t2 2930 12  " + call + "\n\tadd.f32 %r1, %r2, %r3;\n}\n"
    text += '\t.file\t1 "k.py"\n\t.file\t2 "teeny_triton.py"\n'
    assert places("ptx", text)[1] == ("add.f32 %r1, %r2, %r3;", (15, 21))


def test_a_listing_of_machine_code_says_it_in_comments() -> None:
    assert places("sass", SASS) == [
        (".text.k:", None),
        ("/*0000*/                   LDC R1, c[0x0][0x28] ;", (20, 0)),
        ("/*0010*/                   FADD R9, R12, R17 ;", (15, 0)),
        ("/*0020*/                   EXIT ;", (15, 0)),
        (".L_x_0:", None),
        ("/*0030*/                   NOP ;", None),
    ]


def test_a_stage_without_places_is_plain_lines() -> None:
    assert places("asm", "\tret\n\tnop\n") == [("ret", None), ("nop", None)]


# --- counting -------------------------------------------------------------------------------------

LOOP = """\
module {
  tt.func public @k(%p: !tt.ptr<f16>, %K: i32) attributes {noinline = false} {
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %acc = arith.constant dense<0.0> : tensor<64x16xf32>
    %half = arith.divsi %K, %step : i32
    %r = scf.for %i = %zero to %K step %step iter_args(%a = %acc) -> (tensor<64x16xf32>) : i32 {
      %x = tt.load %px : tensor<64x32x!tt.ptr<f16>>
      %y = tt.load %py, %m, %o : tensor<32x16x!tt.ptr<f16>>
      %d = tt.dot %x, %y, %a : tensor<64x32xf16> * tensor<32x16xf16> -> tensor<64x16xf32>
      scf.yield %d : tensor<64x16xf32>
    }
    %s = arith.mulf %r, %r : tensor<64x16xf32>
    %m1 = "tt.reduce"(%s) <{axis = 1 : i32}> ({
    ^bb0(%l: f32, %q: f32):
      %b = arith.addf %l, %q : f32
      tt.reduce.return %b : f32
    }) : (tensor<64x16xf32>) -> tensor<64xf32>
    tt.store %pz, %m1 : tensor<64x!tt.ptr<f32>>
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %p1, %one : (!tt.ptr<f32>, f32) -> f32
    tt.return
  }
}
"""


def test_a_loop_counts_as_often_as_it_runs() -> None:
    found = counts.count(LOOP, {"K": 96})
    assert found.read == 3 * (64 * 32 + 32 * 16) * 2 + 4
    assert found.written == 64 * 4 + 4
    assert dict(found.dots) == {"f16": 3 * 2 * 64 * 16 * 32}
    assert found.vector == 64 * 16 + 64 * 15
    assert found.unknown_loops == ()
    assert found.flops == found.vector + 3 * 2 * 64 * 16 * 32


def test_a_loop_with_unknown_bounds_counts_once_and_is_named() -> None:
    found = counts.count(LOOP, {})
    assert found.unknown_loops == (7,)
    assert dict(found.dots) == {"f16": 2 * 64 * 16 * 32}


def test_a_loop_whose_turns_depend_on_the_program_is_named() -> None:
    assert counts.count(LOOP, {"K": 96}).uneven_loops == ()
    first = "    %half = arith.divsi %K, %step : i32\n"
    assert first in LOOP
    of_program = "    %p = tt.get_program_id x : i32\n    %K = arith.addi %p, %step : i32\n"
    found = counts.count(LOOP.replace(first, of_program), {})
    assert found.uneven_loops == (8,)
    assert found.unknown_loops == ()
    assert dict(found.dots) == {"f16": 2 * 64 * 16 * 32}


def test_accesses_are_counted_by_their_width() -> None:
    found = accesses(
        PTX + "\tcp.async.cg.shared.global [ %r1 + 0 ], [ %rd3 + 0 ], 0x10, 0x10;\n"
        "\twgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%r1}, %rd1, %rd2;\n"
        "\tld.shared.v4.b32 {%r1}, [%r2];\n\t@%p1 st.global.L1::evict_last.v2.b64 [%rd1], {};\n"
    )
    assert found.loads == {16: 1}
    assert found.stores == {2: 1, 16: 1}
    assert found.copies == {16: 1}
    assert found.matrix == {"wgmma.mma_async m64n128k16": 1}


def test_what_ptxas_says_is_read() -> None:
    found = read_log(
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to insufficient register resources in the function 'k'\n"
        "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
        "ptxas info    : Function properties for k\n"
        "    608 bytes stack frame, 932 bytes spill stores, 944 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 64 bytes smem, 408 bytes cmem[0]\n"
    )
    assert found[:7] == (255, 608, 932, 944, 64, 408, 1)
    assert len(found.warnings) == 1
    assert "serialized" in found.warnings[0]


# --- limits ---------------------------------------------------------------------------------------


def test_every_architecture_has_its_limits_and_a_card() -> None:
    assert set(LIMITS) == set(CARDS) == set(CUDA_ARCHS)


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "blocks", "limit"),
    [
        # As Nsight Compute's calculator has them.
        ("sm_90", 128, 32, 0, 16, "warps"),
        ("sm_90", 128, 255, 0, 2, "registers"),
        ("sm_90", 256, 128, 0, 2, "registers"),
        ("sm_90", 128, 32, 100_000, 2, "shared memory"),
        ("sm_80", 128, 64, 48 * 1024, 3, "shared memory"),
        ("sm_80", 32, 16, 0, 32, "blocks"),
        ("sm_75", 1024, 64, 0, 1, "warps"),
        ("sm_89", 128, 40, 0, 12, "warps"),
        ("sm_86", 256, 72, 0, 3, "registers"),
        ("sm_90", 128, 32, 300_000, 0, "shared memory"),
    ],
)
def test_occupancy_is_what_the_tightest_limit_allows(
    arch: str, threads: int, registers: int, shared: int, blocks: int, limit: str
) -> None:
    found = occupancy(arch, threads=threads, registers=registers, shared=shared)
    assert (found.blocks, found.limited_by) == (blocks, limit)
    assert found.warps == blocks * threads // 32


def test_the_roofline_is_the_longer_of_memory_and_arithmetic() -> None:
    card = CARDS["sm_90"]
    moved = roofline(card, counts.Counts(read=4800, vector=67), 10**6)
    assert moved.memory == pytest.approx(1e-3)
    assert moved.arithmetic == pytest.approx(1e-6)
    assert (moved.seconds, moved.bound_by) == (moved.memory, "memory")
    computed = roofline(card, counts.Counts(dots=(("f16", 989),)), 10**6)
    assert computed.seconds == pytest.approx(1e-6)
    assert computed.bound_by == "arithmetic"


# --- differences ----------------------------------------------------------------------------------


def stage(texts: list[str], **metadata: object) -> dict[str, object]:
    return {"lines": [{"text": text, "line": 1} for text in texts], "metadata": metadata}


def test_two_stages_differ_in_lines_and_in_facts() -> None:
    left = stage(["a", "b", "c"], shared_bytes=0, versions={"teenyc": "1"})
    right = stage(["a", "x", "c"], shared_bytes=64, versions={"teenyc": "2"})
    found = compare(left, right, ("l", "r"))
    assert (found.removed, found.added) == (1, 1)
    assert found.facts == {"shared_bytes": (0, 64)}
    assert "-b" in found.lines
    assert not found.is_empty
    assert compare(left, left, ("l", "l")).is_empty
