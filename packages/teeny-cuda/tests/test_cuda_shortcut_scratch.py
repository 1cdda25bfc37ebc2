"""Short launches that need scratch memory: each takes its own from the pool, in its stream."""

# mypy: disable-error-code="arg-type, call-arg, func-returns-value, misc, unused-ignore"

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device, scratch
from teeny_cuda.testing import import_library
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_macros.hot import HOT
from teeny_triton import Ptr, f32, i32

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Compiler, Slow

    from teeny_cuda.fake_driver import FakeDriver

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("launchers")


@kernel
def used(out_ptr: Ptr[f32], n: i32) -> None:
    tl.store(out_ptr + n, 1.0)


@kernel
def copied(out_ptr: Ptr[f32], x_ptr: Ptr[f32], n_rows: i32 | int) -> None:
    """Descriptors that the kernel makes stand in scratch memory."""
    x = tl.make_tensor_descriptor(x_ptr, [n_rows, 32], [32, 1], [8, 32])
    out = tl.make_tensor_descriptor(out_ptr, [n_rows, 32], [32, 1], [8, 32])
    at = [tl.program_id(0) * 8, 0]
    out.store(at, x.load(at) + 1.0)


def _warm(call: Callable[[], object], times: int = HOT + 1) -> None:
    for _ in range(times):
        call()


def _scratch(run: Any) -> tuple[int, int]:
    """The addresses of a launch's memory, for the kernel and for profiling."""
    kernel_at, profile_at = (int.from_bytes(data, "little") for data in run.params[-2:])
    return kernel_at, profile_at


@pytest.fixture
def uses(fake: FakeDriver, compiler: Compiler) -> list[tuple[Any, int]]:
    """What each run of `used` had, and the bytes of the pool in use. A run fills its memory."""
    found: list[tuple[Any, int]] = []

    def body(run: Any) -> None:
        x, y, z = run.grid
        names = (
            ("global_scratch_bytes", "global_scratch_align"),
            ("profile_scratch_bytes", "profile_scratch_align"),
        )
        spans = []
        for at, (size, align) in zip(_scratch(run), names, strict=True):
            nbytes = compiler.metadata.get(size, 0) * x * y * z
            if not nbytes:
                assert at == 0
                continue
            assert at % compiler.metadata.get(align, 1) == 0
            run.view(at, nbytes)[:] = bytes(nbytes)  # a fault outside of an allocation
            spans.append((at, at + nbytes))
        assert len(spans) < 2 or spans[0][1] <= spans[1][0]
        found.append((run, fake.pool_used[0]))

    fake.kernels["used_entry_point"] = body
    return found


@pytest.fixture(params=["stream", "launch"])
def whose(request: pytest.FixtureRequest, fake: FakeDriver) -> str:
    """Whether launches share their stream's memory; those of older drivers each take their own."""
    if request.param == "launch":
        fake.cuGetProcAddress(b"cuStreamGetId", 12000, 0)
        fake.__dict__["native"][b"cuStreamGetId"] = None
    return str(request.param)


@pytest.mark.parametrize(
    "sizes",
    [(128, 1, 0, 1), (96, 128, 0, 1), (128, 1024, 64, 512), (0, 1, 48, 16), (1, 1, 1, 1)],
)
@pytest.mark.parametrize("grid", [1, (3, 2, 2), (40, 30, 2)])
def test_each_launch_has_the_memory_that_it_needs(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    uses: list[tuple[Any, int]],
    sizes: tuple[int, ...],
    grid: Any,
    whose: str,
) -> None:
    compiler.metadata.update(
        global_scratch_bytes=sizes[0],
        global_scratch_align=sizes[1],
        profile_scratch_bytes=sizes[2],
        profile_scratch_align=sizes[3],
    )
    out = device.buffer(64, "f32")
    _warm(lambda: used[1](out, 5))
    before = slow.count
    for _ in range(4):
        used[grid](out, 5)
    assert slow.count == before
    assert fake.pool_used[0] > 0  # what was taken is given back in the stream, behind the kernel
    device.synchronize()
    assert len(uses) == HOT + 5
    # The first that needs more takes its own, those behind it share.
    last = [_scratch(run) for run, _ in uses[-3:]]
    assert len(set(last)) == (1 if whose == "stream" else 3)
    assert fake.pool_used[0] == device.context.scratch.nbytes
    assert bool(fake.pool_used[0]) == (whose == "stream")
    assert not fake.current


def _calls_of_memory(fake: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What is taken and given back from here on: (function, stream)."""
    seen: list[tuple[str, int]] = []
    for name in ("cuMemAllocAsync", "cuMemFreeAsync"):
        plain = getattr(fake, name)

        def noted(value: int, stream: int, name: str = name, plain: Any = plain) -> Any:
            seen.append((name, stream))
            return plain(value, stream)

        monkeypatch.setattr(fake, name, noted)
    return seen


def test_the_memory_comes_and_goes_in_the_launch_s_stream(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    uses: list[tuple[Any, int]],
    monkeypatch: pytest.MonkeyPatch,
    whose: str,
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    one, two = device.stream(), device.stream()
    for stream in (one, two):
        _warm(lambda stream=stream: used.on(2, stream=stream)(out, 5))
    seen = _calls_of_memory(fake, monkeypatch)
    before = slow.count
    for stream in (two, one):
        used.on(2, stream=stream)(out, 5)
        assert fake.launches[-1].stream == stream.handle
    pair = ("cuMemAllocAsync", "cuMemFreeAsync")
    each = [(name, stream.handle) for stream in (two, one) for name in pair]
    assert seen == ([] if whose == "stream" else each)
    assert len({_scratch(run)[0] for run in fake.launches[-2:]}) == 2
    # A larger grid takes its own once, and lets its stream have as much.
    seen.clear()
    for _ in range(3):
        used.on(500, stream=one)(out, 5)
    mine = [(name, one.handle) for name in pair]
    assert seen == ([*mine, mine[0]] if whose == "stream" else 3 * mine)
    assert slow.count == before


def test_a_stream_s_memory_goes_with_it_and_comes_to_no_other(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, uses: list[tuple[Any, int]]
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    stream = device.stream()
    _warm(lambda stream=stream: used.on(2, stream=stream)(out, 5))  # type: ignore[misc]
    used.on(2, stream=stream)(out, 5)
    old = _scratch(fake.launches[-1])[0]
    assert device.context.scratch.nbytes > 0
    # Another stream may get the handle of one that is gone: the driver's number tells them apart.
    fake.numbers[stream.handle] = 5000 + fake.numbers[stream.handle] % 8
    before = slow.count
    used.on(2, stream=stream)(out, 5)
    used.on(2, stream=stream)(out, 5)
    places = {_scratch(run)[0] for run in fake.launches[-2:]}
    assert old not in places
    assert slow.count == before
    fake.numbers[stream.handle] = 99 + 8 * 1000
    stream.synchronize()
    fake.launches.clear()
    uses.clear()
    kept = device.context.scratch.nbytes
    used.on(2, stream=stream)(out, 5)
    assert device.context.scratch.nbytes > kept
    del stream
    gc.collect()
    assert device.context.scratch.nbytes == kept
    device.synchronize()
    assert fake.pool_used[0] == kept


def test_a_capture_that_another_library_began_takes_its_own_memory(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    uses: list[tuple[Any, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    stream = device.stream()
    _warm(lambda: used.on(2, stream=stream)(out, 5))
    used.on(2, stream=stream)(out, 5)
    shared = _scratch(fake.launches[-1])[0]
    seen = _calls_of_memory(fake, monkeypatch)
    before, count = slow.count, len(device.context.captures)
    mode = fake.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    device.context.call("cuStreamBeginCapture", stream.handle, mode)
    for _ in range(2):
        used.on(2, stream=stream)(out, 5)
        assert _scratch(fake.launches[-1])[0] != shared
    device.context.call("cuStreamEndCapture", stream.handle)
    pair = [("cuMemAllocAsync", stream.handle), ("cuMemFreeAsync", stream.handle)]
    assert seen == 2 * pair
    used.on(2, stream=stream)(out, 5)
    assert _scratch(fake.launches[-1])[0] == shared
    assert (slow.count, len(device.context.captures)) == (before, count)


def test_beyond_a_limit_each_launch_takes_its_own(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    uses: list[tuple[Any, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scratch, "_MOST", 8192)
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    before = slow.count
    for _ in range(3):
        used[60](out, 5)
    assert device.context.scratch.nbytes == 4096
    assert len({_scratch(run)[0] for run in fake.launches[-3:]}) == 3
    used[2](out, 5)
    assert slow.count == before
    device.synchronize()
    assert fake.pool_used[0] == 4096


def test_clusters_have_memory_for_each_of_their_blocks(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, monkeypatch: Any
) -> None:
    compiler.metadata.update(global_scratch_bytes=128, num_ctas=2)
    out = device.buffer(64, "f32")
    pair = used.options(num_ctas=2)
    _warm(lambda: pair[3](out, 5))
    before, taken = slow.count, []
    plain = fake.cuMemAllocAsync
    monkeypatch.setattr(
        fake, "cuMemAllocAsync", lambda n, stream: (taken.append(n), plain(n, stream))[1]
    )
    pair[300](out, 5)
    assert slow.count == before
    assert taken[0] >= 2 * 300 * 128
    assert fake.launches[-1].grid == (600, 1, 1)


def test_without_memory_the_slow_path_says_so_and_nothing_is_lost(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, uses: list[tuple[Any, int]]
) -> None:
    compiler.metadata["global_scratch_bytes"] = 1 << 20
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    device.synchronize()
    before, count = slow.count, len(fake.launches)
    noted = device.context.suspects.count
    for grid in (5000, (60000, 60000), (2**31 - 1, 65535, 65535)):
        with pytest.raises(LaunchError) as caught:
            used[grid](out, 5)
        assert caught.value.code == "E1059"
    assert (slow.count, len(fake.launches)) == (before + 3, count)
    assert device.context.suspects.count == noted
    assert not fake.current
    assert fake.pool_used[0] == device.context.scratch.nbytes
    used[2](out, 5)
    assert slow.count == before + 3
    device.synchronize()
    assert uses[-1][1] >= 2 << 20


def test_sizes_beyond_64_bits_are_no_small_ones(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    compiler.metadata["global_scratch_bytes"] = 16
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    count = len(fake.launches)
    for grid in ((2**30, 2**15, 2**15), (2**30, 2**15, 2**14)):  # 2**64 and 2**63 bytes
        with pytest.raises(LaunchError) as caught:
            used[grid](out, 5)
        assert caught.value.code == "E1059"
    assert len(fake.launches) == count


@pytest.mark.parametrize("name", ["cuStreamGetId", "cuStreamIsCapturing"])
def test_a_stream_of_which_the_driver_tells_nothing_has_no_memory_of_its_own(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    uses: list[tuple[Any, int]],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    used[2](out, 5)
    before = slow.count
    refused = fake.cuMemFreeAsync(12345, 0)
    seen = _calls_of_memory(fake, monkeypatch)
    monkeypatch.setattr(fake, name, lambda _stream: refused)
    for _ in range(3):
        used[2](out, 5)
    assert seen == 3 * [("cuMemAllocAsync", 0), ("cuMemFreeAsync", 0)]
    assert slow.count == before


def test_the_memory_of_a_launch_that_the_driver_refuses_is_given_back(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, monkeypatch: Any
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    device.synchronize()
    refused = fake.cuLaunchKernel(0, 1, 1, 1, 128, 1, 1, 0, 0, 0, 0)
    with monkeypatch.context() as patch:
        patch.setattr(fake, "cuLaunchKernel", lambda *_: refused)
        for grid in (2, 500):
            with pytest.raises(LaunchError):
                used[grid](out, 5)
    device.synchronize()
    assert fake.pool_used[0] == device.context.scratch.nbytes == 4096
    assert not fake.current


def test_what_cannot_be_given_back_is_no_silence(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, monkeypatch: Any
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    refused = fake.cuMemFreeAsync(12345, 0)
    assert refused[0]
    monkeypatch.setattr(fake, "cuMemFreeAsync", lambda *_: refused)
    with pytest.raises(LaunchError):
        used[500](out, 5)


def test_gpus_without_pools_keep_to_the_slow_path(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    fake.attributes["MEMORY_POOLS_SUPPORTED"] = 0
    compiler.metadata["global_scratch_bytes"] = 128
    plain = Device(0)
    assert not plain.properties["memory_pools_supported"]
    out = plain.buffer(64, "f32")
    from teeny_cuda.provider import PROVIDER

    PROVIDER._devices.pop(0, None)
    _warm(lambda: used[2](out, 5))
    before = slow.count
    used[2](out, 5)
    assert slow.count == before + 1


def test_the_pool_keeps_some_memory_and_more_if_it_was_told_to(
    fake: FakeDriver, device: Device, compiler: Compiler, whose: str
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    assert device.pool.keep_bytes == 0
    _warm(lambda: used[2](out, 5))
    assert device.pool.keep_bytes == (0 if whose == "stream" else 16 << 20)
    device.pool.keep_bytes = 1 << 40
    _warm(lambda: used.options(num_warps=8)[2](out, 5))
    assert device.pool.keep_bytes == 1 << 40


def test_graphs_capture_the_memory_with_the_launch(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, uses: list[tuple[Any, int]]
) -> None:
    compiler.metadata["global_scratch_bytes"] = 128
    out = device.buffer(64, "f32")
    _warm(lambda: used[2](out, 5))
    before = slow.count
    with device.capture() as graph:
        used.on(2, stream=graph.stream)(out, 5)
    assert slow.count == before + 1
    used[2](out, 5)
    assert slow.count == before + 1
    device.synchronize()
    gc.collect()


def test_many_threads_share_the_memory_of_their_streams(
    fake: FakeDriver, device: Device, compiler: Compiler, uses: list[tuple[Any, int]]
) -> None:
    compiler.metadata["global_scratch_bytes"] = 64
    out = device.buffer(64, "f32")
    streams = [device.stream() for _ in range(4)]
    for stream in streams:
        _warm(lambda stream=stream: used.on(2, stream=stream)(out, 5))
    device.synchronize()
    count = len(fake.launches)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(50):
                used.on(60 * (number + turn) + 1, stream=streams[number % 4])(out, 5)
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    device.synchronize()  # the kernels fill what they were given, and fault outside of it
    assert fake.fault is None
    runs = fake.launches[count:]
    assert len(runs) == 400
    places = [
        {_scratch(run)[0] for run in runs if run.stream == stream.handle} for stream in streams
    ]
    assert sum(map(len, places)) == len(set().union(*places))
    assert fake.pool_used[0] == device.context.scratch.nbytes


# --- on the GPU -----------------------------------------------------------------------------------
@pytest.mark.gpu
def test_kernels_that_make_descriptors_are_short_on_the_gpu(gpu: Device, slow: Slow) -> None:
    streams = [gpu.stream(), gpu.stream()]
    arrays = [
        (gpu.copy_of(np.full((64, 32), at, np.float32)), gpu.buffer((64, 32), "f32"))
        for at in range(4)
    ]
    gpu.synchronize()
    for stream in (None, *streams):
        _warm(lambda stream=stream: copied.on(8, stream=stream)(arrays[0][1], arrays[0][0], 63))
    gpu.synchronize()
    before = slow.count
    for turn in range(400):
        x, out = arrays[turn % 4]
        copied.on(8, stream=(None, *streams)[turn % 3])(out, x, 63)
    gpu.synchronize()
    assert slow.count == before
    for at, (_, out) in enumerate(arrays):
        assert np.array_equal(out.to_host()[:63], np.full((63, 32), at + 1, np.float32))


@pytest.mark.gpu
def test_graphs_of_torch_capture_scratch_memory(gpu: Device, slow: Slow) -> None:
    torch = import_library("torch")
    x = torch.arange(2048, dtype=torch.float32, device="cuda").reshape(64, 32)
    out = torch.empty_like(x)
    _warm(lambda: copied[8](out, x, 63))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    before = slow.count
    with torch.cuda.graph(graph):
        copied[8](out, x, 63)
    assert slow.count == before
    for turn in range(3):
        x.fill_(turn)
        out.zero_()
        graph.replay()
        torch.cuda.synchronize()
        assert bool((out[:63] == turn + 1).all())
        assert bool((out[63] == 0).all())
