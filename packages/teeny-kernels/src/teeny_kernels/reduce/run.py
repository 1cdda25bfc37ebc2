"""Calls of reductions: axes, shapes of results and gradients, and the launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from teeny_kernels.arrays import empty, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.elementwise.broadcast import launch_broadcasting
from teeny_kernels.layout import Output, copy, expanded, normal_axis, require_dtype, whole_numbers
from teeny_kernels.reduce.kernels import INTEGERS, exact, reduce_into
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from teeny_kernels.arrays import Operand
    from teeny_kernels.reduce.kernels import Reduction
    from teeny_macros import Kernel

Axes = int | Sequence[int] | None


def normal_axes(operation: str, axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes that `axis` names, counted from the front, in order; None names all.

    An array without axes has one of a single element, which no result keeps. Raises E1205 for an
    axis that the array does not have, E1204 for one that is named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    given = whole_numbers(operation, "axis", axis)
    found = sorted(normal_axis(operation, own, ndim, of_number=True) for own in given)
    if len(set(found)) < len(found):
        raise E1204.error(operation=operation, name="axis", found=repr(axis)).help(
            "name each axis once"
        )
    return tuple(found) if ndim else ()


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """The shape that is left without `axes`, or, with `keepdims`, with sides of 1 there."""
    if keepdims:
        return tuple(1 if at in axes else side for at, side in enumerate(shape))
    return tuple(side for at, side in enumerate(shape) if at not in axes)


def repeated_axes(operation: str, shape: Sequence[int], sides: Sequence[int]) -> list[int]:
    """The axes of `shape` along which an array of `sides` repeats. Raises E1202 if it does not."""
    missing = len(shape) - len(sides)
    if missing < 0 or any(
        own not in (1, side) for own, side in zip(sides, shape[missing:], strict=True)
    ):
        what = f"{tuple(sides)} does not broadcast to {tuple(shape)}"
        raise E1202.error(operation=operation, what=what).help("sides must be equal or 1")
    return [
        at
        for at, side in enumerate(shape)
        if at < missing or (sides[at - missing] == 1 and side != 1)
    ]


def forward(
    operation: str,
    chosen: Reduction,
    x: Any,
    axis: Axes,
    keepdims: bool,
    out: Any,
    *,
    needs_one: bool = False,
    whole: str | None = None,
) -> Any:
    """The result of a reduction; with `needs_one`, E1202 where nothing would be reduced.

    Integers and bools are taken where `whole` says the dtype of their result, `same` for their own.
    """
    source = operand("x", x)
    require_dtype(operation, "x", source, (*FLOATS, *INTEGERS) if whole else FLOATS)
    dtype = whole if source.dtype in INTEGERS and whole != "same" else source.dtype
    axes = normal_axes(operation, axis, source.ndim)
    shape = reduced_shape(source.shape, axes, keepdims)
    if needs_one and any(source.shape[own] == 0 for own in axes):
        what = f"{source.shape} has no element along an axis that is reduced"
        raise E1202.error(operation=operation, what=what).help("give it at least one")
    result = Output(operation, source, shape, dtype=dtype, out=out)
    reduce_into(operation, chosen, result.operand, source, axes)
    return result.finish()


def reduced(operation: str, chosen: Reduction, x: Operand, axes: Sequence[int]) -> Operand:
    """A reduction in the dtype of the computation, with sides of 1 for `axes`."""
    found = empty(x, reduced_shape(x.shape, axes, keepdims=True), exact(x))
    reduce_into(operation, chosen, found, x, axes)
    return found


class Gradient:
    """The arguments of a backward: `x`, and `grad` (and `y`) with sides of 1 for `axes`.

    Raises:
        KernelError: E1201-E1206 for arrays that do not fit each other.
    """

    def __init__(
        self, operation: str, grad: Any, x: Any, axis: Axes, keepdims: bool, y: Any = None
    ) -> None:
        self.operation = operation
        self.x = operand("x", x)
        require_dtype(operation, "x", self.x, FLOATS)
        self.axes = normal_axes(operation, axis, self.x.ndim)
        self.count = 1
        for own in self.axes:
            self.count *= self.x.shape[own]
        self.grad = self._kept("grad", grad, keepdims)
        self.y = self.grad if y is None else self._kept("y", y, keepdims)

    def _kept(self, name: str, value: Any, keepdims: bool) -> Operand:
        found = operand(name, value)
        same_place(self.operation, [("x", self.x), (name, found)])
        require_dtype(self.operation, name, found, (self.x.dtype,))
        wanted = reduced_shape(self.x.shape, self.axes, keepdims)
        if found.shape != wanted:
            what = f"`{name}` is {found.shape}, but the result is {wanted}"
            raise E1202.error(operation=self.operation, what=what).help("give one of its shape")
        steps = list(found.strides)
        if not keepdims:
            for own in self.axes:
                steps.insert(own, 0)
        return found._replace(
            shape=reduced_shape(self.x.shape, self.axes, keepdims=True), strides=tuple(steps)
        )

    def spread(self, small: Operand, out: Any) -> Any:
        """The gradient that is the same number, of `small`, for all that was reduced to one."""
        result = Output(self.operation, self.x, self.x.shape, out=out)
        copy(self.operation, result.operand, expanded(small, self.x.shape))
        return result.finish()

    def apply(
        self, kernel: Kernel[...], arrays: Sequence[Operand], scalars: Sequence[float], out: Any
    ) -> Any:
        """The gradient that `kernel` makes of `arrays`, broadcast to the shape of x."""
        shape = self.x.shape
        return launch_broadcasting(
            self.operation, kernel, arrays, shape, scalars, like=self.x, out=out
        ).finish()

    def small(
        self, kernel: Kernel[...], arrays: Sequence[Operand], scalars: Sequence[float] = ()
    ) -> Operand:
        """A step at the size of the result, in the dtype of the computation."""
        return launch_broadcasting(
            self.operation, kernel, arrays, self.grad.shape, scalars, dtype=exact(self.x)
        ).operand
