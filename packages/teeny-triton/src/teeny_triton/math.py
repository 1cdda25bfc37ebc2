"""`tl.math`: the elementwise functions of the language, as one namespace.

What checkers see stands in `math.pyi`, which is generated.
"""

from __future__ import annotations

from typing import Any

from teeny_triton._surface import MODULES

_FAMILIES = ("math", "libdevice")


def __getattr__(name: str) -> Any:
    if MODULES.get(name, "").startswith(_FAMILIES):
        import teeny_triton

        return getattr(teeny_triton, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted(name for name, module in MODULES.items() if module.startswith(_FAMILIES))
