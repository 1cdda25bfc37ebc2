"""Launches of every kind leave nothing behind: no object of Python, nothing in the driver.

On a GPU, with a million of them, it is benchmarks/stress_launch.py that looks.
"""

# mypy: disable-error-code="arg-type, call-arg, misc, unused-ignore"

from __future__ import annotations

import gc
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_triton import Const, Ptr, TensorDescriptor, f16, f32, i32

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Compiler

    from teeny_cuda.fake_driver import FakeDriver

pytestmark = pytest.mark.usefixtures("launchers")
N = 50


@kernel
def vector_add(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK_SIZE: Const[int] = 128
) -> None:
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    x = tl.load(x_ptr + offsets, offsets < n)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, offsets < n), offsets < n)


@kernel
def moved(source: TensorDescriptor[f16, Any], target: TensorDescriptor[f16, Any]) -> None:
    target.store([0, 0], source.load([0, 0]))


def _arrays(device: Device, **options: Any) -> list[Any]:
    x = np.arange(64, dtype=np.float32)
    return [device.copy_of(x), device.copy_of(x), device.buffer(64, "f32", **options)]


def _hot(device: Device) -> None:
    arrays = _arrays(device)
    for _ in range(40):
        vector_add[1](*arrays, N)
        vector_add[lambda meta: (meta["BLOCK_SIZE"] // 128,)](*arrays, N)


def _streams(device: Device) -> None:
    arrays = _arrays(device)
    for how in (True, False):
        stream = device.stream()
        for _ in range(20):
            if how:
                vector_add.on(1, stream=stream)(*arrays, N)
            else:
                vector_add[1](*arrays, N, stream=stream)
        stream.wait(device.event())


def _graphs(device: Device) -> None:
    arrays = _arrays(device)
    graph = device.capture()
    for _ in range(2):
        with graph:
            for _ in range(20):
                vector_add.on(1, stream=graph.stream)(*arrays, N)
        graph.launch()


def _prepared(device: Device) -> None:
    arrays = _arrays(device)
    vector_add[1](*arrays, N)
    (program,) = [row.loaded for row in vector_add.site().programs.values()]
    run = program.bind(1, *arrays, N)
    run()
    run.replace(n=7)
    run()


def _pooled(device: Device) -> None:
    stream = device.stream()
    arrays = _arrays(device, stream=stream)
    vector_add.on(1, stream=stream)(*arrays, N)
    view = arrays[2][4:20]
    del arrays
    view.fill(1.0, stream=stream)


def _refused(device: Device) -> None:
    x, y, out = _arrays(device)
    released = device.buffer(64, "f32")
    released.release()
    wrong: list[tuple[Any, tuple[Any, ...]]] = [
        (1, (x, y, released, N)),
        ((1, 70000), (x, y, out, N)),
        (-1, (x, y, out, N)),
        (1, (x, y, out, 2**40)),
        (1, (x, y, device.buffer(64, "f64"), N)),
        (1, (x, y, out)),
        (1, (x, y, np.zeros(64, np.float32), N)),
    ]
    for grid, arguments in wrong:
        with pytest.raises(LaunchError):
            vector_add[grid](*arguments)


def _described(device: Device) -> None:
    x, out = (device.buffer((64, 32), "f16") for _ in range(2))
    for shape in ((64, 32), (60, 32)):
        for _ in range(40):
            moved[1](tl.tensor_descriptor(x, (8, 32), shape), tl.tensor_descriptor(out, (8, 32)))
    for strides in ((31, 1), (-32, 1), (32, 2)):
        with pytest.raises(LaunchError):
            moved[1](
                tl.tensor_descriptor(x, (8, 32), (64, 32), strides),
                tl.tensor_descriptor(out, (8, 32)),
            )


def _failed_capture(device: Device) -> None:
    arrays = _arrays(device)
    with pytest.raises(ZeroDivisionError), device.capture() as graph:  # noqa: PT012 - behind it
        vector_add.on(1, stream=graph.stream)(*arrays, N)
        _ = 1 // 0


def _failed_with(device: Device) -> None:
    with pytest.raises(LaunchError), device.buffer(64, "f32") as buffer:
        buffer[99]


def _counts(fake: FakeDriver, device: Device) -> dict[str, int]:
    device.synchronize()
    fake.launches.clear()
    fake.calls.clear()
    gc.collect()
    device.synchronize()
    gc.collect()
    return {
        "bytes": fake.memories[0].used,
        "streams": len(fake.queues),
        "events": len(fake.events),
        "graphs": len(fake.graphs),
        "executables": len(fake.executables),
        "modules": len(fake.modules),
        "captures": len(device.context.captures),
        "objects": len(gc.get_objects()),
    }


@pytest.mark.parametrize(
    "work",
    [
        _hot,
        _streams,
        _graphs,
        _prepared,
        _pooled,
        _refused,
        _described,
        _failed_capture,
        _failed_with,
    ],
    ids=lambda work: work.__name__.strip("_"),
)
def test_nothing_is_left_behind(
    fake: FakeDriver, device: Device, compiler: Compiler, work: Callable[[Device], None]
) -> None:
    arrays, turns = _arrays(device), 12
    vector_add[1](*arrays, N)
    (program,) = [row.loaded for row in vector_add.site().programs.values()]
    for _ in range(64):  # so many launches are remembered, for the errors of faults
        device.launch(program, 1, [*arrays, N])
    del arrays, program
    rounds = []
    for _ in range(4):
        for _ in range(turns):
            work(device)
        rounds.append(_counts(fake, device))
    objects = [row.pop("objects") for row in rounds]
    # What becomes hot makes objects once; a single one left by each turn would show in each round.
    assert min(after - before for before, after in pairwise(objects)) < turns, objects
    assert all(row == rounds[0] for row in rounds), rounds
    assert device.pool.use.used == 0
