"""Turns a kernel of this project into the same text under Triton: only names and decorators change.

`translate(source)` works on the text of an example; the result imports nothing of this project.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

DTYPES = {
    "i1": "int1",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
}
AXES = {"X": 0, "Y": 1, "Z": 2}
DECORATORS = {"kernel", "device", "device_function"}


class _Rename(ast.NodeTransformer):
    """Spell one function as Triton does."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in DTYPES and isinstance(node.ctx, ast.Load):
            return _attribute(DTYPES[node.id])
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == "Axis":
            return ast.Constant(AXES[node.attr])
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Attribute) and node.func.attr == "elem":
            (pointer,) = node.args
            return ast.parse(f"{ast.unparse(pointer)}.dtype.element_ty", mode="eval").body
        if isinstance(node.func, ast.Name) and node.func.id in DTYPES:
            (value,) = node.args
            cast = f"{ast.unparse(value)}.to(tl.{DTYPES[node.func.id]})"
            return ast.parse(cast, mode="eval").body
        self.generic_visit(node)
        return node


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("tl", ast.Load()), name, ast.Load())


def _function(node: ast.FunctionDef) -> ast.FunctionDef:
    for arg in (*node.args.args, *node.args.kwonlyargs):
        text = ast.unparse(arg.annotation) if arg.annotation is not None else ""
        arg.annotation = _attribute("constexpr") if text.startswith("Const[") else None
    node.returns = None
    node.decorator_list = [ast.Attribute(ast.Name("triton", ast.Load()), "jit", ast.Load())]
    node.body = [_Rename().visit(statement) for statement in node.body]
    return node


def _is_kernel(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef):
        return False
    # `@kernel` or `@kernel(extents=...)`
    found = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(isinstance(name, ast.Name) and name.id in DECORATORS for name in found)


def translate(source: str) -> str:
    """The kernels and helpers of a file as a module for Triton."""
    functions = [
        _function(node)
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and _is_kernel(node)
    ]
    module = ast.fix_missing_locations(ast.Module(list(functions), []))
    return f"import triton\nimport triton.language as tl\n\n\n{ast.unparse(module)}\n"


def load(path: Path) -> ModuleType:
    """Import the translation of `path` from a file of its own (Triton reads kernels from files)."""
    folder = Path(tempfile.mkdtemp(prefix="teeny-bench-"))
    target = folder / f"triton_{path.stem}.py"
    target.write_text(translate(path.read_text(encoding="utf-8")), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(target.stem, target)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[target.stem] = module
    spec.loader.exec_module(module)
    return module
