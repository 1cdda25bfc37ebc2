"""rope: rotary position embedding, forward and backward, of pairs that lie apart or side by side.

    (a, b) becomes (a cos - b sin, b cos + a sin)

a and b are elements i and i + R / 2 of a row, or, `interleaved`, 2 i and 2 i + 1; cos and sin are
those of the row's position. Elements from R on are copied. Su et al. 2021, "RoFormer". Grid: one
program for each tile of rows, all heads of a position following each other. The output may be the
input. Computed in f32, f64 for f64.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.layout import Output, contiguous, normal_axis, require_dtype
from teeny_kernels.numerics import number, widen
from teeny_kernels.rows import block_of
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

A = TypeVar("A")
D = TypeVar("D", bound=Float)
E = TypeVar("E", bound=Float)

TILE = 4096


@kernel(dtypes=(f32, f16, bf16, f64), do_not_specialize=("n_rows", "positions"))
def rope_kernel(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    cos_ptr: Ptr[E],
    sin_ptr: Ptr[E],
    n_rows: i64 | int,
    n_cols: i64 | int,
    half: i64 | int,
    positions: i64 | int,
    inner: i64 | int,
    turn: f64 | float,
    INTERLEAVED: Const[bool],
    REST: Const[int],
    ROWS: Const[int],
    HALF: Const[int],
) -> None:
    row = tl.program_id(Axis.X).to(i64) * ROWS + tl.arange(0, ROWS)
    inside = (row < n_rows)[:, None]
    base = (row * n_cols)[:, None]
    angle = (row // inner % positions * half)[:, None]
    lanes = tl.arange(0, HALF)[None, :]
    mask = inside & (lanes < half)
    cos = widen(tl.load(cos_ptr + angle + lanes, mask=mask))
    sin = widen(tl.load(sin_ptr + angle + lanes, mask=mask))
    sin = sin * number(turn, sin)
    if INTERLEAVED:
        wide = tl.arange(0, 2 * HALF)[None, :]
        both = inside & (wide < 2 * half)
        x = widen(tl.load(x_ptr + base + wide, mask=both))
        a, b = tl.split(tl.reshape(x, (ROWS, HALF, 2)))
        y = tl.reshape(tl.join(a * cos - b * sin, b * cos + a * sin), (ROWS, 2 * HALF))
        tl.store(out_ptr + base + wide, y.to(tl.elem(out_ptr)), mask=both)
    else:
        a = widen(tl.load(x_ptr + base + lanes, mask=mask))
        b = widen(tl.load(x_ptr + base + half + lanes, mask=mask))
        tl.store(out_ptr + base + lanes, (a * cos - b * sin).to(tl.elem(out_ptr)), mask=mask)
        turned = (b * cos + a * sin).to(tl.elem(out_ptr))
        tl.store(out_ptr + base + half + lanes, turned, mask=mask)
    if REST:
        at = 2 * half + tl.arange(0, REST)[None, :]
        there = inside & (at < n_cols)
        tl.store(out_ptr + base + at, tl.load(x_ptr + base + at, mask=there), mask=there)


def rope(
    x: A,
    cos: A,
    sin: A,
    interleaved: bool = False,
    axis: int = 1,
    *,
    out: A | None = None,
) -> A:
    """`x` (batch, positions, heads, D), its rows turned by the angles of their positions.

    `axis` is that of the positions: 1 here, 2 for (batch, heads, positions, D). `cos` and `sin` are
    (positions, R / 2), of a float dtype of their own, R at most D; elements from R on stay.

    Raises:
        KernelError: E1202 when shapes do not fit, E1203, E1205-E1207.
    """
    return _turned("rope", x, cos, sin, interleaved, axis, 1.0, out)


def rope_backward(
    grad: A,
    cos: A,
    sin: A,
    interleaved: bool = False,
    axis: int = 1,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x of `rope`: `grad` turned back."""
    return _turned("rope_backward", grad, cos, sin, interleaved, axis, -1.0, out)


def _turned(
    operation: str,
    x: Any,
    cos: Any,
    sin: Any,
    interleaved: bool,
    axis: int,
    turn: float,
    out: Any,
) -> Any:
    name = "x" if turn > 0 else "grad"
    source, c, s = operand(name, x), operand("cos", cos), operand("sin", sin)
    same_place(operation, [(name, source), ("cos", c), ("sin", s)])
    require_dtype(operation, name, source, FLOATS)
    require_dtype(operation, "cos", c, FLOATS)
    require_dtype(operation, "sin", s, (c.dtype,))
    at = normal_axis(operation, axis, source.ndim)
    fits = c.ndim == 2 and c.shape == s.shape and at < source.ndim - 1
    if not fits or c.shape[0] != source.shape[at] or 2 * c.shape[1] > source.shape[-1]:
        what = f"`{name}` {source.shape}, `cos` {c.shape}, `sin` {s.shape}"
        raise E1202.error(operation=operation, what=what).help(
            f"cos and sin are (positions, R / 2): {source.shape[at]} positions, R at most the "
            "length of the last axis"
        )
    result = Output(operation, source, source.shape, out=out)
    if source.size:
        half = c.shape[1]
        rest = source.shape[-1] - 2 * half
        block = block_of(max(1, half))
        rows = prod(source.shape[:-1])
        height = max(1, TILE // (2 * block))
        launch: Any = rope_kernel.options(num_warps=4)[-(-rows // height)]
        launch(
            result.operand.array,
            *(contiguous(operation, own).array for own in (source, c, s)),
            *(rows, source.shape[-1], half, source.shape[at], prod(source.shape[at + 1 : -1])),
            turn,
            INTERLEAVED=interleaved,
            REST=block_of(rest) if rest else 0,
            ROWS=height,
            HALF=block,
        )
    return result.finish()


def _angles(x: Any, table: Any, axis: int) -> Any:
    shape = [1] * x.ndim
    shape[axis], shape[-1] = table.shape
    return table.reshape(shape)


def _reference(
    x: Any, cos: Any, sin: Any, interleaved: bool = False, axis: int = 1, of: Any = np
) -> Any:
    half = cos.shape[1]
    c, s = _angles(x, cos, axis), _angles(x, sin, axis)
    if interleaved:
        a, b = x[..., 0 : 2 * half : 2], x[..., 1 : 2 * half : 2]
    else:
        a, b = x[..., :half], x[..., half : 2 * half]
    first, second = a * c - b * s, b * c + a * s
    if interleaved:
        both = of.stack((first, second), -1).reshape(*x.shape[:-1], 2 * half)
    else:
        both = of.concatenate((first, second), -1)
    return of.concatenate((both, x[..., 2 * half :]), -1)


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    return [_reference(grads[0], arrays[1], -arrays[2], **options)]


def _sizes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], *_: Any
) -> Sequence[Any]:
    return [_size(np.abs(grads[0]), *arrays[1:], **options)]


def _size(x: Any, cos: Any, sin: Any, interleaved: bool = False, axis: int = 1) -> Any:
    found = np.abs(x)
    half = cos.shape[1]
    c, s = np.abs(_angles(x, cos, axis)), np.abs(_angles(x, sin, axis))
    if interleaved:
        a, b = found[..., 0 : 2 * half : 2], found[..., 1 : 2 * half : 2]
        both = np.stack((a * c + b * s, b * c + a * s), -1).reshape(*x.shape[:-1], 2 * half)
    else:
        a, b = found[..., :half], found[..., half : 2 * half]
        both = np.concatenate((a * c + b * s, b * c + a * s), -1)
    return np.concatenate((both, found[..., 2 * half :]), -1)


def _make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
    x = fill(rng, case.shapes[0], case.values)
    angles = rng.uniform(-9, 9, case.shapes[1])
    return [x, np.cos(angles), np.sin(angles)]


def _case(shape: tuple[int, ...], half: int, values: str = "normal", **options: Any) -> Case:
    axis: int = options.get("axis", 1)
    table = (shape[axis], half)
    return Case((shape, table, table), options, values)


SPEC = KernelSpec(
    name="rope",
    family="tensor",
    function=rope,
    backward=lambda grads, arrays, _outputs, options: (
        rope_backward(grads[0], *arrays[1:], **options),
    ),
    kernels=(rope_kernel,),
    formula="(a, b) -> (a cos - b sin, b cos + a sin)",
    source="Su et al. 2021, RoFormer, section 3.2.2",
    reference=_reference,
    magnitude=_size,
    backward_reference=_slopes,
    backward_magnitude=_sizes,
    make=_make,
    torch=lambda t, *tensors, **options: _reference(*tensors, **{**options, "of": t}),
    torch_error=1e-14,
    cases=(
        _case((2, 7, 3, 16), 8),
        _case((2, 7, 3, 16), 8, "wide", interleaved=True),
        _case((2, 3, 7, 16), 8, "ties", axis=2),
        _case((2, 3, 7, 16), 8, axis=2, interleaved=True),
        _case((1, 5, 2, 10), 3),
        _case((1, 5, 2, 10), 3, interleaved=True),
        _case((1, 5, 2, 6), 3, interleaved=True),
        _case((0, 5, 2, 16), 8),
        _case((1, 1, 1, 2), 1, interleaved=True),
        _case((9, 24), 12, axis=0),
        _case((2, 33, 4, 64), 32, "special"),
        _case((2, 33, 4, 64), 32, "special", interleaved=True),
        _case((1, 5, 2, 11), 5, "shifted"),
    ),
    tolerance=Tolerance(3, "two products and a sum"),
    cost=lambda case, itemsize: Cost(2 * itemsize * prod(case.shapes[0]), 3 * prod(case.shapes[0])),
    benchmarks=(_case((8, 4096, 32, 128), 64),),
)
