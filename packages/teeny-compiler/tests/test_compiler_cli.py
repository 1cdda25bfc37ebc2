"""The `teeny` command: what it prints where, and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import typer

from teeny_compiler import cli, doctor, places
from teeny_compiler.cli import app, kernels
from teeny_macros.diagnostics import TeenyError

# A module with a kernel that has what the command asks of one.
MODULE = """\
import runpy
_Instance = runpy.run_path({instance!r})["Instance"]

class _Kernel:
    name = "scale"
    kernel_source = "def scale(): ..."
    def instantiate(self, **bindings):
        return _Instance(sorted(bindings.items()))

scale = _Kernel()
not_a_kernel = 5
class Inside:
    kernel = scale
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with a kernel, and the folder that it lies in as the current one."""
    path = tmp_path / "kernels_of_mine.py"
    instance = str(Path(__file__).parent / "fakes" / "instance.py")
    path.write_text(MODULE.format(instance=instance), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "kernels_of_mine", raising=False)
    return path


def test_version_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == "teeny 0.1.0\n"


def test_wrong_usage_ends_with_status_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compile"]) == 2
    assert cli.main(["no-such-command"]) == 2
    capsys.readouterr()


@pytest.mark.parametrize("where", ["{path}", "kernels_of_mine"])
def test_compile_prints_where_the_file_lies(
    where: str, teenyc: Any, cache_dir: Path, module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = f"{where.format(path=module)}:scale"
    assert cli.main(["compile", given, "--target", "sm_90", "-D", "BLOCK_SIZE=64"]) == 0
    out, err = capsys.readouterr()
    path = Path(out.strip())
    assert path.is_relative_to(cache_dir)
    assert path.read_text(encoding="utf-8").startswith("// ptx")
    assert err.startswith("teeny: compiled scale for cuda:sm_90")


def test_compile_names_the_stages_that_were_asked_for(
    teenyc: Any, cache_dir: Path, module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["compile", f"{module}:Inside.kernel", "--target", "sm_80"]
    assert cli.main([*arguments, "--emit", "ttgir,ptx"]) == 0
    paths = capsys.readouterr().out.splitlines()
    assert [Path(path).suffix for path in paths] == [".ttgir", ".ptx"]
    assert cli.main([*arguments, "--json", "--no-fp-fusion", "--ptx-version", "8.0"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["metadata"]["entry_point"] == "scale_entry_point"
    assert set(data["stages"]) == {"mlir", "ptx"}
    assert "fp-fusion=off" in teenyc.calls()[-1]
    assert "ptx-version=8.0" in teenyc.calls()[-1]


@pytest.mark.parametrize(
    ("given", "code", "says"),
    [
        ("scale", "E0931", "it is not `MODULE_OR_FILE:KERNEL`"),
        ("nowhere.py:scale", "E0931", "there is no file"),
        ("no_such_module_here:scale", "E0931", "there is no module `no_such_module_here`"),
        ("kernels_of_mine:scael", "E0931", "there is no such name in it"),
        ("kernels_of_mine:not_a_kernel", "E0931", "that is not a kernel"),
    ],
)
def test_compile_of_something_else_is_a_coded_error(
    given: str, code: str, says: str, module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compile", given, "--target", "sm_90"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error[{code}]" in err
    assert says in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import not_installed_here.part", "-m pip install not_installed_here`"),
        ("x = 1\ny = x / 0", "broken.py:2: y = x / 0"),
    ],
)
def test_a_module_that_cannot_be_imported_says_where_and_what_to_do(
    text: str, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text, encoding="utf-8")
    assert cli.main(["compile", f"{path}:scale", "--target", "sm_90"]) == 1
    assert says in capsys.readouterr().err


def test_what_a_kernel_lacks_is_asked_for_as_an_option_and_shows_no_code_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lacking.py"
    path.write_text(
        "from teeny_macros import kernel\nfrom teeny_triton import Const, Ptr, f32\n\n"
        "@kernel\ndef zero(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None: ...\n",
        encoding="utf-8",
    )
    assert cli.main(["compile", f"{path}:zero", "--target", "sm_90"]) == 1
    err = capsys.readouterr().err
    assert "help: give it by name: `-D BLOCK=...`" in err
    assert "lacking.py:5:" in err
    assert "in this call" not in err


def test_refused_kernel_ends_with_status_one(
    teenyc: Any, cache_dir: Path, module: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    teenyc.behave("refuse")
    assert cli.main(["compile", f"{module}:scale", "--target", "sm_90"]) == 1
    err = capsys.readouterr().err
    assert "error[E0301]: mismatched types" in err
    assert "error[E0201]" in err


def test_bindings_are_literals_dtypes_and_pointers() -> None:
    import teeny_triton as tl

    assert kernels.parse_bindings(["A=1", "B=-2.5", "C=True", "D='x'", "E=(1, 2)"]) == {
        "A": 1,
        "B": -2.5,
        "C": True,
        "D": "x",
        "E": (1, 2),
    }
    assert kernels.parse_binding("D=f32") == ("D", tl.f32)
    assert kernels.parse_binding("x_ptr=Ptr[f16]") == ("x_ptr", tl.Ptr[tl.f16])
    for given in ("A", "=1", "A=fast", "A=f32(1)", "a b=1", "A=Ptr[", "A=__import__('os')"):
        with pytest.raises(TeenyError) as caught:
            kernels.parse_binding(given)
        assert caught.value.code == "E0932"


@pytest.mark.parametrize(("given", "code"), [("h100", "E0933"), ("sm_30", "E1040")])
def test_unknown_target_is_a_coded_error(given: str, code: str) -> None:
    with pytest.raises(TeenyError) as caught:
        kernels.parse_target(given)
    assert caught.value.code == code


def test_doctor_says_what_works(
    teenyc: Any, cache_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert f"teenyc: works: 1.0 ({teenyc.path}, TEENYC_PATH)" in out
    assert "libtriton: works: 9.9.9" in out
    assert "llvmlite: absent: not installed beside teenyc: no code for CPUs" in out
    assert f"cache: works: {cache_dir} (0 kernels, " in out
    assert "driver: " in out
    assert "ptxas: " in out


def test_doctor_without_teenyc_fails_and_says_how_to_mend_it(
    cache_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TEENYC_PATH", "/nowhere")
    assert cli.main(["doctor", "--json"]) == 1
    rows = {row["part"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["teenyc"]["state"] == "broken"
    assert "export TEENYC_PATH" in rows["teenyc"]["mend"]
    assert rows["cache"]["state"] == "works"


def test_doctor_without_a_driver_is_healthy(
    teenyc: Any, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_DRIVER_LIBRARY", "no-such-library.so")
    findings = doctor.examine()
    assert [row.state for row in findings if row.part == "driver"] == ["absent"]
    assert doctor.is_healthy(findings)


def test_doctor_draws_a_table_on_a_terminal(
    teenyc: Any,
    cache_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    findings = [doctor.Finding("teenyc", "broken", "[odd] text", "mend it")]
    monkeypatch.setenv("COLUMNS", "100")
    app._print_table(findings)
    out = capsys.readouterr().out
    assert "[odd] text" in out
    assert "mend it" in out


def test_toolchain_commands_list_choose_and_explain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], teenyc: Any
) -> None:
    monkeypatch.delenv("TEENYC_PATH")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(places, "scripts_folders", lambda: ())
    chains = tmp_path / "teeny" / "toolchains"
    paths = {}
    for name in ("teenyc-1", "teenyc-2"):
        paths[name] = teenyc.install(Path(places.executable_in(str(chains / name))))
    assert cli.main(["toolchain", "which"]) == 1
    assert "error[E0902]" in capsys.readouterr().err
    assert cli.main(["toolchain", "default"]) == 0
    assert capsys.readouterr() == ("", "teeny: none is chosen\n")
    assert cli.main(["toolchain", "default", "teenyc-2"]) == 0
    assert capsys.readouterr().out.strip() == str(paths["teenyc-2"])
    assert cli.main(["toolchain", "default"]) == 0
    assert capsys.readouterr().out.strip() == str(paths["teenyc-2"])
    assert cli.main(["toolchain", "which"]) == 0
    assert capsys.readouterr().out.strip() == str(paths["teenyc-2"])
    assert cli.main(["toolchain", "list"]) == 0
    assert [line[:10] for line in capsys.readouterr().out.splitlines()] == [
        "  teenyc-1",
        "* teenyc-2",
    ]


class Point:
    """An entry point as `importlib.metadata` has it."""

    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.value = value

    def load(self) -> object:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def test_plugins_add_commands_and_a_broken_one_only_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hello(name: str) -> None:
        """Say hello."""
        print(f"hello {name}")

    group = typer.Typer()
    group.command("twice")(hello)
    group.command("once")(hello)
    points = [Point("hello", hello), Point("group", group), Point("bad", ImportError("gone"))]
    monkeypatch.setattr(app, "entry_points", lambda group: points)
    assert cli.main(["hello", "you"]) == 0
    out, err = capsys.readouterr()
    assert out == "hello you\n"
    assert "the command `bad` cannot be loaded: gone" in err
    assert cli.main(["group", "twice", "you"]) == 0


def test_missing_extra_is_said_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    assert cli.main(["--version"]) == 1
    err = capsys.readouterr().err
    assert "error[E0930]: the `teeny` command needs typer" in err
    assert "pip install 'teeny-compiler[cli]'" in err


def test_command_is_installed_and_plain_when_piped() -> None:
    points = metadata.entry_points(group="console_scripts")
    assert {point.value for point in points if point.name == "teeny"} == {"teeny_compiler.cli:main"}
    script = "import sys; from teeny_compiler.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, "--help"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TERM": "dumb"},
    )
    assert "\x1b[" not in done.stdout
    assert "compile" in done.stdout
    assert "doctor" in done.stdout
