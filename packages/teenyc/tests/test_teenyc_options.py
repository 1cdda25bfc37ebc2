"""The command line: what it means, how it prints back, and what is refused."""

from __future__ import annotations

import pytest

from teeny_macros.diagnostics import LaunchError
from teeny_macros.target import CUDA_ARCHS, Target
from teenyc.options import Command, Options, UsageError, compile_options, parse_command

SM_90 = ("-C", "target-cpu=sm_90")


def read(*arguments: str) -> Options:
    return compile_options(parse_command(["unit.py", *arguments]))


def test_a_gpu_and_ptx_are_the_defaults() -> None:
    assert read(*SM_90) == Options(Target.cuda("sm_90"), ("ptx",))


@pytest.mark.parametrize(
    "arguments",
    [
        (
            "-C",
            "target-cpu=sm_80",
            "-C",
            "fp-fusion=off",
            "-C",
            "ptx-version=8.4",
            "--emit",
            "ptx,mlir",
        ),
        ("-Ctarget-cpu=sm_80", "--codegen=fp-fusion=off", "-Cptx-version=8.4", "--emit=mlir,ptx"),
        (
            "--emit",
            "ptx",
            "--emit",
            "mlir",
            "-C",
            "ptx-version=8.4",
            "-C",
            "fp-fusion=off",
            "-Ctarget-cpu=sm_80",
        ),
    ],
)
def test_spellings_of_one_command_line_mean_the_same(arguments: tuple[str, ...]) -> None:
    assert read(*arguments) == Options(Target.cuda("sm_80"), ("mlir", "ptx"), False, 84)


def test_the_interpreter_needs_no_architecture() -> None:
    assert read("--target", "interpret") == Options(Target.interpret(), ("mlir",))


@pytest.mark.parametrize("arch", CUDA_ARCHS)
@pytest.mark.parametrize("fusion", [None, True, False])
@pytest.mark.parametrize("version", [None, 90])
def test_options_print_back_as_arguments(
    arch: str, *, fusion: bool | None, version: int | None
) -> None:
    options = Options(Target.cuda(arch), ("ttgir", "ptx"), fusion, version)
    assert read(*options.to_arguments()) == options


def test_the_variable_sets_the_ptx_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_PTX_VERSION", "8.5")
    assert read(*SM_90).ptx_version == 85
    assert read(*SM_90, "-C", "ptx-version=8.6").ptx_version == 86
    assert read("--target", "interpret").ptx_version is None


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_PTX_VERSION", "")
    assert read(*SM_90).ptx_version is None


def test_the_last_of_repeated_switches_wins() -> None:
    assert read(*SM_90, "-C", "target-cpu=sm_80").target == Target.cuda("sm_80")


def test_a_dash_is_standard_input() -> None:
    assert parse_command(["-", "--check"]) == Command(unit="-", check=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--emit", "png", *SM_90), "`--emit` takes"),
        (("--target", "vax"), "`--target` takes"),
        (("--frobnicate",), "unknown option `--frobnicate`"),
        (("-x",), "unknown option `-x`"),
        (("--emit",), "`--emit` needs a value"),
        (("--check=yes",), "`--check` takes no value"),
        (("-C", "target-cpu"), "needs a value"),
        (("-C", "speed=11"), "`-C` takes"),
        (("-C", "fp-fusion=perhaps", *SM_90), "`-C fp-fusion` takes on, off"),
        (("--error-format", "xml"), "`--error-format` takes"),
        (("--print", "money"), "`--print` takes"),
        (("second.py", *SM_90), "one unit at a time"),
        ((), "which GPU architecture"),
    ],
)
def test_senseless_command_lines_say_why(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(*arguments)


def test_an_unknown_architecture_is_a_coded_error() -> None:
    with pytest.raises(LaunchError) as caught:
        read("-C", "target-cpu=sm_70")
    assert caught.value.code == "E1040"
