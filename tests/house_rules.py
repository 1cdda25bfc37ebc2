"""The house rules that a machine can check, as functions from one parsed file to its violations.

`test_house_style.py` applies them to the tree and proves that each finds what it forbids.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatch

MAX_FILE_LINES = 700
MAX_FUNCTION_LINES = 80

# Which of our packages each package may import. All others meet through entry points.
PACKAGE_EDGES: dict[str, frozenset[str]] = {
    "teeny_macros": frozenset(),
    "teeny_triton": frozenset({"teeny_macros"}),
    "teenyc": frozenset({"teeny_macros"}),
    "teeny_compiler": frozenset({"teeny_macros", "teeny_triton"}),
    "teeny_cuda": frozenset({"teeny_macros"}),
    "teeny_cpu": frozenset({"teeny_macros"}),
    "teeny_kernels": frozenset({"teeny_macros", "teeny_triton", "teeny_compiler"}),
}

# Where each third-party library may be imported, as patterns of paths below `src`.
LIBRARY_EDGES: dict[str, tuple[str, ...]] = {
    "triton": ("teenyc/backend/gpu/libtriton.py",),
    "llvmlite": ("teenyc/backend/cpu/*", "teeny_cpu/jit.py", "teeny_cuda/launcher.py"),
    "z3": ("teenyc/bounds/solver.py",),
    "cuda.bindings": ("teeny_cuda/driver.py",),
    "cuda.core": ("teeny_cuda/core.py",),
    "numpy": (
        "teenyc/interp.py",
        "teenyc/interp/*",
        "teeny_cuda/*",
        "teeny_cpu/*",
        "teeny_kernels/*",
    ),
    "ml_dtypes": (
        "teenyc/interp/*",
        "teenyc/interp.py",
        "teeny_cuda/dtypes.py",
        "teeny_cpu/dtypes.py",
        "teeny_kernels/arrays.py",
    ),
    "pytest": ("teeny_cuda/testing.py", "teeny_cpu/testing.py"),
    "filelock": ("teeny_compiler/*",),
    "platformdirs": ("teeny_compiler/*",),
    "fsspec": ("teeny_compiler/cache/*",),
    "typer": ("teeny_compiler/cli.py", "teeny_compiler/cli/*", "teeny_compiler/cache/cli.py"),
    "rich": ("teeny_compiler/cli/*", "teeny_compiler/progress.py"),
    "matplotlib": ("teeny_cuda/report.py",),
    "torch": ("teeny_kernels/*",),
    "onnx": ("teeny_kernels/*",),
}

BARE_EXCEPTIONS = frozenset({"ValueError", "TypeError", "RuntimeError", "NotImplementedError"})

# A path of one person's machine, or the host of a package registry, has no place in the project.
PRIVATE_TEXT = re.compile(
    r"""(?<![\w.])/(?:work|root|home/\w+|Users/\w+|tmp/v)/"""
    r"""|\b(?:pypi\.org|pythonhosted\.org|registry\.npmjs\.org|deb\.debian\.org)\b"""
)


def long_functions(tree: ast.Module) -> Iterator[str]:
    """Name every function of more than `MAX_FUNCTION_LINES` lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MAX_FUNCTION_LINES:
                yield f"{node.lineno}: `{node.name}` has {lines} lines"


def missing_docstring(tree: ast.Module) -> Iterator[str]:
    """Report a module without a docstring."""
    if ast.get_docstring(tree) is None:
        yield "1: the module has no docstring"


def _runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Walk the tree, leaving out what stands under `if TYPE_CHECKING:`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for other in child.orelse:
                yield other
                yield from _runtime_nodes(other)
            continue
        yield child
        yield from _runtime_nodes(child)


def imported_modules(tree: ast.Module, *, for_checkers: bool = False) -> Iterator[tuple[int, str]]:
    """Yield line and full name of each absolute import, `import_module("x")` included.

    Imports for type checkers alone count only with `for_checkers`.
    """
    for node in ast.walk(tree) if for_checkers else _runtime_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rpartition(".")[2]
            name = node.args[0]
            if called in {"import_module", "__import__"} and isinstance(name, ast.Constant):
                yield node.lineno, str(name.value)


def crossed_package_edges(tree: ast.Module, package: str) -> Iterator[str]:
    """Report imports of our own packages that the architecture does not allow."""
    allowed = PACKAGE_EDGES[package] | {package}
    for line, module in imported_modules(tree, for_checkers=True):
        root = module.partition(".")[0]
        if root in PACKAGE_EDGES and root not in allowed:
            yield f"{line}: {package} must not import {root}"


def crossed_library_edges(tree: ast.Module, path: str) -> Iterator[str]:
    """Report third-party imports away from their one edge; `path` is relative to `src`."""
    for line, module in imported_modules(tree):
        root = module.partition(".")[0]
        if root in sys.stdlib_module_names or root in PACKAGE_EDGES:
            continue
        found = [name for name in LIBRARY_EDGES if f"{module}.".startswith(f"{name}.")]
        if not any(fnmatch(path, pattern) for name in found for pattern in LIBRARY_EDGES[name]):
            yield f"{line}: `{module}` must not be imported in {path}"


def environment_reads(tree: ast.Module) -> Iterator[str]:
    """Report reads of the process environment."""
    names = {"environ", "environb", "getenv", "getenvb"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names:
            if isinstance(node.value, ast.Name) and node.value.id == "os":
                yield f"{node.lineno}: os.{node.attr} outside env.py"
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            for alias in node.names:
                if alias.name in names:
                    yield f"{node.lineno}: os.{alias.name} outside env.py"


def bare_raises(tree: ast.Module) -> Iterator[str]:
    """Report `raise` of a built-in exception where a coded error belongs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id in BARE_EXCEPTIONS:
                yield f"{node.lineno}: raise {raised.id}"


def private_text(text: str) -> Iterator[str]:
    """Report paths of one machine and hosts of package registries."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := PRIVATE_TEXT.search(line):
            yield f"{number}: {found.group()}"
