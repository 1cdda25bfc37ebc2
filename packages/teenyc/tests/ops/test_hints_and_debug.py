"""Hints, assertions and printing: what is compiled, what the interpreter does with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_macros.diagnostics import CompileError, TeenyError
from teeny_macros.target import Target
from teenyc.driver import compile_text
from teenyc.options import Options, compile_options, parse_command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = "x_ptr: Ptr[i32], n: i32"


def run(kernel: Callable[..., Any], body: str, n: int = 8) -> Any:
    x = np.arange(16, dtype=np.int32)
    kernel(X, body).program().launch((2, 1, 1), [x, n])
    return x


def test_hints_leave_values_as_they_are(kernel: Callable[..., Any]) -> None:
    found = run(
        kernel,
        """\
o = tl.max_constancy(tl.max_contiguous(tl.multiple_of(tl.arange(0, 16), 4), [16]), 1)
p = tl.multiple_of(x_ptr, 16)
tl.store(tl.multiple_of(p + o, (4,)), o + tl.multiple_of(n, 8))""",
    )
    assert list(found) == list(range(8, 24))


def test_a_hint_is_an_attribute_of_what_makes_the_value(kernel: Callable[..., Any]) -> None:
    text = kernel(X, "o = tl.multiple_of(tl.arange(0, 16) * n, 8)\ntl.store(x_ptr + o, n)").mlir()
    assert "arith.muli %make_range, %splat {tt.divisibility = dense<8> : tensor<1xi32>}" in text
    text = kernel(X, "o = tl.multiple_of(tl.arange(0, 16), 8)\ntl.store(x_ptr + o, n)").mlir()
    assert "{end = 16 : i32, start = 0 : i32, tt.divisibility = dense<8> : tensor<1xi32>}" in text


def test_an_assumption_that_does_not_hold_is_reported(kernel: Callable[..., Any]) -> None:
    run(kernel, "tl.assume(n > 3)\ntl.debug_barrier()")
    with pytest.raises(TeenyError) as caught:
        run(kernel, "tl.assume(n > 3)", n=2)
    assert caught.value.code == "E0509"


@pytest.mark.parametrize(
    "body",
    [
        'tl.device_assert(tl.arange(0, 16) < n, "too large")',
        'tl.device_assert(n > 8, "too large")',
        'assert tl.arange(0, 16) < n, "too large"',
        'tl.device_assert(tl.arange(0, 16) < n, "too large", mask=tl.arange(0, 16) < 9)',
    ],
)
def test_an_assertion_that_does_not_hold_ends_the_program(
    body: str, kernel: Callable[..., Any]
) -> None:
    with pytest.raises(TeenyError) as caught:
        run(kernel, body)
    assert caught.value.code == "E0509"
    assert "assertion failed: too large" in str(caught.value)


def test_an_assertion_that_holds_where_its_mask_does_is_silent(kernel: Callable[..., Any]) -> None:
    run(kernel, "o = tl.arange(0, 16)\ntl.device_assert(o < n, mask=o < 8)\nassert n == 8")
    found = run(kernel, "tl.store(x_ptr, tl.expect_zero(n, n != 8))")
    assert found[0] == 8
    with pytest.raises(TeenyError):
        run(kernel, "tl.store(x_ptr, tl.expect_zero(n, n == 8))")


def test_code_for_a_gpu_has_assertions_when_asked_for(
    kernel: Callable[..., Any], tmp_path: Path
) -> None:
    unit = kernel(X, 'tl.device_assert(n > 3, "small")\ntl.store(x_ptr, n)').unit.render()
    for asked in (False, True):
        options = Options(Target.cuda("sm_90"), ("mlir",), assertions=asked)
        text = compile_text(unit, options, folder=str(tmp_path)).texts["mlir"]
        assert ("tt.assert" in text) is asked
        assert ("arith.cmpi" in text) is asked
    asked_for = ["u.py", "-C", "target-cpu=sm_90", "-C", "assertions=on"]
    options = compile_options(parse_command(asked_for))
    assert options.assertions
    assert "assertions=on" in options.to_arguments()


def test_printing_shows_each_element_behind_its_program(
    kernel: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run(kernel, 'tl.device_print("v", tl.arange(0, 2) - 1, n.to(f32))\nprint("here")')
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "pid (0, 0, 0) idx (0) v: (operand 0) -1",
        "pid (0, 0, 0) idx (1) v: (operand 0) 0",
        "pid (0, 0, 0) idx () v: (operand 1) 8.000000",
    ]
    assert lines[3] == "pid (0, 0, 0) here"
    assert len(lines) == 8


def test_printing_in_hexadecimal_shows_bits(
    kernel: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run(kernel, 'tl.device_print("v: ", n - 9, hex=True)\ntl.device_print("", n.to(f32), hex=True)')
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "pid (0, 0, 0) idx () v: 0xffffffff"
    assert lines[1].endswith("0x1.0000000000000p+3")


def test_static_print_shows_values_while_compiling(
    kernel: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    body = 'tl.static_print("x", 1.5, (n, 2), f32, tl.Axis.X, sep="|", end="!")'
    kernel(X, body).lower()
    found = capsys.readouterr()
    assert found.err == "x|1.5|(i32, 2)|f32|Axis.X!"
    assert found.out == ""


def test_inline_assembly_runs_on_a_gpu_alone(kernel: Callable[..., Any]) -> None:
    with pytest.raises(TeenyError) as caught:
        run(
            kernel,
            """\
x = tl.inline_asm_elementwise("mov.u32 $0, $1;", "=r,r", [n], i32, is_pure=True, pack=1)
tl.store(x_ptr, x)""",
        )
    assert caught.value.code == "E0509"
    assert "GPU" in str(caught.value)


def test_swizzling_visits_each_tile_once(kernel: Callable[..., Any]) -> None:
    made = kernel(
        "x_ptr: Ptr[i32], n: i32, m: i32, g: i32",
        "i, j = tl.swizzle2d(tl.program_id(0), tl.program_id(1), n, m, g)\n"
        "tl.atomic_add(x_ptr + i * m + j, 1 + tl.program_id(0) * m + tl.program_id(1))",
    )
    x = np.zeros((5, 6), np.int32)
    made.program().launch((5, 6, 1), [x, 5, 6, 2])
    assert sorted(x.ravel()) == list(range(1, 31))
    # The first group of two rows is walked column by column.
    assert list(x[0, :3]) == [1, 3, 5]
    assert list(x[1, :3]) == [2, 4, 6]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("tl.multiple_of(n, (1, 2))", "E0419"), ("tl.multiple_of(n, 0)", "E0419"),
        ("tl.max_contiguous(tl.arange(0, 4), n)", "E0210"),
        ("tl.assume(tl.arange(0, 4) > 1)", "E0413"),
        ("tl.device_print(n)", "E0419"), ("print(n)", "E0419"), ("tl.device_assert(n, n)", "E0419"),
        ('tl.static_print("x", sep=1)', "E0419"), ("assert n, n", "E0419"),
        ('tl.inline_asm_elementwise("", "", [n], n, True, 1)', "E0312"),
        ('tl.inline_asm_elementwise("", "", [n], i32, True, 3)', "E0419"),
        ('tl.inline_asm_elementwise(n, "", [n], i32, True, 1)', "E0419"),
        ('tl.inline_asm_elementwise("", "", n, i32, True, 1)', "E0310"),
    ],
)  # fmt: skip
def test_arguments_without_a_meaning_are_refused(
    call: str, code: str, kernel: Callable[..., Any]
) -> None:
    with pytest.raises(CompileError) as caught:
        kernel(X, call).lower()
    assert caught.value.code == code
    assert caught.value.diagnostics[0].helps
