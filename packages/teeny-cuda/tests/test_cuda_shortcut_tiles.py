"""Short launches with descriptors: what the driver gets, and every guard beside the slow path.

Each case is launched twice, by a hot kernel and without machine code, and must end alike.
"""

# Descriptors that a checker refuses too are meant.
# mypy: disable-error-code="arg-type, call-arg, misc, unused-ignore"

from __future__ import annotations

import gc
import sys
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device, launcher
from teeny_cuda.fake_base import CUresult
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver, import_library
from teeny_macros import kernel
from teeny_macros.diagnostics import TeenyError
from teeny_macros.hot import HOT
from teeny_triton import Ptr, TensorDescriptor, f16, f32, i32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Compiler, Slow

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("launchers")


@kernel
def moved(
    source: TensorDescriptor[f16, Any], target: TensorDescriptor[f16, Any], n: i32 | int
) -> None:
    at = [tl.program_id(0) * 8, n]
    target.store(at, source.load(at))


@kernel
def mixed(
    x_ptr: Ptr[f32], tiles: TensorDescriptor[f16, Any] | None, n: i32 | int, last: i32 | int = 5
) -> None:
    if tiles is not None:
        tl.store(x_ptr + n, tl.sum(tiles.load([n, last]).to(f32)))


@dataclass
class Described:
    """As Triton's own descriptors are: a dataclass with lists."""

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"


def _warm(call: Callable[[], object], times: int = HOT + 1) -> None:
    for _ in range(times):
        call()


def _tiles(array: Any, **options: Any) -> Any:
    return tl.tensor_descriptor(array, **{"block_shape": (8, 32), **options})


def _words(run: Any, at: int) -> list[int]:
    return [int.from_bytes(run.params[at][b : b + 8], "little") for b in range(0, 88, 8)]


def _numbers(run: Any, first: int, count: int) -> list[int]:
    return [int.from_bytes(data, "little") for data in run.params[first : first + count]]


@pytest.fixture(params=["buffer", "exchange", "method"])
def make(
    request: pytest.FixtureRequest,
    device: Device,
    torch_stream: list[int],
    tensor_type: Any,
    exchange_type: Any,
) -> Callable[..., Any]:
    """Makes arrays of f16 of each kind."""
    kind, dtypes = tensor_type
    if request.param == "exchange":
        kind, state = exchange_type(kind)
        state["dtype"] = 2 | 16 << 8 | 1 << 16

    def made(shape: tuple[int, ...] = (64, 64), buffer: Any = None) -> Any:
        buffer = device.buffer(shape, "f16") if buffer is None else buffer
        return buffer if request.param == "buffer" else kind(buffer, dtypes["float16"])

    return made


def test_a_hot_launch_gives_the_driver_what_the_slow_one_gave(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Callable[..., Any]
) -> None:
    x, y = make(), make()
    moved[(2, 3)](_tiles(x), _tiles(y), 7)
    first = fake.launches[-1]
    _warm(lambda: moved[(2, 3)](_tiles(x), _tiles(y), 7))
    before = slow.count
    moved[(2, 3)](_tiles(x), _tiles(y), 7)
    assert slow.count == before
    assert vars(fake.launches[-1]) == vars(first)
    assert not fake.current


def test_arrays_and_sizes_are_read_anew_each_time(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Callable[..., Any]
) -> None:
    _warm(lambda: moved[1](_tiles(make()), _tiles(make()), 7))
    before = slow.count
    for rows, columns in ((64, 64), (3, 128), (100, 40), (1, 8)):
        x, y = make((rows, columns)), make()
        moved[1](_tiles(x), _tiles(y, shape=(rows, 50), strides=(64, 1)), 7)
        run = fake.launches[-1]
        pointer = getattr(x, "pointer", None) or x.data_ptr()
        assert _words(run, 0)[:8] == [pointer, 2, 6, columns, rows, 2 * columns, 32, 8]
        assert _numbers(run, 1, 4) == [rows, columns, columns, 1]
        assert _words(run, 5)[3:6] == [50, rows, 128]
    assert slow.count == before


def test_launches_go_into_the_stream_of_the_described_arrays_library(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    tensor_type: Any,
    exchange_type: Any,
    torch_stream: list[int],
) -> None:
    base, dtypes = tensor_type
    kind, state = exchange_type(base)
    state["dtype"] = 2 | 16 << 8 | 1 << 16
    for own in (kind, base):
        x, y = (own(device.buffer((64, 64), "f16"), dtypes["float16"]) for _ in range(2))
        _warm(lambda x=x, y=y: moved[1](_tiles(x), _tiles(y), 7))  # type: ignore[misc]
        stream = device.stream()
        torch_stream.append(stream.handle)
        state["stream"] = stream.handle
        before = slow.count
        moved[1](_tiles(x), _tiles(y), 7)
        assert (fake.launches[-1].stream, slow.count) == (stream.handle, before)
        given = device.stream()
        _warm(lambda x=x, y=y: moved.on(1, stream=given)(_tiles(x), _tiles(y), 7))  # type: ignore[misc]  # noqa: B023
        before = slow.count
        moved.on(1, stream=given)(_tiles(x), _tiles(y), 7)
        assert (fake.launches[-1].stream, slow.count) == (given.handle, before)
        torch_stream.append(0)
        state["stream"] = 0


def test_lists_and_other_classes_of_descriptors_are_short_too(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Callable[..., Any]
) -> None:
    x, y = make(), make()

    def call() -> None:
        moved[1](
            Described(x, [64, 64], [64, 1], [8, 32]), Described(y, [64, 64], [64, 1], [8, 32]), 3
        )

    _warm(call)
    before = slow.count
    call()
    assert slow.count == before
    moved[1](_tiles(x), _tiles(y), 3)  # of another class: its own entry
    assert slow.count == before + 1
    assert vars(fake.launches[-1]) == vars(fake.launches[-2])


# --- every guard, beside the slow path ------------------------------------------------------------
def _others(device: Device, make: Callable[..., Any]) -> dict[str, Any]:
    """First arguments that differ from what the entry was made for, or are wrong."""
    x = make()
    wide = device.buffer((64, 72), "f16")
    released = device.buffer((64, 64), "f16")
    released.release()
    return {
        "nan": _tiles(x, padding="nan"),
        "another padding": _tiles(x, padding="one"),
        "a padding by value": _tiles(x, padding="zero!"[:4]),
        "another tile": _tiles(x, block_shape=(16, 32)),
        "a tile turned": _tiles(x, block_shape=(32, 8)),
        "a tile of one axis": _tiles(x, block_shape=(32,)),
        "a tile of floats": _tiles(x, block_shape=(8.0, 32.0)),
        "three axes": _tiles(make((2, 64, 64)), block_shape=(1, 8, 32)),
        "sides of one axis": _tiles(x, shape=(64,)),
        "one stride": _tiles(x, strides=(1,)),
        "three strides": _tiles(x, strides=(64, 64, 1)),
        "no row": _tiles(x, shape=(0, 64)),
        "a negative side": _tiles(x, shape=(-1, 64)),
        "2^31 rows": _tiles(x, shape=(2**31, 64)),
        "2^31 - 1 rows": _tiles(x, shape=(2**31 - 1, 64)),
        "2^70 rows": _tiles(x, shape=(2**70, 64)),
        "rows of 65": _tiles(x, strides=(65, 1)),
        "rows of 60": _tiles(x, strides=(60, 1)),
        "rows backwards": _tiles(x, strides=(-64, 1)),
        "no step": _tiles(x, strides=(0, 1)),
        "a step of 2^40 bytes": _tiles(x, strides=(2**39, 1)),
        "a step of 2^38 bytes": _tiles(x, strides=(2**37, 1)),
        "a step beyond 64 bits": _tiles(x, strides=(2**64 + 64, 1)),
        "columns by twos": _tiles(x, strides=(64, 2)),
        "columns by 0": _tiles(x, strides=(64, 0)),
        "NumPy sizes": _tiles(x, shape=tuple(np.array([60, 64])), strides=tuple(np.array([64, 1]))),
        "true for one": _tiles(x, strides=(64, True)),
        "off by 2 bytes": _tiles(make(buffer=wide[:, 1:65])),
        "off by 16 bytes": _tiles(make(buffer=wide[:, 8:72])),
        "another dtype": _tiles(device.buffer((64, 64), "f32")),
        "other 16 bits": _tiles(device.buffer((64, 64), "bf16")),
        "a released buffer": Described(released, [64, 64], [64, 1], [8, 32]),
        "on the host": _tiles(np.zeros((64, 64), np.float16)),
        "no array": Described(3, [64, 64], [64, 1], [8, 32]),
        "no base": Described(None, [64, 64], [64, 1], [8, 32]),
        "the array itself": x,
        "nothing": None,
        "a number": 3,
        "sizes of another kind": Described(x, range(64, 65), {64: 1}, [8, 32]),
    }


_CASES = range(39)


def _outcome(fake: FakeDriver, call: Callable[[], object]) -> Any:
    """What the driver got, or the code of the refusal, or the kind of another error."""
    count = len(fake.launches)
    try:
        call()
    except TeenyError as error:
        assert len(fake.launches) == count
        return error.code
    except Exception as error:  # noqa: BLE001 - compared
        assert len(fake.launches) == count
        return type(error).__name__
    assert len(fake.launches) == count + 1
    return vars(fake.launches[-1])


@pytest.mark.parametrize("case", _CASES)
def test_what_is_not_as_before_ends_as_on_the_slow_path(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[..., Any],
    case: int,
) -> None:
    others = _others(device, make)
    assert len(others) == len(_CASES)
    name, other = list(others.items())[case]
    x, y = make(), make()
    launcher.is_available()
    with monkeypatch.context() as patch:
        patch.setitem(launcher._state, "available", False)
        slowly = _outcome(fake, lambda: moved[2](other, _tiles(y), 7))
    moved._shared.site = None
    moved._over.clear()
    _warm(lambda: moved[2](_tiles(x), _tiles(y), 7))
    hot = slow.count
    assert _outcome(fake, lambda: moved[2](other, _tiles(y), 7)) == slowly, name
    again = slow.count
    moved[2](_tiles(x), _tiles(y), 7)
    assert slow.count == again
    assert again == hot + (name not in _STILL_SHORT), name
    assert not fake.current
    assert fake.fault is None


# What an entry covers although it is another array.
_STILL_SHORT = {"2^31 - 1 rows", "a step of 2^38 bytes", "off by 16 bytes"}


def test_arrays_of_two_gpus_are_refused_when_hot(
    compiler: Compiler, torch_stream: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from teeny_cuda.provider import PROVIDER

    with fake_driver(FakeDriver(count=2)) as fake:
        monkeypatch.setattr(PROVIDER, "_devices", {})
        one, two = Device(0), Device(1)
        moved._shared.site = None
        x, y = (one.buffer((64, 64), "f16") for _ in range(2))
        _warm(lambda: moved[2](_tiles(x), _tiles(y), 7))
        far = two.buffer((64, 64), "f16")
        for pair in ((far, y), (x, far)):
            outcome = _outcome(fake, lambda pair=pair: moved[2](*map(_tiles, pair), 7))
            assert outcome == "E1016"


@pytest.mark.parametrize("wrong", [{"device": 1 << 32 | 2}, {"dtype": 4 | 16 << 8 | 1 << 16}])
def test_what_the_library_says_of_a_tensor_is_looked_at(
    device: Device,
    compiler: Compiler,
    slow: Slow,
    torch_stream: list[int],
    tensor_type: Any,
    exchange_type: Any,
    wrong: dict[str, int],
) -> None:
    base, dtypes = tensor_type
    kind, state = exchange_type(base)
    state["dtype"] = 2 | 16 << 8 | 1 << 16
    x, y = (kind(device.buffer((64, 64), "f16"), dtypes["float16"]) for _ in range(2))
    _warm(lambda: moved[1](_tiles(x), _tiles(y), 7))
    before = slow.count
    moved[1](_tiles(x), _tiles(y), 7)
    assert slow.count == before
    state.update(wrong)
    moved[1](_tiles(x), _tiles(y), 7)
    assert slow.count == before + 1


def test_a_map_that_the_driver_does_not_encode_is_refused_by_the_slow_path(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, monkeypatch: Any
) -> None:
    x, y = (device.buffer((64, 64), "f16") for _ in range(2))
    _warm(lambda: moved[1](_tiles(x), _tiles(y), 7))
    before, noted = slow.count, device.context.suspects.count
    monkeypatch.setattr(
        fake, "cuTensorMapEncodeTiled", lambda *_: (CUresult.CUDA_ERROR_INVALID_VALUE,)
    )
    other = _tiles(x, shape=(60, 64))  # the slow path has not seen it
    assert _outcome(fake, lambda: moved[1](other, _tiles(y), 7)) == "E1099"
    assert (slow.count, device.context.suspects.count) == (before + 1, noted)
    assert not fake.current


def test_an_older_driver_without_maps_keeps_to_the_slow_path(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    fake.cuGetProcAddress(b"cuTensorMapEncodeTiled", 12000, 0)
    fake.__dict__["native"][b"cuTensorMapEncodeTiled"] = None
    x, y = (device.buffer((64, 64), "f16") for _ in range(2))
    _warm(lambda: moved[1](_tiles(x), _tiles(y), 7))
    before = slow.count
    moved[1](_tiles(x), _tiles(y), 7)
    assert slow.count == before + 1


# --- other forms ----------------------------------------------------------------------------------
def test_descriptors_that_become_pointers_are_short(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, make: Callable[..., Any]
) -> None:
    compiler.maps = False
    x, y = make(), make()
    _warm(lambda: moved[2](_tiles(x, padding="nan"), _tiles(y), 7))
    before = slow.count
    other = make((32, 128))
    moved[2](_tiles(other, padding="nan"), _tiles(y), 7)
    assert slow.count == before
    pointers = [getattr(own, "pointer", None) or own.data_ptr() for own in (other, y)]
    run = fake.launches[-1]
    assert _numbers(run, 0, 6) == [pointers[0], 1, 32, 128, 128, 1]
    assert _numbers(run, 6, 7) == [pointers[1], 0, 64, 64, 64, 1, 7]
    odd = _tiles(x, strides=(60, 1), padding="nan")
    assert _outcome(fake, lambda: moved[2](odd, _tiles(y), 7)) == "E1029"
    moved[2](_tiles(x), _tiles(y), 7)
    assert slow.count == before + 2


def test_descriptors_beside_arrays_nothing_and_defaults(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, tiles = device.buffer(64, "f32"), device.buffer((64, 64), "f16")
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((x, _tiles(tiles), 3), {}),
        ((x, _tiles(tiles), 3, 9), {}),
        ((x, None, 3), {}),
        ((x,), {"n": 3, "tiles": _tiles(tiles)}),
    ]
    seen = []
    for args, named in calls:
        mixed[1](*args, **named)
        seen.append(vars(fake.launches[-1]))
    for args, named in calls:
        _warm(lambda args=args, named=named: mixed[1](*args, **named))
    before = slow.count
    for (args, named), launched in zip(calls, seen, strict=True):
        mixed[1](*args, **named)
        assert vars(fake.launches[-1]) == launched
    assert slow.count == before
    assert _numbers(fake.launches[-1], 6, 2) == [3, 5]


def test_a_fault_names_launches_with_descriptors(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y = (device.buffer((64, 64), "f16") for _ in range(2))
    _warm(lambda: moved[1](_tiles(x), _tiles(y), 7))
    device.synchronize()
    before = slow.count
    moved[4](_tiles(x, shape=(60, 64)), _tiles(y), 11)
    assert slow.count == before
    fake.fault = CUresult(700)
    with pytest.raises(TeenyError) as caught:
        device.synchronize()
    said = str(caught.value)
    assert "the only launch since the GPU was waited for is `moved` over 4 x 1 x 1" in said
    assert "source = a tensor map, source.shape.0 = 60, source.shape.1 = 64" in said


def test_captured_and_unloaded_ones_are_not_short(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y = (device.buffer((64, 64), "f16") for _ in range(2))
    _warm(lambda: moved[1](_tiles(x), _tiles(y), 7))
    before = slow.count
    with device.capture() as graph:
        moved.on(1, stream=graph.stream)(_tiles(x), _tiles(y), 7)
        assert slow.count == before + 1
    (program,) = [entry.loaded for entry in moved.site().programs.values()]
    program.unload()
    assert _outcome(fake, lambda: moved[1](_tiles(x), _tiles(y), 7)) == "E1058"


# --- references and threads -----------------------------------------------------------------------
def test_references_are_given_back_by_hits_misses_and_errors(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    fake.kernels.clear()
    x, y = (device.buffer((64, 64), "f16") for _ in range(2))
    shape, strides, block, n = (61, 64), (64, 1), (8, 32), 12345678
    good = Described(x, list(shape), list(strides), list(block))
    bad = Described(x, list(shape), [60, 1], list(block))
    other = _tiles(y)

    def work() -> None:
        moved[2](good, other, n)
        with pytest.raises(TeenyError):
            moved[2](bad, other, n)

    _warm(work)
    objects = [
        x,
        y,
        n,
        good,
        other,
        good.shape,
        bad.strides,
        other.shape,
        other.block_shape,
        "zero",
    ]
    drifts = []
    for _ in range(3):
        work()
        device.synchronize()
        fake.launches.clear()
        gc.collect()
        before = [sys.getrefcount(value) for value in objects]
        for _ in range(200):
            work()
        device.synchronize()
        fake.launches.clear()
        gc.collect()
        drifts.append([abs(sys.getrefcount(v) - b) for v, b in zip(objects, before, strict=True)])
    assert all(min(column) < 50 for column in zip(*drifts, strict=True)), str(drifts)


def test_a_descriptor_that_another_thread_changes_keeps_its_array_until_the_launch(
    fake: FakeDriver, device: Device, compiler: Compiler, torch_stream: list[int], tensor_type: Any
) -> None:
    base, dtypes = tensor_type

    class Fleeting(base):  # type: ignore[misc, valid-type]
        """Asked for its address, it is dropped by its descriptor."""

        owner: Any = None

        def get_device(self) -> int:
            if self.owner is not None:
                self.owner.base = None
                del self.owner
                gc.collect()
            return 0

    y = Fleeting(device.buffer((64, 64), "f16"), dtypes["float16"])

    def described() -> Any:
        x = Fleeting(device.buffer((64, 64), "f16"), dtypes["float16"])
        return Described(x, [64, 64], [64, 1], [8, 32])

    given = Described(y, [64, 64], [64, 1], [8, 32])
    _warm(lambda: moved[1](described(), given, 7))
    last = described()
    pointer, last.base.owner = last.base.data_ptr(), last
    moved[1](last, given, 7)
    assert _words(fake.launches[-1], 0)[0] == pointer
    assert last.base is None


def test_many_threads_encode_at_the_same_time(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    fake.kernels.clear()
    arrays = [device.buffer((64, 64), "f16") for _ in range(8)]
    _warm(lambda: moved[1](_tiles(arrays[0]), _tiles(arrays[1]), 7))
    count = len(fake.launches)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(50):
                source = _tiles(arrays[number], shape=(turn + 1, 64))
                moved[number + 1](source, _tiles(arrays[-1]), turn)
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    runs = fake.launches[count:]
    assert len(runs) == 400
    for run in runs:
        words = _words(run, 0)
        assert words[0] == arrays[run.grid[0] - 1].pointer
        assert [words[4], *_numbers(run, 1, 1)] == [_numbers(run, 10, 1)[0] + 1] * 2


# --- on the GPU -----------------------------------------------------------------------------------
def _copies(gpu: Device, library: str) -> Iterator[tuple[Any, Any, Any]]:
    """Sources, targets and what is expected in them, of other sizes each time.

    Tiles begin at multiples of 16 bytes, as Triton asks of every offset.
    """
    choose = np.random.default_rng(7)
    for turn in range(6 * HOT):
        rows, columns = int(choose.integers(1, 90)), 8 * int(choose.integers(4, 12))
        host = choose.standard_normal((rows, columns)).astype(np.float16)
        if library == "torch":
            torch = import_library("torch")
            source = torch.from_numpy(host).cuda()
            target = torch.full((rows, columns), 3.0, dtype=torch.float16, device="cuda")
        else:
            source, target = gpu.copy_of(host), gpu.copy_of(np.full_like(host, 3))
        first = 8 * (turn % 4)
        expected = np.full_like(host, 3)
        expected[:, first : first + 32] = host[:, first : first + 32]
        yield source, target, (first, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["buffers", "torch"])
def test_hot_launches_with_descriptors_copy_on_the_gpu(
    gpu: Device, slow: Slow, library: str
) -> None:
    before = slow.count
    for source, target, (first, expected) in _copies(gpu, library):
        moved[-(-expected.shape[0] // 8)](_tiles(source), _tiles(target), first)
        found = target.cpu().numpy() if library == "torch" else target.to_host()
        assert np.array_equal(found, expected), (expected.shape, first)
    # `n` is a multiple of 16 at times, which is another program.
    assert slow.count - before <= 2 * HOT + 2
    short = slow.count
    moved[1](_tiles(source), _tiles(target), 8)
    assert slow.count == short


@pytest.mark.gpu
def test_wrong_descriptors_are_refused_on_the_gpu_when_hot(gpu: Device, slow: Slow) -> None:
    x, y = (gpu.buffer((64, 64), "f16") for _ in range(2))
    _warm(lambda: moved[8](_tiles(x), _tiles(y), 8))
    for options in ({"strides": (60, 1)}, {"shape": (0, 64)}, {"strides": (64, 2)}):
        before = slow.count
        with pytest.raises(TeenyError) as caught:
            moved[8](_tiles(x, **options), _tiles(y), 8)
        assert caught.value.code in {"E1029", "E1085"}
        assert slow.count == before + 1
    before = slow.count
    moved[8](_tiles(x), _tiles(y), 8)
    gpu.synchronize()
    assert slow.count == before
