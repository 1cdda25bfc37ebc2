"""`@kernel(name=..., dtypes=..., backward=...)`: what a library of kernels says of them."""

from __future__ import annotations

from typing import Any, TypeVar

import pytest

import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_macros.diagnostics import CaptureError, LaunchError
from teeny_triton import Const, Num, Ptr, f16, f32, f64, i32

D = TypeVar("D", bound=Num)


@device
def twice(x: Any) -> Any:
    return x + x


def _made(name: str, formula: Any) -> Any:
    @kernel(name=name)
    def template(x_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
        offs = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        tl.store(x_ptr + offs, formula(x), mask=offs < n)

    return template


def test_a_name_of_its_own_is_the_kernels_and_its_entry_points() -> None:
    made = _made("double_forward", twice)
    instance = made.instantiate(D=f32, BLOCK=64)
    assert made.name == made.__name__ == "double_forward"
    assert instance.entry_point_name == "double_forward_entry_point"
    assert made.kernel_source.startswith("def double_forward(x_ptr: Ptr[D], ")
    assert "template" not in instance.source


@pytest.mark.parametrize("name", ["t", "a_much_longer_name_than_before"])
def test_positions_follow_a_name_of_another_length(name: str) -> None:
    plain, named = _made("template", twice), _made(name, twice)
    shift = len(name) - len("template")
    for column in range(1, 80):
        at = plain.captured.in_file(1, column, 1, column + 1)
        moved = column + shift if column > len("def template") else column
        if column <= len("def t") or column > len("def template"):
            assert named.captured.in_file(1, moved, 1, moved + 1) == at
    below = plain.captured.in_file(3, 5, 3, 8)
    assert named.captured.in_file(3, 5, 3, 8) == below


def test_dtypes_refuse_the_others_and_list_themselves() -> None:
    @kernel(dtypes=[f32, f16])
    def copy(x_ptr: Ptr[D], n: i32 | int) -> None:
        tl.store(x_ptr, tl.load(x_ptr))

    assert copy.dtypes == ("f32", "f16")
    assert copy.instantiate(D=f16).specialization.types[0][1].dtype == "f16"
    with pytest.raises(LaunchError, match="E1028") as caught:
        copy.instantiate(D=f64)
    assert "`f32`, `f16`" in str(caught.value)


def test_the_backward_kernel_is_named_with_the_forward() -> None:
    @kernel
    def backward(x_ptr: Ptr[f32]) -> None:
        tl.store(x_ptr, 1.0)

    @kernel(backward=backward)
    def forward(x_ptr: Ptr[f32]) -> None:
        tl.store(x_ptr, 0.0)

    assert forward.backward is backward
    assert backward.backward is None
    assert forward.options(num_warps=8).backward is backward


@pytest.mark.parametrize(
    "options",
    [{"name": "not a name"}, {"name": "def"}, {"dtypes": ["f32x"]}, {"backward": "backward"}],
)
def test_a_value_that_an_option_cannot_have_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(CaptureError, match="E0030"):

        @kernel(**options)
        def wrong(x_ptr: Ptr[f32]) -> None:
            tl.store(x_ptr, 1.0)


def test_a_kernel_with_the_same_options_is_one_object() -> None:
    made = _made("double_again", twice)
    assert made.options(num_warps=8) is made.options(num_warps=8)
    assert made.options(num_warps=8) is made.options(num_stages=2).options(
        num_warps=8, num_stages=3
    )
    assert made.options(num_warps=8) is not made.options(num_warps=2)
    assert made.options(num_warps=8).launch_options.num_warps == 8
    assert made.launch_options.num_warps == 4
