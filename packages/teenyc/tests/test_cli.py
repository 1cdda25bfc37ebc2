"""The command as a user runs it: files, formats, exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teeny_macros.artifact import Metadata
from teeny_macros.diagnostics import Diagnostic
from teenyc import __version__, cli, codes, driver

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit

    MakeUnit = Callable[..., Unit]

SM_80 = ("-C", "target-cpu=sm_80")
BAD = """\
import teeny_triton as tl
def bad(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE):
    tl.store(out_ptr, missing)
"""


@pytest.fixture
def unit(make_unit: MakeUnit, tmp_path: Path) -> str:
    """The path of vector add's unit."""
    return _write(make_unit(), tmp_path)


@pytest.fixture
def bad_unit(make_unit: MakeUnit, tmp_path: Path) -> str:
    """The path of a unit that uses an unknown name in line 3."""
    return _write(make_unit(BAD), tmp_path)


def _write(unit: Unit, folder: Path) -> str:
    path = folder / "unit.py"
    path.write_text(unit.render(), encoding="utf-8")
    return str(path)


def test_each_text_has_its_file(unit: str, tmp_path: Path) -> None:
    out = tmp_path / "made" / "here"
    asked = ["--emit", "mlir,ttgir,llvm-ir,ptx", "-o", str(out)]
    assert cli.main([unit, *SM_80, *asked]) == cli.OK
    assert sorted(path.name for path in out.iterdir()) == [
        f"vector_add_entry_point{suffix}"
        for suffix in (".ll", ".metadata", ".mlir", ".ptx", ".ttgir")
    ]
    data = json.loads((out / "vector_add_entry_point.metadata").read_text())
    assert Metadata.from_json(data).to_json() == data


def test_the_interpreter_gets_mlir_unit_and_metadata(unit: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.main([unit, "--target", "interpret", "-o", str(out)]) == cli.OK
    assert sorted(path.suffix for path in out.iterdir()) == [".metadata", ".mlir", ".unit"]
    kept = (out / "vector_add_entry_point.unit").read_text()
    assert kept == Path(unit).read_text()


def test_checking_writes_nothing(unit: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.main([unit, *SM_80, "--check", "-o", str(out)]) == cli.OK
    assert not out.exists()


def test_a_fault_is_rendered_for_people(bad_unit: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([bad_unit, *SM_80]) == cli.DIAGNOSTICS
    said = capsys.readouterr()
    assert said.out == ""
    assert "bad.py:3:23" in said.err
    assert "tl.store(out_ptr, missing)" in said.err
    assert "^^^^^^^" in said.err


def test_json_diagnostics_are_one_object_a_line(
    bad_unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([bad_unit, *SM_80, "--error-format", "json"]) == cli.DIAGNOSTICS
    (line,) = capsys.readouterr().err.splitlines()
    diagnostic = Diagnostic.from_json(json.loads(line))
    assert diagnostic.span is not None
    assert (diagnostic.span.file, diagnostic.span.line) == ("bad.py", 3)


@pytest.mark.parametrize(("form", "start"), [("concise", "bad.py:3:23: "), ("github", "::error ")])
def test_short_formats_are_one_line_each(
    bad_unit: str, capsys: pytest.CaptureFixture[str], form: str, start: str
) -> None:
    assert cli.main([bad_unit, *SM_80, f"--error-format={form}"]) == cli.DIAGNOSTICS
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(start)


def test_errors_of_the_options_keep_the_format(
    unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [unit, "--error-format", "json", "-C", "target-cpu=sm_90", "-C", "ptx-version=79"]
    assert cli.main(asked) == cli.DIAGNOSTICS
    assert json.loads(capsys.readouterr().err)["code"] == "E0707"


def test_no_files_are_left_after_a_fault(bad_unit: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.main([bad_unit, *SM_80, "-o", str(out)]) == cli.DIAGNOSTICS
    assert not out.exists()


def test_an_unwritable_folder_is_a_coded_error(
    unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    asked = [unit, "--target", "interpret", "-o", str(tmp_path / "file")]
    assert cli.main(asked) == cli.DIAGNOSTICS
    assert "error[E0708]" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["--nonsense"], ["absent.py", *SM_80], ["unit.py"], ["--emit"]]
)
def test_wrong_usage_has_its_own_status(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(arguments) == cli.USAGE
    assert capsys.readouterr().err.startswith("teenyc: error: ")


def test_a_unit_that_is_not_utf_8_is_wrong_usage(tmp_path: Path) -> None:
    path = tmp_path / "unit.py"
    path.write_bytes(b"# teeny-unit 1\n\xff")
    assert cli.main([str(path), *SM_80]) == cli.USAGE


def test_our_bugs_have_their_own_status_and_no_bare_traceback(
    unit: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(driver, "compile_text", fail)
    assert cli.main([unit, *SM_80]) == cli.BUG
    said = capsys.readouterr().err
    assert said.startswith("error[I0000]")
    assert "planted" in said


def test_the_ir_after_a_pass_goes_to_standard_error(
    unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [unit, "--target", "interpret", "-o", str(tmp_path), "--print-after", "cse"]
    assert cli.main(asked) == cli.OK
    said = capsys.readouterr().err
    assert said.startswith("// ----- after cse -----\nmodule {")
    assert said.count("// -----") == 1


def test_timings_name_each_step(
    unit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([unit, *SM_80, "-o", str(tmp_path), "--time-passes"]) == cli.OK
    rows = [line.split(maxsplit=2) for line in capsys.readouterr().err.splitlines()]
    assert {"front end", "back end", "ttgir", "ptx"} <= {row[2] for row in rows}
    assert all(float(row[0]) >= 0 and row[1] == "ms" for row in rows)


@pytest.mark.parametrize("code", [row.code for row in codes.CODES if row.code.startswith("E07")])
def test_every_code_of_the_back_end_is_explained(
    code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--explain", code.lower()]) == cli.OK
    (row,) = [row for row in codes.CODES if row.code == code]
    assert capsys.readouterr().out.startswith(f"# {code}: {row.name}\n")


def test_codes_of_other_packages_are_explained_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--explain", "E0023"]) == cli.OK
    assert capsys.readouterr().out.startswith("# E0023: unknown-code\n")
    assert cli.main(["--explain", "E9999"]) == cli.DIAGNOSTICS
    assert "error[E0023]" in capsys.readouterr().err


def test_versions_of_the_back_ends_are_found_without_importing_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["--version"]) == cli.OK
    assert capsys.readouterr().out == f"teenyc {__version__}\n"
    program = (
        "import sys; from teenyc import cli; cli.main(['--version', '--verbose']); "
        "print('triton._C.libtriton' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert f"triton: {driver.find_triton().version} " in run.stdout
    assert "llvmlite: " in run.stdout
    assert run.stdout.splitlines()[-1] == "False"


def test_targets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--print", "targets"]) == cli.OK
    said = capsys.readouterr().out
    assert "sm_75|" in said
    assert "|sm_121" in said
    assert "interpret" in said


def test_help_shows_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    from teenyc import options

    assert cli.main(["--help"]) == cli.OK
    said = capsys.readouterr().out
    aliases = {"--codegen", "--out-dir", "-V", "-v", "-h", "--help"}
    assert all(option in said for option in options._OPTIONS.keys() - aliases)


def test_the_command_reads_standard_input(make_unit: MakeUnit, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "teenyc", "-", "-C", "target-cpu=sm_90", "-o", str(tmp_path)],
        input=make_unit().render(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert ".target sm_90a" in (tmp_path / "vector_add_entry_point.ptx").read_text()


def test_compiling_runs_no_code_of_the_unit(make_unit: MakeUnit, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    plant = f"open({str(trace)!r}, 'w')\n"
    head = "def f(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE):\n    "
    unit = make_unit(f"import teeny_triton as tl\n{plant}{head}{plant}")
    cli.main([_write(unit, tmp_path), "--target", "interpret", "-o", str(tmp_path / "out")])
    assert not trace.exists()


_IMPORTED = """
import sys
from teenyc.cli import main
status = main(sys.argv[1:])
heavy = {"numpy", "llvmlite", "triton", "argparse", "subprocess", "tempfile"} & sys.modules.keys()
print(sorted(heavy))
sys.exit(status)
"""


def test_compiling_imports_nothing_heavy(unit: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED, unit, *SM_80, "-o", str(tmp_path)],
        text=True,
        capture_output=True,
        check=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("COV")},
    )
    assert done.stdout == "[]\n"
