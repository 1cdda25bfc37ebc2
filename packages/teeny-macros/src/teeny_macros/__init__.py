"""Capture typed Python functions as GPU kernel source.

`@kernel`, `@device`, instances, launches, errors.

Importing it loads little of the standard library and nothing else; what only some users need is
loaded when they ask for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_macros.diagnostics import (
    CaptureError,
    Code,
    CompileError,
    Diagnostic,
    InternalError,
    Label,
    LaunchError,
    TeenyError,
    ToolchainError,
)
from teeny_macros.kernel import DeviceFunction, Kernel, device, kernel
from teeny_macros.options import LaunchOptions
from teeny_macros.source import SourceMap, Span
from teeny_macros.target import Target

if TYPE_CHECKING:
    from teeny_macros.artifact import Artifact, Metadata
    from teeny_macros.instance import KernelInstance
    from teeny_macros.pages import explain
    from teeny_macros.signature import Parameter
    from teeny_macros.unit import Unit

__all__ = [
    "Artifact",
    "CaptureError",
    "Code",
    "CompileError",
    "DeviceFunction",
    "Diagnostic",
    "InternalError",
    "Kernel",
    "KernelInstance",
    "Label",
    "LaunchError",
    "LaunchOptions",
    "Metadata",
    "Parameter",
    "SourceMap",
    "Span",
    "Target",
    "TeenyError",
    "ToolchainError",
    "Unit",
    "device",
    "explain",
    "kernel",
]

_LATER = {
    "Artifact": "artifact",
    "KernelInstance": "instance",
    "Metadata": "artifact",
    "Parameter": "signature",
    "Unit": "unit",
    "explain": "pages",
}


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'teeny_macros' has no attribute {name!r}", name=name)
    from importlib import import_module

    value = getattr(import_module(f"teeny_macros.{module}"), name)
    globals()[name] = value
    return value
