"""Short launches with arguments of other libraries and of 16 bits, and streams that come and go."""

# mypy: disable-error-code="arg-type, call-arg, misc, unused-ignore"

from __future__ import annotations

import gc
import math
import random
import struct
import sys
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device
from teeny_cuda.scalars import bf16_bits
from teeny_cuda.testing import import_library
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_macros.hot import HOT
from teeny_triton import Const, Ptr, bf16, f16, f32, i32

if TYPE_CHECKING:
    from conftest import Compiler, Slow

    from teeny_cuda.fake_driver import FakeDriver

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("launchers")


@kernel
def vector_add(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK_SIZE: Const[int] = 128
) -> None:
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask), mask)


@kernel(contiguous=("x_ptr",), separate=("out_ptr",), strides={"y_ptr": ("step",)})
def declared(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, step: i32 | int = 1
) -> None:
    at = tl.arange(0, 16)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(y_ptr + at * step), at < n)


@kernel
def halves(out_ptr: Ptr[f32], half: f16, brain: bf16) -> None:
    tl.store(out_ptr, half.to(f32) + brain.to(f32))


def _arrays(device: Device, count: int = 3, n: int = 64) -> list[Any]:
    return [device.copy_of(np.arange(n, dtype=np.float32) + at) for at in range(count)]


def _warm(call: Any, times: int = HOT + 1) -> None:
    for _ in range(times):
        call()


def _bits(run: Any) -> tuple[int, ...]:
    return tuple(int.from_bytes(data, "little") for data in run.params[1:3])


# --- 16-bit floats --------------------------------------------------------------------------------
def _samples() -> list[float]:
    choose = random.Random(16)
    found = [0.0, -0.0, 1.0, -1.5, 42.0, 65504.0, 65519.99, -65519.0, 2.0**-24, 2.0**-25, 5e-324]
    found += [2.0**-14, 2.0**-14 - 2.0**-26, 2.0**-133, 3 * 2.0**-134, math.inf, -math.inf]
    for _ in range(1500):
        # Around every boundary and tie of both formats: few bits, then one bit more or less.
        exponent = choose.randint(-27, 15)
        units = choose.randint(1, 4096)
        found.append(
            math.ldexp(units / 4096, exponent) * (1 + choose.choice((0, 2**-40, -(2**-40))))
        )
    found += [choose.uniform(-60000, 60000) for _ in range(300)]
    return found


def test_16_bit_floats_are_rounded_as_the_slow_path_rounds_them(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    (out,) = _arrays(device, 1)
    _warm(lambda: halves[1](out, 1.5, 2.5))
    before = slow.count
    for value in _samples():
        halves[1](out, value, value)
        half = struct.unpack("<H", struct.pack("<e", max(-65504.0, min(65504.0, value))))[0]
        if math.isinf(value):
            half = 0x7C00 | (0x8000 if value < 0 else 0)
        assert _bits(fake.launches[-1]) == (half, bf16_bits(value)), value.hex()
    assert slow.count == before


def test_the_whole_range_of_bf16_is_rounded_right(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    (out,) = _arrays(device, 1)
    _warm(lambda: halves[1](out, 1.5, 2.5))
    before = slow.count
    choose = random.Random(7)
    for _ in range(1500):
        value = math.ldexp(choose.uniform(-2, 2), choose.randint(-140, 126))
        halves[1](out, 0.5, value)
        assert _bits(fake.launches[-1])[1] == bf16_bits(value), value.hex()
    assert slow.count == before


@pytest.mark.parametrize(
    ("half", "brain"), [(65520.0, 0.0), (-1e9, 0.0), (0.0, 3.4e38), (0.0, -1e300)]
)
def test_what_is_too_large_for_16_bits_is_refused_when_hot(
    device: Device, compiler: Compiler, half: float, brain: float
) -> None:
    (out,) = _arrays(device, 1)
    _warm(lambda: halves[1](out, 1.5, 2.5))
    with pytest.raises(LaunchError) as caught:
        halves[1](out, half, brain)
    assert caught.value.code in {"E1010", "E1066"}


def test_nan_and_integers_reach_a_16_bit_parameter(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    (out,) = _arrays(device, 1)
    _warm(lambda: halves[1](out, 1.5, 2.5))
    halves[1](out, math.nan, math.nan)
    half, brain = _bits(fake.launches[-1])
    assert (half & 0x7C00, bool(half & 0x3FF), brain & 0x7FFF) == (0x7C00, True, 0x7FC0)
    halves[1](out, 3, -7)
    assert _bits(fake.launches[-1]) == (0x4200, 0xC0E0)


# --- CuPy and JAX ---------------------------------------------------------------------------------
class _CuPyArray:
    """What a launch asks of an array of CuPy."""

    def __init__(self, buffer: Any, stream: list[int]) -> None:
        self.buffer = buffer
        self.dtype = np.dtype(np.float32)
        self.data = SimpleNamespace(ptr=buffer.pointer, device_id=0)
        self.device = SimpleNamespace(id=0)
        self.stream = stream

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.buffer.__cuda_array_interface__, "stream": self.stream[-1] or 1}


_CuPyArray.__module__ = "cupy"


class _JaxArray:
    """What a launch asks of an array of JAX."""

    def __init__(self, buffer: Any, where: Any) -> None:
        self.buffer = buffer
        self.dtype = np.dtype(np.float32)
        self.device = where
        self.ready = True
        self.fails = False

    def is_ready(self) -> bool:
        return self.ready

    def unsafe_buffer_pointer(self) -> int:
        assert self.ready
        assert not self.fails
        return int(self.buffer.pointer)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **options: Any) -> Any:
        self.ready = True
        return self.buffer.__dlpack__(**options)


def test_arrays_of_cupy_are_launched_short_on_its_current_stream(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handles = [0]
    cuda = SimpleNamespace(get_current_stream=lambda ordinal: SimpleNamespace(ptr=handles[-1]))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    from teeny_cuda.asked import cupy_stream

    cupy_stream.cache_clear()
    arrays = [_CuPyArray(buffer, handles) for buffer in _arrays(device)]
    _warm(lambda: vector_add[1](*arrays, 50))
    before = slow.count
    vector_add[1](*arrays, 50)
    assert fake.launches[-1].stream == 0
    side = device.stream()
    handles.append(side.handle)
    vector_add[1](*arrays, 50)
    assert fake.launches[-1].stream == handles[-1]
    assert slow.count == before
    for name, value in (
        ("dtype", np.dtype(np.float64)),
        ("data", SimpleNamespace(ptr=1, device_id=1)),
    ):
        old = getattr(arrays[0], name)
        setattr(arrays[0], name, value)
        vector_add[1](*arrays, 50)  # described by its interface, which is right
        before += 1
        assert slow.count == before, name
        setattr(arrays[0], name, old)
    # A stream that is given has to be ordered after CuPy's: never short.
    stream = device.stream()
    _warm(lambda: vector_add[1](*arrays, 50, stream=stream))
    assert slow.count == before + HOT + 1
    cupy_stream.cache_clear()


@pytest.fixture(params=["cupy", "jax"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes an array of the library from a buffer."""
    from teeny_cuda.asked import cupy_stream

    cuda = SimpleNamespace(get_current_stream=lambda ordinal: SimpleNamespace(ptr=0))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    cupy_stream.cache_clear()
    where = object()
    if request.param == "jax":
        return lambda buffer: _JaxArray(buffer, where)
    return lambda buffer: _CuPyArray(buffer, [0])


def test_what_a_kernel_declares_of_such_arrays_is_checked_when_hot(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Any
) -> None:
    x, y, out = map(make, _arrays(device))
    wide = device.buffer(128, "f32")
    _warm(lambda: declared[1](x, y, out, 7))
    before = slow.count
    declared[1](x, y, out, 9)
    declared[1](make(wide[:64]), y, make(wide[64:]), 9)
    assert slow.count == before
    wrong = [
        ((make(wide[::2]), y, out, 9), "E1034"),
        ((x, make(wide[::2]), out, 9), "E1037"),
        ((x, y, x, 9), "E1036"),
        ((make(wide[:64]), y, make(wide[63:]), 9), "E1036"),
    ]
    for arguments, code in wrong:
        count = len(fake.launches)
        with pytest.raises(LaunchError) as caught:
            declared[1](*arguments)
        assert (caught.value.code, len(fake.launches)) == (code, count)
    declared[1](x, make(wide[::2]), out, 9, 2)
    assert len(fake.launches) == count + 1


@pytest.mark.parametrize("make", ["cupy"], indirect=True)
def test_arrays_of_cupy_without_address_are_left_to_the_slow_path(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Any
) -> None:
    arrays = [make(buffer) for buffer in _arrays(device)]
    _warm(lambda: vector_add[1](*arrays, 50))
    before = slow.count
    good = arrays[0].data
    for data in (
        SimpleNamespace(ptr=good.ptr),
        SimpleNamespace(device_id=0),
        None,
        SimpleNamespace(ptr=None, device_id=0),
        SimpleNamespace(ptr=1, device_id=None),
    ):
        arrays[0].data = data
        vector_add[1](*arrays, 50)
        before += 1
        assert slow.count == before
    arrays[0].data = good
    references = [sys.getrefcount(own) for own in (good, good.ptr, arrays[0].dtype)]
    for _ in range(300):
        vector_add[1](*arrays, 50)
    assert slow.count == before
    after = [sys.getrefcount(own) for own in (good, good.ptr, arrays[0].dtype)]
    assert max(abs(a - b) for a, b in zip(after, references, strict=True)) < 30


def test_arrays_of_jax_are_launched_short_once_they_are_ready(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    where = object()
    arrays = [_JaxArray(buffer, where) for buffer in _arrays(device)]
    _warm(lambda: vector_add[1](*arrays, 50))
    before = slow.count
    vector_add[1](*arrays, 50)
    assert [int.from_bytes(p, "little") for p in fake.launches[-1].params[:3]] == [
        array.buffer.pointer for array in arrays
    ]
    assert slow.count == before
    arrays[1].ready = False
    vector_add[1](*arrays, 50)
    assert slow.count == before + 1
    arrays[0].fails = True
    vector_add[1](*arrays, 50)
    assert slow.count == before + 2
    arrays[2].device = object()
    vector_add[1](*arrays, 50)
    assert slow.count == before + 3


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["cupy", "jax"])
def test_arrays_of_other_libraries_are_short_on_the_gpu(
    gpu: Device, slow: Slow, library: str
) -> None:
    found = import_library(library)
    numpy_like: Any = found.numpy if library == "jax" else found
    n = 1000
    x, y = numpy_like.arange(n, dtype="float32"), numpy_like.ones(n, dtype="float32")
    out = gpu.buffer(n, "f32")
    arrays: list[Any] = [x, y, numpy_like.zeros(n, dtype="float32")]
    if library == "jax":
        for array in arrays:
            array.block_until_ready()
    _warm(lambda: vector_add[8](*arrays, n))
    before = slow.count
    vector_add[8](*arrays, n)
    assert slow.count == before
    if library == "cupy":
        side = found.cuda.Stream(non_blocking=True)
        with side:
            arrays[0] += 1
            vector_add[8](*arrays, n)
            arrays[2] += 0.5
        side.synchronize()
        assert slow.count == before
        assert found.asnumpy(arrays[2]).tolist() == [at + 2.5 for at in range(n)]
    else:
        fresh = [
            array * 2 for array in arrays[:2]
        ]  # perhaps still computed: then not short, but right
        vector_add[8](*fresh, out, n)
        assert out.to_host().tolist() == [2 * at + 2 for at in range(n)]


@pytest.mark.gpu
def test_16_bit_floats_reach_the_gpu(gpu: Device, slow: Slow) -> None:
    out = gpu.buffer(1, "f32")
    _warm(lambda: halves[1](out, 1.5, 2.5))
    before = slow.count
    for half, brain in ((42.0, 1.5), (65504.0, -3.0), (2.0**-24, 2.0**-133), (0.1, 0.1)):
        halves[1](out, half, brain)
        expected = np.float32(np.float16(half)) + np.float32(
            np.uint32(bf16_bits(brain) << 16).view(np.float32)
        )
        assert out.to_host()[0] == expected
    assert slow.count == before


# --- streams that come and go ---------------------------------------------------------------------
@pytest.mark.parametrize("how", ["on", "argument"])
def test_a_stream_is_not_kept_by_the_launches_on_it(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, how: str
) -> None:
    x, y, out = _arrays(device)
    queues = len(fake.queues)
    for _ in range(30):  # more than there are entries: those of streams that are gone make room
        stream = device.stream()
        seen = weakref.ref(stream)
        for _ in range(HOT + 4):
            if how == "on":
                vector_add.on(1, stream=stream)(x, y, out, 50)
            else:
                vector_add[1](x, y, out, 50, stream=stream)
            assert fake.launches[-1].stream == stream.handle
        stream.synchronize()
        fake.launches.clear()
        del stream
        assert seen() is None
    gc.collect()
    assert len(fake.queues) == queues
    assert len(vector_add.site().homes) <= 2


def test_a_handle_is_known_by_its_number(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y, out = _arrays(device)
    stream = device.stream()
    _warm(lambda: vector_add.on(1, stream=int(str(stream.handle)))(x, y, out, 50))
    before = slow.count
    vector_add.on(1, stream=int(str(stream.handle)))(x, y, out, 50)
    assert (slow.count, fake.launches[-1].stream) == (before, stream.handle)
    with pytest.raises(LaunchError):
        vector_add.on(1, stream=True)(x, y, out, 50)


def test_graphs_are_not_kept_by_the_launches_in_them(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    x, y, out = _arrays(device)
    for _ in range(5):
        with device.capture() as graph:
            _warm(lambda graph=graph: vector_add.on(1, stream=graph.stream)(x, y, out, 50))
        graph.launch()
        device.synchronize()
        seen = weakref.ref(graph)
        del graph
        assert seen() is None
    assert not fake.executables
