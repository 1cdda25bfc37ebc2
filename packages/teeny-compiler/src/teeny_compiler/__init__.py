"""Finds teenyc, compiles kernels through it, caches the results, and tunes kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_compiler.cache import Cache, default_cache_dir
from teeny_compiler.compiler import Compiler, compile_kernel
from teeny_compiler.options import CompileOptions
from teeny_compiler.toolchain import Toolchain, find_teenyc
from teeny_macros.artifact import Artifact
from teeny_macros.target import Target

if TYPE_CHECKING:
    from teeny_compiler.workers import compile_kernels

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "Cache",
    "CompileOptions",
    "Compiler",
    "Target",
    "Toolchain",
    "compile_kernel",
    "compile_kernels",
    "default_cache_dir",
    "find_teenyc",
]

# What a launch of a cached kernel does not need is loaded when it is asked for.
_LATER = {
    "compile_kernels": "workers",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'teeny_compiler' has no attribute {name!r}", name=name)
    from importlib import import_module

    value = getattr(import_module(f"teeny_compiler.{module}"), name)
    globals()[name] = value
    return value
