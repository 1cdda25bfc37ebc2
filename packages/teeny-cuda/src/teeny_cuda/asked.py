"""CuPy and JAX in short launches: the stream of the one, addresses of the arrays of the other.

A function that tells an address answers None where the slow path has to look, which knows every
protocol. Neither library is imported here.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Address = Callable[[Any], int | None]


def is_cupy(array: Any) -> bool:
    """Whether it is an array of CuPy, whose attributes machine code reads."""
    return type(array).__module__.partition(".")[0] == "cupy" and hasattr(array, "data")


def address_of(array: Any) -> Address | None:
    """What reads the address of arrays of JAX like this one, once they are ready.

    None for other arrays.
    """
    if hasattr(array, "unsafe_buffer_pointer") and hasattr(array, "is_ready"):
        return _jax(array)
    return None


@cache
def cupy_stream(ordinal: int) -> Callable[[], int]:
    """A function that tells the handle of CuPy's current stream on a GPU."""
    current = sys.modules["cupy"].cuda.get_current_stream

    def handle() -> int:
        found = int(current(ordinal).ptr)
        return 0 if found == _LEGACY else found

    return handle


def _jax(array: Any) -> Address:
    dtype, device = array.dtype, array.device

    def read(array: Any) -> int | None:
        # What is still being computed is left to DLPack, which orders the streams.
        if array.dtype is not dtype or array.device is not device or not array.is_ready():
            return None
        address: int = array.unsafe_buffer_pointer()
        return address

    # Both are properties in Python over what lies in these attributes; where an array has them, and
    # they say the same, they are asked at a fraction of the time.
    where = getattr(getattr(array, "_sharding", None), "_device", None)
    kind = getattr(getattr(array, "aval", None), "dtype", None)
    if where is not device or kind is not dtype:
        return read
    placed: type[Any] = type(array._sharding)  # noqa: SLF001 - as above

    def read_inside(array: Any) -> int | None:
        sharding = array._sharding  # noqa: SLF001 - as above
        if (
            array.aval.dtype is not dtype
            or type(sharding) is not placed
            or sharding._device is not device  # noqa: SLF001 - as above
            or not array.is_ready()
        ):
            return None
        address: int = array.unsafe_buffer_pointer()
        return address

    return read_inside


_LEGACY = 1
