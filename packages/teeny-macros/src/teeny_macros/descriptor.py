"""Tensor descriptors made on the host, as arguments: what a launch reads of one, and passes for it.

Any object is one whose class says what tiles it moves: `base`, `shape`, `strides`, `block_shape`
and `padding`, as `tl.tensor_descriptor` and Triton's host descriptors do. This module makes none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_macros.codes import E1029

if TYPE_CHECKING:
    from collections.abc import Sequence

    from teeny_macros.artifact import Param
    from teeny_macros.protocol import ArrayInfo

_ITEMSIZES = {
    **dict.fromkeys(("i16", "u16", "f16", "bf16"), 2),
    **dict.fromkeys(("i32", "u32", "f32"), 4),
    **dict.fromkeys(("i64", "u64", "f64"), 8),
}
_ALIGNMENT = 16  # bytes, of the array and of every stride but the last


class Described(NamedTuple):
    """What of a descriptor decides how it is compiled for."""

    dtype: str
    block: tuple[int, ...]
    readonly: bool
    # Tells its tuple from those of arrays and numbers, which are shorter.
    kind: str = "descriptor"
    is_whole: bool = True


def is_descriptor_class(kind: type) -> bool:
    """Whether objects of a class are descriptors."""
    names: Any = getattr(kind, "__slots__", None) or getattr(kind, "__dataclass_fields__", ())
    return "block_shape" in names and "base" in names


def check(kernel: str, name: str, value: Any, info: ArrayInfo) -> tuple[int, ...]:
    """The sides of the tile of a descriptor, all whole numbers.

    Raises:
        LaunchError: E1029 for what the hardware cannot describe, on every device.
    """
    shape, strides, block = value.shape, value.strides, value.block_shape
    pointer, itemsize = info.pointer, _ITEMSIZES.get(info.dtype, 1)
    reason = ""
    if not 1 <= len(block) <= 5 or len(shape) != len(block) or len(strides) != len(block):
        reason = f"it has {len(shape)} sides, {len(strides)} strides and tiles of {len(block)}"
    elif pointer % _ALIGNMENT:
        reason = f"its array begins at {pointer:#x}, no multiple of {_ALIGNMENT} bytes"
    elif strides[-1] != 1:
        reason = f"its last stride is {strides[-1]}, not 1"
    elif value.padding not in ("zero", "nan"):
        reason = f"its padding is {value.padding!r}"
    else:
        for axis, stride in enumerate(strides[:-1]):
            if stride <= 0 or stride * itemsize % _ALIGNMENT:
                reason = f"stride {axis} is {stride * itemsize} bytes, no multiple of {_ALIGNMENT}"
                break
    if reason:
        raise E1029.error(kernel=kernel, name=name, reason=reason).help(
            "describe an array whose rows begin at multiples of 16 bytes"
        )
    return tuple(map(int, block))


def expanded(params: Sequence[Param], names: Sequence[str], values: Sequence[Any]) -> list[Any]:
    """The arguments of a program: each descriptor as what its parameters are.

    That is itself or, where the hardware has none, its array and whether it is padded with NaN;
    then its sides and strides.
    """
    found: list[Any] = []
    whole = {param.name for param in params if param.kind == "descriptor"}
    for name, value in zip(names, values, strict=True):
        if not is_descriptor_class(type(value)):  # pyright: ignore[reportUnknownArgumentType]
            found.append(value)
            continue
        if name in whole:
            found.append(value)
        else:
            found += [value.base, value.padding == "nan"]
        found += [*map(int, value.shape), *map(int, value.strides)]
    return found


def places_of(params: Sequence[Param], values: Sequence[Any]) -> tuple[list[int], list[Any]]:
    """Where the parameters of each run-time argument begin, and the arguments of the program.

    `params` are the program's; empty where nothing is known of them, and then nothing is expanded.
    """
    firsts: list[int] = []
    found: list[Any] = []
    for value in values:
        firsts.append(len(found))
        kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]
        if params and is_descriptor_class(kind):
            name = params[len(found)].name
            found += expanded(params, (name,), (value,))
        else:
            found.append(value)
    return firsts, found
