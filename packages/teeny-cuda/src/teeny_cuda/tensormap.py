"""`TensorMap`: how a GPU's copy engine (TMA) walks through an array, made on the host.

The rules are those of `cuTensorMapEncodeTiled` (CUDA Driver API, "Tensor Map Object Management"),
checked here so that a broken one is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.codes import E1085
from teeny_cuda.dtypes import DType, require_dtype
from teeny_cuda.interfaces import find_array, layout_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_cuda.device import Device

BYTES = 128
ALIGNMENT = 64
PROMOTION = 128  # what arguments of kernels are encoded with
_MAX_BOX = 256
_MAX_RANK = 5
_MAX_STRIDE = 1 << 40
_MAX_SIZE = 1 << 32
_MAX_ELEMENT_STRIDE = 8

_PREFIX = "CU_TENSOR_MAP_DATA_TYPE_"
_DTYPES = {
    "u8": "UINT8", "i8": "UINT8", "i1": "UINT8", "f8e4m3": "UINT8", "f8e5m2": "UINT8",
    "u16": "UINT16", "i16": "UINT16", "u32": "UINT32", "i32": "INT32", "u64": "UINT64",
    "i64": "INT64", "f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "f64": "FLOAT64",
}  # fmt: skip
_SWIZZLES = {0: "NONE", 32: "32B", 64: "64B", 128: "128B"}
_PROMOTIONS = {0: "NONE", 64: "L2_64B", 128: "L2_128B", 256: "L2_256B"}


class TensorMap:
    """A tensor map over an array of a GPU; it keeps the array.

    `box` is the block that one copy moves, row-major as the array's shape. `swizzle` is the span in
    bytes in which shared memory is permuted (0, 32, 64, 128), `promotion` the least bytes to fetch
    into the L2 cache (0, 64, 128, 256). Elements outside of the array read as 0, or as NaN with
    `nan_fill`. `shape` and `strides` are in elements, the array's own where they are not given.

    Raises:
        LaunchError: E1085 for what the hardware cannot describe; the message says which rule.
    """

    __slots__ = ("_opaque", "array", "box", "dtype", "shape", "strides", "swizzle")

    def __init__(
        self,
        device: Device,
        array: Any,
        box: Sequence[int],
        *,
        swizzle: int = 0,
        promotion: int = PROMOTION,
        element_strides: Sequence[int] | None = None,
        nan_fill: bool = False,
        shape: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> None:
        found = find_array(array)
        if found is None or found.info.device != device.name:
            raise _refused(f"the array does not lie on {device.name}")
        dtype = require_dtype(found.info.dtype)
        layout = layout_of(array)
        self.array = array
        self.dtype = dtype.name
        self.shape = layout.shape if shape is None else tuple(shape)
        self.strides = layout.strides if strides is None else tuple(strides)
        self.box = tuple(box)
        self.swizzle = swizzle
        steps = tuple(element_strides or (1,) * len(self.shape))
        _check(dtype, found.info.pointer, self, steps)
        if promotion not in _PROMOTIONS:
            raise _refused(f"promotion {promotion} is none of {_listing(_PROMOTIONS)}")
        if nan_fill and not dtype.is_float:
            raise _refused(f"{dtype.name} has no NaN to fill with")
        self._opaque = _encode(
            device, dtype, found.info.pointer, self, steps, promotion, nan_fill=nan_fill
        )

    def to_bytes(self) -> bytes:
        """The 128 bytes that a kernel gets as a parameter aligned to 64 bytes."""
        return bytes(self._opaque)

    def __repr__(self) -> str:
        return f"TensorMap({self.dtype}{list(self.shape)} in boxes of {list(self.box)})"


def _check(dtype: DType, pointer: int, wanted: TensorMap, steps: tuple[int, ...]) -> None:
    rank, size = len(wanted.shape), dtype.itemsize
    if not 1 <= rank <= _MAX_RANK:
        raise _refused(f"an array of {rank} axes; one to {_MAX_RANK} are possible")
    if len(wanted.box) != rank or len(steps) != rank:
        raise _refused(f"a box of {len(wanted.box)} axes for an array of {rank}")
    if pointer % 16:
        raise _refused(f"the array begins at {pointer:#x}, no multiple of 16 bytes")
    for axis, length in enumerate(wanted.shape):
        if not 1 <= length <= _MAX_SIZE:
            raise _refused(
                f"axis {axis} of the array has {length} elements; 1 to 2**32 are possible"
            )
    if wanted.strides[-1] != 1 and wanted.shape[-1] != 1:
        raise _refused(f"the last axis has stride {wanted.strides[-1]}; it must be 1")
    for axis, stride in enumerate(wanted.strides[:-1]):
        nbytes = stride * size
        if nbytes % 16 or not 0 < nbytes < _MAX_STRIDE:
            raise _refused(f"axis {axis} has a stride of {nbytes} bytes, no multiple of 16")
    for axis, length in enumerate(wanted.box):
        if not 1 <= length <= _MAX_BOX:
            raise _refused(f"axis {axis} of the box is {length}; 1 to {_MAX_BOX} are possible")
    for axis, step in enumerate(steps):
        if not 1 <= step <= _MAX_ELEMENT_STRIDE:
            raise _refused(f"element stride {step} of axis {axis}; 1 to 8 are possible")
    inner = wanted.box[-1] * size
    if inner % 16:
        raise _refused(f"the last axis of the box has {inner} bytes, no multiple of 16")
    if wanted.swizzle not in _SWIZZLES:
        raise _refused(f"swizzle {wanted.swizzle} is none of {_listing(_SWIZZLES)}")
    if wanted.swizzle and inner > wanted.swizzle:
        raise _refused(f"the last axis of the box has {inner} bytes, more than the swizzle's span")


class Coding(NamedTuple):
    """What the driver encodes a map with besides array and box: members of its enumerations."""

    dtype: Any
    swizzle: Any
    promotion: Any
    fill: Any


def coding_of(api: Any, dtype: str, swizzle: int, promotion: int, *, nan_fill: bool) -> Coding:
    """The driver's members for these options."""
    fill = "NAN_REQUEST_ZERO_FMA" if nan_fill else "NONE"
    swizzles, promotions = api.CUtensorMapSwizzle, api.CUtensorMapL2promotion
    return Coding(
        getattr(api.CUtensorMapDataType, _PREFIX + _DTYPES[dtype]),
        getattr(swizzles, f"CU_TENSOR_MAP_SWIZZLE_{_SWIZZLES[swizzle]}"),
        getattr(promotions, f"CU_TENSOR_MAP_L2_PROMOTION_{_PROMOTIONS[promotion]}"),
        getattr(api.CUtensorMapFloatOOBfill, f"CU_TENSOR_MAP_FLOAT_OOB_FILL_{fill}"),
    )


def _encode(
    device: Device,
    dtype: DType,
    pointer: int,
    wanted: TensorMap,
    steps: tuple[int, ...],
    promotion: int,
    *,
    nan_fill: bool,
) -> Any:
    api = device.context.driver.api
    wide = getattr(api, "cuuint64_t", int)
    narrow = getattr(api, "cuuint32_t", int)
    coding = coding_of(api, dtype.name, wanted.swizzle, promotion, nan_fill=nan_fill)
    made = device.context.call(
        "cuTensorMapEncodeTiled",
        coding.dtype,
        len(wanted.shape),
        pointer,
        # The driver counts axes from the innermost one.
        [wide(size) for size in reversed(wanted.shape)],
        [wide(stride * dtype.itemsize) for stride in reversed(wanted.strides[:-1])],
        [narrow(size) for size in reversed(wanted.box)],
        [narrow(step) for step in reversed(steps)],
        api.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        coding.swizzle,
        coding.promotion,
        coding.fill,
    )
    return b"".join(int(word).to_bytes(8, "little") for word in made.opaque)


def _listing(rows: dict[int, str]) -> str:
    return ", ".join(map(str, rows))


def _refused(reason: str) -> Any:
    return E1085.error(reason=reason).help("change the array or the box, or load without the TMA")
