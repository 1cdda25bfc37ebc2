"""The command given what is wrong: what it says, its status, and that nothing is shown raw."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from teeny_compiler import cli, install, places, toolchain
from teeny_macros.diagnostics import ToolchainError

KERNEL = """\
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Num, Ptr, f32, i32
from typing import TypeVar

D = TypeVar("D", bound=Num)


@kernel
def scale(x_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""
SCALE = ("kernels_here.py:scale", "-D", "D=f32", "-D", "BLOCK=64")
RUN = "import sys; from teeny_compiler.cli import main; sys.exit(main())"
Run = tuple[int, str, str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "kernels_here.py").write_text(KERNEL, encoding="utf-8")
    (tmp_path / "ends.py").write_text("import sys\nsys.exit(3)\n", encoding="utf-8")
    (tmp_path / "cut.py").write_text("one = 1\nx = (\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TEENYC_TOOLCHAIN", raising=False)
    for name in ("kernels_here", "ends", "cut"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def teeny(capsys: pytest.CaptureFixture[str], *arguments: str) -> Run:
    capsys.readouterr()
    status = cli.main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("compile", "kernels_here.py", "-t", "cpu"), 1, "it has `kernels_here.py:scale`"),
        (("compile", "kernels_here.py:", "-t", "cpu"), 1, "it has `kernels_here.py:scale`"),
        (("compile", "ends.py:scale", "-t", "cpu"), 1, "ended the process (`sys.exit(3)`)"),
        (("bundle", "build", "ends.py", "-t", "cpu", "-o", "o.teeny"), 1, "under `if __name__"),
        (("check", "--import", "ends.py"), 2, "ended the process (`sys.exit(3)`)"),
        (("compile", "cut.py:scale", "-t", "cpu"), 1, "cut.py:2: x = ("),
        (
            ("compile", "kernels_here.py:scale", "-t", "cpu", "-D", "D=f33"),
            1,
            "dtypes are bf16, f16",
        ),
        (("compile", *SCALE, "-t", "cpu", "--ptx-version", "8.4"), 2, "`cpu:host` has no PTX"),
        (("show", *SCALE, "--arg", "m=16"), 2, "which has `n`"),
        (("show", *SCALE, "--arg", "x_ptr=16"), 2, "which has `n`"),
        (("show", *SCALE, "--arg", "n=99999999999"), 2, "is an i32, which cannot be 99999999999"),
        (("cost", *SCALE, "--grid", "1,2,3,4"), 2, "one to three numbers"),
        (("cost", *SCALE, "--grid", "0"), 2, "one to three numbers"),
        (("cost", *SCALE, "--grid=-1"), 2, "one to three numbers"),
        (("cost", *SCALE, "--grid", "64,"), 2, "one to three numbers"),
        (("cost", *SCALE, "-t", "sm_90,interpret"), 2, "the interpreter makes no code"),
        (
            ("bundle", "build", "kernels_here.py", "-D", "BLOCK=64", "-t", "cpu", "-o", "o.teeny"),
            2,
            "`kernels_here.py:KERNEL`",
        ),
        (
            ("bundle", "build", *SCALE, "-t", "cpu", "--stage", "ptx", "-o", "o.teeny"),
            1,
            "one of mlir, clusters, llvm-ir, asm, obj",
        ),
        (("bundle", "build", *SCALE, "-t", "cpu", "-o", "."), 1, "it is a folder"),
        (("bundle", "build", *SCALE, "-t", "cpu", "-o", "cut.py/o.teeny"), 1, "cannot be written"),
        (("toolchain", "default", "nope"), 1, "make one: `teeny toolchain install`"),
        (("toolchain", "remove", "nope"), 1, "make one: `teeny toolchain install`"),
        (("toolchain", "install", "--name", "../up"), 1, "a name is made of letters"),
        (("toolchain", "install", "--name", "a/b"), 1, "a name is made of letters"),
        (("toolchain", "install", "--from", "nowhere"), 1, "there is no folder `nowhere`"),
    ],
)  # fmt: skip
def test_mistake_is_named_with_a_next_step(
    arguments: tuple[str, ...],
    status: int,
    words: str,
    capsys: pytest.CaptureFixture[str],
    here: Path,
) -> None:
    code, out, err = teeny(capsys, *arguments)
    # Usage errors are wrapped to the width of a terminal.
    assert " ".join(words.split()) in " ".join(err.split()), err
    assert "Traceback" not in err
    assert (code, out) == (status, "")
    assert not (here / "o.teeny").exists()


def test_a_toolchain_that_is_not_among_others_is_looked_up_in_the_list(
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = Path(places.executable_in(os.path.join(places.toolchains_folder(), "teenyc-1")))
    there.parent.mkdir(parents=True)
    there.write_text("", encoding="utf-8")
    there.chmod(0o755)
    status, _, err = teeny(capsys, "toolchain", "default", "nope")
    assert status == 1
    assert "holds `teenyc-1`" in err
    assert "`teeny toolchain list` shows them" in err
    assert "asked for by" not in err
    # A name that the environment asks for can be unset.
    with pytest.raises(ToolchainError) as caught:
        toolchain.named("nope", "TEENYC_TOOLCHAIN")
    assert "asked for by TEENYC_TOOLCHAIN" in str(caught.value)


def test_folder_of_wheels_that_lacks_some_is_filled_by_the_next_step(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    with pytest.raises(ToolchainError, match="E0906") as caught:
        install.install(install.Wanted(source=str(tmp_path / "wheels")), quiet=True)
    assert "must hold all that teenyc needs: `pip download" in str(caught.value)


def test_a_cache_that_is_no_directory_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", os.devnull)
    monkeypatch.delenv("TEENY_LOG", raising=False)
    status, _, err = teeny(capsys, "cache", "ls")
    assert status == 0
    assert "it is not a directory" in err


def test_what_a_file_bundles_cannot_be_written_over_a_file(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    from teeny_compiler.bundling.build import build_bundle
    from teeny_compiler.cli.kernels import find_kernel

    kernel = find_kernel("kernels_here.py:scale")
    import teeny_triton

    build_bundle([kernel.instantiate(D=teeny_triton.f32, BLOCK=64)], here / "b.teeny")
    for words in (("extract", "b.teeny"), ("stub", "b.teeny"), ("header", "b.teeny")):
        goal = "cut.py" if words[0] == "extract" else "cut.py/x"
        status, out, err = teeny(capsys, "bundle", *words, "-o", goal)
        assert (status, out) == (1, ""), words
        assert "E0935" in err
        assert "Traceback" not in err
    status, _, err = teeny(capsys, "bundle", "verify", "b.teeny")
    assert status == 0
    assert err.endswith("members, 0 faults\n")
    data = json.loads(teeny(capsys, "bundle", "verify", "b.teeny", "--json")[1])
    assert data["faults"] == []


def test_stage_that_is_shown_without_being_named_is_one_that_the_target_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, out, _ = teeny(capsys, "show", *SCALE, "-t", "cpu")
    assert status == 0
    assert ".text" in out
    status, out, _ = teeny(capsys, "show", *SCALE, "-t", "interpret")
    assert status == 0
    assert "tt.store" in out
    # The entry point is no line of the user's file.
    assert "kernels_here.py:12: tl.store" in out
    assert "<unit>:" in out
    status, out, err = teeny(capsys, "diff", *SCALE, "-t", "cpu", "--left", "BLOCK=32")
    assert status == 0, err
    assert out.startswith("---")


def test_kernel_below_a_tuner_is_found(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    text = KERNEL.replace(
        "@kernel", '@autotune(configs=[Config({"BLOCK": 64}), Config({"BLOCK": 32})])\n@kernel'
    )
    head = "from teeny_compiler import Config, autotune\n"
    (here / "kernels_here.py").write_text(head + text, encoding="utf-8")
    status, out, err = teeny(capsys, "expand", *SCALE)
    assert status == 0, err
    assert "BLOCK=64" in out
    status, out, err = teeny(
        capsys, "bundle", "build", "kernels_here.py:scale", "-D", "D=f32", "-t", "x86-64",
        "-o", "tuned.teeny", "--hints", "none", "--json",
    )  # fmt: skip
    assert status == 0, err
    assert json.loads(out)["instances"] == 2  # each of its configs


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_output_that_has_no_space_is_said() -> None:
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run(
            [sys.executable, "-c", RUN, "cache", "path"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert "`standard output` cannot be written: no space left on device" in done.stderr
    assert done.returncode == 1


def test_help_of_a_group_is_not_cut_where_it_is_piped() -> None:
    for words in ((), ("cache",), ("bundle",), ("toolchain",)):
        done = subprocess.run(
            [sys.executable, "-c", RUN, *words, "--help"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        listed = done.stdout.partition("Commands:")[2].partition("Examples:")[0]
        assert listed.count("...") == 0, listed
