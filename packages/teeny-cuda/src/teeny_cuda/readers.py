"""Arrays and descriptors in records of short launches: how each is read, who tells its stream.

None means that only the slow path can look at such an argument.
"""

from __future__ import annotations

import ctypes
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda import emit_parts as parts
from teeny_cuda.asked import address_of, cupy_stream, is_cupy
from teeny_cuda.buffer import Buffer
from teeny_cuda.dtypes import DTYPES
from teeny_cuda.emit_arrays import Argument, Relied
from teeny_cuda.interfaces import layout_of
from teeny_cuda.stream import current_torch_stream
from teeny_cuda.tensormap import PROMOTION, coding_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from teeny_cuda.device import Device
    from teeny_cuda.module import Program
    from teeny_cuda.record import Record

_EXCHANGE = "__dlpack_c_exchange_api__"
_CUDA = 2


class Source(NamedTuple):
    """Who tells the current stream: a C function (`exchange`) or a Python one (`call`).

    `must_wait`: work in another stream has to be ordered after it.
    """

    kind: str
    tell: Any
    must_wait: bool = False


def read_array(
    device: Device, record: Record, base: int, given: Any, sources: list[Source]
) -> Argument | None:
    """An array, in three words from `base` on."""
    value, kind = given.value, type(given.value)
    relied = _relied(given)
    record.name(base, kind)
    if kind is Buffer:
        if value.device != device or value.dtype != given.dtype:
            return None
        record.name(base + 1, value._launch_kind)  # noqa: SLF001 - as `Arrays.array` reads it
        return Argument("buffer", given.at, aligned=given.aligned, relied=relied)
    if relied is not None:
        record.name(base + parts.LOOK, layout_of)
    if getattr(value, "is_cuda", False) is not True:
        return _asked(device, record, base, given, sources, relied)
    exchange = exchange_of(kind)
    if exchange is not None:
        fill, tell = exchange
        dtype = DTYPES[given.dtype]
        record.put(base + 1, fill)
        record.put(base + 2, dtype.dlpack | 8 * dtype.itemsize << 8 | 1 << 16)
        record.put(parts.PLACE, _CUDA | device.ordinal << 32)
        sources.append(Source("exchange", tell))
        return Argument("dlpack", given.at, aligned=given.aligned, relied=relied)
    if not hasattr(value, "get_device"):
        return None
    record.name(base + 1, value.dtype)
    record.put(base + 2, device.ordinal)
    sources.append(Source("call", _torch_stream(device.ordinal)))
    return Argument("tensor", given.at, aligned=given.aligned, relied=relied)


def _asked(
    device: Device, record: Record, base: int, given: Any, sources: list[Source], relied: Any
) -> Argument | None:
    """An array of CuPy or JAX."""
    value = given.value
    if is_cupy(value):
        record.name(base + 1, value.dtype)
        record.put(base + 2, device.ordinal)
        # A stream that is given would have to wait for the library's own.
        sources.append(Source("call", cupy_stream(device.ordinal), must_wait=True))
        return Argument("cupy", given.at, aligned=given.aligned, relied=relied)
    read = address_of(value)
    if read is None:
        return None
    record.name(base + 1, read)
    return Argument("asked", given.at, aligned=given.aligned, relied=relied)


def _relied(given: Any) -> Relied | None:
    """What machine code checks of the array's layout; None where the kernel relies on nothing."""
    found = given.relied
    if found is None:
        return None
    made = Relied(**found._asdict(), itemsize=DTYPES[given.dtype].itemsize)
    nothing = not (made.contiguous or made.sized or made.alignment > 1) and made.strides is None
    return None if nothing else made


def describe_tiles(
    program: Program, record: Record, base: int, extra: int, given: Any, sources: list[Source]
) -> Argument | None:
    """A descriptor, in the words of an argument from `base` and those of a map from `extra` on."""
    value, device, metadata = given.value, program.device, program.artifact.metadata
    array = read_array(
        device, record, extra + parts.MAP_ARRAY, given._replace(value=value.base, aligned=True),
        sources,
    )  # fmt: skip
    if array is None:
        return None
    block = [int(side) for side in value.block_shape]
    record.name(base, type(value))
    record.name(extra + parts.MAP_PADDING, value.padding)
    record.put(extra + parts.MAP_BLOCK, _words(record, ctypes.c_int64, block))
    itemsize = DTYPES[given.dtype].itemsize
    form = "map" if metadata.params[given.at].kind == "descriptor" else "tiles"
    if form == "map":
        number = sum(param.kind == "descriptor" for param in metadata.params[: given.at])
        box, swizzle = metadata.descriptors[number]
        api = device.context.driver.api
        is_nan = value.padding == "nan"
        coding = coding_of(api, given.dtype, swizzle, PROMOTION, nan_fill=is_nan)
        record.put(extra + parts.MAP_BOX, _words(record, ctypes.c_uint32, box[::-1]))
        record.put(extra + parts.MAP_STEPS, _words(record, ctypes.c_uint32, [1] * len(box)))
        record.put(extra + parts.MAP_KIND, int(coding.dtype))
        record.put(extra + parts.MAP_SWIZZLE, int(coding.swizzle))
        record.put(extra + parts.MAP_PROMOTION, int(coding.promotion))
        record.put(extra + parts.MAP_FILL, int(coding.fill))
    return Argument(form, given.at, rank=len(block), itemsize=itemsize, array=array)


def _words(record: Record, kind: Any, values: Sequence[int]) -> int:
    """The address of numbers that the record keeps."""
    made = (kind * len(values))(*values)
    record.keep(made)
    return ctypes.addressof(made)


@cache
def _torch_stream(ordinal: int) -> Callable[[], int]:
    return partial(current_torch_stream, ordinal)


class _ExchangeAPI(ctypes.Structure):
    """DLPackExchangeAPI of dlpack.h 1.3: what an array library offers to C."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("managed_from_object", ctypes.c_void_p),
        ("managed_to_object", ctypes.c_void_p),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    )


def exchange_of(kind: type) -> tuple[int, int] | None:
    """The C functions of an array type: fill a DLTensor from an object, and tell the stream."""
    capsule = getattr(kind, _EXCHANGE, None)
    if capsule is None:
        return None
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    try:
        api = _ExchangeAPI.from_address(pointer_of(capsule, b"dlpack_exchange_api"))
    except (ValueError, TypeError):
        return None
    if api.major != 1 or not api.tensor_from_object or not api.current_stream:
        return None
    return api.tensor_from_object, api.current_stream
