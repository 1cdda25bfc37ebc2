"""Finds teenyc, compiles kernels through it and caches the results (`compile_kernel`)."""

from __future__ import annotations

from teeny_compiler.cache import Cache, default_cache_dir
from teeny_compiler.compiler import Compiler, compile_kernel
from teeny_compiler.options import CompileOptions
from teeny_compiler.toolchain import Toolchain, find_teenyc
from teeny_macros.artifact import Artifact
from teeny_macros.target import Target

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "Cache",
    "CompileOptions",
    "Compiler",
    "Target",
    "Toolchain",
    "compile_kernel",
    "default_cache_dir",
    "find_teenyc",
]
