"""docs/triton-to-teeny.md: a row for every operation, with names that both sides have."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from teeny_triton.triton_lang import TRITON
from teenyc.backend.gpu.versions import ARCH_FLOOR

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "triton-to-teeny.md").read_text("utf-8")
ROW = re.compile(
    r"^\| `([^`]+)` \| `([\w.]+)\(.*?\)` \| (.*?) \| (yes|no) \| (yes|no) \| (.*?) \|$"
)
ROWS = [found for line in PAGE.splitlines() if (found := ROW.match(line))]
TREE = ast.parse(TRITON)
ASK = """
import importlib, json, sys
import triton.language as tl
import triton.language.target_info, triton.language.extra.cuda
from triton.language.extra.cuda import libdevice
roots = {"tl": tl, "libdevice": libdevice}
def has(path):
    name, *rest = path.split(".")
    found = roots[name]
    for part in rest:
        found = getattr(found, part, None)
    return found is not None
print(json.dumps([path for path in sys.argv[1:] if not has(path)]))
"""
# Of Triton 3.6 these are missing, of 3.9 those: the union is ours.
ONLY_IN_SOME = {
    *("tl.advance", "tl.atomic_load", "tl.atomic_store", "tl.atomic_poll", "tl.expect_zero"),
    *("tl.squeeze", "tl.unsqueeze", "tl.to_tensor"),
}


def test_every_function_of_the_language_has_one_row() -> None:
    functions = {
        node.name
        for node in TREE.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    named = [row[2].rpartition(".")[2] for row in ROWS]
    assert len(named) == len(set(named))
    assert set(named) == functions
    assert len(ROWS) == sum(line.startswith("| `") for line in PAGE.splitlines()) - _other_rows()


def _other_rows() -> int:
    """The rows of the last table that begin with a name."""
    last = PAGE[PAGE.index("## What not every target has") :]
    return sum(line.startswith("| `") for line in last.splitlines())


def test_every_method_that_hands_on_stands_in_the_row_of_its_function() -> None:
    tensor = next(n for n in TREE.body if isinstance(n, ast.ClassDef) and n.name == "Tensor")
    shown = {row[2].rpartition(".")[2]: row[3] for row in ROWS}
    checked = 0
    for method in tensor.body:
        if not isinstance(method, ast.FunctionDef) or method.name.startswith("_"):
            continue
        if method.name in shown:
            assert f"`x.{method.name}" in shown[method.name], method.name
            checked += 1
    assert checked > 40


def test_every_row_names_an_architecture() -> None:
    assert {row[6].partition(";")[0] for row in ROWS} <= set(ARCH_FLOOR)


def test_triton_has_every_name_of_its_column() -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    names = [row[1] for row in ROWS if re.fullmatch(r"(tl|libdevice)\.[\w.]+", row[1])]
    assert len(names) > 280
    done = subprocess.run(
        [sys.executable, "-c", ASK, *names], capture_output=True, text=True, check=True
    )
    assert set(json.loads(done.stdout)) <= ONLY_IN_SOME
