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


def update(name: str, rule: Callable[..., Any], *, states: int) -> Kernel[...]:
    """The kernel `name` that applies `rule` to a parameter with `states` arrays of state."""
    return (_none, _one, _two, _three)[states](name, rule)


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


def _none(name: str, rule: Callable[..., Any]) -> Kernel[...]:
    @kernel(name=name, dtypes=FLOATS)
    def update_0(
        param_ptr: Ptr[D],
        grad_ptr: Ptr[D],
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
        p, g = prepared(p, g, sign, decay, shrink, DECAY)
        h = (number(h0, p), number(h1, p), number(h2, p), number(h3, p), number(h4, p),
             number(h5, p), number(h6, p))  # fmt: skip
        p = rule(p, g, h)
        tl.store(param_ptr + start + at, p.to(tl.elem(param_ptr)), mask=mask)

    return update_0


def _one(name: str, rule: Callable[..., Any]) -> Kernel[...]:
    @kernel(name=name, dtypes=FLOATS)
    def update_1(
        param_ptr: Ptr[D],
        grad_ptr: Ptr[D],
        a_ptr: Ptr[E],
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
        a = widen(tl.load(a_ptr + start + at, mask=mask))
        p, g = prepared(p, g, sign, decay, shrink, DECAY)
        h = (number(h0, p), number(h1, p), number(h2, p), number(h3, p), number(h4, p),
             number(h5, p), number(h6, p))  # fmt: skip
        p, a = rule(p, g, a, h)
        tl.store(param_ptr + start + at, p.to(tl.elem(param_ptr)), mask=mask)
        tl.store(a_ptr + start + at, a.to(tl.elem(a_ptr)), mask=mask)

    return update_1


def _two(name: str, rule: Callable[..., Any]) -> Kernel[...]:
    @kernel(name=name, dtypes=FLOATS)
    def update_2(
        param_ptr: Ptr[D],
        grad_ptr: Ptr[D],
        a_ptr: Ptr[E],
        b_ptr: Ptr[E],
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
        a = widen(tl.load(a_ptr + start + at, mask=mask))
        b = widen(tl.load(b_ptr + start + at, mask=mask))
        p, g = prepared(p, g, sign, decay, shrink, DECAY)
        h = (number(h0, p), number(h1, p), number(h2, p), number(h3, p), number(h4, p),
             number(h5, p), number(h6, p))  # fmt: skip
        p, a, b = rule(p, g, a, b, h)
        tl.store(param_ptr + start + at, p.to(tl.elem(param_ptr)), mask=mask)
        tl.store(a_ptr + start + at, a.to(tl.elem(a_ptr)), mask=mask)
        tl.store(b_ptr + start + at, b.to(tl.elem(b_ptr)), mask=mask)

    return update_2


def _three(name: str, rule: Callable[..., Any]) -> Kernel[...]:
    @kernel(name=name, dtypes=FLOATS)
    def update_3(
        param_ptr: Ptr[D],
        grad_ptr: Ptr[D],
        a_ptr: Ptr[E],
        b_ptr: Ptr[E],
        c_ptr: Ptr[E],
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
        a = widen(tl.load(a_ptr + start + at, mask=mask))
        b = widen(tl.load(b_ptr + start + at, mask=mask))
        c = widen(tl.load(c_ptr + start + at, mask=mask))
        p, g = prepared(p, g, sign, decay, shrink, DECAY)
        h = (number(h0, p), number(h1, p), number(h2, p), number(h3, p), number(h4, p),
             number(h5, p), number(h6, p))  # fmt: skip
        p, a, b, c = rule(p, g, a, b, c, h)
        tl.store(param_ptr + start + at, p.to(tl.elem(param_ptr)), mask=mask)
        tl.store(a_ptr + start + at, a.to(tl.elem(a_ptr)), mask=mask)
        tl.store(b_ptr + start + at, b.to(tl.elem(b_ptr)), mask=mask)
        tl.store(c_ptr + start + at, c.to(tl.elem(c_ptr)), mask=mask)

    return update_3
