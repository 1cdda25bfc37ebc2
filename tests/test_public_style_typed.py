"""Kernels in the style of public Triton code, with annotations and nothing else added to them.

That they pass the type checkers is tested in test_type_checkers.py.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parent
TYPED = TESTS / "public_style_typed"
FILES = sorted(path.stem for path in TYPED.glob("*.py"))


class _Stripped(ast.NodeTransformer):
    """Takes every annotation out."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        assert node.value is not None
        return ast.Assign([node.target], node.value, lineno=node.lineno)


def functions(path: Path) -> dict[str, str]:
    """The functions of a file without their annotations, by name."""
    tree = _Stripped().visit(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}


def _loaded(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FILES)
def test_annotations_are_all_that_is_added(file: str) -> None:
    typed = functions(TYPED / f"{file}.py")
    untyped = functions(TESTS / "public_style" / f"{file}.py")
    assert typed == {name: untyped[name] for name in typed}


@pytest.mark.parametrize("file", FILES)
def test_every_parameter_is_annotated(file: str) -> None:
    tree = ast.parse((TYPED / f"{file}.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert node.returns is not None, node.name
            assert all(one.annotation is not None for one in node.args.args), node.name


def test_there_are_enough_kernels() -> None:
    texts = [path.read_text(encoding="utf-8") for path in TYPED.glob("*.py")]
    assert sum(text.count("@kernel\n") for text in texts) >= 20
    assert not any(f"# {mark}" in text for text in texts for mark in ("type:", "mypy", "pyright"))


def _cases() -> list[tuple[str, int, str]]:
    """(file, position, name) of the cases that launch annotated kernels only."""
    public = _loaded(TESTS / "test_public_style.py", "public_style_cases")
    found: list[tuple[str, int, str]] = []
    for file, position, name in public.CASES:
        if file not in FILES:
            continue
        typed = functions(TYPED / f"{file}.py")
        run = public.load(file).cases(_random())[position][1]
        launched = {one for one in run.__code__.co_names if one.endswith(("_kernel", "_fused"))}
        if launched <= typed.keys():
            found.append((file, position, name))
    return found


def _random() -> Any:
    import numpy as np

    return np.random.default_rng(7)


CASES = _cases()


@pytest.mark.parametrize(("file", "position", "name"), CASES, ids=[case[2] for case in CASES])
def test_an_annotated_kernel_computes_the_same(
    file: str, position: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import teeny_macros.devices

    monkeypatch.setenv("TEENY_DEVICE", "interpret")
    public = _loaded(TESTS / "test_public_style.py", "public_style_cases")
    module = public.load(file)
    typed = _loaded(TYPED / f"{file}.py", f"public_typed_{file}")
    for own in functions(TYPED / f"{file}.py"):
        monkeypatch.setattr(module, own, getattr(typed, own))
    public.check(module, position, public.Teeny(teeny_macros.devices.device("interpret")))
