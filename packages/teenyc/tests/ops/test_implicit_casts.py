"""`--check --strict`: casts that a kernel does not say are warnings with their spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from teeny_macros.target import Target
from teenyc.driver import compile_text
from teenyc.frontend import lower_unit
from teenyc.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.diagnostics import Diagnostic

PARAMS = "x_ptr: Ptr[f32], h_ptr: Ptr[f16], i_ptr: Ptr[i32], n: i32, m: i64, u: u32"


def warnings_of(made: Any) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    lower_unit(made.unit, found)
    return found


CASES = [
    ("y = tl.load(h_ptr) + tl.load(x_ptr)", "f16 becomes f32", "f32(tl.load(h_ptr))"),
    ("y = n * m", "i32 becomes i64", "i64(n)"),
    ("y = m - n", "i32 becomes i64", "i64(n)"),
    ("y = (n + 1) * tl.load(x_ptr)", "i32 becomes f32", "f32(n + 1)"),
    ("y = n < m", "i32 becomes i64", "i64(n)"),
    ("y = n + u", "i32 becomes u32", "u32(n)"),
    ("y = n / 2", "i32 becomes f32", "f32(n)"),
    ("tl.store(h_ptr, tl.load(x_ptr))", "f32 becomes f16", "f16(tl.load(x_ptr))"),
    ("tl.store(x_ptr, n)", "i32 becomes f32", "f32(n)"),
    ("tl.atomic_add(i_ptr, m)", "i64 becomes i32", "i32(m)"),
    ("y = tl.maximum(n, m)", "i32 becomes i64", "i64(n)"),
    ("y = tl.where(n, 1.0, 2.0)", "i32 becomes i1", "n != 0"),
    ("if n:\n    tl.store(x_ptr, 1.0)", "i32 becomes i1", "n != 0"),
    ("y = tl.arange(0, 8) + m", "Tensor[i32, (8,)] becomes i64", "tl.arange(0, 8).to(i64)"),
    ("tl.device_assert(n)", "i32 becomes i1", "n != 0"),
    ("n += m", "i32 becomes i64", "i64(n)"),
]


@pytest.mark.parametrize(("body", "message", "spelled"), CASES)
def test_a_cast_that_is_not_said_is_shown_with_its_spelling(
    body: str, message: str, spelled: str, kernel: Callable[..., Any]
) -> None:
    (found,) = warnings_of(kernel(PARAMS, body))
    assert (found.code, found.severity) == ("W0315", "warning")
    assert found.message.startswith(message)
    assert found.helps == [f"say so: `{spelled}`"]
    assert found.span is not None
    assert found.span.file == "kernel_under_test.py"


@pytest.mark.parametrize(
    ("body", "spelled"), [(body, spelled) for body, _, spelled in CASES if "+=" not in body]
)
def test_what_is_said_in_that_place_makes_no_warning(
    body: str, spelled: str, kernel: Callable[..., Any]
) -> None:
    (found,) = warnings_of(kernel(PARAMS, body))
    assert found.span is not None
    lines = body.splitlines()
    line, start, end = found.span.line - 4, found.span.column - 5, found.span.end_column - 5
    lines[line] = f"{lines[line][:start]}{spelled}{lines[line][end:]}"
    assert warnings_of(kernel(PARAMS, "\n".join(lines))) == []


@pytest.mark.parametrize(
    "body",
    [
        "y = tl.load(h_ptr) * 2.0 + 1",
        "y = n + 1\nz = m * 3",
        "tl.store(h_ptr, 0.0)",
        "y = tl.cdiv(n, 4) + tl.sum(tl.arange(0, 8))",
        "y = tl.load(x_ptr + n) + n.to(f32)",
        "y = tl.full((4,), 0, f16) + 1.0",
    ],
)
def test_literals_and_offsets_are_no_casts(body: str, kernel: Callable[..., Any]) -> None:
    assert warnings_of(kernel(PARAMS, body)) == []


def test_a_place_in_a_loop_is_shown_once(kernel: Callable[..., Any]) -> None:
    body = "for i in tl.static_range(4):\n    tl.store(x_ptr + i, n)"
    assert len(warnings_of(kernel(PARAMS, body))) == 1


def test_the_driver_hands_them_on_where_asked(kernel: Callable[..., Any]) -> None:
    text = kernel(PARAMS, "tl.store(x_ptr, n)").unit.render()
    options = Options(Target.interpret(), ("mlir",), check=True)
    assert compile_text(text, options).warnings == ()
    (found,) = compile_text(text, options._replace(strict=True)).warnings
    assert found.labels[0].source == "    tl.store(x_ptr, n)"
