"""`tl.extra.cuda.libdevice`: `tl.math` by another name."""

from __future__ import annotations

from typing import Any

import teeny_triton.math as _math


def __getattr__(name: str) -> Any:
    return getattr(_math, name)


def __dir__() -> list[str]:
    return dir(_math)
