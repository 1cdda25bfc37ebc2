"""Private copies of arguments through the device protocol, and the comparison of results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from teeny_compiler.tuning.arrays import Private, TypedMemory
from teeny_compiler.tuning.compare import decode, difference
from teeny_compiler.tuning.measure import Timer, Timing
from teeny_macros import devices

np = pytest.importorskip("numpy")
pytest.importorskip("teeny_cpu")


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The host, and a GPU of which only the driver is made up."""
    if request.param == "cpu":
        yield devices.device("cpu")
        return
    testing = pytest.importorskip("teeny_cuda.testing")
    with testing.fake_driver():
        yield devices.device("cuda:0")


def _array(device: Any, values: Any) -> Any:
    buffer = device.buffer(values.shape, str(values.dtype))
    buffer.copy_from(values)
    return buffer


def _write(device: Any, place: Any, values: Any) -> None:
    """What a kernel does to a private argument."""
    info = devices.describe(place)
    assert info is not None
    if device.target.kind == "cpu":
        np.asarray(place.array).view(values.dtype)[:] = values
    else:
        device.wrap(place.array).copy_from(values.view(np.uint8))


def test_what_is_written_goes_into_copies_that_can_be_restored(device: Any) -> None:
    x, y = np.arange(10, dtype=np.float32), np.arange(10, dtype=np.int32)
    args = [_array(device, x), _array(device, y), 3, None]
    dtypes = {"x": "f32", "y": "i32", "none": "f32"}
    private = Private(device, ["x", "y", "n", "none"], args, dtypes, {"x", "none"}, ())
    assert private.args[1:] == args[1:]
    assert isinstance(private.args[0], TypedMemory)
    info = devices.describe(private.args[0])
    assert info is not None
    assert (info.dtype, info.nbytes, info.device) == ("f32", 40, device.name)
    private.restore()
    _write(device, private.args[0], np.full(10, 7, np.float32))
    assert (decode(private.read()["x"], "f32") == 7).all()
    assert (args[0].to_host() == x).all()
    private.restore()
    assert (decode(private.read()["x"], "f32") == x).all()


def test_what_is_reset_begins_with_zeros(device: Any) -> None:
    x = _array(device, np.arange(10, dtype=np.float32))
    private = Private(device, ["x"], [x], {"x": "f32"}, {"x"}, {"x"})
    private.restore()
    assert not private.read()["x"].any()
    assert x.to_host()[1] == 1


def test_arguments_that_share_memory_share_a_copy(device: Any) -> None:
    x = _array(device, np.arange(16, dtype=np.float32))
    dtypes = {"x": "f32", "out": "f32"}
    private = Private(device, ["x", "out"], [x, x], dtypes, {"out"}, ())
    first, second = (devices.describe(argument) for argument in private.args)
    assert first is not None
    assert first == second
    assert first.pointer != x.pointer
    assert list(private.outputs) == ["out"]


def test_views_of_one_array_keep_their_distance_and_their_alignment() -> None:
    device = devices.device("cpu")
    base = np.arange(64, dtype=np.float32)
    args = [base[1:33], base[5:64]]
    private = Private(device, ["a", "b"], args, {"a": "f32", "b": "f32"}, {"a"}, ())
    private.restore()
    found = [devices.describe(argument) for argument in private.args]
    given = [devices.describe(argument) for argument in args]
    assert all(info is not None for info in (*found, *given))
    for copy, own in zip(found, given, strict=True):
        assert copy is not None
        assert own is not None
        assert copy.pointer % 16 == own.pointer % 16
    assert (decode(private.read()["a"], "f32") == base[1:33]).all()


def test_times_come_from_the_device_s_events(device: Any) -> None:
    calls: list[str] = []
    timer = Timer(device, lambda: calls.append("run"), lambda: calls.append("restore"))
    timing = timer.measure(None)
    assert len(timing.samples) >= 3
    assert timing.ms >= 0
    assert calls[:4] == ["restore", "run", "restore", "run"]


def test_a_config_far_behind_is_given_up() -> None:
    import time

    timer = Timer(devices.device("cpu"), lambda: time.sleep(0.003), None)
    timing = timer.measure(1.0)
    assert timing.is_cut_short
    assert len(timing.samples) == 2


def test_the_noise_follows_the_spread() -> None:
    assert Timing((1.0, 1.0, 1.0)).noise == pytest.approx(0.01)
    assert Timing((1.0, 2.0, 3.0)).noise > Timing((1.9, 2.0, 2.1)).noise > 0.02


def test_every_dtype_is_decoded() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    every = np.arange(256, dtype=np.uint8)
    for name, code in (("f8e4m3", ml_dtypes.float8_e4m3fn), ("f8e5m2", ml_dtypes.float8_e5m2)):
        np.testing.assert_array_equal(decode(every, name), every.view(code).astype(np.float32))
    halves = np.arange(2**16, dtype=np.uint16)
    expected = halves.view(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(decode(halves.view(np.uint8), "bf16"), expected)
    for name, code in (("i64", np.int64), ("u16", np.uint16), ("f16", np.float16)):
        values = np.arange(7).astype(code)
        np.testing.assert_array_equal(decode(values.view(np.uint8), name), values)
    assert decode(np.ones(3, np.uint8), "i1").tolist() == [1, 1, 1]


def test_integers_are_equal_or_wrong() -> None:
    a = np.array([1, 2, 3])
    assert difference(a, a.copy(), "i64") == ""
    assert difference(a + (a > 1), a, "i64") == "element 1 is 3 instead of 2 and 1 more"
    assert difference(a, a[:2], "i64") == "3 elements instead of 2"


def test_floats_may_differ_by_rounding_but_not_in_what_is_not_finite() -> None:
    a = np.array([1.0, np.inf, np.nan, 1e-3], np.float32)
    assert difference(a, a.copy(), "f32") == ""
    assert difference(a * np.float32(1.0001), a, "f32") == ""
    assert difference(a * np.float32(1.0001), a, "f32", 1e-6) != ""
    assert difference(a, np.array([1.0, 3.0, np.nan, 1e-3], np.float32), "f32") != ""
    assert difference(np.nan_to_num(a), a, "f32") != ""
    assert difference(a * np.float32(1.1), a, "f32") != ""
