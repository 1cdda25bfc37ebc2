"""Where elements lie: joining axes, broadcasting, and contiguous copies of strided arrays.

Kernels of the families read contiguous arrays; what is strided is copied by the kernel here.
Grid of the copy: one program for each block of elements of the output, in row-major order.
"""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any, TypeVar

import teeny_triton as tl
from teeny_kernels.arrays import Operand, empty, finish, operand, row_major
from teeny_kernels.codes import E1202, E1203, E1204, E1205, E1207, E1208
from teeny_macros import kernel
from teeny_triton import Axis, Const, Elem, Ptr, i64

if TYPE_CHECKING:
    from collections.abc import Sequence

D = TypeVar("D", bound=Elem)
E = TypeVar("E", bound=Elem)

MOST_AXES = 6
BLOCK_SIZE = 1024


@kernel
def strided_copy(
    out_ptr: Ptr[E],
    x_ptr: Ptr[D],
    n_elements: i64 | int,
    size_1: i64 | int,
    size_2: i64 | int,
    size_3: i64 | int,
    size_4: i64 | int,
    size_5: i64 | int,
    x_stride_0: i64 | int,
    x_stride_1: i64 | int,
    x_stride_2: i64 | int,
    x_stride_3: i64 | int,
    x_stride_4: i64 | int,
    x_stride_5: i64 | int,
    out_stride_0: i64 | int,
    out_stride_1: i64 | int,
    out_stride_2: i64 | int,
    out_stride_3: i64 | int,
    out_stride_4: i64 | int,
    out_stride_5: i64 | int,
    NDIM: Const[int],
    BLOCK_SIZE: Const[int],
) -> None:
    index = tl.program_id(Axis.X).to(i64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = index < n_elements
    from_offset = index * 0
    to_offset = index * 0
    if NDIM > 5:
        at = index % size_5
        index = index // size_5
        from_offset += at * x_stride_5
        to_offset += at * out_stride_5
    if NDIM > 4:
        at = index % size_4
        index = index // size_4
        from_offset += at * x_stride_4
        to_offset += at * out_stride_4
    if NDIM > 3:
        at = index % size_3
        index = index // size_3
        from_offset += at * x_stride_3
        to_offset += at * out_stride_3
    if NDIM > 2:
        at = index % size_2
        index = index // size_2
        from_offset += at * x_stride_2
        to_offset += at * out_stride_2
    if NDIM > 1:
        at = index % size_1
        index = index // size_1
        from_offset += at * x_stride_1
        to_offset += at * out_stride_1
    from_offset += index * x_stride_0
    to_offset += index * out_stride_0
    x = tl.load(x_ptr + from_offset, mask=mask)
    tl.store(out_ptr + to_offset, x.to(tl.elem(out_ptr)), mask=mask)


def joined(shape: Sequence[int], *all_strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """The fewest axes that say the same: sides and, for each array, strides.

    Axes of one element go; two that follow each other in every array become one.
    """
    sides: list[int] = []
    strides: list[list[int]] = [[] for _ in all_strides]
    for side, *steps in zip(shape, *all_strides, strict=True):
        if side == 1:
            continue
        if sides and all(own[-1] == step * side for own, step in zip(strides, steps, strict=True)):
            sides[-1] *= side
            for own, step in zip(strides, steps, strict=True):
                own[-1] = step
        else:
            sides.append(side)
            for own, step in zip(strides, steps, strict=True):
                own.append(step)
    return sides, strides


def copy(operation: str, target: Operand, source: Operand) -> None:
    """Copy the elements of `source` into `target`, of the same shape, converting the dtype.

    Raises:
        KernelError: E1208 for arrays of more than six axes that cannot be joined.
    """
    if not target.size:
        return
    sides, (to_steps, from_steps) = joined(target.shape, target.strides, source.strides)
    ndim = max(1, len(sides))
    if ndim > MOST_AXES:
        raise E1208.error(operation=operation, found=ndim).help("make the array contiguous first")
    missing = MOST_AXES - len(sides)
    steps = ([*own, *[0] * missing] for own in (from_steps, to_steps))
    numbers = [*sides[1:], *[1] * (MOST_AXES - ndim), *(step for own in steps for step in own)]
    launch: Any = strided_copy[-(-target.size // BLOCK_SIZE)]
    launch(target.array, source.array, target.size, *numbers, ndim, BLOCK_SIZE)


def contiguous(operation: str, x: Operand, dtype: str | None = None) -> Operand:
    """`x` itself when it is contiguous and of `dtype`, else a copy that is."""
    if x.is_contiguous and dtype in (None, x.dtype):
        return x
    made = empty(x, x.shape, dtype)
    copy(operation, made, x)
    return made


def expanded(x: Operand, shape: Sequence[int]) -> Operand:
    """`x` as an array of `shape` that repeats along axes of one element; nothing is copied."""
    if x.shape == shape:
        return x
    missing = len(shape) - x.ndim
    strides = [0] * missing + [
        0 if own == 1 and side != 1 else step
        for own, step, side in zip(x.shape, x.strides, shape[missing:], strict=True)
    ]
    return x._replace(shape=tuple(shape), strides=tuple(strides))


def broadcast_shape(operation: str, *shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that all `shapes` broadcast to. Raises E1202 when they do not."""
    found: list[int] = []
    for position in range(1, max(len(shape) for shape in shapes) + 1):
        sides = {shape[-position] for shape in shapes if len(shape) >= position} - {1}
        if len(sides) > 1:
            listed = " and ".join(str(tuple(shape)) for shape in shapes)
            raise E1202.error(operation=operation, what=f"{listed} do not broadcast").help(
                "sides must be equal or 1, counted from the last"
            )
        found.append(sides.pop() if sides else 1)
    return tuple(reversed(found))


def reshaped(x: Operand, shape: Sequence[int]) -> Operand:
    """A contiguous array seen with another shape of as many elements."""
    sides = tuple(shape)
    return Operand(x.array, sides, row_major(sides), x.dtype, x.device, x.library)


def permuted(x: Operand, axes: Sequence[int]) -> Operand:
    """`x` with its axes in another order; nothing is copied."""
    shape, strides = x.shape, x.strides
    return Operand(
        x.array,
        tuple([shape[axis] for axis in axes]),
        tuple([strides[axis] for axis in axes]),
        x.dtype,
        x.device,
        x.library,
    )


def normal_axis(operation: str, axis: int, ndim: int, *, of_number: bool = False) -> int:
    """`axis` counted from the front. Raises E1205 where it is none, E1204 for no integer.

    With `of_number` an array without axes has one of a single element, as it has in PyTorch.
    """
    (axis,) = whole_numbers(operation, "axis", axis, one=True)
    if of_number and not ndim and axis in (0, -1):
        return 0
    if not -ndim <= axis < ndim:
        raise E1205.error(operation=operation, axis=axis, ndim=ndim).help(
            f"axes go from {-ndim} to {ndim - 1}" if ndim else "the array has no axis"
        )
    return axis % ndim


def whole_numbers(operation: str, name: str, value: Any, *, one: bool = False) -> tuple[int, ...]:
    """The integers of an option, one number or a sequence of them, of Python or NumPy.

    Raises E1204 for anything else, and with `one` for a sequence.
    """
    try:
        return (index(value),)
    except TypeError:
        pass
    try:
        if not one:
            return tuple(index(own) for own in value)
    except TypeError:
        pass
    raise E1204.error(operation=operation, name=name, found=f"{value!r}").help(
        "give an integer" if one else "give an integer, or several"
    )


def require_dtype(operation: str, name: str, x: Operand, dtypes: Sequence[str]) -> None:
    """Raise E1203 unless `x` is of one of `dtypes`."""
    if x.dtype not in dtypes:
        listed = ", ".join(dtypes)
        raise E1203.error(name=name, found=x.dtype, reason=f"{operation} takes {listed}").help(
            "convert it first"
        )


class Output:
    """Where a result goes: a new array, or the caller's `out`.

    `operand` is contiguous memory for the kernel; `finish` gives the caller's array, into which it
    copies first when `out` was strided.
    """

    def __init__(
        self,
        operation: str,
        like: Operand,
        shape: Sequence[int],
        *,
        dtype: str | None = None,
        out: Any = None,
        name: str = "out",
    ) -> None:
        self._operation = operation
        self._given = out
        self._strided: Operand | None = None
        if out is None:
            self.operand = empty(like, shape, dtype)
            return
        given = operand(name, out)
        wanted = (tuple(shape), dtype or like.dtype, like.library, like.device)
        found = (given.shape, given.dtype, given.library, given.device)
        if found != wanted or given.library == "jax":
            raise E1207.error(
                operation=operation, name=name, found=_shown(*found), wanted=_shown(*wanted)
            ).help("leave it out, or pass one that fits")
        self.operand = given
        if not given.is_contiguous:
            self._strided = given
            self.operand = empty(given, given.shape)

    def finish(self) -> Any:
        """The caller's array, complete."""
        if self._strided is not None:
            copy(self._operation, self._strided, self.operand)
        return finish(self.operand) if self._given is None else self._given


def _shown(shape: tuple[int, ...], dtype: str, library: str, device: str) -> str:
    return f"a {library} array of {dtype}{list(shape)} on `{device}`"
