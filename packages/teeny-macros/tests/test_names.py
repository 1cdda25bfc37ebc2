"""The outside names of a text: locals shadow as in Python, attributes and roles are kept."""

from __future__ import annotations

import pytest

from teeny_macros import CaptureError
from teeny_macros.names import find_uses, parse_function
from teeny_macros.texts import ANNOTATION, BODY, DEFAULT


def uses(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for use in find_uses(parse_function(text), text):
        found.setdefault(use.text, set()).add(use.role)
    return found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(x):\n    return x + y\n", {"y"}),
        ("def f(x):\n    y = 1\n    return x + y\n", set()),
        ("def f(x):\n    if x:\n        y = 1\n    return y\n", set()),
        ("def f(x):\n    return y\n    y = 1\n", set()),
        ("def f(x):\n    for i in range(x):\n        pass\n    return i\n", {"range"}),
        ("def f(x):\n    (a, *b), c.d[e] = x\n", {"c.d", "e"}),
        ("def f(x):\n    y += 1\n", set()),
        ("def f(x):\n    return a.b.c + a.b\n", {"a.b.c", "a.b"}),
        ("def f(x):\n    return x.b.c\n", set()),
        ("def f(x):\n    return g(x).b.c\n", {"g"}),
        ("def f(x):\n    return (lambda y, z=w: y + x + v)(x)\n", {"v"}),
        ("def f(x):\n    return [y + z for y in x if y > w]\n", {"z", "w"}),
        ("def f(x):\n    [y for y in x]\n    return y\n", {"y"}),
        ("def f(x):\n    if (y := x):\n        return y\n", set()),
        ("def f(x):\n    [z := y for y in x]\n    return z\n", set()),
        (
            "def f(x):\n    def g(y):\n        z = y\n        return x + w\n    return g(z)\n",
            {"w", "z"},
        ),
        ("def f(x):\n    global y\n    y = x\n", set()),
        ("def f(x):\n    global y\n    return y\n", {"y"}),
        ("def f(x):\n    import a.b as c, d.e\n    return c + d\n", set()),
        ("def f(x):\n    try:\n        pass\n    except E as e:\n        return e\n", {"E"}),
        ("def f(x):\n    match x:\n        case [a, *b]:\n            return a, b\n", set()),
        ("def f(x):\n    del y\n", set()),
        ("def f(x):\n    return f(x)\n", {"f"}),
    ],
)
def test_names_of_the_body(text: str, names: set[str]) -> None:
    assert {name for name, roles in uses(text).items() if BODY in roles} == names


def test_annotations_and_defaults_are_roles_of_their_own() -> None:
    text = (
        "def f(a: Ptr[D], b: 'tl.Ptr[E]' = G, *, c=h.i, d: Const[int] = G) -> T:\n"
        "    x: U = a + G\n"
    )
    assert uses(text) == {
        "Ptr": {ANNOTATION},
        "D": {ANNOTATION},
        "tl": {ANNOTATION},
        "E": {ANNOTATION},
        "G": {DEFAULT, BODY},
        "h.i": {DEFAULT},
        "Const": {ANNOTATION},
        "int": {ANNOTATION},
        "T": {ANNOTATION},
        "U": {ANNOTATION},
    }


def test_a_parameter_does_not_shadow_its_own_annotation_or_default() -> None:
    assert uses("def f(x: x = x):\n    return x\n") == {"x": {ANNOTATION, DEFAULT}}


def test_uses_know_their_place_in_characters() -> None:
    text = "def f(x):\n    größe = '漢'; y = größe + SCALE\n"
    (use,) = find_uses(parse_function(text), text)
    line = text.split("\n")[use.line - 1]
    assert line[use.column - 1 :].startswith("SCALE")


def test_uses_come_in_the_order_of_the_text() -> None:
    text = "def f(x):\n    return b(c, a)\n"
    assert [use.text for use in find_uses(parse_function(text), text)] == ["b", "c", "a"]


def test_text_that_this_python_cannot_read_is_a_coded_error() -> None:
    with pytest.raises(CaptureError) as caught:
        parse_function("def f(:\n    pass\n")
    assert caught.value.code == "E0029"
