"""What the specs of attention share: arrays of options, and the sizes of the terms of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from teeny_kernels.arrays import empty, operand
from teeny_kernels.attention.reference import gradients, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def arguments(q: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a case as the functions take them: slopes become an array."""
    found = dict(options)
    slopes = found.pop("alibi", None)
    return found if slopes is None else {**found, "alibi_slopes": filled(q, slopes, "f32")}


MOST_FILLED = 64
_filled: dict[tuple[Any, ...], Any] = {}


def filled(like: Any, values: Any, dtype: str) -> Any:
    """An array of the kind of `like` with these numbers; made once, so that only work is timed."""
    numbers, own = np.asarray(values), operand("like", like)
    key = (own.library, str(own.device), dtype, numbers.shape, numbers.tobytes())
    if key not in _filled:
        made = empty(own, numbers.shape, dtype).array
        for place in np.ndindex(numbers.shape):
            made[place] = numbers[place].item()
        if len(_filled) >= MOST_FILLED:
            _filled.pop(next(iter(_filled)))
        _filled[key] = made
    return _filled[key]


def sizes_of_gradients(
    grads: Sequence[Any], arrays: Sequence[Any], options: Mapping[str, Any], rounding: float
) -> Sequence[Any]:
    """The sizes of the terms of the gradients; that of the sink is made of the stored result."""
    found = gradients(grads[0], *arrays, sizes=True, **options)
    more = 1 + spread(arrays, options)
    return [*(own * more for own in found[:3]), *(own * more * rounding for own in found[3:])]
