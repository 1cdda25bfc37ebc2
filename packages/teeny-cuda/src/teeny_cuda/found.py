"""`Found`: what a launch knows of an array on a GPU, wherever it comes from."""

from __future__ import annotations

from typing import NamedTuple

from teeny_macros.protocol import ArrayInfo


class Found(NamedTuple):
    """An array on a GPU. `stream` holds work on it that may be pending (None: there is none).

    With `must_wait` a launch waits for that work also on a stream that its caller chose.
    """

    info: ArrayInfo
    stream: int | None = None
    must_wait: bool = False
