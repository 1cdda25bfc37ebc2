"""Modules found and read without importing them: those given, and those that they import.

A module is looked for beside the files that are checked and on `sys.path`, and is read when one of
its names is needed. Our own packages are the only ones that are imported.
"""

from __future__ import annotations

import ast
import os
import sys
import types
from typing import TYPE_CHECKING, Any

from teeny_compiler.check.functions import code_objects
from teeny_compiler.check.libraries import LIBRARIES
from teeny_compiler.check.values import UNKNOWN, Foreign, NotStatic
from teeny_compiler.codes import E0950
from teeny_macros.source import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from teeny_compiler.check.functions import Code
    from teeny_macros.diagnostics import TeenyError

OWN = frozenset({"teeny_macros", "teeny_triton", "teeny_compiler"})
# Harmless modules of the standard library, whose constants and classes kernels use.
_REAL = frozenset({"math", "enum", "typing", "typing_extensions", "operator", "functools", "types"})
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})


class StaticModule:
    """A module that was read: its tree, the code of its functions, and its variables."""

    def __init__(self, name: str, path: str, text: str, tree: ast.Module, code: Code) -> None:
        self.name = name
        self.path = path
        self.text = text
        self.tree = tree
        self.code = code
        self.namespace = types.ModuleType(name)
        self.variables = self.namespace.__dict__
        self.variables["__file__"] = path
        self.is_package = os.path.basename(path) == "__init__.py"
        if self.is_package:
            self.namespace.__path__ = [os.path.dirname(path)]

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def find_files(paths: Iterable[str]) -> Iterator[str]:
    """The Python files at `paths`; of folders all below, hidden ones left out.

    Raises:
        ToolchainError: E0950 for a path that does not exist.
    """
    for path in paths:
        if os.path.isfile(path):
            yield os.path.normpath(path)
        elif os.path.isdir(path):
            for folder, below, names in os.walk(path):
                below[:] = sorted(
                    name for name in below if not name.startswith(".") and name not in _SKIPPED
                )
                for name in sorted(names):
                    if name.endswith(".py"):
                        yield os.path.normpath(os.path.join(folder, name))
        else:
            raise E0950.error(path=path, reason="there is no such file or folder").help(
                "give files or folders: `teeny check src tests/kernels.py`"
            )


def module_name(path: str) -> tuple[str, str]:
    """The name that a file has when it is imported, and the folder that it is found from."""
    folder, file = os.path.split(os.path.abspath(path))
    parts = [] if file == "__init__.py" else [file.removesuffix(".py")]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ".".join(parts), folder


class Library:
    """All modules of a run by name; `execute` fills the variables of one that was read."""

    def __init__(self, execute: Callable[[StaticModule], None]) -> None:
        self.execute = execute
        self.modules: dict[str, StaticModule | None] = {}
        self.paths: dict[str, StaticModule] = {}
        self.roots: list[str] = []

    def read_file(self, path: str) -> StaticModule:
        """The module of a file that is to be checked.

        Raises:
            TeenyError: E0950 when it cannot be read or is no Python.
        """
        real = os.path.realpath(path)
        found = self.paths.get(real)
        if found is not None:
            return found
        name, root = module_name(path)
        if root not in self.roots:
            self.roots.append(root)
        return self._read(name, path)

    def _read(self, name: str, path: str) -> StaticModule:
        try:
            with open(path, "rb") as file:
                data = file.read()
            tree = ast.parse(data, path)
            code = compile(tree, path, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError, RecursionError) as error:
            raise _unreadable(path, error) from None
        text = data.decode(errors="replace")
        module = StaticModule(name, path, text, tree, code_objects(code))
        self.paths[os.path.realpath(path)] = module
        if self.modules.get(name) is None:
            self.modules[name] = module
        self.execute(module)
        return module

    def find(self, name: str) -> Any:
        """What `import name` gives: a namespace, or a `Foreign` for what is not followed."""
        root = name.partition(".")[0]
        if root in OWN or root in _REAL:
            from importlib import import_module

            try:
                return import_module(name)
            except ImportError:
                return Foreign(name)
        found = self._find(name)
        if found is not None:
            return found.namespace
        known = root in LIBRARIES or root in sys.stdlib_module_names
        return Foreign(name) if known else NotStatic(f"module `{name}`")

    def _find(self, name: str) -> StaticModule | None:
        if name in self.modules:
            return self.modules[name]
        self.modules[name] = None
        parts = name.split(".")
        for base in [*self.roots, *sys.path]:
            stem = os.path.join(base or os.curdir, *parts)
            for path in (os.path.join(stem, "__init__.py"), stem + ".py"):
                if not os.path.isfile(path):
                    continue
                real = os.path.realpath(path)
                if real in self.paths:
                    self.modules[name] = self.paths[real]
                    return self.paths[real]
                if base not in self.roots and not _mentions_kernels(path):
                    return None
                try:
                    return self._read(name, path)
                except Exception as error:  # noqa: BLE001 - a module of others may be broken
                    del error
                    return None
        return None

    def member(self, module: types.ModuleType, name: str) -> Any:
        """`module.name`, a submodule included; of our own packages the object itself."""
        if name in vars(module):
            return vars(module)[name]
        if module.__name__.partition(".")[0] in OWN | _REAL:
            return getattr(module, name, UNKNOWN)
        if hasattr(module, "__path__"):
            found = self._find(f"{module.__name__}.{name}")
            if found is not None:
                return found.namespace
        getter = vars(module).get("__getattr__")
        return UNKNOWN if getter is None else Foreign(f"{module.__name__}.{name}")


def _mentions_kernels(path: str) -> bool:
    """Whether a module outside of the checked tree may hold kernels."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return b"teeny" in text


def _unreadable(path: str, error: Exception) -> TeenyError:
    if isinstance(error, SyntaxError):
        span = Span.point(path, error.lineno or 1, max(error.offset or 1, 1))
        return E0950.at(span, path=path, reason=error.msg).help(
            f"it is read with the syntax of Python {sys.version_info[0]}.{sys.version_info[1]}"
        )
    reason = getattr(error, "strerror", None) or str(error)
    return E0950.error(path=path, reason=reason).help("check that it is a readable Python file")
