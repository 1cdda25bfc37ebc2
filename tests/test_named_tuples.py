"""Classes of named tuples in kernels: made, taken apart, given to helpers, carried by loops."""

from __future__ import annotations

import numpy as np
import pytest

from semantic_cases import define
from teeny_macros import TeenyError

HEAD = '''\
from collections import namedtuple
from typing import NamedTuple

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Ptr, i32


class Pair(NamedTuple):
    """Two numbers."""

    first: int
    second: int = 7


Place = namedtuple("Place", "x y")
CONFIG = Pair(3, 4)
LIMITS = (Pair(1), Place(5, (6, 8)))


@device
def moved(place: Place, by) -> Place:
    return Place(place.x + by, place.y + by)


@device
def total(a, b, c, d):
    return a + c, b + d

'''
KERNELS = {
    "tl.store(y_ptr, Pair(1, 2).first * 10 + Pair(first=3).second)": 17,
    "a, b = Pair(tl.program_id(0) + 1, 2)\ntl.store(y_ptr, a * 10 + b)": 12,
    "p = Pair(5)\ntl.store(y_ptr, p[0] * 100 + p[-1] * 10 + len(p))": 572,
    "p = moved(Place(tl.program_id(0), 2), by=3)\ntl.store(y_ptr, p.x * 10 + p.y)": 35,
    "tl.store(y_ptr, CONFIG.first * 10 + CONFIG.second)": 34,
    "tl.store(y_ptr, LIMITS[0].second * 10 + LIMITS[1].y[1])": 78,
    "p = Pair(0, 1)\nfor _ in range(6):\n    p = Pair(p.second, p.first + p.second)\n"
    "tl.store(y_ptr, p.first)": 8,
    "p = Pair(0, 1)\nwhile p.second < 9:\n    p = Pair(p.second, p.first + p.second)\n"
    "tl.store(y_ptr, p.second)": 13,
    "p = Place(0, (1, 2))\nif tl.program_id(0) == 0:\n    p = Place(3, (4, 5))\n"
    "tl.store(y_ptr, p.x * 100 + p.y[0] * 10 + p.y[1])": 345,
    "x = tl.arange(0, 8)\na, b = tl.reduce(Place(x, x * 2), 0, total)\ntl.store(y_ptr, a + b)": 84,
    "x = tl.zeros(Place(2, 4), i32)\ntl.store(y_ptr, x.shape[1])": 4,
    "if isinstance(CONFIG, Pair) and isinstance(CONFIG, tuple) and not isinstance(CONFIG, Place):\n"
    "    tl.store(y_ptr, 1)": 1,
    "t = Pair(1, 2) + (3,)\ns = 0\nfor v in Pair(*t[:2]):\n    s += v\n"
    "tl.store(y_ptr, s + t[2])": 6,
    "tl.store(y_ptr, C.first * 10 + C.second)": 29,
}
REFUSED = [
    ("tl.store(y_ptr, CONFIG.third)", "E0202", "its fields are `first`, `second`"),
    ("tl.store(y_ptr, Pair(1, 2, 3).first)", "E0204", "call it as `Pair(first, second=...)`"),
    ("tl.store(y_ptr, Pair().first)", "E0205", "call it as `Pair(first, second=...)`"),
    ("tl.store(y_ptr, Pair(1, third=2).first)", "E0206", "its parameters are `first`, `second`"),
    (
        "p = Pair(0, 1)\nfor _ in range(6):\n    p = Place(p[1], p[0])",
        "E0604",
        "give `p` its final",
    ),
]


def text_of(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEAD}\n@kernel\ndef k(y_ptr: Ptr[i32], C: Const[Pair] = Pair(2, 9)):\n{lines}"


@pytest.mark.parametrize("body", list(KERNELS))
def test_a_named_tuple_is_a_tuple_whose_elements_have_names(body: str) -> None:
    found = np.zeros(1, np.int32)
    define(text_of(body)).on((1,), device="interpret")(found)
    assert found[0] == KERNELS[body]


@pytest.mark.parametrize(("body", "code", "remedy"), REFUSED)
def test_what_its_class_does_not_have_is_refused(body: str, code: str, remedy: str) -> None:
    found = np.zeros(1, np.int32)
    with pytest.raises(TeenyError) as caught:
        define(text_of(body)).on((1,), device="interpret")(found)
    diagnostic = caught.value.diagnostics[0]
    assert diagnostic.code == code
    assert remedy in diagnostic.helps[0]


def test_another_default_is_another_kernel() -> None:
    body = "tl.store(y_ptr, Pair(1).second)"
    ids = {
        define(text_of(body).replace("second: int = 7", f"second: int = {value}")).instantiate().id
        for value in (7, 8)
    }
    assert len(ids) == 2
