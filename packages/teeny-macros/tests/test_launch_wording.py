"""What a refused launch says about grids that are functions, and about text given for numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from teeny_macros.diagnostics import LaunchError

COPY = """
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32
import teeny_triton as tl

@kernel
def copy(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 64) -> None:
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)
"""


@pytest.fixture
def kernels(module: Any) -> Any:
    """A kernel that copies."""
    return module(COPY)


def refusal(run: Callable[[], object], code: str) -> LaunchError:
    """The error of a launch that has to be refused with `code`."""
    with pytest.raises(LaunchError) as caught:
        run()
    assert caught.value.code == code
    return caught.value


def message(error: LaunchError) -> str:
    """Its first line."""
    return error.diagnostics[0].message


def test_a_grid_function_that_asks_for_no_compile_time_value_is_refused(
    kernels: Any, world: Any, array: Any
) -> None:
    def grid(meta: dict[str, int]) -> int:
        return meta["BLOCK_SIZE"]

    error = refusal(lambda: kernels.copy[grid](array(), array(), 5), "E1019")
    assert "'BLOCK_SIZE'" in message(error)
    assert "`BLOCK`" in str(error)


def test_an_error_of_a_grid_function_itself_goes_through(
    kernels: Any, world: Any, array: Any
) -> None:
    def grid(meta: dict[str, int]) -> int:
        known: dict[int, int] = {}
        return known[meta["BLOCK"]]

    with pytest.raises(KeyError):
        kernels.copy[grid](array(), array(), 5)


def test_text_for_a_number_is_refused_as_such(kernels: Any, world: Any, array: Any) -> None:
    error = refusal(lambda: kernels.copy[1](array(), array(), "5"), "E1007")
    assert "wants `i32`, but got a `str`" in message(error)
