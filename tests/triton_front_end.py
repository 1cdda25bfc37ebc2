"""A program, run by a test: what Triton's own front end says of kernels with our imports.

Standard input is a JSON list of files' texts, the kernel last in each. Standard output gets a JSON
list: the MLIR that Triton makes of it, or "" where it refuses. No GPU is needed.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

_NAMES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64"}
_NAMES |= {"f8e4m3": "fp8e4nv", "f8e5m2": "fp8e5"}
_DTYPES = {"i1": "int1", "f8e4m3": "float8e4nv", "f8e5m2": "float8e5", "bf16": "bfloat16"}
_DTYPES |= {f"{kind}{n}": f"{name}{n}" for kind, name in (("i", "int"), ("u", "uint"))
            for n in (8, 16, 32, 64)}  # fmt: skip
_DTYPES |= {f"f{n}": f"float{n}" for n in (16, 32, 64)}
HEAD = "import triton\nimport triton.language as tl\n" + "".join(
    f"{ours} = tl.constexpr(tl.{theirs})\n" for ours, theirs in _DTYPES.items()
)


def exchange(text: str) -> tuple[str, str, dict[str, str], dict[str, Any]]:
    """The text for Triton, the kernel's name, the types of its parameters, and its constants."""
    tree = ast.parse(text)
    kernel = [node for node in tree.body if isinstance(node, ast.FunctionDef)][-1]
    types: dict[str, str] = {}
    constants: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [ast.parse("triton.jit", mode="eval").body]
            node.returns = None
            none: list[ast.expr | None] = [None] * (len(node.args.args) - len(node.args.defaults))
            for arg, default in zip(node.args.args, none + list(node.args.defaults), strict=True):
                kind = ast.unparse(arg.annotation) if arg.annotation else ""
                arg.annotation = None
                if node is not kernel:
                    continue
                if kind.startswith(("Const", "tl.constexpr")):
                    types[arg.arg] = "constexpr"
                    constants[arg.arg] = ast.literal_eval(default) if default else 64
                else:
                    types[arg.arg] = _type(kind.partition("|")[0].strip())
    tree.body = [node for node in tree.body if not _is_ours(node)]
    return HEAD + ast.unparse(tree), kernel.name, types, constants


def _is_ours(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("teeny")
    return isinstance(node, ast.Import) and node.names[0].name.startswith("teeny")


def _type(kind: str) -> str:
    pointer = re.fullmatch(r"Ptr\[(.*)\]", kind)
    base = pointer[1] if pointer else kind or "i32"
    return ("*" if pointer else "") + _NAMES.get(base, base)


def ask(text: str, folder: Path, number: int) -> str:
    """The MLIR, or "" where Triton refuses."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    try:
        theirs, name, types, constants = exchange(text)
        path = folder / f"asked_{number}.py"
        path.write_text(theirs, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        function = getattr(module, name)
        values = {(function.arg_names.index(key),): value for key, value in constants.items()}
        source = ASTSource(fn=function, signature=types, constexprs=values)
        target = GPUTarget("cuda", 90, 32)
        backend = make_backend(target)
        options = backend.parse_options({})
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        generators = backend.get_codegen_implementation(options), backend.get_module_map()
        made = source.make_ir(target, options, *generators, context)
        return str(made) if made.verify() else ""
    except BaseException:  # noqa: BLE001 - whatever it is, it is a refusal
        return ""


def main() -> None:
    """Answer for every text."""
    texts = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        found = [ask(text, Path(folder), number) for number, text in enumerate(texts)]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
