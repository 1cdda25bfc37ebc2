"""Finds the `KernelSpec`s: every `SPEC` or `SPECS` of a module of this package."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

import teeny_kernels

if TYPE_CHECKING:
    from collections.abc import Iterator

    from teeny_kernels.spec import KernelSpec


def _modules() -> Iterator[str]:
    for found in walk_packages(teeny_kernels.__path__, "teeny_kernels."):
        if not found.ispkg:
            yield found.name


@cache
def specs() -> dict[str, KernelSpec]:
    """All operations by name, in the order of their modules."""
    found: dict[str, KernelSpec] = {}
    for name in _modules():
        module = import_module(name)
        own: list[KernelSpec] = list(getattr(module, "SPECS", ()))
        single = getattr(module, "SPEC", None)
        for spec in own if single is None else [*own, single]:
            if found.setdefault(spec.name, spec) is not spec:
                raise AssertionError(f"two operations are called {spec.name}")
    return found
