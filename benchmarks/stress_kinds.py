"""Kinds of work for stress_launch.py whose launches take more than arrays and numbers.

Descriptors that are made for each launch, scratch memory, and what a kernel declares; refused ones
are among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import teeny_triton as tl
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_triton import Ptr, TensorDescriptor, f32, i32

if TYPE_CHECKING:
    import random

    from teeny_cuda import Device

ROWS, COLUMNS = 64, 32


@kernel
def copy_tiles(x: TensorDescriptor[f32, Any], out: TensorDescriptor[f32, Any]) -> None:
    at = [tl.program_id(0) * 8, 0]
    out.store(at, x.load(at) + 1.0)


@kernel
def copy_with_scratch(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n_rows: i32 | int) -> None:
    x = tl.make_tensor_descriptor(x_ptr, [n_rows, 32], [32, 1], [8, 32])
    out = tl.make_tensor_descriptor(out_ptr, [n_rows, 32], [32, 1], [8, 32])
    at = [tl.program_id(0) * 8, 0]
    out.store(at, x.load(at) + 1.0)


@kernel(
    contiguous=("x_ptr",),
    separate=("out_ptr",),
    alignment={"x_ptr": 16},
    strides={"out_ptr": ("step", 1)},
)
def copy_declared(x_ptr: Ptr[f32], out_ptr: Ptr[f32], step: i32 | int) -> None:
    at = (tl.arange(0, 64) * step)[:, None] + tl.arange(0, 32)[None, :]
    tl.store(out_ptr + at, tl.load(x_ptr + at) + 1.0)


def tiles(device: Device, count: int, choose: random.Random) -> int:
    """Launches with descriptors of arrays that change."""
    arrays = [_array(device, choose) for _ in range(4)]
    out = device.buffer((ROWS, COLUMNS), "f32")
    block = (8, COLUMNS)
    for at in range(count):
        x = arrays[at % 4]
        copy_tiles[8](tl.tensor_descriptor(x, block), tl.tensor_descriptor(out, block))
        if at % 50 == 0:
            wrong = tl.tensor_descriptor(x, block, (ROWS, COLUMNS), (choose.choice((31, -32)), 1))
            _refuse(copy_tiles[8], wrong, tl.tensor_descriptor(out, block))
    _check(x, out)
    return count


def scratch(device: Device, count: int, choose: random.Random) -> int:
    """Launches that take scratch memory, on two streams."""
    x, out = _array(device, choose), device.buffer((ROWS, COLUMNS), "f32")
    side = device.stream()
    for at in range(count):
        copy_with_scratch.on(8, stream=side if at % 2 else None)(x, out, ROWS)
    side.synchronize()
    _check(x, out)
    return count


def declared(device: Device, count: int, choose: random.Random) -> int:
    """Launches of a kernel that declares what it relies on."""
    x, out = _array(device, choose), device.buffer((ROWS, COLUMNS), "f32")
    for at in range(count):
        copy_declared[1](x, out, COLUMNS)
        if at % 50 == 0:
            wrong = choose.choice([(x, x, COLUMNS), (x, out, 31), (x[:, 1:], out, COLUMNS)])
            _refuse(copy_declared[1], *wrong)
    _check(x, out)
    return count


def _array(device: Device, choose: random.Random) -> Any:
    made = np.random.default_rng(choose.randrange(2**32))
    return device.copy_of(made.random((ROWS, COLUMNS), np.float32))


def _check(x: Any, out: Any) -> None:
    assert np.array_equal(out.to_host(), x.to_host() + np.float32(1))


def _refuse(launch: Any, *arguments: Any) -> None:
    try:
        launch(*arguments)
    except LaunchError:
        return
    raise AssertionError("not refused")
