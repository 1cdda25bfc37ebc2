"""Explain pages of types, shapes, memory: the bad kernel raises the code, the good one compiles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_macros.diagnostics import TeenyError
from teeny_macros.testing import missing_parts
from teenyc import codes
from teenyc.frontend import lower_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.diagnostics import Diagnostic

PAGES = Path(codes.__file__).parent / "explain"
BLOCK = re.compile(r"^```py (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Of `--check --bounds`; the tests of their pages are in test_bounds.py.
BOUNDS = {"E0513", "E0514", "E0515", "E0516", "E0517"}
MINE = sorted(
    row.code
    for row in codes.CODES
    if re.fullmatch(r"E0[345]\d\d", row.code) and row.code not in BOUNDS
)
# What a program meets, and not the compiler; E0508 and E0510 have tests of their own.
AT_LAUNCH = {"E0506", "E0507", "E0509"}
WITHOUT_EXAMPLE = {"E0508", "E0510"}
WARNINGS = {"E0315"}


def parts(text: str) -> tuple[str, str]:
    """Parameters and body of the kernel of a page."""
    found = re.search(r"^def \w+\((.*?)\):\n(.*)", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    body = "\n".join(line[4:] for line in found[2].splitlines())
    return found[1], body


def blocks(code: str) -> dict[str, str]:
    return dict(BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "code", [code for code in MINE if code not in WITHOUT_EXAMPLE | AT_LAUNCH | WARNINGS]
)
def test_the_bad_kernel_of_a_page_raises_its_code_where_it_is_bad(
    code: str, kernel: Callable[..., Any]
) -> None:
    with pytest.raises(TeenyError) as caught:
        kernel(*parts(blocks(code)[code])).lower()
    assert [found.code for found in caught.value.diagnostics] == [code]
    (found,) = caught.value.diagnostics
    assert found.span is not None
    assert found.span.file == "kernel_under_test.py"
    assert found.span.end_column > found.span.column
    assert missing_parts(caught.value) == []


@pytest.mark.parametrize("code", sorted(WARNINGS))
def test_the_kernel_of_a_page_of_a_warning_is_warned_of(
    code: str, kernel: Callable[..., Any]
) -> None:
    for name, wanted in ((f"W{code[1:]}", [f"W{code[1:]}"]), ("ok", [])):
        found: list[Diagnostic] = []
        lower_unit(kernel(*parts(blocks(code)[name])).unit, found)
        assert [warning.code for warning in found] == wanted


@pytest.mark.parametrize("code", [code for code in MINE if code not in WITHOUT_EXAMPLE])
def test_the_good_kernel_of_a_page_compiles(code: str, kernel: Callable[..., Any]) -> None:
    kernel(*parts(blocks(code)["ok"])).lower()


@pytest.mark.parametrize("code", sorted(AT_LAUNCH))
def test_the_kernels_of_a_run_time_page_do_what_it_says(
    code: str, kernel: Callable[..., Any]
) -> None:
    array = np.zeros(100, np.float32)
    array.flags.writeable = code != "E0507"
    rest = [100, 0] if code == "E0509" else [100]
    kernel(*parts(blocks(code)["ok"])).program().launch((1, 1, 1), [array, *rest])
    with pytest.raises(TeenyError) as caught:
        kernel(*parts(blocks(code)[code])).program().launch((1, 1, 1), [array, *rest])
    assert caught.value.code == code
    assert missing_parts(caught.value) == []


@pytest.mark.parametrize(
    ("end", "message", "first_help"),
    [
        ("8.0", "`end` of `arange` must be an integer, not compile-time float 8.0", "write 8"),
        (
            "8.5",
            "`end` of `arange` must be an integer, not compile-time float 8.5",
            "in Python `/` gives a float",
        ),
    ],
)
def test_a_float_as_the_length_of_a_range_is_known_but_no_integer(
    end: str, message: str, first_help: str, kernel: Callable[..., Any]
) -> None:
    with pytest.raises(TeenyError) as caught:
        kernel("x_ptr: Ptr[f32]", f"tl.store(x_ptr + tl.arange(0, {end}), 0.0)").lower()
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E0418", message)
    assert found.helps[0].startswith(first_help)
    assert found.span is not None
    assert found.span.end_column - found.span.column == len(end)
