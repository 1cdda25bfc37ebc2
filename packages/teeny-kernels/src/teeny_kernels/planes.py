"""Where the elements of a block lie in planes of up to three axes: for kernels of pools and pads.

Device functions only; how a plane is cut from an array is geometry of the operations.
"""

from __future__ import annotations

from typing import Any

import teeny_triton as tl
from teeny_kernels.numerics import narrow
from teeny_macros import device
from teeny_triton import i64


@device
def places(
    start: Any, lanes: Any, side_0: Any, side_1: Any, side_2: Any, WIDE: bool
) -> tuple[Any, Any, Any, Any]:
    """For elements `start` + lanes: the plane, and the place in it on each of three axes."""
    plane = tl.cast(side_0, i64) * side_1 * side_2
    index = narrow(start % plane, WIDE) + lanes
    at_2 = index % side_2
    index = index // side_2
    at_1 = index % side_1
    index = index // side_1
    at_0 = index % side_0
    return start // plane + index // side_0, at_0, at_1, at_2
