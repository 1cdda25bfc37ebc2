"""The kernel language: `import teeny_triton as tl`.

An operation or type is loaded when it is first asked for, and what is not in the language is an
AttributeError. The types that checkers see stand in `__init__.pyi`, which is generated.
"""

from __future__ import annotations

from typing import Any

from teeny_triton._surface import MODULES, __all__
from teeny_triton.host import (
    TRITON_MAX_TENSOR_NUMEL,
    Const,
    DeviceArray,
    Extent,
    auto,
    constexpr,
    descriptor_type,
    tensor_descriptor,
    typed,
)

_ = (Const, DeviceArray, Extent, TRITON_MAX_TENSOR_NUMEL, auto, constexpr)
_ += (descriptor_type, tensor_descriptor, typed)


# Views of this flat module: `tl.math.exp` is `tl.exp`.
_PARTS = ("extra", "math", "target_info")


def __getattr__(name: str) -> Any:
    if name == "tensor":  # Triton's name of the type, for annotations
        name = "Tensor"
    module = MODULES.get(name)
    if module is None and name not in _PARTS:
        raise AttributeError(f"module 'teeny_triton' has no attribute {name!r}", name=name)
    from importlib import import_module

    if module is None:
        return import_module(f"teeny_triton.{name}")
    value = getattr(import_module(f"teeny_triton.triton.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *MODULES, *__all__, *_PARTS})
