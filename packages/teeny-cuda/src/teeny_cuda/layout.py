"""Shapes and strides of buffers, in elements: slices, contiguity, and the runs of a strided copy.

Pure arithmetic; it touches no memory.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.codes import E1077, E1080

if TYPE_CHECKING:
    from collections.abc import Sequence


class Layout(NamedTuple):
    """Where the elements of an array lie: `offset` and `strides` in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def extent(self) -> int:
        """Elements from the first to the end of the last; 0 when there are none."""
        if 0 in self.shape:
            return 0
        return 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie row-major without gaps."""
        if 0 in self.shape:
            return True
        expected = row_major(self.shape)
        return all(
            s == e for n, s, e in zip(self.shape, self.strides, expected, strict=True) if n != 1
        )

    def runs(self) -> tuple[int, Iterator[int]]:
        """The elements of each contiguous run, and the runs' offsets from the first element."""
        length, inner = 1, len(self.shape)
        while inner and (self.strides[inner - 1] == length or self.shape[inner - 1] == 1):
            inner -= 1
            length *= self.shape[inner]
        outer = product(*(range(n) for n in self.shape[:inner]))
        strides = self.strides[:inner]
        return length, (sum(i * s for i, s in zip(index, strides, strict=True)) for index in outer)


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a row-major array."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def checked_shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    """`shape` as a tuple. Raises E1077 when a size is no integer or negative."""
    index = operator.index
    try:
        sizes = tuple(map(index, shape)) if isinstance(shape, Iterable) else (index(shape),)
    except TypeError:
        raise E1077.error(shape=f"`{shape!r}`", reason="sizes are integers").help(
            "pass an int or a tuple of ints"
        ) from None
    if any(size < 0 for size in sizes):
        raise E1077.error(shape=f"`{shape!r}`", reason="a size is negative").help(
            "sizes are 0 or more"
        )
    return sizes


def reshaped(layout: Layout, shape: int | Sequence[int], buffer: str) -> Layout:
    """A contiguous layout with another shape; one size may be -1.

    Raises:
        LaunchError: E1077 when the number of elements differs.
    """
    wanted: list[int] = list(shape) if isinstance(shape, Iterable) else [shape]
    known = [size for size in wanted if size != -1]
    if len(known) == len(wanted) - 1:
        rest: int = prod(checked_shape(known))
        missing = layout.size // rest if rest else 0
        wanted = [missing if size == -1 else size for size in wanted]
    sizes = checked_shape(wanted)
    if prod(sizes) != layout.size:
        raise E1077.error(
            shape=f"`{shape!r}`", reason=f"it has not the {layout.size} elements of {buffer}"
        ).help("the number of elements stays; one size may be -1")
    return Layout(sizes, row_major(sizes), layout.offset)


def sliced(layout: Layout, index: Any, buffer: str) -> Layout:
    """The part of a layout that `index` (ints, slices with positive steps, `...`) names.

    Raises:
        LaunchError: E1080 for another index, or one outside of the shape.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    rank = len(layout.shape)
    dots = [at for at, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise _refused(index, buffer, "`...` stands there twice")
    if len(items) - len(dots) > rank:
        raise _refused(index, buffer, f"it has {rank} axes")
    fill = [slice(None)] * (rank - (len(items) - len(dots)))
    items = items[: dots[0]] + fill + items[dots[0] + 1 :] if dots else items + fill
    offset = layout.offset
    shape: list[int] = []
    strides: list[int] = []
    for axis, item in enumerate(items):
        size, stride = layout.shape[axis], layout.strides[axis]
        if isinstance(item, slice):
            try:
                start, stop, step = item.indices(size)
            except (TypeError, ValueError):
                raise _refused(index, buffer, "slices have integers") from None
            if step < 1:
                raise _refused(index, buffer, "steps are positive")
            count = max(0, -(-(stop - start) // step))
            offset += start * stride if count else 0
            shape.append(count)
            strides.append(stride * step)
            continue
        try:
            at = operator.index(item)
        except TypeError:
            raise _refused(index, buffer, f"`{item!r}` is neither int nor slice") from None
        if not -size <= at < size:
            raise _refused(index, buffer, f"axis {axis} has {size} elements")
        offset += (at + size if at < 0 else at) * stride
    return Layout(tuple(shape), tuple(strides), offset)


def _refused(index: Any, buffer: str, reason: str) -> Any:
    return E1080.error(index=f"`[{_text(index)}]`", buffer=buffer, reason=reason).help(
        "index with ints, slices with positive steps, and `...`"
    )


def _text(index: Any) -> str:
    if isinstance(index, tuple):
        return ", ".join(map(_text, index))
    if isinstance(index, slice):
        start, stop, step = (
            "" if part is None else str(part) for part in (index.start, index.stop, index.step)
        )
        return f"{start}:{stop}" + (f":{step}" if step else "")
    return "..." if index is Ellipsis else repr(index)
