"""Short launches: the same results as the slow path, every guard, and what ends them."""

# Launches that a checker refuses too are meant, and arrays of every kind.
# mypy: disable-error-code="arg-type, call-arg, call-overload, misc, unused-ignore"

from __future__ import annotations

import gc
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device, launcher
from teeny_cuda.provider import PROVIDER
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_macros.hot import HOT
from teeny_triton import Const, Ptr, f32, f64, i1, i32, i64

if TYPE_CHECKING:
    from conftest import Compiler, Slow

    from teeny_cuda.fake_driver import FakeDriver

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("launchers")
SCALE = 3


@kernel
def vector_add(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK_SIZE: Const[int] = 128
) -> None:
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask), mask)


@kernel
def scaled(out_ptr: Ptr[f32], n: i32) -> None:
    tl.store(out_ptr + n, float(SCALE))


@kernel
def plain(x_ptr, n, scale):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    tl.store(x_ptr + n, scale)


@kernel
def numbers(
    out_ptr: Ptr[f32],
    whole: i64,
    small: i32,
    single: f32,
    double: f64,
    flag: i1,
    last: i32 | int = 7,
) -> None:
    tl.store(out_ptr + whole + small + last, single + double.to(f32) + flag.to(f32))


def _arrays(device: Device, count: int = 3, n: int = 64) -> list[Any]:
    return [device.copy_of(np.arange(n, dtype=np.float32) + at) for at in range(count)]


def _warm(call: Any, times: int = HOT + 1) -> None:
    for _ in range(times):
        call()


def _last(fake: FakeDriver) -> Any:
    return fake.launches[-1]


def _params(fake: FakeDriver) -> list[int]:
    return [int.from_bytes(data, "little", signed=True) for data in _last(fake).params]


def test_a_hot_launch_gives_the_driver_what_the_slow_one_gave(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y, out = _arrays(device)
    vector_add[(2, 3)](x, y, out, 50, BLOCK_SIZE=32)
    first = _last(fake)
    _warm(lambda: vector_add[(2, 3)](x, y, out, 50, BLOCK_SIZE=32))
    before, count = slow.count, len(fake.launches)
    vector_add[(2, 3)](x, y, out, 50, BLOCK_SIZE=32)
    assert slow.count == before
    assert len(fake.launches) == count + 1
    assert vars(_last(fake)) == vars(first)
    assert not fake.current


def test_the_results_are_right(fake: FakeDriver, device: Device, compiler: Compiler) -> None:
    x, y, out = _arrays(device)
    for turn in range(3 * HOT):
        out.fill(0.0)
        vector_add[1,](x, y, out, turn % 40, BLOCK_SIZE=128)
        expected = np.zeros(64, np.float32)
        expected[: turn % 40] = (2 * np.arange(64, dtype=np.float32) + 1)[: turn % 40]
        assert np.array_equal(out.to_host(), expected)


def test_another_call_shape_gets_an_entry_of_its_own(
    device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y, out = _arrays(device)
    calls = [
        lambda: vector_add[1](x, y, out, 50, BLOCK_SIZE=32),
        lambda: vector_add[1](x, y, out, n=50, BLOCK_SIZE=32),
        lambda: vector_add[1](x, y, out, 50, 32),
        lambda: vector_add[1](x, y, n=50, out_ptr=out, BLOCK_SIZE=32),
        lambda: vector_add[1](x, y, out, 50),
    ]
    for call in calls:
        _warm(call)
    before = slow.count
    for call in calls:
        call()
    assert slow.count == before


def test_many_combinations_are_short_and_beyond_that_the_oldest_make_room(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y, out = _arrays(device)
    blocks = [16 * (at + 1) for at in range(40)]
    for block in blocks[:32]:
        _warm(lambda block=block: vector_add[1](x, y, out, 50, BLOCK_SIZE=block))
    before = slow.count
    for block in blocks[:32]:
        vector_add[1](x, y, out, 50, BLOCK_SIZE=block)
        assert fake.launches[-1].name == "vector_add_entry_point"
    assert slow.count == before
    for block in blocks[32:]:
        _warm(lambda block=block: vector_add[1](x, y, out, 50, BLOCK_SIZE=block))
    before = slow.count
    for block in blocks[9:]:
        vector_add[1](x, y, out, 50, BLOCK_SIZE=block)
    assert slow.count == before
    for block in blocks:  # the others are right all the same
        count = len(fake.launches)
        vector_add[1](x, y, out, 51, BLOCK_SIZE=block)
        assert (len(fake.launches), _params(fake)[3]) == (count + 1, 51)


@pytest.mark.parametrize("grid", [7, (7,), (7, 2), (7, 2, 3)])
def test_grids_of_every_form_are_short(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, grid: Any
) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[grid](x, y, out, 50))
    before = slow.count
    vector_add[grid](x, y, out, 50)
    sizes = (*(grid if isinstance(grid, tuple) else (grid,)), 1, 1)[:3]
    assert (_last(fake).grid, slow.count) == (sizes, before)


def test_grids_that_change_and_functions_are_short_too(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[1](x, y, out, 50, BLOCK_SIZE=32))
    before = slow.count
    for size in range(1, 9):
        vector_add[size, size](x, y, out, 50, BLOCK_SIZE=32)
        assert _last(fake).grid == (size, size, 1)
    vector_add[lambda meta: (meta["BLOCK_SIZE"], 2)](x, y, out, 50, BLOCK_SIZE=32)
    assert _last(fake).grid == (32, 2, 1)
    vector_add[[4, 5]](x, y, out, 50, BLOCK_SIZE=32)
    assert _last(fake).grid == (4, 5, 1)
    assert slow.count == before
    count = len(fake.launches)
    vector_add[lambda meta: 0](x, y, out, 50, BLOCK_SIZE=32)
    vector_add[(4, 0)](x, y, out, 50, BLOCK_SIZE=32)
    vector_add[0](x, y, out, 50, BLOCK_SIZE=32)
    assert len(fake.launches) == count


@pytest.mark.parametrize(
    ("grid", "code"),
    [
        (-1, "E1019"),
        ((1, 65536), "E1060"),
        ((1, 1, 65536), "E1060"),
        (2**31, "E1060"),
        (2**80, "E1060"),
        ((1, 2, 3, 4), "E1019"),
        ((), "E1019"),
        ("x", "E1019"),
        (lambda meta: "x", "E1019"),
        (lambda meta: (1, -1), "E1019"),
        (lambda meta: (1, 70000), "E1060"),
    ],
)
def test_wrong_grids_are_refused_as_ever(
    fake: FakeDriver, device: Device, compiler: Compiler, grid: Any, code: str
) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[1](x, y, out, 50))
    count = len(fake.launches)
    with pytest.raises(LaunchError) as caught:
        vector_add[grid](x, y, out, 50)
    assert caught.value.code == code
    assert len(fake.launches) == count


def test_an_error_in_a_grid_function_comes_through(device: Device, compiler: Compiler) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[1](x, y, out, 50))
    with pytest.raises(ZeroDivisionError):
        vector_add[lambda meta: 1 // 0](x, y, out, 50)


def _misses(device: Device) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    x, y, out = _arrays(device)
    odd = device.buffer(65, "f32")[1:]
    return [
        ("an unaligned array", (odd, y, out, 50), {}),
        ("a number divisible by 16", (x, y, out, 64), {}),
        ("the number one", (x, y, out, 1), {}),
        ("another constant", (x, y, out, 50, 64), {}),
        ("a NumPy integer", (x, y, out, np.int32(50)), {}),
        ("a typed number", (x, y, out, i32(50)), {}),
        ("an option", (x, y, out, 50), {"num_warps": 8}),
    ]


@pytest.mark.parametrize("case", range(7))
def test_what_an_entry_does_not_cover_takes_the_slow_path_and_is_right(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow, case: int
) -> None:
    what, args, named = _misses(device)[case]
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    before, count = slow.count, len(fake.launches)
    vector_add[2](*args, **named)
    assert (slow.count, len(fake.launches)) == (before + 1, count + 1), what
    assert _params(fake)[:3] == [array.pointer for array in args[:3]]
    assert _params(fake)[3] == int(getattr(args[3], "value", args[3]))


@pytest.mark.parametrize(
    ("position", "value", "code"),
    [
        (0, "f64", "E1007"),
        (0, None, None),
        (1, 17, None),
        (2, "host", None),
        (3, 2**31, "E1010"),
        (3, 1.5, None),
        (3, None, None),
        (2, "released", "E1069"),
    ],
)
def test_wrong_arguments_are_refused_after_the_kernel_is_hot(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    position: int,
    value: Any,
    code: str | None,
) -> None:
    args: list[Any] = [*_arrays(device), 50]
    _warm(lambda: vector_add[2](*args))
    if value == "f64":
        value = device.buffer(64, "f64")
    elif value == "host":
        value = np.zeros(64, np.float32)
    elif value == "released":
        value = device.buffer(64, "f32")
        value.release()
    wrong = [*args[:position], value, *args[position + 1 :]]
    count = len(fake.launches)
    try:
        vector_add[2](*wrong)
    except LaunchError as error:
        assert code is None or error.code == code  # noqa: PT017 - some compile a kernel instead
        assert len(fake.launches) == count
    else:
        assert (position, value) == (0, None)  # a null pointer compiles a kernel of its own
    vector_add[2](*args)
    assert _params(fake)[:4] == [array.pointer for array in args[:3]] + [50]


@pytest.mark.parametrize(
    ("args", "named"),
    [((), {}), ((1, 2, 3, 4, 5, 6), {}), ((), {"wrong": 1}), ((1, 2), {"x_ptr": 3})],
)
def test_calls_that_do_not_bind_are_refused(
    device: Device, compiler: Compiler, args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    with pytest.raises(LaunchError) as caught:
        vector_add[2](*args, **named)
    assert caught.value.code in ("E1003", "E1004", "E1005", "E1006")


def test_an_array_released_after_the_kernel_is_hot_is_refused(
    device: Device, compiler: Compiler
) -> None:
    x, y, out = _arrays(device)
    view = out[:]
    _warm(lambda: vector_add[2](x, y, view, 50))
    out.release()
    with pytest.raises(LaunchError) as caught:
        vector_add[2](x, y, view, 50)
    assert caught.value.code == "E1069"


def test_numbers_are_packed_as_the_slow_path_packs_them(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    (out,) = _arrays(device, 1)
    cases: list[tuple[Any, ...]] = [
        (5, -3, 1.5, 2.25, True),
        (2**40 + 1, -(2**31), -0.0, 1e300, False),
        (-5, 2**31 - 1, float("inf"), float("-inf"), True),
        (-(2**63) + 1, 9, 3.4028234663852886e38, 5e-324, True),
        (5, 3, 7, 9, False),
        (5, 3, 1e-45, -7, False),
    ]
    seen = []
    for args in cases:
        numbers[1](out, *args)
        seen.append(_last(fake).params)
    for args in cases:
        _warm(lambda args=args: numbers[1](out, *args))  # type: ignore[misc]
    before = slow.count
    for args, params in zip(cases, seen, strict=True):
        numbers[1](out, *args)
        assert _last(fake).params == params, args
    assert slow.count == before
    nan = float("nan")
    numbers[1](out, 5, 3, nan, nan, True)
    assert np.isnan(np.frombuffer(_last(fake).params[3], np.float32))
    assert slow.count == before


@pytest.mark.parametrize(("at", "value"), [(3, 1e39), (3, -1e39), (2, 2**31), (1, 2**63)])
def test_numbers_out_of_range_are_refused_when_hot(
    fake: FakeDriver, device: Device, compiler: Compiler, at: int, value: Any
) -> None:
    (out,) = _arrays(device, 1)
    args: list[Any] = [out, 5, 3, 1.5, 2.5, True]
    _warm(lambda: numbers[1](*args))
    count = len(fake.launches)
    args[at] = value
    with pytest.raises(LaunchError) as caught:
        numbers[1](*args)
    assert caught.value.code in ("E1010", "E1066")
    assert len(fake.launches) == count


def test_integers_without_annotation_choose_their_width(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    (x,) = _arrays(device, 1)
    for _ in range(20 * HOT):
        for value in (5, 2**40 + 5, -7, 16, 1):
            plain[1](x, value, 0.5)
            width = 8 if value > 2**31 else 4
            assert len(_last(fake).params[1]) == width
            assert int.from_bytes(_last(fake).params[1], "little", signed=True) == value
    kinds = {
        (dict(i.specialization.types)["n"].dtype, i.specialization.divisible_by_16)
        for i in compiler.instances
        if "n" in dict(i.specialization.types)
    }
    assert {dtype for dtype, _ in kinds} == {"i32", "i64"}


def test_a_captured_name_that_changes_ends_the_short_launch(
    device: Device, compiler: Compiler, monkeypatch: pytest.MonkeyPatch, slow: Slow
) -> None:
    (out,) = _arrays(device, 1)
    _warm(lambda: scaled[1](out, 5))
    before = slow.count
    scaled[1](out, 5)
    assert (slow.count, len(compiler.instances)) == (before, 1)
    kept = scaled[1]
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 4)
    kept(out, 5)
    assert len(compiler.instances) == 2
    assert "SCALE = 4" in compiler.instances[-1].source
    _warm(lambda: scaled[1](out, 5))
    before = slow.count
    scaled[1](out, 5)
    assert slow.count == before


def test_a_stream_is_followed(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    x, y, out = _arrays(device)
    one, two = device.stream(), device.stream()
    _warm(lambda: vector_add.on(1, stream=one)(x, y, out, 50))
    _warm(lambda: vector_add[1](x, y, out, 50, stream=two))
    before = slow.count
    vector_add.on(1, stream=one)(x, y, out, 50)
    assert _last(fake).stream == one.handle
    vector_add[1](x, y, out, 50, stream=two)
    assert _last(fake).stream == two.handle
    assert slow.count == before
    vector_add[1](x, y, out, 50)
    assert _last(fake).stream == 0


def test_captured_launches_are_not_short(device: Device, compiler: Compiler, slow: Slow) -> None:
    x, y, out = _arrays(device)
    with device.capture() as graph:  # which is told what they use
        _warm(lambda: vector_add.on(2, stream=graph.stream)(x, y, out, 50), 2 * HOT)
    assert slow.count == 2 * HOT


def test_clusters_launch_through_the_extended_call(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    compiler.metadata["num_ctas"] = 2
    x, y, out = _arrays(device)
    pair = vector_add.options(num_ctas=2)
    _warm(lambda: pair[3, 2](x, y, out, 50))
    before = slow.count
    pair[3, 2](x, y, out, 50)
    assert slow.count == before
    assert (_last(fake).grid, _last(fake).cluster) == ((6, 2, 1), 2)


def test_blocking_launches_keep_to_the_slow_path(
    device: Device, compiler: Compiler, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, out = _arrays(device)
    monkeypatch.setattr(device, "blocking", True)
    monkeypatch.setitem(PROVIDER._devices, 0, device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    before = slow.count
    vector_add[2](x, y, out, 50)
    assert slow.count == before + 1


def test_an_unloaded_program_ends_its_entries(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    site = vector_add.site()
    (program,) = [p.loaded for p in site.programs.values()]
    program.unload()
    count = len(fake.launches)
    with pytest.raises(LaunchError) as caught:
        vector_add[2](x, y, out, 50)
    assert caught.value.code == "E1058"
    assert len(fake.launches) == count


def test_a_failing_driver_is_a_coded_error(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    fake.fork()
    with pytest.raises(LaunchError) as caught:
        vector_add[2](x, y, out, 50)
    assert caught.value.code == "E1075"


def test_instances_are_short_as_well(device: Device, compiler: Compiler, slow: Slow) -> None:
    x, y, out = _arrays(device)
    instance = vector_add.instantiate(BLOCK_SIZE=32)
    _warm(lambda: instance[2](x, y, out, 50))
    before = slow.count
    instance[2](x, y, out, 50)
    instance[2](x, y, out, 64)
    assert slow.count == before


def test_references_are_given_back(fake: FakeDriver, device: Device, compiler: Compiler) -> None:
    fake.kernels.clear()
    x, y, out = _arrays(device)
    n = 12345678

    def call() -> None:
        vector_add[2](x, y, out, n, BLOCK_SIZE=32)

    def grid(meta: Any) -> tuple[int, int]:
        return 2, 3

    _warm(call)
    objects = [x, y, out, n, grid, x._launch_kind, None]
    # Of three rounds the best, since other code may come to hold None; a leak shows in each.
    drifts = []
    for _ in range(3):
        call()
        device.synchronize()
        fake.launches.clear()
        gc.collect()
        before = [sys.getrefcount(value) for value in objects]
        for _ in range(1000):
            call()
            vector_add[grid](x, y, out, n, BLOCK_SIZE=32)
        device.synchronize()
        fake.launches.clear()
        gc.collect()
        after = [sys.getrefcount(value) for value in objects]
        drifts.append([abs(a - b) for a, b in zip(after, before, strict=True)])
    assert all(min(column) < 100 for column in zip(*drifts, strict=True)), str(drifts)


def test_many_threads_launch_at_the_same_time(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    fake.kernels.clear()
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    count = len(fake.launches)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(100):
                vector_add[number + 1](x, y, out, 100 * number + turn + 17)
        except BaseException as error:  # noqa: BLE001 - shown by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    runs = fake.launches[count:]
    assert len(runs) == 800
    for run in runs:
        number = int.from_bytes(run.params[3], "little") - 17
        assert run.grid == (number // 100 + 1, 1, 1)


def test_without_llvmlite_everything_is_launched_the_long_way(
    device: Device, compiler: Compiler, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(launcher._state, "available", False)
    x, y, out = _arrays(device)
    _warm(lambda: vector_add[2](x, y, out, 50))
    before = slow.count
    vector_add[2](x, y, out, 50)
    assert slow.count == before + 1


def test_tensors_are_asked_by_their_methods(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    torch_stream: list[int],
    tensor_type: Any,
) -> None:
    kind, dtypes = tensor_type
    buffers = _arrays(device)
    _warm(lambda: vector_add[2](*buffers, 50), 3 * HOT)  # each library's arrays count by themselves
    tensors = [kind(buffer, dtypes["float32"]) for buffer in buffers]
    _warm(lambda: vector_add[2](*tensors, 50))
    before = slow.count
    vector_add[2](*tensors, 50)
    assert _params(fake)[:3] == [tensor.data_ptr() for tensor in tensors]
    stream = device.stream()
    torch_stream.append(stream.handle)
    vector_add[2](*tensors, 50)
    assert (_last(fake).stream, slow.count) == (stream.handle, before)
    half = kind(device.buffer(64, "f16"), dtypes["float16"])
    with pytest.raises(LaunchError):
        vector_add[2](half, *tensors[1:], 50)
    assert slow.count == before + 1


def test_tensors_with_the_exchange_protocol_are_read_by_c_functions(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    torch_stream: list[int],
    exchange_type: Any,
    tensor_type: Any,
) -> None:
    base, dtypes = tensor_type
    kind, state = exchange_type(base)
    tensors = [kind(buffer, dtypes["float32"]) for buffer in _arrays(device)]
    _warm(lambda: vector_add[2](*tensors, 50))
    before = slow.count
    asked = state["asked"]
    vector_add[2](*tensors, 50)
    assert (slow.count, state["asked"]) == (before, asked + 3)
    assert _params(fake)[:3] == [tensor.data_ptr() for tensor in tensors]
    stream = device.stream()
    state["stream"] = stream.handle
    vector_add[2](*tensors, 50)
    assert (_last(fake).stream, slow.count) == (stream.handle, before)
    good = dict(state)
    for wrong in ({"device": 1 << 32 | 2}, {"dtype": 2 | 16 << 8 | 1 << 16}, {"fails": True}):
        state.update(wrong)
        vector_add[2](*tensors, 50)
        before += 1
        assert slow.count == before, wrong
        state.update({name: good[name] for name in wrong})
    vector_add[2](*tensors, 50)
    assert slow.count == before


@pytest.mark.parametrize("speaks_c", [False, True])
def test_where_a_tensor_begins_and_lies_is_looked_at(
    fake: FakeDriver,
    device: Device,
    compiler: Compiler,
    slow: Slow,
    torch_stream: list[int],
    exchange_type: Any,
    tensor_type: Any,
    speaks_c: bool,
) -> None:
    base, dtypes = tensor_type
    kind, _ = exchange_type(base) if speaks_c else (base, None)
    tensors = [kind(buffer, dtypes["float32"]) for buffer in _arrays(device)]
    odd = kind(device.buffer(65, "f32")[1:], dtypes["float32"])
    _warm(lambda: vector_add[2](*tensors, 50))
    before = slow.count
    vector_add[2](odd, *tensors[1:], 50)
    assert slow.count == before + 1
    assert _params(fake)[0] == odd.data_ptr()
    _warm(lambda: vector_add[2](odd, *tensors[1:], 50))
    before = slow.count
    vector_add[2](odd, *tensors[1:], 50)
    vector_add[2](*tensors, 50)
    assert slow.count == before
    if not speaks_c:
        tensors[0].get_device = lambda: 1
        vector_add[2](*tensors, 50)
        assert slow.count == before + 1
