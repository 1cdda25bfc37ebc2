"""The strings that checkers accept as options of operations are those that the compiler takes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from teenyc.ops import atomic, memory

STUBGEN = Path(__file__).parents[1] / "packages" / "teeny-triton" / "stubgen"


@pytest.fixture(scope="module")
def overloads() -> ModuleType:
    """The module of the stub generator that writes options."""
    spec = importlib.util.spec_from_file_location("overloads", STUBGEN / "overloads.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["overloads"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("LoadCache", ("", *memory._LOAD_CACHE)),
        ("StoreCache", ("", *memory._STORE_CACHE)),
        ("Eviction", ("", *memory._EVICTION)),
        ("Order", atomic.SEMANTICS),
        ("LoadOrder", atomic.LOAD_ORDERS),
        ("StoreOrder", atomic.STORE_ORDERS),
        ("Scope", atomic.SCOPES),
    ],
)
def test_checkers_and_compiler_take_the_same(
    overloads: ModuleType, name: str, taken: tuple[str, ...]
) -> None:
    assert overloads.CHOICES[name] == taken
