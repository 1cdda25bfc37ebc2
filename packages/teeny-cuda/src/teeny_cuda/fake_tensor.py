"""Tensor maps of the fake driver: the checks of `cuTensorMapEncodeTiled`, and what it was given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from teeny_cuda.fake_base import Answer, CUresult, call, numbered, ok

if TYPE_CHECKING:
    from collections.abc import Sequence

_TYPES = ("UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64")
_BYTES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2)


class FakeTensorMaps:
    """The function, with its enumerations."""

    CUtensorMapDataType = numbered(
        "CUtensorMapDataType",
        {f"CU_TENSOR_MAP_DATA_TYPE_{name}": at for at, name in enumerate((*_TYPES, "BFLOAT16"))},
    )
    CUtensorMapInterleave = numbered("CUtensorMapInterleave", {"CU_TENSOR_MAP_INTERLEAVE_NONE": 0})
    CUtensorMapSwizzle = numbered(
        "CUtensorMapSwizzle",
        {f"CU_TENSOR_MAP_SWIZZLE_{n}": at for at, n in enumerate(("NONE", "32B", "64B", "128B"))},
    )
    CUtensorMapL2promotion = numbered(
        "CUtensorMapL2promotion",
        {
            f"CU_TENSOR_MAP_L2_PROMOTION_{name}": at
            for at, name in enumerate(("NONE", "L2_64B", "L2_128B", "L2_256B"))
        },
    )
    CUtensorMapFloatOOBfill = numbered(
        "CUtensorMapFloatOOBfill",
        {
            "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE": 0,
            "CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA": 1,
        },
    )

    @call
    def cuTensorMapEncodeTiled(
        self,
        kind: Any,
        rank: int,
        pointer: int,
        sizes: Sequence[int],
        strides: Sequence[int],
        box: Sequence[int],
        steps: Sequence[int],
        interleave: Any,
        swizzle: Any,
        promotion: Any,
        fill: Any,
    ) -> Answer:
        inner = box[0] * _BYTES[kind]
        if (
            not 1 <= rank <= 5
            or not len(sizes) == len(box) == len(steps) == rank == len(strides) + 1
            or pointer % 16
            or any(not 1 <= size <= 1 << 32 for size in sizes)
            or any(stride % 16 or not 0 <= stride < 1 << 40 for stride in strides)
            or any(not 1 <= length <= 256 for length in box)
            or any(not 1 <= step <= 8 for step in steps)
            or inner % 16
            or (swizzle and inner > 16 << swizzle)
        ):
            return (CUresult.CUDA_ERROR_INVALID_VALUE,)
        words = [pointer, rank, int(kind), *sizes, *strides, *box, int(swizzle), int(promotion)]
        words.append(int(fill))
        return ok(SimpleNamespace(opaque=(words + [0] * 16)[:16]))
