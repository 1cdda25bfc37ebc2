"""`Binary`: one operation of two operands that broadcast, the second an array or a number.

A gradient is computed at the shape of the result and summed back to that of its operand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import operand, same_place
from teeny_kernels.calls import Plans, bare, key_of, result_of
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.broadcast import (
    broadcasting,
    launch_broadcasting,
    plan_broadcasting,
)
from teeny_kernels.elementwise.run import launch
from teeny_kernels.elementwise.templates import FLOATS, INTEGERS, NARROW, is_narrow, pointwise
from teeny_kernels.layout import Output, broadcast_shape, expanded, require_dtype
from teeny_kernels.reduce.kernels import exact, reduce_into
from teeny_kernels.reduce.run import repeated_axes
from teeny_kernels.reduce.sums import SUM
from teeny_triton import i1

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_kernels.arrays import Operand
    from teeny_macros import Kernel

_EXACT = 2**53  # kernels get numbers as f64


class Binary:
    """An operation `name` of `x` and `y`, and up to one number more.

    `formula(x, y, *numbers)` is the result; `gradients` are the formulas, of (grad, x, y,
    *numbers), of the gradients by x and by y; all are device functions. `result` is the dtype of
    the result where it is not that of x. `narrow` is the formula for f16 and bf16, where a shorter
    one does. `passed` says whose gradient is `grad` itself while all of `numbers` are 1.
    """

    def __init__(
        self,
        name: str,
        formula: Callable[..., Any],
        gradients: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
        *,
        scalars: int = 0,
        integers: bool = True,
        result: str | None = None,
        narrow: Callable[..., Any] | None = None,
        passed: str = "",
    ) -> None:
        self.name = name
        self.passed = passed
        self.result = result
        dtypes = (*FLOATS, *INTEGERS) if integers else FLOATS
        # The dtypes of a kernel are those of its output too.
        dtypes = (*dtypes, i1) if result == "i1" else dtypes
        self.arrays_kernel = broadcasting(
            f"{name}_forward", formula, scalars=scalars, dtypes=dtypes
        )
        self.number_kernel = pointwise(
            f"{name}_number_forward", formula, scalars=scalars + 1, dtypes=dtypes
        )
        self.kernels: list[Kernel[...]] = [self.arrays_kernel, self.number_kernel]
        self._narrow: list[Kernel[...]] = []
        if narrow is not None:
            self._narrow = [
                broadcasting(f"{name}_narrow_forward", narrow, scalars=scalars, dtypes=NARROW),
                pointwise(
                    f"{name}_narrow_number_forward", narrow, scalars=scalars + 1, dtypes=NARROW
                ),
            ]
            self.kernels += self._narrow
        self._plans = Plans()
        self._gradients: list[Kernel[...]] = []
        if gradients is not None:
            self._gradients = [
                broadcasting(f"{name}_backward_{own}", formula_of, inputs=3, scalars=scalars)
                for own, formula_of in zip("xy", gradients, strict=True)
            ]
            self._number_gradient = pointwise(
                f"{name}_number_backward", gradients[0], inputs=2, scalars=scalars + 1
            )
            self.kernels += [*self._gradients, self._number_gradient]

    def __call__(self, x: Any, y: Any, *numbers: float, out: Any = None) -> Any:
        """The result, of the shape that both broadcast to.

        Raises:
            KernelError: E1201-E1204, E1206 and E1207.
        """
        key = None if is_number(y) else key_of((x, y, out), *map(_kind, numbers))
        plan = self._plans.find(key)
        if plan is not None:
            return plan(x, y, out, numbers)
        first = operand("x", x)
        require_dtype(self.name, "x", first, self.arrays_kernel.dtypes)
        of_arrays, of_number = self.arrays_kernel, self.number_kernel
        if self._narrow and is_narrow(first):
            of_arrays, of_number = self._narrow
        if is_number(y):
            _fits(self.name, "y", first, y)
            return launch(
                self.name,
                of_number,
                [("x", first)],
                (y, *numbers),
                out=out,
                dtype=self.result,
            )
        both = matching(self.name, [("x", first), ("y", operand("y", y))])
        for own in numbers:
            _fits(self.name, "alpha", first, own)
        shape = broadcast_shape(self.name, *(own.shape for own in both))
        found = launch_broadcasting(
            self.name, of_arrays, both, shape, numbers, out=out, dtype=self.result
        )
        target = found.operand
        # Of integers, numbers are looked at each time; copies have to be made each time.
        plain = not numbers or first.dtype[0] not in "iu"
        if key is not None and plain and target.size and (out is None or out.is_contiguous()):
            run, ready = plan_broadcasting(
                self.name, of_arrays, [expanded(own, shape) for own in both], target
            )
            if all(a.array is b.array for a, b in zip(ready, both, strict=True)):
                self._plans.keep(key, _plan(run, first, target))
        return found.finish()

    def backward(self, grad: Any, x: Any, y: Any, *numbers: float) -> tuple[Any, Any]:
        """The gradients by `x` and by `y`, each of its shape; None for a number.

        Raises:
            KernelError: E1201-E1203 and E1206 for arrays that do not fit each other.
        """
        name = f"{self.name}_backward"
        upstream, first = operand("grad", grad), operand("x", x)
        require_dtype(name, "x", first, self._number_gradient.dtypes)
        if is_number(y):
            given = [("grad", upstream), ("x", first)]
            return launch(name, self._number_gradient, given, (y, *numbers)), None
        second = operand("y", y)
        both = matching(name, [("x", first), ("y", second), ("grad", upstream)])[:2]
        shape = broadcast_shape(name, first.shape, second.shape)
        if upstream.shape != shape:
            what = f"`grad` is {upstream.shape}, but the result is {shape}"
            raise E1202.error(operation=name, what=what).help("give one of its shape")
        passed = self.passed if all(number == 1 for number in numbers) else ""
        by_x, by_y = (
            grad
            if which in passed and own.shape == shape
            else summed(name, chosen, [upstream, *both], shape, own, numbers)
            for which, chosen, own in zip("xy", self._gradients, both, strict=True)
        )
        return by_x, by_y


def _kind(number: Any) -> str:
    return type(number).__name__


def _plan(run: Callable[..., None], first: Operand, target: Operand) -> Callable[..., Any]:
    shape = target.shape
    dtype = None if target.dtype == first.dtype else target.array.dtype

    def plan(x: Any, y: Any, out: Any, numbers: Sequence[float]) -> Any:
        out = result_of(x, out, shape, dtype)
        run(out, (bare(x), bare(y)), numbers)
        return out

    return plan


def is_number(value: Any) -> bool:
    """Whether an operand is a Python number."""
    return isinstance(value, int | float)


def _fits(operation: str, name: str, x: Operand, value: float) -> None:
    if x.dtype[0] not in "iu":
        return
    bits = int(x.dtype[1:])
    least, most = (0, 2**bits - 1) if x.dtype[0] == "u" or bits == 1 else _signed(bits)
    if not isinstance(value, int) or not max(least, -_EXACT) <= value <= min(most, _EXACT):
        limits = "" if bits > 32 else f"of {least} to {most}, "
        raise E1204.error(operation=operation, name=name, found=f"{value!r}").help(
            f"for arrays of {x.dtype} it is an integer, {limits}of at most 2^53"
        )


def _signed(bits: int) -> tuple[int, int]:
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def matching(operation: str, given: Sequence[tuple[str, Operand]]) -> list[Operand]:
    """The operands, all in one place (E1206) and of the dtype of the first (E1203)."""
    same_place(operation, given)
    for name, own in given[1:]:
        require_dtype(operation, name, own, (given[0][1].dtype,))
    return [own for _, own in given]


def summed(
    operation: str,
    kernel: Kernel[...],
    arrays: Sequence[Operand],
    shape: Sequence[int],
    like: Operand,
    numbers: Sequence[float] = (),
) -> Any:
    """The gradient by `like`: what `kernel` makes of `arrays` at `shape`, summed where it repeats.

    Between the two steps it is in the dtype of the computation.
    """
    if like.shape == tuple(shape):
        return launch_broadcasting(operation, kernel, arrays, shape, numbers, like=like).finish()
    wide = launch_broadcasting(operation, kernel, arrays, shape, numbers, dtype=exact(like))
    result = Output(operation, like, like.shape)
    axes = repeated_axes(operation, shape, like.shape)
    reduce_into(operation, SUM, result.operand, wide.operand, axes)
    return result.finish()
