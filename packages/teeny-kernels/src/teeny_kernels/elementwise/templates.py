"""Kernels that apply a formula to every element: one text for one input and one for two.

Grid: one program for each block of `BLOCK_SIZE` elements. All arrays are contiguous and of as many
elements; an output may be one of the inputs. Computed in f32 for f16 and bf16, else in the dtype of
the inputs; up to two numbers go to the formula after the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import number, widen
from teeny_macros import kernel
from teeny_triton import Axis, Const, Elem, Ptr, bf16, f16, f32, f64, i8, i16, i32, i64, u8

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)

FLOATS = (f32, f16, bf16, f64)
INTEGERS = (i32, i64, i16, i8, u8)
NARROW = (f16, bf16)


NARROW_NAMES = frozenset(("f16", "bf16"))


def is_narrow(x: Operand) -> bool:
    """Whether an array is of one of `NARROW`."""
    return x.dtype in NARROW_NAMES


def pointwise(
    name: str,
    formula: Callable[..., Any],
    *,
    inputs: int = 1,
    scalars: int = 0,
    dtypes: Sequence[Any] = FLOATS,
    backward: Kernel[...] | None = None,
) -> Kernel[...]:
    """The kernel `name` that stores `formula(*elements, *numbers)`."""
    make = (_one, _two)[inputs - 1]
    return make(name, formula, scalars, dtypes, backward)


def _one(
    name: str,
    formula: Callable[..., Any],
    scalars: int,
    dtypes: Sequence[Any],
    backward: Kernel[...] | None,
) -> Kernel[...]:
    @kernel(name=name, dtypes=dtypes, backward=backward)
    def pointwise_1(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        n_elements: i64 | int,
        alpha: f64 | float,
        beta: f64 | float,
        BLOCK_SIZE: Const[int],
    ) -> None:
        start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
        offsets = tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements - start
        x = widen(tl.load(x_ptr + start + offsets, mask=mask))
        if scalars == 0:
            y = formula(x)
        elif scalars == 1:
            y = formula(x, number(alpha, x))
        else:
            y = formula(x, number(alpha, x), number(beta, x))
        tl.store(out_ptr + start + offsets, y.to(tl.elem(out_ptr)), mask=mask)

    return pointwise_1


def _two(
    name: str,
    formula: Callable[..., Any],
    scalars: int,
    dtypes: Sequence[Any],
    backward: Kernel[...] | None,
) -> Kernel[...]:
    @kernel(name=name, dtypes=dtypes, backward=backward)
    def pointwise_2(
        out_ptr: Ptr[E],
        x_ptr: Ptr[D],
        y_ptr: Ptr[D],
        n_elements: i64 | int,
        alpha: f64 | float,
        beta: f64 | float,
        BLOCK_SIZE: Const[int],
    ) -> None:
        start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
        offsets = tl.arange(0, BLOCK_SIZE)
        mask = offsets < n_elements - start
        x = widen(tl.load(x_ptr + start + offsets, mask=mask))
        y = widen(tl.load(y_ptr + start + offsets, mask=mask))
        if scalars == 0:
            z = formula(x, y)
        elif scalars == 1:
            z = formula(x, y, number(alpha, x))
        else:
            z = formula(x, y, number(alpha, x), number(beta, x))
        tl.store(out_ptr + start + offsets, z.to(tl.elem(out_ptr)), mask=mask)

    return pointwise_2
