"""Views, copies of strided buffers, other libraries' protocols, pools, pinned memory and peers."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.dlpack import _given, read_dlpack
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact

INDICES: list[Any] = [
    0,
    -1,
    slice(None),
    slice(1, 3),
    slice(None, None, 2),
    slice(3, 1),
    (1, 2),
    (slice(1, None), slice(None, None, 3)),
    (..., 1),
    (0, ..., slice(1, 3)),
    (slice(None), 2, slice(None)),
    (slice(1, 2), slice(1, 2), slice(1, 2)),
    ...,
    (),
    (np.int64(1), slice(np.int64(1), 4)),
]


def _array() -> Any:
    return np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_views_show_what_numpys_show(device: Device, index: Any) -> None:
    _views(device, index)


@pytest.mark.gpu
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_views_show_what_numpys_show_on_the_gpu(gpu: Device, index: Any) -> None:
    _views(gpu, index)


def _views(device: Device, index: Any) -> None:
    host = _array()
    buffer = device.copy_of(host)
    view, expected = buffer[index], host[index]
    assert view.shape == expected.shape
    assert np.array_equal(view.to_host(), expected)
    assert view.is_contiguous == expected.flags.c_contiguous or expected.size <= 1
    if expected.size:
        assert view.pointer - buffer.pointer == (
            expected.__array_interface__["data"][0] - host.__array_interface__["data"][0]
        )
    changed = np.full(expected.shape, 7, np.float32)
    view.copy_from(changed)
    host[index] = 7
    assert np.array_equal(buffer.to_host(), host)
    view.fill(9)
    host[index] = 9
    assert np.array_equal(buffer.to_host(), host)
    buffer[index] = changed
    host[index] = 7
    assert np.array_equal(buffer.to_host(), host)
    turned = view.T
    assert turned.shape == host[index].T.shape
    assert np.array_equal(turned.to_host(), host[index].T)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (4, "axis 0 has 4 elements"),
        (-5, "axis 0 has 4 elements"),
        ((0, 0, 0, 0), "it has 3 axes"),
        ((..., ...), "twice"),
        (slice(None, None, -1), "steps are positive"),
        (slice(None, None, 0), "integers"),
        (slice(1.5), "integers"),
        ("x", "neither int nor slice"),
        (None, "neither int nor slice"),
        ([0, 1], "neither int nor slice"),
        (1.0, "neither int nor slice"),
    ],
)
def test_a_wrong_index_is_refused(device: Device, index: Any, words: str) -> None:
    buffer = device.buffer((4, 5, 6), "f32")
    with pytest.raises(LaunchError) as caught:
        buffer[index]
    assert caught.value.code == "E1080"
    assert words in str(caught.value)


def test_reshaping(device: Device) -> None:
    buffer = device.copy_of(_array())
    for shape in ((120,), (20, 6), (2, -1), (-1,), (4, 5, 6)):
        assert np.array_equal(buffer.reshape(shape).to_host(), _array().reshape(shape))
    assert buffer.reshape(3, 40).shape == (3, 40)
    assert buffer.reshape(120).pointer == buffer.pointer
    for wrong in ((7,), (-1, 7), (-1, -1), (1.5,), ("x",)):
        with pytest.raises(LaunchError) as caught:
            buffer.reshape(wrong)
        assert caught.value.code == "E1077"
    with pytest.raises(LaunchError) as caught:
        buffer[:, 1:].reshape(-1)
    assert caught.value.code == "E1087"


def test_views_keep_the_memory_and_end_with_it(fake: FakeDriver, device: Device) -> None:
    buffer = device.buffer(64, "f32")
    view = buffer[8:]
    del buffer
    gc.collect()
    assert fake.memories[0].used == 256
    view.fill(1.0)
    inner = view[::2]
    del view
    gc.collect()
    assert fake.memories[0].used == 256
    whole = inner.memory
    inner.release()
    assert fake.memories[0].used == 0
    assert whole.is_released
    with pytest.raises(LaunchError) as caught:
        inner.to_host()
    assert caught.value.code == "E1069"


def test_many_views_leave_nothing_behind(device: Device) -> None:
    buffer = device.buffer(64, "f32")
    for at in range(1000):
        buffer[at % 64]
    gc.collect()
    assert len(buffer.memory._dependents) == 1


def test_a_view_is_launched_from_its_first_element(
    device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("vector_add"))
    buffer = device.copy_of(np.arange(12, dtype=np.float32))
    out = device.buffer(8, "f32")
    out.fill(0.0)
    device.launch(program, 1, [buffer[4:8], buffer[8:], out[2:6], 4])
    assert out.to_host().tolist() == [0, 0, 12, 14, 16, 18, 0, 0]


# --- protocols ------------------------------------------------------------------------------------


def test_a_view_tells_its_strides(device: Device) -> None:
    buffer = device.buffer((4, 6), "i16")
    interface = buffer[:, ::2].__cuda_array_interface__
    assert (interface["shape"], interface["strides"]) == ((4, 3), (12, 4))
    assert buffer.__cuda_array_interface__["strides"] is None


def test_dlpack_hands_out_the_memory_until_it_is_let_go(fake: FakeDriver, device: Device) -> None:
    buffer = device.buffer((4, 6), "bf16")
    view = buffer[1:, ::2]
    assert view.__dlpack_device__() == (2, 0)
    capsule = view.__dlpack__()
    assert len(_given) == 1
    (managed, *_rest) = next(iter(_given.values()))
    assert list(managed.tensor.shape[:2]) == [3, 3]
    assert list(managed.tensor.strides[:2]) == [6, 2]
    assert managed.tensor.data == view.pointer
    tensor = read_dlpack(view)
    assert tensor is not None
    assert (tensor.dtype, tensor.shape, tensor.strides) == ("bf16", (3, 3), (6, 2))
    del buffer, view, managed, _rest
    gc.collect()
    assert fake.memories[0].used == 48
    del capsule
    gc.collect()
    assert not _given
    assert fake.memories[0].used == 0


def test_dlpack_orders_the_consumers_stream(fake: FakeDriver, device: Device) -> None:
    buffer = device.buffer(4, "f32")
    stream = device.stream()
    fake.calls.clear()
    buffer.__dlpack__(stream=-1)
    buffer.__dlpack__(stream=1)
    assert "cuStreamWaitEvent" not in fake.calls
    buffer.__dlpack__(stream=stream.handle)
    assert "cuStreamWaitEvent" in fake.calls
    with pytest.raises(BufferError):
        buffer.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        buffer.__dlpack__(dl_device=(1, 0))


class _Foreign:
    def __init__(self, buffer: Any, **interface: Any) -> None:
        self.buffer = buffer
        self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, **interface}


def test_arrays_of_other_libraries_are_wrapped(fake: FakeDriver, device: Device) -> None:
    array = _Foreign(device.copy_of(_array()))
    wrapped = device.wrap(array)
    assert (wrapped.dtype, wrapped.shape) == ("f32", (4, 5, 6))
    del array
    gc.collect()
    assert np.array_equal(wrapped[1].to_host(), _array()[1])
    strided = device.wrap(_Foreign(device.copy_of(_array()), shape=(4, 3), strides=(120, 8)))
    assert np.array_equal(strided.to_host(), _array()[:, 0, ::2][:, :3])
    for wrong in (np.zeros(3), 3, "x"):
        with pytest.raises(LaunchError) as caught:
            device.wrap(wrong)
        assert caught.value.code == "E1065"


@pytest.mark.gpu
def test_torch_cupy_and_jax_share_buffers(gpu: Device) -> None:
    host = _array()
    buffer = gpu.copy_of(host)
    torch = import_library("torch")
    tensor = torch.from_dlpack(buffer[1:, ::2])
    assert np.array_equal(tensor.cpu().numpy(), host[1:, ::2])
    tensor += 1
    host[1:, ::2] += 1
    torch.cuda.synchronize()
    assert np.array_equal(buffer.to_host(), host)
    back = gpu.wrap(tensor)
    assert back.shape == (3, 3, 6)
    assert np.array_equal(back.to_host(), host[1:, ::2])
    cupy = import_library("cupy")
    assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(buffer)), host)
    assert np.array_equal(cupy.asnumpy(cupy.asarray(buffer[:, 1])), host[:, 1])
    wrapped = gpu.wrap(cupy.arange(10, dtype=cupy.int64))
    assert wrapped.to_host().tolist() == list(range(10))
    jax = import_library("jax")
    assert gpu.wrap(jax.numpy.arange(4.0, dtype="float32")).to_host().tolist() == [0, 1, 2, 3]


# --- pools, pinned memory, peers ------------------------------------------------------------------


def test_stream_ordered_buffers_come_from_the_pool(fake: FakeDriver, device: Device) -> None:
    _pool(device)
    assert fake.memories[0].used == 0


@pytest.mark.gpu
def test_stream_ordered_buffers_come_from_the_pool_of_the_gpu(gpu: Device) -> None:
    _pool(gpu)


def _pool(device: Device) -> None:
    stream = device.stream()
    pool = device.pool
    before = pool.use.used
    buffer = device.buffer(1 << 20, "f32", stream=stream)
    buffer.fill(3.0, stream=stream)
    assert pool.use.used == before + (4 << 20)
    assert buffer[5].to_host(stream=stream) == 3.0
    handle = stream.handle
    del stream  # the buffer keeps it
    gc.collect()
    assert handle
    buffer.release()
    device.synchronize()
    assert pool.use.used == before
    pool.keep_bytes = 1 << 24
    assert pool.keep_bytes == 1 << 24
    pool.keep_bytes = 0
    pool.trim()
    assert "MemoryPool(cuda:0" in repr(pool)


def test_pinned_arrays_are_copied_without_waiting(fake: FakeDriver, device: Device) -> None:
    _pinned(device)
    gc.collect()
    assert not fake.pinned


@pytest.mark.gpu
def test_pinned_arrays_are_copied_without_waiting_on_the_gpu(gpu: Device) -> None:
    _pinned(gpu)


def _pinned(device: Device) -> None:
    stream = device.stream()
    host = device.pinned((64, 64), "f32")
    back = device.pinned((64, 64), np.float32)
    host[:] = np.arange(4096).reshape(64, 64)
    buffer = device.buffer((64, 64), "f32")
    buffer.copy_from(host, stream=stream, wait=False)
    assert buffer.to_host(out=back, stream=stream, wait=False) is back
    stream.synchronize()
    assert stream.is_done
    assert np.array_equal(back, host)
    part = back[3]
    del back, host
    gc.collect()
    assert part[5] == 3 * 64 + 5
    assert device.pinned(0, "f32").size == 0


def test_pinned_memory_that_is_not_there_is_a_coded_error(device: Device) -> None:
    with pytest.raises(LaunchError) as caught:
        device.pinned(1 << 40, "u8")
    assert caught.value.code == "E1059"


@pytest.mark.parametrize("out", [np.zeros(3), np.zeros(4, np.float64), np.zeros(8)[::2]])
def test_a_wrong_target_of_a_copy_is_refused(device: Device, out: Any) -> None:
    with pytest.raises(LaunchError) as caught:
        device.buffer(4, "f32").to_host(out=out)
    assert caught.value.code == "E1070"


def test_copies_between_gpus_wait_for_the_other_ones_work(artifact_of: MakeArtifact) -> None:
    with fake_driver(FakeDriver(count=2)) as fake:
        first, second = Device(0), Device(1)
        _peers(first, second)
        assert fake.peers == {(0x100, 0x101)}


@pytest.mark.gpu
def test_copies_between_two_gpus(gpu: Device) -> None:
    from teeny_cuda import device_count

    if device_count() < 2:
        pytest.skip("one GPU")
    _peers(gpu, Device(1))


def _peers(first: Device, second: Device) -> None:
    first.enable_peer(second)
    first.enable_peer(second)
    first.enable_peer(first)
    there = second.buffer(1000, "i32")
    there.fill(5)
    here = first.buffer(1000, "i32")
    here.copy_from(there)
    assert here.to_host().tolist() == [5] * 1000
    stream, other = first.stream(), second.stream()
    there.fill(6, stream=other)
    stream.wait(other)
    here.copy_from(there, stream=stream)
    assert here.to_host().tolist() == [6] * 1000
    event = second.event()
    there.fill(7, stream=other)
    event.record(other)
    stream.wait(event)
    here.copy_from(there, stream=stream)
    assert here.to_host().tolist() == [7] * 1000


def test_streams_have_priorities(device: Device) -> None:
    assert device.priorities == (0, -5)
    assert device.stream(priority=-5).priority == -5
    with pytest.raises(LaunchError) as caught:
        device.stream(priority=3)
    assert caught.value.code == "E1072"
