"""Parameters as annotations say: kinds, dtypes, defaults, and annotations that are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_macros import CaptureError, Parameter

Module = Callable[..., ModuleType]

SETUP = """
from typing import Any, Optional, TypeVar, Union, Annotated
D = TypeVar("D", bound=Float)
Alias = Ptr[f32]
class Array: pass
"""


def parameters(module: Module, signature: str, *, future: bool = False) -> list[Parameter]:
    text = f"{SETUP}\n@kernel\ndef k({signature}):\n    pass\n"
    found: Any = module(text, future=future)
    return list(found.k.parameters)


FORMS = [
    ("x: Ptr[f32]", "pointer", "f32"),
    ("x: Ptr[tl.float16]", "pointer", "f16"),
    ("x: Ptr[D]", "pointer", "D"),
    ("x: Ptr[D] | None", "pointer", "D"),
    ("x: Optional[Ptr[i8]]", "pointer", "i8"),
    ("x: Alias", "pointer", "f32"),
    ("x: Ptr", "pointer", None),
    ("x: i32", "scalar", "i32"),
    ("x: i32 | int", "scalar", "i32"),
    ("x: int | i32", "scalar", "i32"),
    ("x: Union[i64, int]", "scalar", "i64"),
    ("x: f16 | float", "scalar", "f16"),
    ("x: D", "scalar", "D"),
    ("x: D | int", "scalar", "D"),
    ("x: tl.int1 | bool", "scalar", "i1"),
    ("x: Const[int]", "const", "int"),
    ("x: Const[float]", "const", "float"),
    ("x: Const[bool]", "const", "bool"),
    ("x: Const[str]", "const", "str"),
    ("x: Const[Any]", "const", None),
    ("x: Const", "const", None),
    ("x: tl.constexpr", "const", None),
    ("x: 'tl.constexpr'", "const", None),
    ("x: 'Ptr[D]'", "pointer", "D"),
    ("x", "untyped", None),
    ("x: int", "untyped", None),
    ("x: float", "untyped", None),
    ("x: Any", "untyped", None),
    ("x: Array", "untyped", None),
    ("x: Array | None", "untyped", None),
    ("x: Annotated[int, 3]", "untyped", None),
    ("x: None", "untyped", None),
]


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize(("text", "kind", "dtype"), FORMS)
def test_annotations_say_what_a_parameter_is(
    module: Module,
    text: str,
    kind: str,
    dtype: str | None,
    future: bool,
) -> None:
    (found,) = parameters(module, text, future=future)
    assert (found.kind, found.dtype) == (kind, dtype)
    assert (found.variable is not None) == (dtype == "D")


def test_defaults_and_ways_of_passing_are_read(module: Module) -> None:
    found = parameters(module, "a, b=1, /, c=tl.constexpr(2), *, d: Const[int] = 3, e, f=None")
    assert [(p.name, p.passing, p.has_default) for p in found] == [
        ("a", "positional", False),
        ("b", "positional", True),
        ("c", "any", True),
        ("d", "keyword", True),
        ("e", "keyword", False),
        ("f", "keyword", True),
    ]
    assert [p.default for p in found if p.name in "bdf"] == [1, 3, None]


def test_annotations_see_the_enclosing_function(module: Module) -> None:
    text = """
def make():
    from teeny_triton import i8 as small
    @kernel
    def k(x: Ptr[small], y: "small | int"):
        pass
    return k
"""
    found: Any = module(text)
    assert [p.dtype for p in found.make().parameters] == ["i8", "i8"]


def test_only_one_annotation_makes_a_parameter_a_compile_time_value(module: Module) -> None:
    found = parameters(module, "block: tl.constexpr, m: Array, stride: int, n: int")
    assert [p.kind for p in found] == ["const", "untyped", "untyped", "untyped"]


@pytest.mark.parametrize(
    ("text", "code", "wanted"),
    [
        ("x: Ptr[int]", "E0025", "Ptr[int]"),
        ("x: Ptr[Array]", "E0025", "Ptr[Array]"),
        ("x: Ptr[Ptr[f32]]", "E0025", "no dtype"),
        ("x: i32 | i64", "E0025", "union"),
        ("x: tl.Tensor", "E0025", "`Tensor`"),
        ("x: 'Undefined'", "E0024", "NameError"),
        ("x: '1 +'", "E0024", "SyntaxError"),
        ("x: 'tl.nothing'", "E0024", "AttributeError"),
    ],
)
def test_what_no_parameter_can_be_is_refused_at_the_annotation(
    module: Module, text: str, code: str, wanted: str
) -> None:
    with pytest.raises(CaptureError) as caught:
        parameters(module, f"a,\n    {text}")
    found = caught.value.diagnostics[0]
    assert found.code == code
    assert wanted in found.message
    assert found.helps
    assert found.span is not None
    line = Path(found.span.file).read_text(encoding="utf-8").split("\n")[found.span.line - 1]
    assert line[found.span.column - 1 : found.span.end_column - 1] == text.partition(": ")[2]


@pytest.mark.parametrize(
    ("option", "what"),
    [
        ('do_not_specialize=("B",)', "a compile-time parameter"),
        ('do_not_specialize_on_alignment="B"', "a compile-time parameter"),
        ('do_not_specialize=["m"]', "no parameter"),
    ],
)
def test_options_that_name_no_run_time_parameter_are_refused(
    module: Module, option: str, what: str
) -> None:
    with pytest.raises(CaptureError) as caught:
        module(f"@kernel({option})\ndef k(n, B: Const[int]):\n    pass\n")
    assert caught.value.code == "E0027"
    assert what in caught.value.diagnostics[0].message


def test_an_unknown_option_of_the_decorator_is_refused(module: Module) -> None:
    with pytest.raises(CaptureError) as caught:
        module("@kernel(num_warp=8)\ndef k(n):\n    pass\n")
    assert caught.value.code == "E0028"
    assert "`num_warps`" in caught.value.diagnostics[0].helps[0]


def test_the_signature_is_pythons(module: Module) -> None:
    found: Any = module("@kernel\ndef k(n, B: Const[int] = 4):\n    pass\n")
    assert list(found.k.signature.parameters) == ["n", "B"]
