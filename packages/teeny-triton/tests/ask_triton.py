"""Prints what an installed Triton offers to kernels, as JSON: names, methods and parameters.

`python ask_triton.py > surface/triton-3.9.json` writes what `test_triton_surface.py` compares with.
It is a program of its own: tests fork the process that runs them, which must not load libtriton.
"""

from __future__ import annotations

import inspect
import json
from typing import Any

import triton
from triton import language
from triton.language import math, target_info
from triton.language.extra.cuda import libdevice

# What a method or function takes besides the arguments of its author.
_IMPLICIT = {"self", "_semantic", "_generator", "_builder"}


_IMPORTED = {"List", "T", "wraps", "constexpr_function", "jit", "driver", "core"}


def parameters(value: Any) -> list[str] | None:
    """The parameters of a function, of a class those of its constructor; None for data."""
    if inspect.isclass(value):
        value = value.__init__
    value = getattr(value, "fn", value)
    try:
        names = list(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return None
    return [name for name in names if name not in _IMPLICIT]


def functions(module: Any, names: list[str]) -> dict[str, list[str] | None]:
    """The public functions among the names of a module, without what it imports to write them."""
    found = {name: getattr(module, name) for name in sorted(names) if name[0] != "_"}
    return {
        name: parameters(value)
        for name, value in found.items()
        if callable(value) and not inspect.isclass(value) and name not in _IMPORTED
    }


def methods(kind: type) -> dict[str, list[str] | None]:
    """The public methods of a class."""
    common = set(dir(language.core.base_value))
    return {
        name: parameters(value)
        for name, value in inspect.getmembers(kind)
        if name[0] != "_" and name not in common and (callable(value) or hasattr(value, "fn"))
    }


ROWS = {
    "version": triton.__version__,
    "names": sorted(language.__all__),
    "functions": {
        **functions(language, language.__all__),
        **{name: parameters(getattr(language, name)) for name in ("range", "static_range")},
    },
    "tensor": methods(language.tensor),
    "tensor_descriptor": methods(language.tensor_descriptor),
    "math": functions(math, list(vars(math))),
    "target_info": functions(target_info, list(vars(target_info))),
    "libdevice": functions(libdevice, list(vars(libdevice))),
}
print(json.dumps(ROWS, indent=1, sort_keys=True))
