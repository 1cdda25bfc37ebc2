"""Losses of every element: one text of kernels for all formulas, and their calls.

Grid: one program for each block of elements; with a reduction at most 1056 programs, each of which
walks over blocks and stores its sum, and then one program that adds the sums. All arrays are
contiguous; an output of `none` and a gradient may be one of the inputs. Computed in f32 for f16 and
bf16, else in the dtype of the inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import ITEMSIZES, operand, same_place
from teeny_kernels.codes import E1202
from teeny_kernels.elementwise.run import flat_block
from teeny_kernels.layout import Output, broadcast_shape, contiguous, expanded, require_dtype
from teeny_kernels.loss import reduction as reductions
from teeny_kernels.loss.class_kernels import weights_of
from teeny_kernels.numerics import number, widen
from teeny_kernels.spec import FLOATS
from teeny_macros import device, kernel
from teeny_triton import Axis, Const, Float, Ptr, bf16, f16, f32, f64, i64

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

D = TypeVar("D", bound=Float)
C = TypeVar("C", bound=Float)

DTYPES = (f32, f16, bf16, f64)
ROUNDS = 4  # blocks that a program of a reduction walks over before there are more programs


def _value(
    formula: Callable[..., Any],
    arrays: int,
    scalars: int,
    narrow: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A device function: `formula` of the elements at an offset, and of the numbers.

    `narrow` is the formula for two arrays of f16 or bf16.
    """
    short = formula if narrow is None else narrow

    @device
    def value(
        x_ptr: Ptr[Any],
        y_ptr: Ptr[Any],
        z_ptr: Ptr[Any] | None,
        u_ptr: Ptr[Any] | None,
        at: Any,
        mask: Any,
        alpha: Any,
        beta: Any,
    ) -> Any:
        own = tl.load(x_ptr + at, mask=mask)
        x = widen(own)
        y = widen(tl.load(y_ptr + at, mask=mask))
        if arrays == 2:
            if scalars == 0:
                if own.dtype == f16 or own.dtype == bf16:
                    return short(x, y)
                return formula(x, y)
            return formula(x, y, number(alpha, x))
        z = weights_of(z_ptr, x, at, mask)
        if arrays == 3:
            if scalars == 0:
                return formula(x, y, z)
            if scalars == 1:
                return formula(x, y, z, number(alpha, x))
            return formula(x, y, z, number(alpha, x), number(beta, x))
        return formula(x, y, z, weights_of(u_ptr, x, at, mask))

    return value


def forward_kernel(
    name: str,
    formula: Callable[..., Any],
    arrays: int,
    scalars: int,
    backward: Kernel[...] | None = None,
    narrow: Callable[..., Any] | None = None,
) -> Kernel[...]:
    """The kernel `name` that stores `formula(*elements, *numbers)`, or its sums."""
    value = _value(formula, arrays, scalars, narrow)

    @kernel(name=name, dtypes=DTYPES, backward=backward)
    def loss_forward(
        out_ptr: Ptr[C],
        x_ptr: Ptr[D],
        y_ptr: Ptr[D],
        z_ptr: Ptr[D] | None,
        u_ptr: Ptr[D] | None,
        n_elements: i64 | int,
        alpha: f64 | float,
        beta: f64 | float,
        REDUCE: Const[bool],
        BLOCK_SIZE: Const[int],
    ) -> None:
        program = tl.program_id(Axis.X).to(i64)
        lanes = tl.arange(0, BLOCK_SIZE)
        if REDUCE:
            total = widen(tl.zeros((BLOCK_SIZE,), tl.elem(x_ptr)))
            step = tl.num_programs(Axis.X).to(i64) * BLOCK_SIZE
            for start in range(program * BLOCK_SIZE, n_elements, step):
                mask = lanes < n_elements - start
                loss = value(x_ptr, y_ptr, z_ptr, u_ptr, start + lanes, mask, alpha, beta)
                total += tl.where(mask, loss, 0.0)
            tl.store(out_ptr + program, tl.sum(total, axis=0).to(tl.elem(out_ptr)))
        else:
            at = program * BLOCK_SIZE + lanes
            mask = at < n_elements
            loss = value(x_ptr, y_ptr, z_ptr, u_ptr, at, mask, alpha, beta)
            tl.store(out_ptr + at, loss.to(tl.elem(out_ptr)), mask=mask)

    return loss_forward


def backward_kernel(name: str, slope: Callable[..., Any], arrays: int, scalars: int) -> Kernel[...]:
    """The kernel `name` that stores grad / divisor `slope(*elements, *numbers)`."""
    value = _value(slope, arrays, scalars)

    @kernel(name=name, dtypes=DTYPES)
    def loss_backward(
        dx_ptr: Ptr[D],
        grad_ptr: Ptr[D],
        x_ptr: Ptr[D],
        y_ptr: Ptr[D],
        z_ptr: Ptr[D] | None,
        u_ptr: Ptr[D] | None,
        n_elements: i64 | int,
        alpha: f64 | float,
        beta: f64 | float,
        divisor: f64 | float,
        REDUCE: Const[bool],
        BLOCK_SIZE: Const[int],
    ) -> None:
        at = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
        mask = at < n_elements
        if REDUCE:
            grad = widen(tl.load(grad_ptr + at * 0, mask=mask, other=0.0))
            grad = grad / number(divisor, grad)
        else:
            grad = widen(tl.load(grad_ptr + at, mask=mask))
        dx = grad * value(x_ptr, y_ptr, z_ptr, u_ptr, at, mask, alpha, beta)
        tl.store(dx_ptr + at, dx.to(tl.elem(dx_ptr)), mask=mask)

    return loss_backward


_WEIGHTS = frozenset(("weight", "pos_weight"))


class PointwiseLoss:
    """A loss `name` of `arrays` arrays, the third and fourth of which may be left out (ones).

    The target broadcasts to the first array, unless they have to be `alike`.
    `formula(*elements, *numbers)` is the loss of an element; `slopes` are its derivatives, by the
    inputs that have one. `narrow` is the formula for two arrays of f16 or bf16, which need not know
    more digits than these hold.
    """

    def __init__(
        self,
        name: str,
        formula: Callable[..., Any],
        *slopes: Callable[..., Any],
        arrays: int = 2,
        scalars: int = 0,
        alike: bool = False,
        narrow: Callable[..., Any] | None = None,
    ) -> None:
        self.name = name
        self.repeated = _WEIGHTS if alike else {*_WEIGHTS, "target"}
        self.backward_kernels = tuple(
            backward_kernel(f"{name}_backward{at or ''}", slope, arrays, scalars)
            for at, slope in enumerate(slopes)
        )
        self.forward_kernel = forward_kernel(
            f"{name}_forward", formula, arrays, scalars, self.backward_kernels[0], narrow
        )

    def __call__(
        self,
        arrays: Mapping[str, Any],
        *numbers: float,
        reduction: str,
        divisor: float | None = None,
        out: Any = None,
    ) -> Any:
        """The loss; `divisor` is that of a mean that is not by the number of elements."""
        reductions.checked_reduction(self.name, reduction)
        first, ready = _ready(self.name, arrays, self.repeated)
        n = first.size
        block, warps = flat_block(ITEMSIZES[first.dtype])
        launch: Any = self.forward_kernel.options(num_warps=warps)
        pointers = [None if own is None else own.array for own in ready]
        alpha, beta = (*numbers, 0.0, 0.0)[:2]
        if reduction == "none":
            result = Output(self.name, first, first.shape, out=out)
            if n:
                launch[-(-n // block)](
                    result.operand.array, *pointers, n, alpha, beta, REDUCE=False, BLOCK_SIZE=block
                )
            return result.finish()
        result = Output(self.name, first, (), out=out)
        programs = min(reductions.PROGRAMS, -(-n // (ROUNDS * block)))
        parts = reductions.shares(first, programs)
        if n:
            launch[programs](parts.array, *pointers, n, alpha, beta, REDUCE=True, BLOCK_SIZE=block)
        reductions.divide(result.operand, parts, None, _divisor(reduction, divisor, n))
        return result.finish()

    def backward(
        self,
        grad: Any,
        arrays: Mapping[str, Any],
        *numbers: float,
        reduction: str,
        divisor: float | None = None,
        out: Any = None,
    ) -> tuple[Any, ...]:
        """The gradients, one for each slope; `grad` is that of the loss."""
        operation = f"{self.name}_backward"
        reductions.checked_reduction(operation, reduction)
        first, ready = _ready(operation, arrays, self.repeated)
        upstream = operand("grad", grad)
        same_place(operation, [(next(iter(arrays)), first), ("grad", upstream)])
        shape = first.shape if reduction == "none" else ()
        reductions.checked_gradient(operation, upstream, first, shape)
        n = first.size
        block, warps = flat_block(ITEMSIZES[first.dtype])
        pointers = [None if own is None else own.array for own in ready]
        numbers = (*numbers, 0.0, 0.0)[:2]
        found: list[Any] = []
        for own in self.backward_kernels:
            result = Output(operation, first, first.shape, out=out)
            if n:
                own.options(num_warps=warps)[-(-n // block)](
                    result.operand.array,
                    contiguous(operation, upstream).array,
                    *pointers,
                    n,
                    *numbers,
                    _divisor(reduction, divisor, n),
                    REDUCE=reduction != "none",
                    BLOCK_SIZE=block,
                )
            found.append(result.finish())
        return tuple(found)


def _divisor(reduction: str, divisor: float | None, count: int) -> float:
    if reduction != "mean":
        return 1.0
    return float(count if divisor is None else divisor)


def _ready(
    operation: str, arrays: Mapping[str, Any], repeated: Collection[str]
) -> tuple[Operand, Sequence[Operand | None]]:
    """The first array, and all four contiguous; those `repeated` are broadcast to the first.

    Raises E1201, E1202, E1203 and E1206.
    """
    given = [(name, operand(name, value)) for name, value in arrays.items() if value is not None]
    same_place(operation, given)
    first_name, first = given[0]
    require_dtype(operation, first_name, first, FLOATS)
    ready: dict[str, Operand] = {}
    for name, own in given:
        require_dtype(operation, name, own, (first.dtype,))
        seen = own
        if name in repeated and broadcast_shape(operation, first.shape, own.shape) == first.shape:
            seen = expanded(own, first.shape)
        if seen.shape != first.shape:
            what = f"`{first_name}` {first.shape}, `{name}` {own.shape}"
            raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
        ready[name] = contiguous(operation, seen)
    found = [ready.get(name) for name in arrays]
    return first, (*found, None, None)[:4]
