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
    from teeny_compiler.bundling.build import build_bundle
    from teeny_compiler.bundling.choice import every_instance
    from teeny_compiler.bundling.planned import every_launch
    from teeny_compiler.tuning.config import Config, Prune
    from teeny_compiler.tuning.heuristics import heuristics
    from teeny_compiler.tuning.result import Tuning
    from teeny_compiler.tuning.store import export_tunings, load_tunings
    from teeny_compiler.tuning.tuned import TunedKernel, autotune, tune
    from teeny_compiler.workers import compile_kernels

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "Cache",
    "CompileOptions",
    "Compiler",
    "Config",
    "Prune",
    "Target",
    "Toolchain",
    "TunedKernel",
    "Tuning",
    "autotune",
    "build_bundle",
    "compile_kernel",
    "compile_kernels",
    "default_cache_dir",
    "every_instance",
    "every_launch",
    "export_tunings",
    "find_teenyc",
    "heuristics",
    "load_tunings",
    "tune",
]

# What a launch of a cached kernel does not need is loaded when it is asked for.
_LATER = {
    "Config": "tuning.config",
    "Prune": "tuning.config",
    "TunedKernel": "tuning.tuned",
    "Tuning": "tuning.result",
    "autotune": "tuning.tuned",
    "build_bundle": "bundling.build",
    "compile_kernels": "workers",
    "every_instance": "bundling.choice",
    "every_launch": "bundling.planned",
    "export_tunings": "tuning.store",
    "heuristics": "tuning.heuristics",
    "load_tunings": "tuning.store",
    "tune": "tuning.tuned",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'teeny_compiler' has no attribute {name!r}", name=name)
    from importlib import import_module

    value = getattr(import_module(f"teeny_compiler.{module}"), name)
    globals()[name] = value
    return value
