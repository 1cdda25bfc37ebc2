"""The stage table: what each set of options gives, and what becomes of faults at every stage."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from teeny_macros.diagnostics import CompileError, InternalError, TeenyError, ToolchainError
from teeny_macros.target import Target
from teeny_macros.testing import missing_parts
from teenyc import driver, frontend, passes
from teenyc.backend.gpu import libtriton, versions
from teenyc.backend.gpu.ptx import parse_ptx
from teenyc.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit
    from teenyc.ir.core import Module

    MakeUnit = Callable[..., Unit]

SM_80 = Options(Target.cuda("sm_80"), ("ptx",))
INTERPRET = Options(Target.interpret(), ("mlir",))


def failure(text: str, options: Options, kind: type[TeenyError], **more: str) -> TeenyError:
    with pytest.raises(kind) as caught:
        driver.compile_text(text, options, **more)  # type: ignore[arg-type]
    if kind is not InternalError:
        assert missing_parts(caught.value, placed=False) == []
    return caught.value


def damaged(text: str, random: Random) -> str:
    """A unit's text with some letters exchanged, taken out or put in, the DSL's left alone."""
    end = text.index("\n#\n") + 3
    body = text.rindex("\ndef vector_add(")
    found = list(text)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.choice((random.randrange(end), random.randrange(body, len(found) - 9)))
        what = random.random()
        if what < 0.35:
            found[at] = chr(random.choice((random.randrange(32, 127), random.randrange(32), 0x3BB)))
        elif what < 0.6:
            del found[at : at + random.choice((1, 2, 8, 60))]
        else:
            pieces = (
                "(",
                "[",
                "\n",
                ":",
                "**",
                '"""',
                "\\",
                "\r\n",
                "1e999",
                "9" * 50,
                "*a",
                "...",
            )
            found[at:at] = random.choice(pieces)
    return "".join(found)


def test_a_damaged_unit_is_an_error_with_a_code_and_nothing_else(make_unit: MakeUnit) -> None:
    text = make_unit().render()
    random, codes = Random(17), set[str]()
    for _ in range(250):
        try:
            driver.compile_text(damaged(text, random), INTERPRET)
        except TeenyError as error:
            codes.add(error.code)
    assert not {code for code in codes if code.startswith("I")}
    assert len(codes) > 5


def test_vector_add_becomes_ptx_with_its_metadata(make_unit: MakeUnit) -> None:
    result = driver.compile_text(make_unit().render(), SM_80)
    header = parse_ptx(result.texts["ptx"])
    assert header is not None
    assert header.entries == ("vector_add_entry_point",)
    assert header.target == "sm_80"
    metadata = result.metadata
    assert metadata.entry_point == "vector_add_entry_point"
    assert metadata.target == "cuda:sm_80"
    assert metadata.ptx_version == header.version
    assert metadata.threads_per_block == header.threads == 128
    assert [(p.name, p.kind, p.dtype) for p in metadata.params] == [
        ("x_ptr", "pointer", "f32"),
        ("y_ptr", "pointer", "f32"),
        ("out_ptr", "pointer", "f32"),
        ("n_elements", "scalar", "i32"),
    ]
    assert dict(metadata.versions)["triton"].startswith("3.")
    assert metadata.fp_fusion


def test_each_wanted_text_is_there_and_no_other(make_unit: MakeUnit) -> None:
    asked = SM_80._replace(emit=("mlir", "llvm-ir", "ptx"))
    result = driver.compile_text(make_unit().render(), asked)
    assert set(result.texts) == {"mlir", "llvm-ir", "ptx"}


def test_mlir_for_readers_has_no_locations(make_unit: MakeUnit) -> None:
    result = driver.compile_text(make_unit().render(), INTERPRET)
    assert "tt.func public @vector_add_entry_point" in result.texts["mlir"]
    assert "loc(" not in result.texts["mlir"]


def test_every_step_is_timed(make_unit: MakeUnit) -> None:
    result = driver.compile_text(make_unit().render(), SM_80)
    names = [name.strip() for name, _ in result.timings]
    assert {"read", "front end", "passes", "print", "back end", "ttgir", "ptx"} <= set(names)
    assert all(seconds >= 0 for _, seconds in result.timings)


def test_fp_fusion_is_the_units_unless_the_options_say(make_unit: MakeUnit) -> None:
    text = make_unit().render()
    apart = text.replace("enable_fp_fusion=True", "enable_fp_fusion=False")
    assert not driver.compile_text(apart, SM_80).metadata.fp_fusion
    assert driver.compile_text(apart, SM_80._replace(fp_fusion=True)).metadata.fp_fusion
    assert not driver.compile_text(text, SM_80._replace(fp_fusion=False)).metadata.fp_fusion


def test_a_ptx_version_below_the_floor_is_refused_before_the_back_end(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_run_back_end", lambda *_: pytest.fail("it ran"))
    asked = Options(Target.cuda("sm_90"), ("ptx",), ptx_version=78)
    assert failure(make_unit().render(), asked, CompileError).code == "E0706"


def test_a_higher_ptx_version_is_written(make_unit: MakeUnit) -> None:
    result = driver.compile_text(make_unit().render(), SM_80._replace(ptx_version=84))
    assert ".version 8.4" in result.texts["ptx"]
    assert result.metadata.ptx_version == 84


def test_a_fault_of_the_kernel_has_its_line_in_the_body(make_unit: MakeUnit) -> None:
    unit = make_unit(
        "import teeny_triton as tl\n"
        "def bad(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE):\n"
        "    tl.store(out_ptr, missing)\n"
    )
    error = failure(unit.render(), SM_80, CompileError)
    label = error.diagnostics[0].labels[0]
    assert label.span.file == "bad.py"
    assert (label.span.line, label.span.column) == (3, 23)
    assert label.source == "    tl.store(out_ptr, missing)"


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda text: text.replace("# teeny-unit 1", "# something else"), "E0020"),
        (lambda text: text.replace("# teeny-unit 1", "# teeny-unit 9"), "E0021"),
        (lambda text: text.replace("# language 1", "# language 9"), "E0021"),
        (lambda text: text + "print()\n", "E0020"),
        (lambda text: text.replace("def load(", "def laod("), "E0710"),
    ],
)
def test_damaged_units_are_refused(
    make_unit: MakeUnit, damage: Callable[[str], str], code: str
) -> None:
    assert failure(damage(make_unit().render()), INTERPRET, TeenyError).code == code


def test_a_digest_alone_needs_an_earlier_text(make_unit: MakeUnit) -> None:
    dsl = driver.DslTexts()
    short = make_unit(with_dsl=False)
    with pytest.raises(ToolchainError) as caught:
        dsl.complete(short)
    assert caught.value.code == "E0709"
    dsl.complete(make_unit())
    assert dsl.complete(short) == make_unit()


@pytest.mark.parametrize(
    "asked",
    [
        Options(Target.cpu(), ("ptx",)),
        SM_80._replace(emit=("cubin",)),
        SM_80._replace(emit=("ptx", "sass")),
        INTERPRET._replace(emit=("ptx",)),
    ],
)
def test_what_later_versions_will_have_is_refused_by_name(
    make_unit: MakeUnit, asked: Options
) -> None:
    assert failure(make_unit().render(), asked, CompileError).code == "E0199"


# --- the toolchain --------------------------------------------------------------------------------


def test_without_triton_the_error_says_what_to_install(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libtriton, "find_folder", lambda: None)
    error = failure(make_unit().render(), SM_80, ToolchainError)
    assert error.code == "E0701"
    assert any("pip install 'teenyc[cuda]'" in text for text in error.diagnostics[0].helps)


@pytest.mark.parametrize(
    "asked", [INTERPRET, SM_80._replace(check=True), SM_80._replace(emit=("mlir",))]
)
def test_what_needs_no_triton_works_without(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, asked: Options
) -> None:
    monkeypatch.setattr(libtriton, "find_folder", lambda: None)
    result = driver.compile_text(make_unit().render(), asked)
    assert result.metadata.entry_point == "vector_add_entry_point"


def test_another_release_of_triton_is_refused_by_name(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(libtriton, "find_version", lambda _: "3.10.1")
    error = failure(make_unit().render(), SM_80, ToolchainError)
    assert error.code == "E0702"
    assert "3.10.1" in error.diagnostics[0].message


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("forks")
def test_a_library_that_cannot_be_loaded_is_a_coded_error(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ImportError("libtriton.so: file too short")

    monkeypatch.setattr(libtriton, "load", fail)
    error = failure(make_unit().render(), SM_80, ToolchainError)
    assert error.code == "E0712"
    assert "file too short" in error.diagnostics[0].message


_PARAMETERS = "x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE"

# --- the back end fails ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("forks")
def test_a_dead_back_end_leaves_a_reproducer_that_runs(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(libtriton, "run", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        error = failure(make_unit().render(), SM_80, CompileError, folder=str(tmp_path))
    assert error.code == "E0703"
    assert "signal 9 (SIGKILL)" in error.diagnostics[0].message
    assert missing_parts(error) == []
    assert error.diagnostics[0].labels[0].source == "def vector_add(" + _PARAMETERS + "):"
    file = tmp_path / "vector_add_entry_point.reproducer.sh"
    assert any(str(file) in text for text in error.diagnostics[0].helps)
    # The cause was planted here, so the same command succeeds outside.
    subprocess.run(["sh", str(file)], cwd=tmp_path, env=_with_teenyc(tmp_path), check=True)
    assert ".visible .entry" in (tmp_path / "vector_add_entry_point.ptx").read_text()


def _with_teenyc(folder: Path) -> dict[str, str]:
    """An environment whose PATH has a `teenyc` that runs this interpreter's."""
    import sys

    script = folder / "teenyc"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m teenyc "$@"\n')
    script.chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_an_llvm_error_is_a_coded_error(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if driver.find_triton().release.name not in ("3.8", "3.9"):
        pytest.skip("this libtriton does not end on a low PTX version")
    monkeypatch.setattr(versions, "choose_ptx_version", lambda *_: 86)  # the check is bypassed
    asked = Options(Target.cuda("sm_120"), ("ptx",))
    error = failure(make_unit().render(), asked, CompileError, folder=str(tmp_path))
    assert error.code == "E0703"
    assert "`llvm-ir`: exit status 1" in error.diagnostics[0].message.replace(": exit", ": exit")
    assert any("LLVM ERROR" in note for note in error.diagnostics[0].notes)
    assert (tmp_path / "vector_add_entry_point.reproducer.sh").is_file()


def test_mlir_that_libtriton_cannot_read_shows_the_line(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from teenyc.ir import printer

    real = printer.print_module
    monkeypatch.setattr(
        printer, "print_module", lambda *a, **k: real(*a, **k).replace("arith.addf", "arith.bogus")
    )
    error = failure(make_unit().render(), SM_80, CompileError, folder=str(tmp_path))
    assert error.code == "E0704"
    assert any("arith.bogus" in note for note in error.diagnostics[0].notes)
    assert missing_parts(error) == []
    assert "x + y" in (error.diagnostics[0].labels[0].source or "")


def test_a_refusing_stage_points_into_the_unit(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from teenyc.ir import printer

    real = printer.print_module

    def planted(*args: object, **more: object) -> str:
        # No libtriton lowers `math.powf`; the location stays that of the addition.
        return real(*args, **more).replace("arith.addf", "math.powf")  # type: ignore[arg-type]

    monkeypatch.setattr(printer, "print_module", planted)
    error = failure(make_unit().render(), SM_80, CompileError, folder=str(tmp_path))
    assert error.code == "E0705"
    span = error.diagnostics[0].span
    assert span is not None
    assert (span.file, span.line) == ("vector_add.py", 7)
    assert missing_parts(error) == []
    message = error.diagnostics[0].message
    assert message.endswith(
        "failed to legalize operation 'math.powf' that was explicitly marked illegal"
    )
    assert not any("tt.func" in note for note in error.diagnostics[0].notes)
    assert "tt.func" in (tmp_path / "vector_add_entry_point.reproducer.sh").read_text()


# --- our own bugs ---------------------------------------------------------------------------------


def test_a_front_end_that_raises_is_an_internal_error(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Module:
        raise KeyError("planted")

    monkeypatch.setattr(frontend, "lower_unit", fail)
    error = failure(make_unit().render(), SM_80, InternalError)
    assert error.code == "I0000"
    assert "the front end" in error.diagnostics[0].message
    assert any("planted" in note for note in error.diagnostics[0].notes)


def test_a_pass_that_raises_shows_the_ir_around_it(
    make_unit: MakeUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Module) -> None:
        raise KeyError("planted")

    (first, *_) = passes.PASSES
    monkeypatch.setattr(passes, "PASSES", (first, ("planted", fail)))
    notes = failure(make_unit().render(), SM_80, InternalError).diagnostics[0].notes
    assert any(f"the IR after pass `{first[0]}`" in note for note in notes)
    assert any("tt.func public" in note for note in notes)


def test_ptx_that_is_not_what_was_asked_for_is_an_internal_error(make_unit: MakeUnit) -> None:
    unit = make_unit()
    result = driver.compile_text(unit.render(), SM_80)
    ptx, version = result.texts["ptx"], result.metadata.ptx_version
    driver._check_ptx(ptx, unit, version)
    for text, other in ((ptx.replace("vector_add_entry_point", "x"), version), (ptx, version + 1)):
        with pytest.raises(InternalError):
            driver._check_ptx(text, unit, other)
