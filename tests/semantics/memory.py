"""Loads and stores: masks, addresses, order, tiles with edges, empty launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from semantic_cases import (
    Check,
    bits,
    define,
    f32,
    i1,
    i8,
    i16,
    i32,
    i64,
    kernel_text,
    program,
    refused,
    sentence,
    u8,
    u32,
)
from teeny_macros import TeenyError

Cases = Any


@sentence("S501")
def a_masked_load_gives_other() -> Cases:
    body = "i = tl.arange(0, 8)\ntl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < 3, other={}))"
    x = f32(1, 2, 3)
    yield program(body.format("-1.5"), x=x, out={"y": f32(1, 2, 3, *[-1.5] * 5)})
    yield program(body.format("0.0"), x=x, out={"y": f32(1, 2, 3, *[0] * 5)})
    yield program(body.format("float('inf')"), x=x, out={"y": f32(1, 2, 3, *[np.inf] * 5)})
    yield program(
        body.format("i * 10"), x=i16(7, 8, 9), out={"y": i16(7, 8, 9, 30, 40, 50, 60, 70)}
    )
    yield program(body.format("True"), x=i1(0, 0, 1), out={"y": i1(0, 0, 1, *[1] * 5)})


@sentence("S502")
def nothing_is_said_of_lanes_without_other() -> Cases:
    yield program(
        """
i = tl.arange(0, 8)
inside = (i > 1) & (i < 5)
x = tl.where(inside, tl.load(x_ptr + i, mask=inside), 7.0)
tl.store(y_ptr + i, x)""",
        x=f32(np.nan, np.nan, 1, 2, 3, np.nan, np.nan, np.nan),
        out={"y": f32(7, 7, 1, 2, 3, 7, 7, 7)},
    )


@sentence("S503")
def a_masked_address_is_not_touched() -> Cases:
    yield program(
        """
i = tl.arange(0, 8)
far = tl.where(i < 3, i, 2147483647)
x = tl.load(x_ptr + far, mask=i < 3, other=0)
tl.store(y_ptr + far, x, mask=i < 3)""",
        x=i32(4, 5, 6),
        out={"y": i32(4, 5, 6)},
    )


@sentence("S504")
def a_masked_store_leaves_what_was_there() -> Cases:
    yield program(
        "i = tl.arange(0, 4)\ntl.store(y_ptr + i, i * 10, mask=i % 2 == 1)",
        y=i32(-1, -2, -3, -4),
        out={"y": i32(-1, 10, -3, 30)},
    )


@sentence("S505")
def a_mask_is_broadcast_to_the_pointers() -> Cases:
    yield program(
        """
i = tl.arange(0, 2)[:, None]
j = tl.arange(0, 4)[None, :]
n = tl.load(n_ptr)
tl.store(y_ptr + i * 4 + j, i * 4 + j, mask=j < 3)
tl.store(z_ptr + i * 4 + j, i * 4 + j, mask=n > 0)""",
        n=i32(0),
        y=i32(*[-1] * 8),
        z=i32(*[-1] * 8),
        out={"y": i32(0, 1, 2, -1, 4, 5, 6, -1), "z": i32(*[-1] * 8)},
    )


@sentence("S506")
def a_mask_is_i1() -> Cases:
    yield refused("E0502", "tl.load(x_ptr + i, mask=x)", at="x", x="i32")
    yield refused("E0503", "tl.load(x_ptr + i, other=0)", at="0", x="i32")


@sentence("S507")
def other_takes_the_dtype_of_the_pointer() -> Cases:
    body = "i = tl.arange(0, 2)\ntl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < 0, other={}))"
    yield program(body.format("300"), x=u8(1, 2), out={"y": u8(44, 44)})
    yield program(body.format("2.9"), x=i32(1, 2), out={"y": i32(2, 2)})


@sentence("S508")
def one_of_several_stores_to_a_place_wins() -> Cases:
    yield program(
        "i = tl.arange(0, 64)\ntl.store(y_ptr + i * 0, i)",
        out={"y": i32(0)},
        checks={"y": lambda found: 0 <= found[0] < 64},
    )


@sentence("S509")
def a_barrier_orders_loads_behind_stores() -> Cases:
    yield program(
        """
i = tl.arange(0, 256)
tl.store(y_ptr + i, i)
tl.debug_barrier()
tl.store(z_ptr + i, tl.load(y_ptr + (255 - i)))""",
        y=i32(*[-1] * 256),
        out={"y": i32(*range(256)), "z": i32(*range(255, -1, -1))},
    )


@sentence("S510")
def offsets_are_signed_and_widened() -> Cases:
    yield program(
        """
i = tl.arange(0, 4)
end = x_ptr + 3
tl.store(y_ptr + i, tl.load(end - i))
tl.store(z_ptr + i, tl.load(end + (i * -1).to(i8)))""",
        x=i32(1, 2, 3, 4),
        out={"y": i32(4, 3, 2, 1), "z": i32(4, 3, 2, 1)},
    )
    yield program(
        "n = tl.load(n_ptr)\ntl.store(y_ptr, tl.load(x_ptr + 60 + (n + n)))",
        n=i8(100),
        x=i32(*range(64)),
        out={"y": i32(60 - 56)},
    )
    yield program(
        "n = tl.load(n_ptr)\ntl.store(y_ptr, (x_ptr + n).to(i64) - x_ptr.to(i64))",
        n=u32(2**31 + 5),
        x=u8(0),
        out={"y": i64(2**31 + 5)},
    )


@sentence("S511")
def an_offset_counts_elements() -> Cases:
    yield program(
        """
tl.store(y_ptr, (x_ptr + 3).to(i64) - x_ptr.to(i64))
tl.store(y_ptr + 1, (z_ptr + 3).to(i64) - z_ptr.to(i64))
tl.store(y_ptr + 2, (b_ptr + 3).to(i64) - b_ptr.to(i64))""",
        x=f32(0),
        z=i64(0),
        b=i1(0),
        out={"y": i64(12, 24, 3)},
    )


@sentence("S512")
def a_pointer_moves_by_integers() -> Cases:
    yield refused("E0309", "x_ptr + x", at="x", x="f32")


@sentence("S513")
def an_i1_is_a_byte() -> Cases:
    body = "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.load(x_ptr + i))"
    raw = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    yield program(body, x=raw, out={"y": i32(0, 1, 1, 1)})
    yield program(body, x=i32(0, 5, -1, 256), out={"y": i1(0, 1, 1, 1)})


@sentence("S514")
def nan_and_bits_survive_a_copy() -> Cases:
    x = bits("f32", 0x7FC00001, 0xFFFFFFFF, 0x7F800001, 0x80000000)
    yield program(
        "i = tl.arange(0, 4)\ntl.store(y_ptr + i, tl.load(x_ptr + i).to(i32, bitcast=True))",
        x=x,
        out={"y": x.view(np.int32)},
    )


@sentence("S515")
def block_pointers_pad() -> Cases:
    body = """
p = tl.make_block_ptr(x_ptr, (3,), (1,), (0,), (4,), (0,))
i = tl.arange(0, 4)
x = tl.load(p, boundary_check=(0,), padding_option="{}")
tl.store(y_ptr + i, x)"""
    yield program(body.format("zero"), x=f32(1, 2, 3), out={"y": f32(1, 2, 3, 0)})
    yield program(body.format("nan"), x=f32(1, 2, 3), out={"y": f32(1, 2, 3, np.nan)})
    yield program(
        """
p = tl.make_block_ptr(y_ptr, (3,), (1,), (0,), (4,), (0,))
tl.store(p, tl.arange(0, 4), boundary_check=(0,))""",
        y=i32(-1, -1, -1, -1),
        out={"y": i32(0, 1, 2, -1)},
    )


@sentence("S516")
def descriptors_read_zeros_outside() -> Cases:
    yield program(
        """
d = tl.make_tensor_descriptor(x_ptr, [3, 8], [8, 1], [4, 8])
e = tl.make_tensor_descriptor(y_ptr, [3, 8], [8, 1], [4, 8])
x = d.load([1, 0])
e.store([1, 0], x + 1)""",
        x=f32(*range(24)),
        y=f32(*[-1] * 32),
        out={"y": f32(*[-1] * 8, *range(9, 25), *[-1] * 8)},
    )
    rows = [[-1.0] * 8 for _ in range(4)]
    rows[0][:5], rows[1][:5], rows[2][:5] = range(1, 6), range(9, 14), range(17, 22)
    yield program(
        """
d = tl.make_tensor_descriptor(x_ptr, [3, 8], [8, 1], [4, 8])
e = tl.make_tensor_descriptor(y_ptr, [3, 5], [8, 1], [4, 8])
e.store([0, 0], d.load([0, 0]) + 1)""",
        x=f32(*range(24)),
        y=f32(*[-1] * 32),
        out={"y": f32(*(x for row in rows for x in row))},
    )


def _launch_empty(device: Any) -> None:
    text = kernel_text("x_ptr: Ptr[f32]", ["tl.store(x_ptr, 1.0)"])
    kernel = define(text)
    buffer = device.buffer(1, "f32")
    buffer.copy_from(f32(5))
    for grid in ((0,), (4, 0, 1), 0):
        kernel.on(grid, device=device)(buffer)
    device.synchronize()
    assert buffer.to_host()[0] == 5
    with pytest.raises(TeenyError, match="grid"):
        kernel.on((-1,), device=device)(buffer)


@sentence("S517")
def an_empty_grid_starts_nothing() -> Cases:
    yield Check("grids with a zero", _launch_empty)


def _launch_nothing_to_read(device: Any) -> None:
    body = [
        "i = tl.arange(0, 16)",
        "tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)",
    ]
    kernel = define(kernel_text("x_ptr: Ptr[f32], y_ptr: Ptr[f32], n: i32", body))
    x, y = device.buffer(0, "f32"), device.buffer(0, "f32")
    kernel.on((3,), device=device)(x, y, 0)
    device.synchronize()
    assert y.to_host().shape == (0,)


@sentence("S518")
def arrays_without_elements_are_arguments() -> Cases:
    yield Check("empty arrays", _launch_nothing_to_read)


def _launch_wide(device: Any) -> None:
    body = ["tl.store(y_ptr, n)"]
    y = device.buffer(1, "i64")
    define(kernel_text("y_ptr: Ptr[i64], n", body)).on((1,), device=device)(y, 2**31)
    device.synchronize()
    assert y.to_host()[0] == 2**31
    define(kernel_text("y_ptr: Ptr[i64], n: i64", body)).on((1,), device=device)(y, -(2**40))
    device.synchronize()
    assert y.to_host()[0] == -(2**40)
    narrow = define(kernel_text("y_ptr: Ptr[i64], n: i32", body))
    with pytest.raises(TeenyError, match="i64"):
        narrow.on((1,), device=device)(y, 2**31)


@sentence("S519")
def integers_beyond_i32_arrive_as_i64() -> Cases:
    yield Check("wide integers", _launch_wide)


@sentence("S520")
def every_program_runs_once() -> Cases:
    yield program(
        """
x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
place = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
tl.atomic_add(y_ptr + place, place + 1)""",
        y=i32(*[0] * 30),
        out={"y": i32(*range(1, 31))},
        grid=(3, 5, 2),
    )
