"""Checks of the package as such: its public names, its version, and how much an import loads."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import teeny_kernels
from teeny_kernels import autograd, foreign_names
from teeny_kernels._index import HOMES
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


@pytest.mark.parametrize("module", [teeny_kernels, autograd])
def test_a_name_of_pytorch_is_answered_with_the_one_here(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match="it is 'reduce_sum' here"):
        _ = module.sum


def test_the_names_that_stand_for_those_of_pytorch_are_operations() -> None:
    assert set(foreign_names._OPERATIONS.values()) <= set(HOMES)
    assert not foreign_names._OPERATIONS.keys() & set(HOMES)


def test_an_operation_without_a_gradient_is_no_part_of_the_graph() -> None:
    with pytest.raises(AttributeError, match=r"use `teeny_kernels\.equal`"):
        _ = autograd.equal
