"""Loops that ask to be flattened: empty inner loops stay empty, and what cannot be is a nest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from teeny_macros.target import Target
from teeny_macros.unit import Unit, UnitModule
from teenyc import driver
from teenyc.backend.gpu import flatten
from teenyc.backend.gpu.child import Outcome
from teenyc.driver import compile_text
from teenyc.options import Options

if TYPE_CHECKING:
    from pathlib import Path

NEST = """\
    count = 0
    for i in tl.range(0, n, flatten=True):
        for j in range({bounds}):
            count += 1
            tl.store(y_ptr + 1, count)
    tl.store(y_ptr, count)
"""
# In two of them the bound changes with the outer loop, and is computed where it stands.
SAFE = ["5, m", "m, 5", "0, tl.load(x_ptr + i)", "i, tl.load(x_ptr + i) + m", "0, 4"]


def unit_of(bounds: str, before: str = "") -> str:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    kernel = f"import teeny_triton as tl\ndef k(x_ptr, y_ptr, n, m):\n{before}"
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, i32\n"
        "@entry_point(num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True)\n"
        "def k_entry_point(x_ptr: Ptr[i32], y_ptr: Ptr[i32], n: i32, m: i32) -> None:\n"
        "    k(x_ptr, y_ptr, n, m)\n"
    )
    kernel += NEST.format(bounds=bounds)
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    return Unit("k", modules, TRITON_SHA, TRITON).render()


def checked(text: str, target: Target | None = None) -> driver.Result:
    return compile_text(text, Options(target or Target.cuda("sm_90"), ("mlir",)))


@pytest.mark.parametrize("bounds", SAFE)
def test_an_inner_loop_never_ends_below_its_beginning(bounds: str) -> None:
    found = checked(unit_of(bounds))
    text = found.texts["mlir"]
    assert found.warnings == ()
    assert flatten.ATTRIBUTE in text
    (lower, upper) = re.findall(r"scf\.for %j = (%\S+) to (%\S+) step", text)[0]
    if bounds == "0, 4":
        assert "maxsi" not in text
    else:
        assert f"{upper} = arith.maxsi {lower}, " in text


@pytest.mark.parametrize("bounds", ["0, tl.load(x_ptr)", "tl.load(x_ptr + m) + 1, 9"])
def test_a_bound_that_would_be_read_too_early_leaves_a_nest_and_a_warning(bounds: str) -> None:
    found = checked(unit_of(bounds))
    (warning,) = found.warnings
    assert (warning.code, warning.severity) == ("W0717", "warning")
    assert "read from memory" in warning.message
    assert warning.span is not None
    assert (warning.span.file, warning.span.line) == ("k.py", 4)
    assert flatten.ATTRIBUTE not in found.texts["mlir"]


def test_a_bound_that_is_read_before_the_loops_is_safe() -> None:
    found = checked(unit_of("0, end", "    end = tl.load(x_ptr)\n"))
    assert found.warnings == ()
    assert flatten.ATTRIBUTE in found.texts["mlir"]


def test_other_targets_have_no_use_for_it() -> None:
    for target in (Target.cpu(), Target.interpret()):
        found = checked(unit_of("0, tl.load(x_ptr)"), target)
        assert found.warnings == ()
        assert "maxsi" not in found.texts["mlir"]


def test_what_the_back_end_refuses_is_compiled_again_as_a_nest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, asked = driver._run_back_end, []

    def refuse(job: object, child: object) -> Outcome:
        asked.append(job.mlir)  # type: ignore[attr-defined]
        if len(asked) == 1:
            return Outcome((), None, "", "died", "ttgir", "signal 6 (SIGABRT)")
        return run(job, child)  # type: ignore[arg-type]

    monkeypatch.setattr(driver, "_run_back_end", refuse)
    options = Options(Target.cuda("sm_90"), ("mlir", "ptx"))
    found = compile_text(unit_of("0, m"), options, folder=str(tmp_path))
    assert [flatten.ATTRIBUTE in mlir for mlir in asked] == [True, False]
    (warning,) = found.warnings
    assert "the back end refuses it" in warning.message


@pytest.mark.accept
@pytest.mark.parametrize("bounds", SAFE)
def test_every_release_takes_them(bounds: str, tmp_path: Path) -> None:
    """On 3.6 to 3.9 the flattened loop runs only where the inner one is not empty."""
    found = compile_text(
        unit_of(bounds), Options(Target.cuda("sm_90"), ("ttgir", "ptx")), folder=str(tmp_path)
    )
    assert found.warnings == ()
    assert found.texts["ttgir"].count("scf.for") <= 2
