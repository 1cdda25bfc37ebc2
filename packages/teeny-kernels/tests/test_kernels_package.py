"""Checks of the package as such: its public names, its version, and how much an import loads."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import teeny_kernels
from teeny_kernels.registry import specs


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert teeny_kernels.__version__ == version("teeny-kernels")


def test_the_index_and_the_stub_are_those_of_the_modules() -> None:
    root = Path(__file__).parents[1]  # not where the package is installed: the script is not there
    run = subprocess.run(
        [sys.executable, "genindex.py", "--check"],
        capture_output=True,
        check=False,
        cwd=root,
        text=True,
    )
    assert run.returncode == 0, f"run `python genindex.py`: {run.stdout}{run.stderr}"


@pytest.mark.parametrize("name", specs())
def test_an_operation_is_public_and_documented(name: str) -> None:
    function = getattr(teeny_kernels, name)
    assert inspect.unwrap(function) is specs()[name].function
    assert function.__doc__
    backward = getattr(teeny_kernels, f"{name}_backward", None)
    assert (backward is None) == (specs()[name].backward is None)


def test_the_import_loads_no_family_and_no_numpy() -> None:
    program = (
        "import sys, teeny_kernels; "
        "print([m for m in sys.modules if m in ('numpy', 'llvmlite', 'triton') "
        "or m.startswith('teeny_kernels.') and m != 'teeny_kernels._index'])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout.strip() == b"[]"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_operation"):
        _ = teeny_kernels.no_such_operation  # type: ignore[attr-defined]
