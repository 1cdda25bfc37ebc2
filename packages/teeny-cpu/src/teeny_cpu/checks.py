"""The grid and the arguments of a launch, checked against the kernel's parameters.

Whatever is wrong is said before a program has run, so no array is half written because of it.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

from teeny_cpu.arrays import describe, find_view
from teeny_cpu.codes import E1105, E1106, E1107, E1108, E1109, E1110, E1124
from teeny_cpu.dtypes import DTYPES, DType, require_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.artifact import Metadata, Param

# The first number that rounds beyond the largest finite one (half a unit in the last place above
# it).
_BEYOND = {
    "f16": 65520.0,
    "bf16": (2 - 2**-8) * 2.0**127,
    "f32": (2 - 2**-24) * 2.0**127,
    "f64": math.inf,
}


def checked_arguments(metadata: Metadata, args: Sequence[Any]) -> list[Any]:
    """A NumPy array, None or a number for each argument.

    Raises:
        LaunchError: E1106 to E1110, E1124.
    """
    if len(args) != len(metadata.params):
        names = ", ".join(param.name for param in metadata.params)
        raise E1106.error(
            kernel=metadata.kernel, wanted=len(metadata.params), found=len(args)
        ).help(f"give, in this order: {names}")
    values = [checked_value(*pair) for pair in zip(metadata.params, args, strict=True)]
    for param, value in zip(metadata.params, values, strict=True):
        if param.name in metadata.written and value is not None and not value.flags.writeable:
            raise E1124.error(name=param.name).help(
                "pass a writable array; a copy of a broadcast or a view of bytes is one"
            )
    return values


def checked_grid(grid: Any) -> tuple[int, int, int]:
    """`grid` (an int or one to three of them) as three sizes. Raises E1105."""
    try:
        sizes = (
            [operator.index(grid)]
            if hasattr(grid, "__index__")
            else [operator.index(size) for size in grid]
        )
    except TypeError:
        raise E1105.error(grid=f"`{grid!r}`", reason="its sizes are integers").help(
            "pass an int, or a tuple of one to three ints"
        ) from None
    if not 1 <= len(sizes) <= 3:
        raise E1105.error(grid=f"`{grid!r}`", reason="a grid has one to three axes")
    x, y, z = (*sizes, 1, 1)[:3]
    for axis, size in zip("xyz", (x, y, z), strict=True):
        if size < 0:
            raise E1105.error(grid=f"`{grid!r}`", reason=f"axis {axis} is negative")
    return x, y, z


def checked_value(param: Param, value: Any) -> Any:
    """What a program takes for `value`: a NumPy array, None or a number.

    Raises:
        LaunchError: E1107 to E1110; the message names the parameter, what it takes and what it got.
    """
    if param.kind == "pointer":
        return None if value is None else _array(param, value)
    dtype = require_dtype(param.dtype)
    return _float(param, dtype, value) if dtype.is_float else _integer(param, dtype, value)


def _array(param: Param, value: Any) -> Any:
    view = find_view(value)
    wanted = f"an array of {param.dtype}"
    if view is None:
        device = _elsewhere(value)
        if device:
            raise E1109.error(name=param.name, found=device).help(
                "copy it to the host first, or run the kernel on that device"
            )
        raise E1107.error(name=param.name, wanted=wanted, found=_kind(value)).help(
            "pass a NumPy array or a buffer of the device"
        )
    if view.dtype != param.dtype:
        shown = f"an array of {view.dtype or view.array.dtype}"
        raise E1107.error(name=param.name, wanted=wanted, found=shown).help(
            f"convert the array, or pass `tl.typed(array, {param.dtype})`"
        )
    size = DTYPES[param.dtype].itemsize
    pointer = describe(view).pointer
    if pointer % size:
        raise E1110.error(name=param.name, pointer=hex(pointer), size=size).help("copy the array")
    return view.array


def _elsewhere(value: Any) -> str:
    """Where an array that is not on the host says it is; empty when it is no array."""
    if hasattr(value, "__cuda_array_interface__"):
        return "a GPU"
    if hasattr(value, "data_ptr"):
        return str(value.device)
    return "another device" if hasattr(value, "__dlpack_device__") else ""


def _integer(param: Param, dtype: DType, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        # NumPy's bool is no index.
        if dtype.name != "i1" or type(value).__name__ not in {"bool", "bool_"}:
            raise _mistyped(param, value) from None
        number = int(value)
    low, high = dtype.bounds
    if not low <= number <= high:
        raise E1108.error(name=param.name, dtype=dtype.name, value=number).help(
            f"{dtype.name} holds {low} to {high}: annotate the parameter with a wider dtype"
        )
    return number


def _float(param: Param, dtype: DType, value: Any) -> float:
    if dtype.name not in _BEYOND:
        raise E1107.error(
            name=param.name, wanted="no scalar: fp8 values travel in arrays", found=_kind(value)
        ).help("annotate the parameter as f32 and cast it in the kernel")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _mistyped(param, value) from None
    if isinstance(value, str | bytes):
        raise _mistyped(param, value)
    if math.isfinite(number) and abs(number) >= _BEYOND[dtype.name]:
        raise E1108.error(name=param.name, dtype=dtype.name, value=number).help(
            "annotate the parameter with a wider dtype"
        )
    return number


def _mistyped(param: Param, value: Any) -> Exception:
    wanted = f"a scalar of {param.dtype}"
    return E1107.error(name=param.name, wanted=wanted, found=_kind(value)).help(
        "pass a Python number; arrays are for parameters that are pointers"
    )


def _kind(value: Any) -> str:
    return (
        f"`{value!r}`"
        if isinstance(value, bool | int | float | str)
        else f"a {type(value).__name__}"
    )
