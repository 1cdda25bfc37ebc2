"""Which parameters count as written to, by the texts of kernels."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

Module = Callable[..., ModuleType]

HELPERS = """
@device
def put(p, v):
    tl.store(p, v)
@device
def get(p, v):
    return tl.load(p) + v
@device
def loop(p, q):
    loop(q, p)
class Name:
    put = put
"""


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("tl.store(a + tl.arange(0, 4), tl.load(b))", "a"),
        ("tl.store(pointer=a, value=tl.load(b))", "a"),
        ("tl.store(value=b, pointer=a)", "a"),
        ("tl.atomic_add(a, 1)", "a"),
        ("p = a + 1\n    q = p\n    tl.store(q, 1)", "a"),
        ("p = a\n    p += 1\n    tl.store(p, b)", "a"),
        ("p = tl.load(a)\n    tl.store(b + p, 1)", "b"),
        ("tl.store(b + tl.load(a), 1)", "b"),
        ("p, q = a, b\n    tl.store(p, 1)", "ab"),
        ("for p in (a, b):\n        tl.store(p, 1)", "ab"),
        ("if (p := a):\n        tl.store(p, 1)", "a"),
        ("put(a, b)", "a"),
        ("put(v=b, p=a)", "a"),
        ("get(a, b)", ""),
        ("put(get(a, b), 1)", "ab"),
        ("Name.put(a, b)", "a"),
        ("loop(a, b)", "ab"),
        ("a.store([0], b)", "a"),
        ("a.load([0])", ""),
        ("tl.inline_asm_elementwise('', '', [a], b)", "ab"),
        ("tl.dot(a, b)", ""),
        ("undefined(a)", ""),
    ],
)
def test_parameters_that_reach_a_store_are_written(module: Module, body: str, written: str) -> None:
    found: Any = module(
        f"{HELPERS}\n@kernel\ndef k(a: Ptr[f32], b: Ptr[f32]) -> None:\n    {body}\n"
    )
    assert found.k.instantiate().written_parameters() == frozenset(written)
