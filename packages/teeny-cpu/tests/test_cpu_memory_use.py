"""A launch takes its arrays, and for each thread the arena that the metadata states."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import teeny_triton as tl
from teeny_compiler import compile_kernel
from teeny_cpu import Device
from teeny_cpu.scratch import OWN, stride_of
from teeny_macros import Target, kernel
from teeny_triton import Const, Ptr, f32


@kernel
def squares(x_ptr: Ptr[f32], SIDE: Const[int]) -> None:
    i = tl.arange(0, SIDE)
    at = x_ptr + tl.program_id(0) * SIDE * SIDE + i[:, None] * SIDE + i[None, :]
    x = tl.load(at)
    tl.store(at, tl.dot(x, x, input_precision="ieee") - tl.sum(x, axis=0)[None, :])


@pytest.mark.parametrize("threads", [1, 4])
def test_a_launch_takes_an_arena_for_each_thread(threads: int) -> None:
    device = Device(threads)
    artifact = compile_kernel(squares.instantiate(SIDE=256), Target.cpu())
    arena = artifact.metadata.arena_bytes
    assert arena >= 256 * 256 * 4
    program = device.load(artifact)
    x = np.ones((16, 256, 256), np.float32)
    OWN.block = None
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        program.bind(16, x, threads=threads)()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak <= threads * stride_of(arena) + 100_000
    assert peak >= arena
