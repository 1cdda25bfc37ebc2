"""Launches of compiled kernels: what programs are given, results, errors, the pool of threads."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from teeny_cpu import Device, plan, pool
from teeny_cpu.arguments import encoder_of
from teeny_cpu.native import ALONE, GROWING, TOGETHER
from teeny_cpu.objects import read_object
from teeny_macros.diagnostics import LaunchError
from teeny_macros.source import Origin, SourceMap

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import MakeNative

# Estimates of work: none, one that begins alone, one that calls workers at once.
WORKS = (0, 100, 10**7)


@pytest.fixture(params=["asleep in native code", "asleep in Python"])
def _each_pool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both ways in which workers wait, also where the system would choose the other."""
    if request.param == "asleep in native code" and sys.platform != "linux":
        pytest.skip("POSIX semaphores without names are there on Linux alone")
    made = pool.Pool("linux" if request.param == "asleep in native code" else "darwin")
    monkeypatch.setattr(pool, "_pools", [made])
    yield
    made.close()
    assert not any(thread.is_alive() for thread in made.threads)


def squares(count: int) -> Any:
    return np.arange(count) ** 2


@pytest.mark.usefixtures("_each_pool")
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_results_do_not_depend_on_the_number_of_threads(
    native: MakeNative, work: int, threads: int
) -> None:
    device = Device(threads)
    program = device.load(native("square", work=work))
    for grid in (1, 2, 3, 100, (7, 5), (3, 4, 25), 5000):
        count = int(np.prod(grid))
        x, out = np.arange(count) * 10, np.zeros(count, np.int64)
        device.launch(program, grid, (x, out, 50))
        assert np.array_equal(out, x + squares(count))
        bound = program.bind(grid, x, out, 50, threads=threads)
        for _ in range(3):
            out[:] = 0
            bound()
            assert np.array_equal(out, x + squares(count))


@pytest.mark.usefixtures("_each_pool")
def test_launches_of_several_threads_at_once_are_right(native: MakeNative) -> None:
    program = Device().load(native("square", work=10**7))
    wrong: list[int] = []

    def launch(number: int) -> None:
        count = 50 + number
        x, out = np.full(count, number), np.zeros(count, np.int64)
        bound = program.bind(count, x, out, 200, threads=3)
        for _ in range(100):
            out[:] = -1
            bound()
            if not np.array_equal(out, x + squares(count)):
                wrong.append(number)

    threads = [threading.Thread(target=launch, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.usefixtures("_each_pool")
@pytest.mark.parametrize("work", WORKS)
def test_a_failed_check_names_program_lane_parameter_and_line(
    native: MakeNative, work: int, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("# one\n# two\n    tl.store(out_ptr, 1.0)\n", encoding="utf-8")
    artifact = native("checked", work=work)
    artifact.source_map = SourceMap({5: Origin(str(mine), 3, ((5, 3, 9),))})
    device = Device(4)
    program = device.load(artifact)
    out = np.zeros(99, np.float32)
    for _ in range(20):
        with pytest.raises(LaunchError) as caught:
            device.launch(program, (5, 4, 5), [out])
        assert caught.value.code == "E1122"
        found = caught.value.diagnostics[0]
        assert found.message.startswith("program (4, 3, 4), element 7: a store at 0x")
        assert any("`out_ptr`" in note for note in found.notes)
        assert found.span is not None
        assert (found.span.file, found.span.line) == (str(mine), 3)
    device.launch(program, 99, [out])
    assert out.all()


def test_a_failure_stops_the_programs_that_have_not_begun(native: MakeNative) -> None:
    device = Device(1)
    out = np.zeros(10**6, np.float32)
    with pytest.raises(LaunchError):
        device.launch(device.load(native("checked", work=10**6)), 10**6, [out[:10]])
    assert not out[10:].any()


# --- what programs are given ---------------------------------------------------------------------


def _words(native: MakeNative, grid: Any, x: Any, y: Any, *numbers: float) -> Any:
    device = Device(1)
    out = np.zeros(16, np.int64)
    device.launch(device.load(native("words")), grid, [out, x, y, *numbers])
    return out


def test_arguments_are_words_in_the_order_of_the_parameters(native: MakeNative) -> None:
    x, y = np.zeros(4, np.float32), np.zeros(9, np.float32)
    given = (-5, 200, True, 1.5, -2.0, 0.1, 0.1)
    out = _words(native, (2, 1, 3), x, y, *given)
    assert out[1:3].tolist() == [x.ctypes.data, y.ctypes.data]
    bits = [
        np.float16(1.5).view(np.uint16),
        ml_dtypes.bfloat16(-2.0).view(np.uint16),
        np.float32(0.1).view(np.uint32),
        np.float64(0.1).view(np.int64),
    ]
    assert out[3:10].tolist() == [-5, 200, 1, *map(int, bits)]
    assert out[10:13].tolist() == [2, 1, 3]


ARRAY = np.zeros(64, np.float32)


@pytest.mark.parametrize(
    ("x", "y", "separate"),
    [
        (ARRAY[:32], ARRAY[32:], 1),
        (ARRAY[32:], ARRAY[:32], 1),
        (ARRAY, ARRAY, 0),
        (ARRAY[:33], ARRAY[32:], 0),
        (ARRAY[::2], ARRAY[1::2], 0),
        (ARRAY[10:2:-1], ARRAY[:4], 0),
        (ARRAY[10:5:-1], ARRAY[:4], 1),
        (ARRAY, None, 1),
        (None, None, 1),
        (ARRAY, ARRAY[8:8], 1),
    ],
)
def test_a_flag_says_whether_arrays_overlap(
    native: MakeNative, x: Any, y: Any, separate: int
) -> None:
    out = _words(native, 1, x, y, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
    assert out[13] == separate


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_numbers_are_rounded_once_to_nearest_even(dtype: str) -> None:
    numpy = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}[dtype]
    encode, width = encoder_of(dtype), np.dtype(numpy).itemsize
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 2 ** (8 * width), 2000, np.uint64).astype(f"u{width}")
    exact = patterns.view(numpy)
    with np.errstate(invalid="ignore"):  # signaling NaNs
        finite = exact[np.isfinite(exact)]
    for bits, value in zip(finite.view(f"u{width}"), finite.astype(np.float64), strict=True):
        assert encode(float(value)) == bits
        above = np.nextafter(numpy(value), numpy(np.inf))
        if value == 0 or above == 0 or not np.isfinite(above):
            continue
        middle = (float(value) + float(above)) / 2
        low, high = encode(float(value)), encode(float(above))
        assert encode(middle) == (low if low % 2 == 0 else high)
        assert encode(float(np.nextafter(middle, np.inf))) == high
        assert encode(float(np.nextafter(middle, -np.inf))) == low
    for value in (np.inf, -np.inf, 0.0, -0.0):
        assert encode(value) == int(numpy(value).view(f"u{width}"))
    assert np.isnan(np.array([encode(np.nan)]).astype(f"u{width}").view(numpy))


@pytest.mark.parametrize("work", [0, 1, 100, 10**4, 10**7, 10**12])
@pytest.mark.parametrize("total", [1, 2, 7, 100, 10**4, 10**9])
@pytest.mark.parametrize("threads", [1, 2, 64])
def test_a_plan_is_within_its_launch(total: int, work: int, threads: int) -> None:
    found = plan.plan_launch(total, work, threads)
    assert 1 <= found.chunk <= total
    assert found.piece == (max(50_000 // work, 1) if work else 1)
    assert 0 <= found.workers < max(min(threads, total), 1)
    assert (found.workers == 0) == (found.mode == ALONE)
    if threads > 1 and total > 1:
        assert found.mode == (TOGETHER if total * work >= 100_000 else GROWING)
        assert -(-total // found.chunk) >= 2


# --- loading -------------------------------------------------------------------------------------


def test_objects_say_what_they_call(native: MakeNative) -> None:
    found = read_object(native("foreign").path.read_bytes())
    assert found is not None
    assert found.undefined == {"system"}
    data = native("copy").path.read_bytes()
    for length in (0, 3, 40, 70, len(data) // 2):
        facts = read_object(data[:length])
        assert facts is None or not facts.undefined


def test_an_object_for_another_machine_is_refused(native: MakeNative) -> None:
    artifact = native("copy")
    data = bytearray(artifact.path.read_bytes())
    if data[:4] != b"\x7fELF":
        pytest.skip("not an ELF object")
    data[18:20] = (183 if data[18] == 62 else 62).to_bytes(2, "little")
    artifact.path.write_bytes(data)
    with pytest.raises(LaunchError) as caught:
        Device().load(artifact)
    assert caught.value.code == "E1119"


def test_an_object_without_its_symbol_is_refused(native: MakeNative) -> None:
    artifact = native("copy")
    artifact.metadata = artifact.metadata._replace(entry_point="other")
    with pytest.raises(LaunchError) as caught:
        Device().load(artifact)
    assert caught.value.code == "E1119"


def test_programs_that_are_dropped_leave_little_behind(native: MakeNative) -> None:
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    device, artifact = Device(2), native("square")
    x, out = np.zeros(64, np.int64), np.zeros(64, np.int64)

    def rounds(count: int) -> None:
        for _ in range(count):
            program = device.load(artifact)
            for _ in range(10):
                device.launch(program, 64, (x, out, 1))
        gc.collect()

    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    rounds(300)
    before = resident()
    rounds(1000)  # loading each anew would leave 10 MB
    assert resident() - before < 3_000_000
