"""Loops that ask for warp specialization: they have it where it is safe, else a warning says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teeny_macros.target import Target
from teeny_macros.unit import Unit, UnitModule
from teenyc import driver
from teenyc.backend.gpu import specialize
from teenyc.backend.gpu.child import Outcome
from teenyc.driver import compile_text
from teenyc.options import Options

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
    a = tl.make_tensor_descriptor(a_ptr, [n, n], [n, 1], [128, 64])
    b = tl.make_tensor_descriptor(b_ptr, [n, n], [n, 1], [64, 128])
    r = tl.arange(0, 128)
    acc = tl.zeros((128, 128), tl.float32)
"""
TILES = "        acc = tl.dot(a.load((0, k)), b.load((k, 0)), acc)\n"
POINTERS = """\
        c = k + tl.arange(0, 64)
        x = tl.load(a_ptr + r[:, None] * n + c[None, :])
        acc = tl.dot(x, b.load((k, 0)), acc)
"""
TAIL = "    tl.store(c_ptr + r[:, None] * n + r[None, :], acc)\n"


def unit_of(options: str = "num_stages=2", body: str = TILES, num_warps: int = 4) -> str:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    loop = f"    for k in tl.range(0, n, 64, warp_specialize=True, {options}):\n"
    kernel = f"import teeny_triton as tl\ndef k(a_ptr, b_ptr, c_ptr, n):\n{HEAD}{loop}{body}{TAIL}"
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, f16, f32, i32\n"
        f"@entry_point(num_warps={num_warps}, num_stages=3, num_ctas=1, maxnreg=None, "
        "enable_fp_fusion=True)\n"
        "def k_entry_point(a_ptr: Ptr[f16], b_ptr: Ptr[f16], c_ptr: Ptr[f32], n: i32) -> None:\n"
        "    k(a_ptr, b_ptr, c_ptr, n)\n"
    )
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    return Unit("k", modules, TRITON_SHA, TRITON).render()


def checked(text: str, arch: str) -> driver.Result:
    return compile_text(text, Options(Target.cuda(arch), ("mlir",)))


@pytest.mark.parametrize("arch", ["sm_100", "sm_103"])
def test_a_loop_over_descriptors_keeps_it(arch: str) -> None:
    found = checked(unit_of(), arch)
    assert found.warnings == ()
    assert specialize.ATTRIBUTE in found.texts["mlir"]


@pytest.mark.parametrize(
    ("text", "arch", "reason"),
    [
        (unit_of(), "sm_80", "sm_80 has no hardware"),
        (unit_of(), "sm_120", "sm_120 has no hardware"),
        (unit_of(), "sm_90", "some loops give wrong results"),
        (unit_of("num_stages=3"), "sm_90", "some loops give wrong results"),
        (unit_of(num_warps=8), "sm_100", "num_warps=4"),
        (unit_of(body=POINTERS), "sm_100", "go through pointers"),
    ],
)
def test_another_loop_goes_without_and_a_warning_says_so(text: str, arch: str, reason: str) -> None:
    found = checked(text, arch)
    (warning,) = found.warnings
    assert (warning.code, warning.severity) == ("W0714", "warning")
    assert reason in warning.message
    assert warning.span is not None
    assert (warning.span.file, warning.span.line) == ("k.py", 7)
    assert specialize.ATTRIBUTE not in found.texts["mlir"]


def test_other_targets_have_no_use_for_it_and_say_nothing() -> None:
    for target in (Target.cpu(), Target.interpret()):
        assert compile_text(unit_of(), Options(target, ("mlir",), check=True)).warnings == ()


def test_what_the_back_end_refuses_is_compiled_again_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked = driver._run_back_end, []

    def refuse(job: object, child: object) -> Outcome:
        asked.append(job.mlir)  # type: ignore[attr-defined]
        if len(asked) == 1:
            return Outcome((), None, "", "died", "ttgir", "signal 6 (SIGABRT)")
        return run(job, child)  # type: ignore[arg-type]

    monkeypatch.setattr(driver, "_run_back_end", refuse)
    options = Options(Target.cuda("sm_100"), ("mlir", "ptx"))
    found = compile_text(unit_of(), options, folder=str(tmp_path))
    assert [specialize.ATTRIBUTE in mlir for mlir in asked] == [True, False]
    assert specialize.ATTRIBUTE not in found.texts["mlir"]
    assert "setmaxnreg" not in found.texts["ptx"]
    (warning,) = found.warnings
    assert "the back end refuses it" in warning.message


@pytest.mark.accept
@pytest.mark.parametrize("arch", ["sm_90", "sm_100"])
def test_warps_have_roles_where_they_are_asked_for(arch: str, tmp_path: Path) -> None:
    options = Options(Target.cuda(arch), ("ptx",))
    found = compile_text(unit_of(), options, folder=str(tmp_path))
    assert found.metadata.num_warps > 4 or found.warnings
    assert ("setmaxnreg" in found.texts["ptx"]) != bool(found.warnings)
