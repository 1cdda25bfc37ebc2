"""The kernel library: operations on arrays of any library, forward and backward.

`teeny_kernels.relu(x)` takes NumPy, torch, CuPy and JAX arrays and buffers and gives its result in
the same kind. Families are imported when an operation of theirs is first used; devices and the
compiler are reached through entry points.
"""

from __future__ import annotations

from typing import Any

from teeny_kernels._index import HOMES

__all__ = ["__version__", "bundle_instances", *HOMES]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    home = "bundling" if name == "bundle_instances" else HOMES.get(name)
    if home is None:
        from teeny_kernels.foreign_names import unknown

        raise unknown(__name__, name)
    from importlib import import_module

    from teeny_kernels.options import checked
    from teeny_macros.tracing import untraced

    found = untraced(checked(getattr(import_module(f"teeny_kernels.{home}"), name)))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
