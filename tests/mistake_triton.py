"""Takes the kernels of the catalogue through Triton's front end; prints what it says, as JSON.

A process of its own: `python tests/mistake_triton.py FOLDER`, which must be empty. The GPU that a
kernel is compiled for need not be there. Each kernel has a process of its own, because libtriton
may end it. Lines stay where they are: annotations are cut out, nothing is moved.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mistake_catalogue import Mistake, mistakes

ARCHITECTURE = 90
SECONDS = 10
# What annotations say, in Triton's words.
DTYPES = {
    "i1": "int1",
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "u8": "uint8",
    "u32": "uint32",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
}
SIGNATURES = {
    "i1": "i1",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "u8": "u8",
    "u32": "u32",
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "D": "fp32",
    "F": "fp32",
}
IMPORTS = "import triton; import triton.language as tl; from triton.language.extra import libdevice"
Edit = tuple[int, int, int, int, str]


class Translated(NamedTuple):
    """A module for Triton, the types of the kernel's parameters and its compile-time values."""

    text: str
    signature: dict[str, str]
    constants: dict[str, Any]


def translated(entry: Mistake) -> Translated:
    """The entry with Triton's imports, decorators and names."""
    tree = ast.parse(entry.text)
    lines = entry.text.splitlines()
    for start, start_column, end, end_column, text in sorted(_edits(tree), reverse=True):
        before, after = lines[start - 1][:start_column], lines[end - 1][end_column:]
        lines[start - 1 : end] = [before + text + after, *[""] * (end - start)]
    lines[0] = IMPORTS
    kernel = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == entry.id
    )
    signature: dict[str, str] = {}
    constants: dict[str, Any] = {}
    plain = len(kernel.args.args) - len(kernel.args.defaults)
    for at, parameter in enumerate(kernel.args.args):
        assert parameter.annotation is not None
        text = ast.unparse(parameter.annotation)
        if text.startswith("Const["):
            signature[parameter.arg] = "constexpr"
            constants[parameter.arg] = ast.literal_eval(kernel.args.defaults[at - plain])
        elif text.startswith("Ptr["):
            signature[parameter.arg] = "*" + SIGNATURES[text[4:-1]]
        else:
            signature[parameter.arg] = SIGNATURES[text.partition(" | ")[0]]
    return Translated("\n".join(lines) + "\n", signature, constants)


def _edits(tree: ast.Module) -> Iterator[Edit]:
    """What to put in the place of which text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
            if str(module).startswith(("teeny", "typing", "numpy")) and node.lineno > 1:
                yield _edit(node, "import numpy as np" if module == "numpy" else "pass")
        elif isinstance(node, ast.Assign) and "TypeVar" in ast.unparse(node.value):
            yield _edit(node, "pass")
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                yield _edit(decorator, "triton.jit")
            if node.returns is not None:
                yield _edit(node.returns, "None")
        elif isinstance(node, ast.arg) and node.annotation is not None:
            const = ast.unparse(node.annotation).startswith("Const[")
            yield _edit(node, f"{node.arg}: tl.constexpr" if const else node.arg)
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "tl.math.popc":
            yield _edit(node, "libdevice.popc")
    yield from _dtypes(tree)


def _dtypes(tree: ast.Module) -> Iterator[Edit]:
    """The names of dtypes inside bodies."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.Name) and node.id in DTYPES:
                        yield _edit(node, f"tl.{DTYPES[node.id]}")


def _edit(node: ast.stmt | ast.expr | ast.arg, text: str) -> Edit:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, text


def verdict(entry: Mistake, folder: Path) -> tuple[int, str] | None:
    """Where Triton refuses the entry, and the first line of what it says; None when it compiles."""
    found = translated(entry)
    path = folder / f"{entry.id}.py"
    path.write_text(found.text, encoding="utf-8")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(SECONDS)
        os.close(read)
        with os.fdopen(write, "w") as answer:
            json.dump(_compile(entry, path, found), answer)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return None  # it goes on and on, and has said nothing
    result: list[Any] | None = json.loads(text) if text else [0, "the process ends"]
    return None if result is None else (result[0], result[1])


def _compile(entry: Mistake, path: Path, found: Translated) -> tuple[int, str] | None:
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    try:
        spec = importlib.util.spec_from_file_location(entry.id, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        source = ASTSource(getattr(module, entry.id), found.signature, found.constants)
        target = GPUTarget("cuda", ARCHITECTURE, 32)
        backend = make_backend(target)
        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        options = backend.parse_options({})
        functions = backend.get_codegen_implementation(options)
        source.make_ir(target, options, functions, backend.get_module_map(), context)
    except Exception as error:  # noqa: BLE001 - whatever Triton raises is its answer
        return _line(error, path), _message(error)
    return None


def _line(error: BaseException, path: Path) -> int:
    """The line in the file: Triton's errors count from the `def` of the function."""
    node, source = getattr(error, "node", None), getattr(error, "src", None)
    if node is None or source is None:
        frames = traceback.extract_tb(error.__traceback__)
        return next((f.lineno or 0 for f in reversed(frames) if f.filename == str(path)), 0)
    text = path.read_text(encoding="utf-8")
    start = text.find(source.splitlines()[0])
    return int(text[:start].count("\n")) + int(node.lineno)


def _message(error: BaseException) -> str:
    """What it says below the text of the kernel that Triton shows."""
    innermost = error
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    text = str(getattr(innermost, "error_message", None) or innermost).strip()
    return f"{type(innermost).__name__}: {text.splitlines()[0] if text else ''}"


def main(folder: Path) -> None:
    """Print the verdict of every kernel, by the id of its entry."""
    os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
    importlib.import_module("triton.compiler")  # once, for all children
    entries = [entry for entry in mistakes() if entry.group != "launch"]
    json.dump({entry.id: verdict(entry, folder) for entry in entries}, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
