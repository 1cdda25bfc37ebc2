"""Gated units: swiglu and geglu, forward and backward.

    swiglu(x, y) = silu(x) y = x s(x) y,  s = sigmoid        geglu(x, y) = gelu(x) y

Shazeer 2020, "GLU variants improve transformer". Grid: one program for each block of a row of
elements; arrays whose rows have gaps, as the halves of one array, are read where they lie. An
output may be an input. Computed in f32, f64 for f64.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

import teeny_triton as tl
from teeny_kernels.activation.gelu import (
    CUBIC,
    INVERSE_SQRT_TAU,
    SQRT_2_OVER_PI,
    SQRT_HALF,
    short_erf,
)
from teeny_kernels.arrays import ITEMSIZES, Operand, operand, row_major, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.run import flat_block
from teeny_kernels.layout import Output, contiguous, joined, require_dtype
from teeny_kernels.numerics import R, widen
from teeny_kernels.spec import FLOATS, Case, Cost, KernelSpec, Tolerance
from teeny_kernels.testing import fill
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, Tensor, bf16, f16, f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from teeny_macros import Kernel

A = TypeVar("A")
D = TypeVar("D", bound=Float)

DTYPES = (f32, f16, bf16, f64)


@device
def silu_both(x: Tensor[f32, R]) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    """The value and its derivative."""
    share = tl.sigmoid(x)
    return x * share, share * (1.0 + x * (1.0 - share))


@device
def gelu_both(x: Tensor[f32, R]) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    share = 0.5 * (1.0 + tl.erf(x * SQRT_HALF))
    return x * share, share + x * (INVERSE_SQRT_TAU * tl.exp(-0.5 * x * x))


@device
def gelu_short_both(x: Tensor[f32, R]) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    erf, falling = short_erf(x)
    share = 0.5 * (1.0 + erf)
    return x * share, share + x * (INVERSE_SQRT_TAU * falling)


@device
def gelu_tanh_both(x: Tensor[f32, R]) -> tuple[Tensor[f32, R], Tensor[f32, R]]:
    share = tl.sigmoid(2.0 * SQRT_2_OVER_PI * (x + CUBIC * x * x * x))
    slope = 2.0 * SQRT_2_OVER_PI * (1.0 + 3.0 * CUBIC * x * x)
    return x * share, share + x * share * (1.0 - share) * slope


class Gate(NamedTuple):
    """The kernels of one gated unit."""

    forward: Kernel[...]
    backward: Kernel[...]


def gated(name: str, both: Callable[..., Any]) -> Gate:
    """`both(x)` gives the value of the gate and its derivative; a device function."""

    @kernel(name=f"{name}_backward", dtypes=DTYPES)
    def gate_backward(
        dx_ptr: Ptr[D],
        dy_ptr: Ptr[D],
        grad_ptr: Ptr[D],
        x_ptr: Ptr[D],
        y_ptr: Ptr[D],
        n_cols: i64 | int,
        x_step: i64 | int,
        y_step: i64 | int,
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        blocks = tl.cdiv(n_cols, BLOCK_SIZE)
        row = program // blocks
        start = program % blocks * BLOCK_SIZE
        lanes = tl.arange(0, BLOCK_SIZE)
        mask = lanes < n_cols - start
        at = row * n_cols + start
        x = widen(tl.load(x_ptr + row * x_step + start + lanes, mask=mask))
        y = widen(tl.load(y_ptr + row * y_step + start + lanes, mask=mask))
        grad = widen(tl.load(grad_ptr + at + lanes, mask=mask))
        value, slope = both(x)
        tl.store(dx_ptr + at + lanes, (grad * y * slope).to(tl.elem(dx_ptr)), mask=mask)
        tl.store(dy_ptr + at + lanes, (grad * value).to(tl.elem(dy_ptr)), mask=mask)

    @kernel(name=f"{name}_forward", dtypes=DTYPES, backward=gate_backward)
    def gate_forward(
        out_ptr: Ptr[D],
        x_ptr: Ptr[D],
        y_ptr: Ptr[D],
        n_cols: i64 | int,
        x_step: i64 | int,
        y_step: i64 | int,
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        blocks = tl.cdiv(n_cols, BLOCK_SIZE)
        row = program // blocks
        start = program % blocks * BLOCK_SIZE
        lanes = tl.arange(0, BLOCK_SIZE)
        mask = lanes < n_cols - start
        x = widen(tl.load(x_ptr + row * x_step + start + lanes, mask=mask))
        y = widen(tl.load(y_ptr + row * y_step + start + lanes, mask=mask))
        value, _ = both(x)
        found = (value * y).to(tl.elem(out_ptr))
        tl.store(out_ptr + row * n_cols + start + lanes, found, mask=mask)

    return Gate(gate_forward, gate_backward)


_silu = gated("swiglu", silu_both)
_gelu = gated("geglu", gelu_both)
_short = gated("geglu_short", gelu_short_both)
_tanh = gated("geglu_tanh", gelu_tanh_both)


def swiglu(x: A, y: A, *, out: A | None = None) -> A:
    """silu(x) y, of two arrays of one shape.

    Raises:
        KernelError: E1201-E1203, E1206 and E1207.
    """
    return _forward("swiglu", _silu, x, y, out)


def swiglu_backward(grad: A, x: A, y: A) -> tuple[A, A]:
    """The gradients by `x` and by `y`."""
    return _backward("swiglu_backward", _silu, grad, x, y)


def geglu(x: A, y: A, approximate: str = "none", *, out: A | None = None) -> A:
    """gelu(x) y, of two arrays of one shape; `approximate="tanh"` for the form with tanh.

    Raises:
        KernelError: E1201-E1204, E1206 and E1207.
    """
    return _forward("geglu", _chosen("geglu", x, approximate), x, y, out)


def geglu_backward(grad: A, x: A, y: A, approximate: str = "none") -> tuple[A, A]:
    """The gradients by `x` and by `y`."""
    return _backward("geglu_backward", _chosen("geglu_backward", x, approximate), grad, x, y)


def _chosen(operation: str, x: Any, approximate: str) -> Gate:
    if approximate not in {"none", "tanh"}:
        raise E1204.error(operation=operation, name="approximate", found=f"{approximate!r}").help(
            'it is "none" or "tanh"'
        )
    if approximate == "tanh":
        return _tanh
    return _short if operand("x", x).dtype in {"f16", "bf16"} else _gelu


def _ready(operation: str, arrays: Mapping[str, Any]) -> list[Operand]:
    given = [(name, operand(name, value)) for name, value in arrays.items()]
    same_place(operation, given)
    first_name, first = given[0]
    require_dtype(operation, first_name, first, FLOATS)
    for name, own in given[1:]:
        require_dtype(operation, name, own, (first.dtype,))
        if own.shape != first.shape:
            what = f"`{first_name}` {first.shape}, `{name}` {own.shape}"
            raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
    return [own for _, own in given]


def _rows(operation: str, x: Operand, y: Operand) -> tuple[Operand, Operand, tuple[int, ...]]:
    """Both, copied unless they are rows without gaps, and (rows, columns, step, step)."""
    sides, steps = joined(x.shape, x.strides, y.strides, row_major(x.shape))
    if len(sides) == 2 and steps[0][1] == steps[1][1] == 1:
        return x, y, (*sides, steps[0][0], steps[1][0])
    return contiguous(operation, x), contiguous(operation, y), (1, x.size, x.size, x.size)


def _forward(operation: str, gate: Gate, x: Any, y: Any, out: Any) -> Any:
    first, second = _ready(operation, {"x": x, "y": y})
    result = Output(operation, first, first.shape, out=out)
    if first.size:
        first, second, (rows, columns, *steps) = _rows(operation, first, second)
        block, warps = flat_block(ITEMSIZES[first.dtype])
        launch: Any = gate.forward.options(num_warps=warps)[rows * -(-columns // block)]
        arrays = (result.operand.array, first.array, second.array)
        launch(*arrays, columns, *steps, BLOCK_SIZE=block)
    return result.finish()


def _backward(operation: str, gate: Gate, grad: Any, x: Any, y: Any) -> tuple[Any, Any]:
    first, second, upstream = _ready(operation, {"x": x, "y": y, "grad": grad})
    results = [Output(operation, own, own.shape) for own in (first, second)]
    if first.size:
        upstream = contiguous(operation, upstream)
        first, second, (rows, columns, *steps) = _rows(operation, first, second)
        block, warps = flat_block(ITEMSIZES[first.dtype])
        launch: Any = gate.backward.options(num_warps=warps)[rows * -(-columns // block)]
        arrays = [*(own.operand for own in results), upstream, first, second]
        launch(*(own.array for own in arrays), columns, *steps, BLOCK_SIZE=block)
    by_x, by_y = (own.finish() for own in results)
    return by_x, by_y


def _gelu_parts(x: Any, approximate: str) -> tuple[Any, Any]:
    if approximate == "tanh":
        t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))
        inner = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
        return x / 2 * (1 + t), (1 + t) / 2 + x / 2 * (1 - t**2) * inner
    from math import erf

    share = (1 + np.vectorize(erf, otypes=[np.float64])(x / np.sqrt(2))) / 2
    return x * share, share + x * np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)


def _silu_parts(x: Any) -> tuple[Any, Any]:
    share = 1 / (1 + np.exp(-x))
    return x * share, share * (1 + x * (1 - share))


def _spec(
    function: Callable[..., Any],
    backward: Callable[..., Any],
    gates: Sequence[Gate],
    formula: str,
    parts: Callable[..., Any],
    torch: Callable[..., Any],
    options: Sequence[Mapping[str, Any]],
) -> KernelSpec:
    def slopes(
        grads: Sequence[Any], arrays: Sequence[Any], given: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        value, slope = parts(arrays[0], **given)
        return [grads[0] * arrays[1] * slope, grads[0] * value]

    def sizes(
        grads: Sequence[Any], arrays: Sequence[Any], given: Mapping[str, Any], *_: Any
    ) -> Sequence[Any]:
        (x, y), grad = arrays, np.abs(grads[0])
        return [grad * np.abs(y) * (1 + np.abs(x)), grad * np.abs(x)]

    shapes: tuple[tuple[tuple[int, ...], str], ...] = (
        ((), "normal"), ((1,), "normal"), ((0,), "normal"), ((17,), "normal"),
        ((1000,), "wide"), ((1024,), "normal"), ((3, 0, 5), "normal"), ((33, 77), "normal"),
        ((2, 3, 4, 5), "ties"), ((257,), "special"), ((1, 1, 4097), "normal"), ((257,), "shifted"),
    )  # fmt: skip
    cases = [Case((shape, shape), {}, values) for shape, values in shapes]
    cases += [Case(((257,),) * 2, own, values) for own in options for values in ("special", "wide")]

    def make(rng: np.random.Generator, case: Case) -> Sequence[Any]:
        # Beside an infinite y a gate that underflows would be 0 in one dtype alone.
        values = "normal" if case.values == "special" else case.values
        return [fill(rng, case.shapes[0], case.values), fill(rng, case.shapes[1], values)]

    return KernelSpec(
        name=function.__name__,
        family="activation",
        make=make,
        function=function,
        backward=lambda grads, arrays, _outputs, given: backward(grads[0], *arrays, **given),
        differentiable=(0, 1),
        kernels=tuple(own for gate in gates for own in gate),
        formula=formula,
        source="Shazeer 2020, GLU variants improve transformer",
        reference=lambda x, y, **given: parts(x, **given)[0] * y,
        magnitude=lambda x, y, **given: np.abs(x * y),
        backward_reference=slopes,
        backward_magnitude=sizes,
        torch_name=f"torch.nn.functional.{'silu' if len(gates) == 1 else 'gelu'}(x) * y",
        torch=torch,
        torch_error=1e-14,
        cases=tuple(cases),
        tolerance=Tolerance(8, "1 + erf(x) cancels below 0: some ulp of x; an exponential"),
        backward_tolerance=Tolerance(18, "the same, and products"),
        cost=lambda case, itemsize: Cost(
            3 * itemsize * prod(case.shapes[0]), 8 * prod(case.shapes[0])
        ),
        benchmarks=(Case(((8192, 16384),) * 2),),
    )


SPECS = (
    _spec(
        swiglu,
        swiglu_backward,
        (_silu,),
        "x y / (1 + exp(-x))",
        _silu_parts,
        lambda t, x, y: t.nn.functional.silu(x) * y,
        (),
    ),
    _spec(
        geglu,
        geglu_backward,
        (_gelu, _short, _tanh),
        "x y (1 + erf(x / sqrt(2))) / 2, or its form with tanh",
        lambda x, approximate="none": _gelu_parts(x, approximate),
        lambda t, x, y, **given: t.nn.functional.gelu(x, **given) * y,
        ({"approximate": "tanh"},),
    ),
)
