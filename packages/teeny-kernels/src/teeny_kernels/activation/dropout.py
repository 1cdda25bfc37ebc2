"""dropout: elements set to zero at random, forward and backward, the same for the same seed.

    y[i] = x[i] / (1 - p) where u[i] >= p, else 0

u[i] is a number within [0, 1) that depends on the seed and on i, the place in row-major order,
alone: word i % 4 of Philox 4x32-10 at the counter i // 4 (Salmon et al. 2011). It is the same for
every dtype, device and layout; the backward makes it again. Grid: one program for each block of
elements. The output may be the input.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.arrays import operand
from teeny_kernels.codes import E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.numerics import number, widen
from teeny_kernels.philox import philox, signed, uniform
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_macros import kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

A = TypeVar("A")
D = TypeVar("D", bound=Float)

BLOCK_SIZE = 1024


@kernel(dtypes=(f32, f16, bf16, f64), do_not_specialize=("seed",))
def dropout_kernel(
    out_ptr: Ptr[D],
    x_ptr: Ptr[D],
    n_elements: i64 | int,
    seed: i64 | int,
    p: f64 | float,
    scale: f64 | float,
    BLOCK_SIZE: Const[int],
) -> None:
    start = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE
    lanes = tl.arange(0, BLOCK_SIZE)
    mask = lanes < n_elements - start
    counters = start // 4 + tl.arange(0, BLOCK_SIZE // 4)
    u0, u1, u2, u3 = tl.rand4x(seed, counters)
    # The last axis runs fastest: (.., 2, 2) is 0, 1, 2, 3.
    u = tl.reshape(tl.join(tl.join(u0, u2), tl.join(u1, u3)), (BLOCK_SIZE,))
    x = widen(tl.load(x_ptr + start + lanes, mask=mask))
    y = tl.where(u >= tl.cast(p, f32), x * number(scale, x), 0.0)
    tl.store(out_ptr + start + lanes, y.to(tl.elem(out_ptr)), mask=mask)


def dropout(x: A, p: float = 0.5, *, seed: int, out: A | None = None) -> A:
    """`x` with a share `p` of its elements set to 0, and the others divided by 1 - `p`.

    `seed` chooses which: the same seed drops the same places.

    Raises:
        KernelError: E1201, E1203, E1207; E1204 for a share that does not lie within 0 and 1.
    """
    return _dropped("dropout", "x", x, p, seed, out)


def dropout_backward(grad: A, p: float = 0.5, *, seed: int, out: A | None = None) -> A:
    """The gradient by x of `dropout`: `grad` where an element was kept, divided by 1 - `p`."""
    return _dropped("dropout_backward", "grad", grad, p, seed, out)


def _dropped(operation: str, name: str, x: Any, p: float, seed: int, out: Any) -> Any:
    if not 0 <= p <= 1:
        raise E1204.error(operation=operation, name="p", found=f"{p!r}").help(
            "it lies within 0 and 1"
        )
    source = operand(name, x)
    require_dtype(operation, name, source, FLOATS)
    result = Output(operation, source, source.shape, out=out)
    if source.size:
        launch: Any = dropout_kernel.options(num_warps=4)[-(-source.size // BLOCK_SIZE)]
        launch(
            result.operand.array,
            contiguous(operation, source).array,
            *(source.size, signed(seed), p, 1 / (1 - p) if p < 1 else 0.0),
            BLOCK_SIZE=BLOCK_SIZE,
        )
    return result.finish()


def _kept(shape: Sequence[int], p: float, seed: int) -> Any:
    count = prod(shape)
    words = philox(seed, np.arange(-(-count // 4))).reshape(-1)[:count]
    return (uniform(words) >= np.float32(p)).reshape(shape)


def _reference(x: np.ndarray, p: float = 0.5, seed: int = 0) -> np.ndarray:
    scale = 1 / (1 - p) if p < 1 else 0.0
    return np.where(_kept(x.shape, p, seed), x * scale, 0.0)


def _slopes(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any]
) -> Sequence[Any]:
    return [_reference(grads[0], **options)]


SPEC = KernelSpec(
    name="dropout",
    family="activation",
    function=dropout,
    backward=lambda grads, arrays, _outputs, options: (dropout_backward(grads[0], **options),),
    kernels=(dropout_kernel,),
    formula="x / (1 - p) where u >= p, else 0",
    source="Srivastava et al. 2014; Salmon et al. 2011 for u",
    reference=_reference,
    backward_reference=_slopes,
    cases=tuple(
        Case((shape,), {"p": p, "seed": seed}, values)
        for shape, p, seed, values in (
            ((), 0.5, 0, "normal"),
            ((1,), 0.5, 1, "normal"),
            ((0,), 0.5, 1, "normal"),
            ((17,), 0.1, 2, "normal"),
            ((1000,), 0.0, 3, "wide"),
            ((1024,), 1.0, 4, "normal"),
            ((3, 0, 5), 0.5, 5, "normal"),
            ((33, 77), 0.25, -6, "normal"),
            ((2, 3, 4, 5), 0.9, 2**40, "ties"),
            ((1, 1, 4097), 0.5, 2**64 - 1, "normal"),
            ((257,), 0.5, 9, "special"),
            ((257,), 0.75, 10, "special"),
        )
    ),
    tolerance=Tolerance(1, "a product"),
    cost=lambda case, itemsize: Cost(
        2 * itemsize * prod(case.shapes[0]), 40 * prod(case.shapes[0])
    ),
    benchmarks=(Case(((8192, 16384),), {"p": 0.1, "seed": 1}),),
)
