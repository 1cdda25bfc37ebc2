"""What pools must be, in NumPy: the elements of every window by explicit places, and the cases.

Written without the kernels and their geometry: windows are counted by trying each beginning.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.spec import Case, Cost

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _begins(side: int, size: int, step: int, pad: int, gap: int, ceil_mode: bool) -> list[int]:
    reach = gap * (size - 1) + 1
    found: list[int] = []
    begin = -pad
    while begin + reach <= side + pad or (ceil_mode and begin < side):
        # By ceil_mode a last window may reach over the padding, by less than one stride.
        if begin + reach > side + pad and begin + reach - step >= side + pad:
            break
        found.append(begin)
        begin += step
    return found


def spread(
    x: np.ndarray,
    kernel_size: Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any, Any]:
    """For every window its elements, their places in the plane, and which lie within the padding.

    The last axis runs over the window; places are -1 outside of x.
    """
    count = len(kernel_size)
    steps, pads, gaps = (
        (own,) * count if isinstance(own, int) else tuple(own)
        for own in (kernel_size if stride is None else stride, padding, dilation)
    )
    sides = x.shape[x.ndim - count :]
    place: Any = np.zeros((), np.int64)
    inside: Any = np.ones((), bool)
    padded: Any = np.ones((), bool)
    for side, size, step, pad, gap in zip(sides, kernel_size, steps, pads, gaps, strict=True):
        begins = np.array(_begins(side, size, step, pad, gap, ceil_mode))
        at = begins[:, None] + gap * np.arange(size)
        grown = [np.asarray(own)[..., None, None] for own in (place, inside, padded)]
        place = grown[0] * side + at
        inside = grown[1] & (at >= 0) & (at < side)
        padded = grown[2] & (at < side + pad)
    # From (out, window) for each axis to (out..., window).
    order = [*range(0, 2 * count, 2), *range(1, 2 * count, 2)]
    outs = place.transpose(order).shape[:count]
    place, inside, padded = (
        own.transpose(order).reshape(*outs, -1) for own in (place, inside, padded)
    )
    kept = x.shape[: x.ndim - count]
    flat = x.reshape(*kept, int(np.prod(sides)))
    values = flat[..., np.where(inside, place, 0)]
    places = np.broadcast_to(np.where(inside, place, -1), values.shape)
    return values, places, padded


def scattered(x: np.ndarray, places: np.ndarray, parts: np.ndarray, count: int) -> np.ndarray:
    """An array like `x`, with `count` pooled axes: each of `parts` added at its place."""
    plane = int(np.prod(x.shape[x.ndim - count :]))
    rows = x.size // plane
    total = np.zeros((rows, plane))
    if rows:
        for own, at, part in zip(
            total, places.reshape(rows, -1), parts.reshape(rows, -1), strict=True
        ):
            np.add.at(own, at[at >= 0], part[at >= 0])
    return total.reshape(x.shape)


def torch_function(name: str) -> Callable[..., Any]:
    """PyTorch's function for the number of axes that a call pools."""

    def call(torch: Any, x: Any, kernel_size: Sequence[int], **options: Any) -> Any:
        function = getattr(torch.nn.functional, f"{name}{len(kernel_size)}d")
        # lp_pool1d multiplies by the size.
        size = kernel_size if len(kernel_size) > 1 else kernel_size[0]
        return function(x, kernel_size=size, **options)

    return call


def cost(case: Case, itemsize: int) -> Cost:
    """Reading x once and writing the result once; an operation for each element of a window."""
    size = case.options["kernel_size"]
    stride: int | tuple[int, ...] = case.options.get("stride") or size
    steps = (stride,) * len(size) if isinstance(stride, int) else stride
    read = prod(case.shapes[0])
    written = read // prod(steps)
    return Cost(itemsize * (read + written), written * prod(size))


SHARED_CASES = (
    Case(((1, 1, 6, 6),), {"kernel_size": (3, 3), "stride": 2, "ceil_mode": True}),
    Case(((0, 2, 5, 5),), {"kernel_size": (2, 2)}),
    Case(((1, 1, 1, 1),), {"kernel_size": (1, 1)}),
    Case(((2, 3, 1031),), {"kernel_size": (5,), "stride": 3, "padding": 2}, "shifted"),
    Case(((3, 7),), {"kernel_size": (7,)}),
    Case(((2, 3, 9, 8),), {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0)}),
    Case(((4, 3, 31, 29),), {"kernel_size": (3, 3), "stride": 2, "padding": 1}, "special"),
    Case(((2, 3, 17, 13),), {"kernel_size": (2, 2)}, "ties"),
    Case(((3, 10, 7),), {"kernel_size": (2, 3), "stride": (3, 4)}),
    Case(
        ((2, 2, 6, 7, 5),),
        {"kernel_size": (2, 3, 3), "stride": (2, 1, 2), "padding": (1, 1, 0), "ceil_mode": True},
    ),
    Case(((1, 3, 4, 9, 6),), {"kernel_size": (2, 2, 2)}, "special"),
)
AVG_CASES = (
    *SHARED_CASES,
    Case(
        ((1, 1, 4, 4),),
        {"kernel_size": (1, 2), "stride": (2, 2), "padding": (0, 1), "ceil_mode": True},
    ),
    Case(
        ((2, 3, 7, 9),),
        {"kernel_size": (3, 4), "stride": 2, "padding": (1, 2), "count_include_pad": False},
    ),
    Case(((2, 3, 7, 9),), {"kernel_size": (3, 3), "stride": 2, "divisor_override": 5}),
    Case(
        ((2, 1, 11),),
        {
            "kernel_size": (4,),
            "stride": 3,
            "padding": 2,
            "ceil_mode": True,
            "count_include_pad": False,
        },
    ),
)
MAX_CASES = (
    *SHARED_CASES,
    Case(((2, 3, 12, 11),), {"kernel_size": (3, 2), "stride": 2, "padding": 1, "dilation": (2, 3)}),
    Case(
        ((2, 2, 20),),
        {"kernel_size": (3,), "stride": 1, "padding": 1, "dilation": 4, "ceil_mode": True},
        "ties",
    ),
    Case(
        ((2, 3, 6, 5, 7),), {"kernel_size": (2, 2, 3), "stride": 1, "dilation": (1, 2, 2)}, "ties"
    ),
)
