"""Kernels that apply an update rule to a parameter and its state, in place.

Grid: one program for each block of `BLOCK_SIZE` elements; every array is contiguous and none
overlaps another. A rule gets the parameter, the gradient, the state and a tuple of numbers, and
returns the new parameter and state. Before it, the gradient is turned (`sign` -1 maximizes) and
`decay` times the parameter added, and the parameter is multiplied by `shrink`, the decoupled decay.
Computed in f32 (f64 for f64) and rounded once; the state may be of another dtype.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.numerics import R, number, widen
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros import Kernel

D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)

FLOATS = (f32, f16, bf16, f64)
NUMBERS = 7  # that a rule may take
MOST_STATES = 3


def update(name: str, rule: Callable[..., Any], *, states: int) -> Kernel[...]:
    """The kernel `name` that applies `rule` to a parameter with up to three arrays of state."""

    @kernel(name=name, dtypes=FLOATS)
    def update_elements(
        param_ptr: Ptr[D],
        grad_ptr: Ptr[D],
        a_ptr: Ptr[E] | None,
        b_ptr: Ptr[E] | None,
        c_ptr: Ptr[E] | None,
        n_elements: i64 | int,
        sign: f64 | float,
        decay: f64 | float,
        shrink: f64 | float,
        h0: f64 | float,
        h1: f64 | float,
        h2: f64 | float,
        h3: f64 | float,
        h4: f64 | float,
        h5: f64 | float,
        h6: f64 | float,
        DECAY: Const[bool],
        BLOCK_SIZE: Const[int],
    ) -> None:
        start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
        at = tl.arange(0, BLOCK_SIZE)
        mask = at < n_elements - start
        p = widen(tl.load(param_ptr + start + at, mask=mask))
        g = widen(tl.load(grad_ptr + start + at, mask=mask))
        a = state_of(a_ptr, start + at, mask)
        b = state_of(b_ptr, start + at, mask)
        c = state_of(c_ptr, start + at, mask)
        p, g = prepared(p, g, sign, decay, shrink, DECAY)
        h = (number(h0, p), number(h1, p), number(h2, p), number(h3, p), number(h4, p),
             number(h5, p), number(h6, p))  # fmt: skip
        if states == 0:
            p = rule(p, g, h)
        elif states == 1:
            p, a = rule(p, g, a, h)
        elif states == 2:
            p, a, b = rule(p, g, a, b, h)
        else:
            p, a, b, c = rule(p, g, a, b, c, h)
        tl.store(param_ptr + start + at, p.to(tl.elem(param_ptr)), mask=mask)
        keep(a_ptr, start + at, a, mask)
        keep(b_ptr, start + at, b, mask)
        keep(c_ptr, start + at, c, mask)

    return update_elements


@device
def state_of(ptr: Any, at: Any, mask: Any) -> Any:
    """The elements `at` of an array of state; 0 without one."""
    if ptr is None:
        return 0.0
    return widen(tl.load(ptr + at, mask=mask))


@device
def keep(ptr: Any, at: Any, value: Any, mask: Any) -> None:
    """Store the elements `at` of an array of state, where there is one."""
    if ptr is not None:
        tl.store(ptr + at, value.to(tl.elem(ptr)), mask=mask)


@device
def prepared(
    p: Tensor[f32, R],
    g: Tensor[f32, R],
    sign: f64 | float,
    decay: f64 | float,
    shrink: f64 | float,
    DECAY: Const[bool],
) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    """The parameter and the gradient that a rule gets."""
    g = g * number(sign, p)
    if DECAY:
        g = g + p * number(decay, p)
    return p * number(shrink, p), g
