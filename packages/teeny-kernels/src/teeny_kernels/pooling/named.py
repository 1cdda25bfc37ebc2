"""The pools under the names of PyTorch, for one to three axes: avg_pool2d, max_pool1d, lp_pool3d...

x is (N, C, sides) or (C, sides); a single number as a size, stride, padding or dilation is for all
axes. The operations are those of average.py, maximum.py and power.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from teeny_kernels.arrays import operand
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import whole_numbers
from teeny_kernels.pooling.average import avg_pool, avg_pool_backward
from teeny_kernels.pooling.maximum import max_pool, max_pool_backward
from teeny_kernels.pooling.power import lp_pool, lp_pool_backward

if TYPE_CHECKING:
    from teeny_kernels.pooling.geometry import Sides
    from teeny_kernels.spec import KernelSpec

A = TypeVar("A")

# Those of the operations test these functions; they only fix the number of axes.
SPECS: tuple[KernelSpec, ...] = ()


def _size(operation: str, x: Any, kernel_size: Sides, count: int) -> tuple[int, ...]:
    """`kernel_size` for each of `count` axes. Raises E1202 unless `x` has one or two more."""
    given = operand("x", x)
    if given.ndim not in (count + 1, count + 2):
        what = f"`x` is of {given.shape}"
        raise E1202.error(operation=operation, what=what).help(
            f"give (N, C, ...) or (C, ...) with {count} axes after C"
        )
    size = whole_numbers(operation, "kernel_size", kernel_size)
    size = size * count if len(size) == 1 else size
    if len(size) != count:
        raise E1204.error(operation=operation, name="kernel_size", found=f"{kernel_size}").help(
            f"give one number, or {count}"
        )
    return size


def avg_pool1d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    *,
    out: A | None = None,
) -> A:
    """`avg_pool` over the last one axis."""
    size = _size("avg_pool1d", x, kernel_size, 1)
    return avg_pool(x, size, stride, padding, ceil_mode, count_include_pad, out=out)


def avg_pool1d_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> A:
    """The gradient by x of `avg_pool1d`."""
    size = _size("avg_pool1d_backward", x, kernel_size, 1)
    return avg_pool_backward(grad, x, size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: A | None = None,
) -> A:
    """`avg_pool` over the last two axes."""
    size = _size("avg_pool2d", x, kernel_size, 2)
    return avg_pool(
        x, size, stride, padding, ceil_mode, count_include_pad, divisor_override, out=out
    )


def avg_pool2d_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> A:
    """The gradient by x of `avg_pool2d`."""
    size = _size("avg_pool2d_backward", x, kernel_size, 2)
    return avg_pool_backward(
        grad, x, size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    out: A | None = None,
) -> A:
    """`avg_pool` over the last three axes."""
    size = _size("avg_pool3d", x, kernel_size, 3)
    return avg_pool(
        x, size, stride, padding, ceil_mode, count_include_pad, divisor_override, out=out
    )


def avg_pool3d_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> A:
    """The gradient by x of `avg_pool3d`."""
    size = _size("avg_pool3d_backward", x, kernel_size, 3)
    return avg_pool_backward(
        grad, x, size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@overload
def max_pool1d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: A | None = None,
) -> A: ...
@overload
def max_pool1d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: A | None = None,
) -> tuple[A, A]: ...
def max_pool1d(
    x: Any,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Any:
    """`max_pool` over the last one axis; with `return_indices` the places of the maxima too."""
    size = _size("max_pool1d", x, kernel_size, 1)
    how: dict[str, Any] = {"ceil_mode": ceil_mode, "return_indices": return_indices, "out": out}
    return max_pool(x, size, stride, padding, dilation, **how)


def max_pool1d_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    indices: A | None = None,
) -> A:
    """The gradient by x of `max_pool1d`; the places are found again unless `indices` gives them."""
    size = _size("max_pool1d_backward", x, kernel_size, 1)
    return max_pool_backward(grad, x, size, stride, padding, dilation, ceil_mode, indices=indices)


@overload
def max_pool2d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: A | None = None,
) -> A: ...
@overload
def max_pool2d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: A | None = None,
) -> tuple[A, A]: ...
def max_pool2d(
    x: Any,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Any:
    """`max_pool` over the last two axes; with `return_indices` the places of the maxima too."""
    size = _size("max_pool2d", x, kernel_size, 2)
    how: dict[str, Any] = {"ceil_mode": ceil_mode, "return_indices": return_indices, "out": out}
    return max_pool(x, size, stride, padding, dilation, **how)


def max_pool2d_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    indices: A | None = None,
) -> A:
    """The gradient by x of `max_pool2d`; the places are found again unless `indices` gives them."""
    size = _size("max_pool2d_backward", x, kernel_size, 2)
    return max_pool_backward(grad, x, size, stride, padding, dilation, ceil_mode, indices=indices)


@overload
def max_pool3d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
    *,
    out: A | None = None,
) -> A: ...
@overload
def max_pool3d(
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
    out: A | None = None,
) -> tuple[A, A]: ...
def max_pool3d(
    x: Any,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
    *,
    out: Any = None,
) -> Any:
    """`max_pool` over the last three axes; with `return_indices` the places of the maxima too."""
    size = _size("max_pool3d", x, kernel_size, 3)
    how: dict[str, Any] = {"ceil_mode": ceil_mode, "return_indices": return_indices, "out": out}
    return max_pool(x, size, stride, padding, dilation, **how)


def max_pool3d_backward(
    grad: A,
    x: A,
    kernel_size: Sides,
    stride: Sides | None = None,
    padding: Sides = 0,
    dilation: Sides = 1,
    ceil_mode: bool = False,
    *,
    indices: A | None = None,
) -> A:
    """The gradient by x of `max_pool3d`; the places are found again unless `indices` gives them."""
    size = _size("max_pool3d_backward", x, kernel_size, 3)
    return max_pool_backward(grad, x, size, stride, padding, dilation, ceil_mode, indices=indices)


def lp_pool1d(
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """`lp_pool` over the last one axis."""
    size = _size("lp_pool1d", x, kernel_size, 1)
    return lp_pool(x, norm_type, size, stride, ceil_mode, out=out)


def lp_pool1d_backward(
    grad: A,
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x of `lp_pool1d`."""
    size = _size("lp_pool1d_backward", x, kernel_size, 1)
    return lp_pool_backward(grad, x, norm_type, size, stride, ceil_mode, out=out)


def lp_pool2d(
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """`lp_pool` over the last two axes."""
    size = _size("lp_pool2d", x, kernel_size, 2)
    return lp_pool(x, norm_type, size, stride, ceil_mode, out=out)


def lp_pool2d_backward(
    grad: A,
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x of `lp_pool2d`."""
    size = _size("lp_pool2d_backward", x, kernel_size, 2)
    return lp_pool_backward(grad, x, norm_type, size, stride, ceil_mode, out=out)


def lp_pool3d(
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """`lp_pool` over the last three axes."""
    size = _size("lp_pool3d", x, kernel_size, 3)
    return lp_pool(x, norm_type, size, stride, ceil_mode, out=out)


def lp_pool3d_backward(
    grad: A,
    x: A,
    norm_type: float,
    kernel_size: Sides,
    stride: Sides | None = None,
    ceil_mode: bool = False,
    *,
    out: A | None = None,
) -> A:
    """The gradient by x of `lp_pool3d`."""
    size = _size("lp_pool3d_backward", x, kernel_size, 3)
    return lp_pool_backward(grad, x, norm_type, size, stride, ceil_mode, out=out)
