"""Padding of up to three axes: constant, reflected, replicated, circular; forward and backward.

    out[o] = x[source(o - before)]     along each padded axis

source(p) is p within the input; outside of it |p| and 2 (n - 1) - p (reflect), the nearest element
(replicate), p modulo n (circular), or none: then the result is the constant. Grid and rules of
aliasing: kernels.py. Elements are copied, so results are exact; gradients are sums in f32, f64 for
f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple, TypeVar

from teeny_kernels.arrays import Operand, operand
from teeny_kernels.codes import E1202, E1204
from teeny_kernels.layout import Output, contiguous, require_dtype
from teeny_kernels.padding.kernels import (
    CIRCULAR,
    CONSTANT,
    REFLECT,
    REPLICATE,
    pad_backward_kernel,
    pad_forward_kernel,
    pad_lines_backward,
)
from teeny_kernels.padding.reference import spec_of
from teeny_kernels.spec import FLOATS

A = TypeVar("A")

DTYPES = (*FLOATS, "i8", "i16", "i32", "i64", "u8")
MODES = {
    "constant": CONSTANT,
    "reflect": REFLECT,
    "replicate": REPLICATE,
    "circular": CIRCULAR,
}
MOST = 3
BLOCK_SIZE = 1024
SHORTEST, LONGEST = 32, 1024  # lines, and the part of one, that a program takes whole
LINES = 4
MOST_TAPS = 9
MOST_LINES = 2**31 - 1024


class Padding(NamedTuple):
    """The last axes of a call, three of them: sides of input and output, elements before."""

    sides: tuple[int, ...]
    out_sides: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def pad(
    x: A, pad: Sequence[int], mode: str = "constant", value: float = 0.0, *, out: A | None = None
) -> A:
    """`x` with elements added to its last axes: `pad` gives how many before and after, last first.

    `mode` is `constant` (with `value`), `reflect`, `replicate` or `circular`. Negative numbers take
    elements away; not with `circular`.

    Raises:
        KernelError: E1204 for an unknown mode, another number of pads than two for each of up to
            three axes, or more of them than the mode can fill; E1202 for an array of fewer axes.
    """
    operation = "pad"
    if mode not in MODES:
        raise E1204.error(operation=operation, name="mode", found=f"{mode!r}").help(
            f"one of {', '.join(MODES)}"
        )
    return _forward(operation, x, pad, MODES[mode], value, out)


def pad_backward(grad: A, pad: Sequence[int], mode: str = "constant") -> A:
    """The gradient by x of `pad(x, pad, mode)`."""
    operation = "pad_backward"
    if mode not in MODES:
        raise E1204.error(operation=operation, name="mode", found=f"{mode!r}").help(
            f"one of {', '.join(MODES)}"
        )
    return _backward(operation, grad, pad, MODES[mode])


def constant_pad(x: A, pad: Sequence[int], value: float = 0.0, *, out: A | None = None) -> A:
    """`x` with `value` around it: `pad` gives how many before and after, the last axis first."""
    return _forward("constant_pad", x, pad, CONSTANT, value, out)


def constant_pad_backward(grad: A, pad: Sequence[int], value: float = 0.0) -> A:
    """The gradient by x of `constant_pad`; it does not depend on `value`."""
    return _backward("constant_pad_backward", grad, pad, CONSTANT)


def reflection_pad(x: A, pad: Sequence[int], *, out: A | None = None) -> A:
    """`x` mirrored at its first and last elements, fewer of them than each axis has."""
    return _forward("reflection_pad", x, pad, REFLECT, 0.0, out)


def reflection_pad_backward(grad: A, pad: Sequence[int]) -> A:
    """The gradient by x of `reflection_pad`."""
    return _backward("reflection_pad_backward", grad, pad, REFLECT)


def replication_pad(x: A, pad: Sequence[int], *, out: A | None = None) -> A:
    """`x` with its first and last elements repeated."""
    return _forward("replication_pad", x, pad, REPLICATE, 0.0, out)


def replication_pad_backward(grad: A, pad: Sequence[int]) -> A:
    """The gradient by x of `replication_pad`."""
    return _backward("replication_pad_backward", grad, pad, REPLICATE)


def circular_pad(x: A, pad: Sequence[int], *, out: A | None = None) -> A:
    """`x` continued from its other end, by up to as many elements as each axis has."""
    return _forward("circular_pad", x, pad, CIRCULAR, 0.0, out)


def circular_pad_backward(grad: A, pad: Sequence[int]) -> A:
    """The gradient by x of `circular_pad`."""
    return _backward("circular_pad_backward", grad, pad, CIRCULAR)


def _pairs(operation: str, x: Operand, pad: Sequence[int]) -> list[tuple[int, int]]:
    """What is added before and after each padded axis, the first axis first."""
    count, odd = divmod(len(pad), 2)
    if odd or not 1 <= count <= MOST:
        raise E1204.error(operation=operation, name="pad", found=f"{tuple(pad)}").help(
            f"give two numbers for each of one to {MOST} axes"
        )
    if count > x.ndim:
        what = f"`pad` is of {count} axes, the array has {x.ndim}"
        raise E1202.error(operation=operation, what=what).help("give an array of more axes")
    return [(pad[2 * at], pad[2 * at + 1]) for at in reversed(range(count))]


def _padding(
    operation: str, sides: Sequence[int], pairs: Sequence[tuple[int, int]], mode: int
) -> Padding:
    """The geometry of a call; `sides` are those of the input."""
    out_sides: list[int] = []
    for side, (before, after) in zip(sides, pairs, strict=True):
        out_sides.append(side + before + after)
        most = {REFLECT: side - 1, CIRCULAR: side}.get(mode, max(before, after, 0))
        empty = mode != CONSTANT and side == 0 and out_sides[-1] > 0
        turned = mode == CIRCULAR and min(before, after) < 0
        if turned or max(before, after, 0) > max(most, 0) or out_sides[-1] < 0 or side < 0 or empty:
            helps = {
                REFLECT: "reflect fewer elements than the axis has",
                CIRCULAR: "continue by none to as many elements as the axis has",
            }
            raise E1204.error(
                operation=operation, name="pad", found=f"{(before, after)} at an axis of {side}"
            ).help(helps.get(mode, "no fewer than no elements can be left"))
    missing = MOST - len(pairs)
    return Padding(
        (1,) * missing + tuple(sides),
        (1,) * missing + tuple(out_sides),
        (0,) * missing + tuple(before for before, _ in pairs),
        (0,) * missing + tuple(after for _, after in pairs),
    )


def _wide(plane: int) -> bool:
    return plane >= 2**31 - BLOCK_SIZE


def _forward(operation: str, x: Any, pad: Sequence[int], mode: int, value: float, out: Any) -> Any:
    given = operand("x", x)
    require_dtype(operation, "x", given, DTYPES)
    pairs = _pairs(operation, given, pad)
    kept = given.shape[: given.ndim - len(pairs)]
    how = _padding(operation, given.shape[len(kept) :], pairs, mode)
    result = Output(operation, given, (*kept, *how.out_sides[MOST - len(pairs) :]), out=out)
    count = result.operand.size
    launch: Any = pad_forward_kernel[-(-count // BLOCK_SIZE)]
    launch(
        result.operand.array,
        contiguous(operation, given).array,
        count,
        value,
        *how.sides,
        *how.out_sides,
        *how.before,
        MODE=mode,
        WIDE=_wide(prod(how.out_sides)),
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return result.finish()


def _backward(operation: str, grad: Any, pad: Sequence[int], mode: int) -> Any:
    given = operand("grad", grad)
    require_dtype(operation, "grad", given, FLOATS)
    pairs = _pairs(operation, given, pad)
    kept = given.shape[: given.ndim - len(pairs)]
    sides = [
        side - before - after
        for side, (before, after) in zip(given.shape[len(kept) :], pairs, strict=True)
    ]
    how = _padding(operation, sides, pairs, mode)
    result = Output(operation, given, (*kept, *sides))
    count = result.operand.size
    taps = [_taps(mode, *pair) for pair in zip(how.before, how.after, strict=True)]
    pointers = (result.operand.array, contiguous(operation, given).array)
    numbers = (*how.sides, *how.out_sides, *how.before)
    launch: Any
    lines = count // max(1, how.sides[-1])
    if how.sides[-1] >= SHORTEST and taps[-1] <= MOST_TAPS and lines < MOST_LINES:
        width = min(LONGEST, 1 << (how.sides[-1] - 1).bit_length())
        launch = pad_lines_backward.options(num_warps=max(1, width // 128))
        launch[-(-lines // LINES) * -(-how.sides[-1] // width)](
            *(*pointers, lines, *numbers, *taps[:-1]),
            MODE=mode,
            TAPS=taps[-1],
            LINES=LINES,
            BLOCK_SIZE=width,
        )
        return result.finish()
    launch = pad_backward_kernel[-(-count // BLOCK_SIZE)]
    launch(
        *(*pointers, count, *numbers, *taps),
        MODE=mode,
        WIDE=_wide(prod(how.sides)),
        BLOCK_SIZE=BLOCK_SIZE,
    )
    return result.finish()


def _taps(mode: int, before: int, after: int) -> int:
    """The most places of an axis of the output that may show one element of the input."""
    before, after = max(before, 0), max(after, 0)
    if mode == CONSTANT or before == after == 0:
        return 1
    return 1 + before + after if mode == REPLICATE else 3


SPECS = tuple(
    spec_of(
        name, mode, forward, backward, (pad_forward_kernel, pad_backward_kernel, pad_lines_backward)
    )
    for name, mode, forward, backward in (
        ("constant_pad", "constant", constant_pad, constant_pad_backward),
        ("reflection_pad", "reflect", reflection_pad, reflection_pad_backward),
        ("replication_pad", "replicate", replication_pad, replication_pad_backward),
        ("circular_pad", "circular", circular_pad, circular_pad_backward),
    )
)
