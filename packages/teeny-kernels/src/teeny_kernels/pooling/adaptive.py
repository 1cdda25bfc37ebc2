"""Adaptive pools: the averages or maxima of as many windows of an axis as the result has elements.

    window o of an axis goes from floor(o side / out) to ceil((o + 1) side / out)

x is (N, C, sides) or (C, sides). `output_size` is one number for all axes or one for each; None is
the side of x. Where every window is a whole axis, the kernels are those of the global pools. Grid
and rules of aliasing: adaptive_kernels.py. Source: torch.nn.functional.adaptive_avg_pool2d.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

from teeny_kernels.arrays import Operand, empty, finish, operand, same_place
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.pooling import adaptive_kernels as kernels
from teeny_kernels.pooling import whole
from teeny_kernels.pooling.adaptive_spec import adaptive_spec
from teeny_kernels.pooling.geometry import BLOCK_SIZE, MOST
from teeny_kernels.pooling.planes import launch_whole
from teeny_kernels.spec import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from teeny_macros import Kernel

    Sizes: TypeAlias = int | Sequence[int | None] | None

A = TypeVar("A")


class _Plan(NamedTuple):
    """The last three axes of a call (of one element where it has fewer), and what is before."""

    kept: tuple[int, ...]
    sides: tuple[int, ...]
    out_sides: tuple[int, ...]
    axes: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return (*self.kept, *self.out_sides[MOST - self.axes :])

    @property
    def is_whole(self) -> bool:
        """Whether each channel has one window."""
        return prod(self.out_sides) == 1

    @property
    def wide(self) -> bool:
        """Whether a place within a plane, or a product of two sides, needs 64 bits."""
        products = [a * (b + 1) + b for a, b in zip(self.sides, self.out_sides, strict=True)]
        return max(prod(self.sides), prod(self.out_sides), *products) >= 2**30


def _most(across: Sequence[int], own: Sequence[int]) -> list[int]:
    """The most parts, of `across`, that one of `own` parts of an axis meets."""
    return [
        a // b if b and a % b == 0 else a // max(b, 1) + 2 for a, b in zip(across, own, strict=True)
    ]


def _planned(operation: str, x: Operand, output_size: Sizes, axes: int) -> _Plan:
    if x.ndim not in (axes + 1, axes + 2) or 0 in x.shape[-axes:]:
        raise E1202.error(operation=operation, what=f"`x` is of {x.shape}").help(
            f"give (N, C, ...) or (C, ...) with {axes} axes after C, of at least one element each"
        )
    kept, sides = x.shape[:-axes], x.shape[-axes:]
    sizes = (output_size,) if output_size is None or isinstance(output_size, int) else output_size
    sizes = tuple(sizes) * axes if len(sizes) == 1 else tuple(sizes)
    if len(sizes) != axes or any(own is not None and own < 0 for own in sizes):
        found = f"{output_size}"
        raise E1204.error(operation=operation, name="output_size", found=found).help(
            f"give one number of at least 0, or {axes}, or None for a side of `x`"
        )
    outs = [side if own is None else own for own, side in zip(sizes, sides, strict=True)]
    ones = (1,) * (MOST - axes)
    return _Plan(kept, ones + sides, (*ones, *outs), axes)


def _launch(
    chosen: Kernel[...], whole_kernel: Kernel[...], plan: _Plan, arrays: Sequence[Operand | None],
    turned: bool = False,
) -> None:  # fmt: skip
    """Launch over the elements of the result: those of x where the kernel is `turned`."""
    count = prod(plan.kept) * prod(plan.sides if turned else plan.out_sides)
    if not count:
        return
    pointers = [None if own is None else own.array for own in arrays]
    if plan.is_whole:
        x = next(own for own in arrays if own is not None)
        seen = x._replace(shape=(1, prod(plan.kept), prod(plan.sides)))
        launch_whole(whole_kernel, seen, arrays)
        return
    most = _most(*((plan.out_sides, plan.sides) if turned else (plan.sides, plan.out_sides)))
    launch: Any = chosen[-(-count // BLOCK_SIZE)]
    sizes = (*plan.sides, *plan.out_sides, *most)
    launch(*pointers, count, *sizes, WIDE=plan.wide, BLOCK_SIZE=BLOCK_SIZE)


def _average(axes: int, x: Any, output_size: Sizes, out: Any) -> Any:
    operation = f"adaptive_avg_pool{axes}d"
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    plan = _planned(operation, given, output_size, axes)
    result = Output(operation, given, plan.shape, out=out)
    forward, of_planes = kernels.adaptive_avg_forward_kernel, whole.global_avg_forward_kernel
    _launch(forward, of_planes, plan, [result.operand, contiguous(operation, given)])
    return result.finish()


def _checked(operation: str, axes: int, grad: Any, x: Any) -> tuple[Operand, Operand, _Plan]:
    """`x`, and `grad` of a result whose sides it has, and the plan of the call."""
    given, upstream = operand("x", x), operand("grad", grad)
    require_dtype(operation, "x", given, FLOATS)
    same_place(operation, [("x", given), ("grad", upstream)])
    require_dtype(operation, "grad", upstream, (given.dtype,))
    if upstream.ndim != given.ndim or upstream.shape[:-axes] != given.shape[:-axes]:
        what = f"`x` {given.shape}, `grad` {upstream.shape}"
        raise E1202.error(operation=operation, what=what).help(
            f"give the gradient of the result, which differs in the last {axes} sides"
        )
    return given, upstream, _planned(operation, given, upstream.shape[-axes:], axes)


def _average_backward(axes: int, grad: Any, x: Any) -> Any:
    operation = f"adaptive_avg_pool{axes}d_backward"
    given, upstream, plan = _checked(operation, axes, grad, x)
    result = Output(operation, given, given.shape)
    backward, of_planes = kernels.adaptive_avg_backward_kernel, whole.global_avg_backward_kernel
    arrays = [result.operand, contiguous(operation, upstream)]
    _launch(backward, of_planes, plan, arrays, turned=True)
    return result.finish()


def _largest(axes: int, x: Any, output_size: Sizes, return_indices: bool, out: Any) -> Any:
    operation = f"adaptive_max_pool{axes}d"
    given = operand("x", x)
    require_dtype(operation, "x", given, FLOATS)
    plan = _planned(operation, given, output_size, axes)
    result = Output(operation, given, plan.shape, out=out)
    places = empty(given, plan.shape, "i64") if return_indices else None
    _find(operation, given, plan, result.operand, places)
    return result.finish() if places is None else (result.finish(), finish(places))


def _find(
    operation: str, x: Operand, plan: _Plan, out: Operand | None, places: Operand | None
) -> None:
    forward, of_planes = kernels.adaptive_max_forward_kernel, whole.global_max_forward_kernel
    _launch(forward, of_planes, plan, [out, places, contiguous(operation, x)])


def _largest_backward(axes: int, grad: Any, x: Any, indices: Any) -> Any:
    operation = f"adaptive_max_pool{axes}d_backward"
    given, upstream, plan = _checked(operation, axes, grad, x)
    if indices is None:
        places = empty(given, plan.shape, "i64" if plan.wide else "i32")
        _find(operation, given, plan, None, places)
    else:
        places = operand("indices", indices)
        same_place(operation, [("x", given), ("indices", places)])
        require_dtype(operation, "indices", places, ("i64", "i32"))
        if places.shape != plan.shape:
            what = f"`indices` {places.shape}, `grad` {plan.shape}"
            raise E1202.error(operation=operation, what=what).help("give arrays of one shape")
    result = Output(operation, given, given.shape)
    backward, of_planes = kernels.adaptive_max_backward_kernel, whole.global_max_backward_kernel
    arrays = [result.operand, contiguous(operation, upstream), contiguous(operation, places)]
    _launch(backward, of_planes, plan, arrays, turned=True)
    return result.finish()


def adaptive_avg_pool1d(x: A, output_size: Sizes, *, out: A | None = None) -> A:
    """The averages of `output_size` windows that cover the last one axis.

    Raises:
        KernelError: E1204 for sizes that do not fit, E1202 for an array of other axes or with none
            of an element.
    """
    found: A = _average(1, x, output_size, out)
    return found


def adaptive_avg_pool1d_backward(grad: A, x: A) -> A:
    """The gradient by x of `adaptive_avg_pool1d`; of `x` only the shape matters."""
    found: A = _average_backward(1, grad, x)
    return found


@overload
def adaptive_max_pool1d(
    x: A, output_size: Sizes, return_indices: Literal[False] = False, *, out: A | None = None
) -> A: ...
@overload
def adaptive_max_pool1d(
    x: A, output_size: Sizes, return_indices: Literal[True], *, out: A | None = None
) -> tuple[A, A]: ...
def adaptive_max_pool1d(
    x: Any, output_size: Sizes, return_indices: bool = False, *, out: Any = None
) -> Any:
    """The maxima of `output_size` windows that cover the last one axis.

    With `return_indices` also where each lies, in i64, in the pooled axes laid out flat.

    Raises:
        KernelError: E1204 for sizes that do not fit, E1202 for an array of other axes or with none
            of an element.
    """
    return _largest(1, x, output_size, return_indices, out)


def adaptive_max_pool1d_backward(grad: A, x: A, *, indices: A | None = None) -> A:
    """The gradient by x of `adaptive_max_pool1d`; places are found again unless given."""
    found: A = _largest_backward(1, grad, x, indices)
    return found


def adaptive_avg_pool2d(x: A, output_size: Sizes, *, out: A | None = None) -> A:
    """The averages of `output_size` windows that cover the last two axes.

    Raises:
        KernelError: E1204 for sizes that do not fit, E1202 for an array of other axes or with none
            of an element.
    """
    found: A = _average(2, x, output_size, out)
    return found


def adaptive_avg_pool2d_backward(grad: A, x: A) -> A:
    """The gradient by x of `adaptive_avg_pool2d`; of `x` only the shape matters."""
    found: A = _average_backward(2, grad, x)
    return found


@overload
def adaptive_max_pool2d(
    x: A, output_size: Sizes, return_indices: Literal[False] = False, *, out: A | None = None
) -> A: ...
@overload
def adaptive_max_pool2d(
    x: A, output_size: Sizes, return_indices: Literal[True], *, out: A | None = None
) -> tuple[A, A]: ...
def adaptive_max_pool2d(
    x: Any, output_size: Sizes, return_indices: bool = False, *, out: Any = None
) -> Any:
    """The maxima of `output_size` windows that cover the last two axes.

    With `return_indices` also where each lies, in i64, in the pooled axes laid out flat.

    Raises:
        KernelError: E1204 for sizes that do not fit, E1202 for an array of other axes or with none
            of an element.
    """
    return _largest(2, x, output_size, return_indices, out)


def adaptive_max_pool2d_backward(grad: A, x: A, *, indices: A | None = None) -> A:
    """The gradient by x of `adaptive_max_pool2d`; places are found again unless given."""
    found: A = _largest_backward(2, grad, x, indices)
    return found


def adaptive_avg_pool3d(x: A, output_size: Sizes, *, out: A | None = None) -> A:
    """The averages of `output_size` windows that cover the last three axes.

    Raises:
        KernelError: E1204 for sizes that do not fit, E1202 for an array of other axes or with none
            of an element.
    """
    found: A = _average(3, x, output_size, out)
    return found


def adaptive_avg_pool3d_backward(grad: A, x: A) -> A:
    """The gradient by x of `adaptive_avg_pool3d`; of `x` only the shape matters."""
    found: A = _average_backward(3, grad, x)
    return found


@overload
def adaptive_max_pool3d(
    x: A, output_size: Sizes, return_indices: Literal[False] = False, *, out: A | None = None
) -> A: ...
@overload
def adaptive_max_pool3d(
    x: A, output_size: Sizes, return_indices: Literal[True], *, out: A | None = None
) -> tuple[A, A]: ...
def adaptive_max_pool3d(
    x: Any, output_size: Sizes, return_indices: bool = False, *, out: Any = None
) -> Any:
    """The maxima of `output_size` windows that cover the last three axes.

    With `return_indices` also where each lies, in i64, in the pooled axes laid out flat.

    Raises:
        KernelError: E1204 for sizes that do not fit, E1202 for an array of other axes or with none
            of an element.
    """
    return _largest(3, x, output_size, return_indices, out)


def adaptive_max_pool3d_backward(grad: A, x: A, *, indices: A | None = None) -> A:
    """The gradient by x of `adaptive_max_pool3d`; places are found again unless given."""
    found: A = _largest_backward(3, grad, x, indices)
    return found


_AVERAGES = (
    kernels.adaptive_avg_forward_kernel,
    kernels.adaptive_avg_backward_kernel,
    whole.global_avg_forward_kernel,
    whole.global_avg_backward_kernel,
)
_MAXIMA = (
    kernels.adaptive_max_forward_kernel,
    kernels.adaptive_max_backward_kernel,
    whole.global_max_forward_kernel,
    whole.global_max_backward_kernel,
)
SPECS = (
    adaptive_spec(1, adaptive_avg_pool1d, adaptive_avg_pool1d_backward, _AVERAGES),
    adaptive_spec(2, adaptive_avg_pool2d, adaptive_avg_pool2d_backward, _AVERAGES),
    adaptive_spec(3, adaptive_avg_pool3d, adaptive_avg_pool3d_backward, _AVERAGES),
    adaptive_spec(1, adaptive_max_pool1d, adaptive_max_pool1d_backward, _MAXIMA),
    adaptive_spec(2, adaptive_max_pool2d, adaptive_max_pool2d_backward, _MAXIMA),
    adaptive_spec(3, adaptive_max_pool3d, adaptive_max_pool3d_backward, _MAXIMA),
)
