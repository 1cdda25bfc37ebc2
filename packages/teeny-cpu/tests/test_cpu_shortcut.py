"""Launches that recur take the short way; whatever does not fit it goes the long way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cpu import shortcut
from teeny_macros import kernel
from teeny_macros.diagnostics import TeenyError
from teeny_triton import Const, Float, Ptr, f32, i32

pytestmark = pytest.mark.skipif(not shortcut.is_available(), reason="no native launches here")

D = TypeVar("D", bound=Float)
FACTOR = 2.0
OFTEN = 40


@kernel
def scale(x_ptr: Ptr[D], out_ptr: Ptr[D], n: i32 | int, by: f32 | float, BLOCK: Const[int]) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(f32)
    tl.store(out_ptr + i, (x * by).to(tl.elem(out_ptr)), mask=i < n)


@kernel
def shift(x_ptr: Ptr[f32], out_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x * FACTOR)


@kernel
def endless(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), f32)
    for _ in range(20000):
        total += tl.exp(total)
    tl.store(x_ptr + i, total)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each launch by an entry fitted, in order."""
    found: list[bool] = []
    run = shortcut.Entry.run

    def noted(self: Any, sizes: Any, values: Any) -> bool:
        found.append(run(self, sizes, values))
        return found[-1]

    monkeypatch.setattr(shortcut.Entry, "run", noted)
    return found


def arrays(n: int = 100, dtype: Any = np.float32) -> tuple[Any, Any]:
    return np.arange(n).astype(dtype), np.zeros(n, dtype)


def warm(launch: Callable[[], object]) -> None:
    """Launch so often that the device is told."""
    for _ in range(OFTEN):
        launch()


def check(x: Any, out: Any, n: int, by: float, grid: Any = 2) -> None:
    """One launch gives what it must, and nothing else."""
    out[...] = -1
    scale[grid](x, out, n, by, BLOCK=64)
    wanted = np.full(len(out), -1, out.dtype)
    wanted[:n] = (x[:n].astype(np.float32) * np.float32(by)).astype(out.dtype)
    np.testing.assert_array_equal(out, wanted)


def test_launches_that_recur_take_the_short_way(taken: list[bool]) -> None:
    x, out = arrays()
    warm(lambda: check(x, out, 100, 3.0))
    assert taken
    assert all(taken)
    taken.clear()
    y, other = arrays(128)
    check(y, other, 99, 0.5)
    check(y, other, 99, 2)  # an int for a float
    assert taken == [True, True]


@pytest.mark.parametrize(
    "n", [1, 16, 32, 2**31 - 1], ids=["one", "sixteen", "thirty-two", "the greatest"]
)
def test_numbers_that_lead_to_another_program_go_the_long_way(n: int, taken: list[bool]) -> None:
    x, out = arrays()
    warm(lambda: check(x, out, 99, 3.0))
    taken.clear()
    out[...] = 0
    scale[2](x, out, min(n, 100) if n < 100 else 100, 3.0, BLOCK=64)
    if n in (1, 16, 32):
        assert taken == [False]
        np.testing.assert_array_equal(out[:n], x[:n] * 3)


def test_arrays_of_another_kind_go_the_long_way(taken: list[bool]) -> None:
    x, out = arrays()
    warm(lambda: check(x, out, 100, 3.0))
    taken.clear()
    half, out16 = arrays(dtype=np.float16)
    check(half, out16, 100, 3.0)
    raw = np.zeros(4 * 101 + 4, np.uint8)
    odd = raw[4 : 4 + 4 * 100].view(np.float32)
    if odd.ctypes.data % 16 == 0:
        odd = raw[8 : 8 + 4 * 100].view(np.float32)
    odd[:] = x
    check(odd, out, 100, 3.0)

    class Mine(np.ndarray):
        pass

    check(x.view(Mine), out, 100, 3.0)
    assert taken == [False, False, False]
    readonly = x.copy()
    readonly.flags.writeable = False
    check(readonly, out, 100, 3.0)  # only outputs must be writable


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda x, out: (x, out.astype(np.float64), 100, 3.0), "E10"),
        (lambda x, out: (x, out, 2**40, 3.0), "E1010"),
        (lambda x, out: (x, out, 100, 1e300), "E1108"),
        (lambda x, out: (x, out, 100, "3"), "E10"),
        (lambda x, out: (x, None, 100, 3.0), "E"),
    ],
)
def test_wrong_arguments_are_refused_as_before(make: Any, code: str) -> None:
    x, out = arrays()
    warm(lambda: check(x, out, 100, 3.0))
    launch: Any = scale[2]
    with pytest.raises(TeenyError) as error:
        launch(*make(x, out), BLOCK=64)
    assert error.value.code.startswith(code)


def test_a_read_only_output_is_refused() -> None:
    x, out = arrays()
    warm(lambda: check(x, out, 100, 3.0))
    out.flags.writeable = False
    with pytest.raises(TeenyError):
        scale[2](x, out, 100, 3.0, BLOCK=64)


def test_other_compile_time_values_choose_their_own_program(taken: list[bool]) -> None:
    x, out = arrays(1000)
    for block in (32, 64, 128) * OFTEN:
        out[...] = 0
        scale[lambda meta: (tl.cdiv(1000, meta["BLOCK"]),)](x, out, 1000, 3.0, BLOCK=block)
        np.testing.assert_array_equal(out, x * 3)
    assert taken.count(True) > 3


def test_arrays_that_overlap_are_told_apart() -> None:
    data = np.arange(300, dtype=np.float32)
    warm(lambda: scale[1](data[:256], np.zeros(256, np.float32), 256, 1.5, BLOCK=256))
    for offset in (0, 1, 4, 8, 40):
        data[:] = np.arange(300)
        wanted = data[:256] * np.float32(1.5)
        scale[1](data[:256], data[offset : 256 + offset], 256, 1.5, BLOCK=256)
        np.testing.assert_array_equal(data[offset : 256 + offset], wanted)


def test_a_captured_name_that_changes_is_seen() -> None:
    global FACTOR  # noqa: PLW0603 - it is what changes
    x, out = arrays(64)
    warm(lambda: shift[1](x, out, BLOCK=64))
    FACTOR = 5.0
    try:
        shift[1](x, out, BLOCK=64)
        np.testing.assert_array_equal(out, x * 5)
    finally:
        FACTOR = 2.0


def test_grids_of_any_form_run_every_program() -> None:
    x, out = arrays(1000)
    grids: list[Any] = [16, (16,), (16, 1), (16, 1, 1), [16], lambda meta: 1024 // meta["BLOCK"]]
    for grid in grids:
        for _ in range(OFTEN):
            check(x, out, 1000, 2.0, grid)
    out[...] = 7
    scale[0](x, out, 1000, 2.0, BLOCK=64)
    assert (out == 7).all()


def test_several_threads_launch_at_once() -> None:
    x, out = arrays(4096)
    warm(lambda: check(x, out, 4096, 3.0, 64))
    failed: list[Exception] = []

    def work(by: float) -> None:
        mine = np.zeros(4096, np.float32)
        try:
            for _ in range(300):
                check(x, mine, 4096, by, 64)
        except Exception as error:  # noqa: BLE001 - said by the main thread
            failed.append(error)

    threads = [threading.Thread(target=work, args=(float(by),)) for by in range(2, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_short_launch_comes_behind_work_in_streams() -> None:
    from teeny_cpu import Device

    x, out = arrays(4096)
    warm(lambda: check(x, out, 4096, 3.0, 64))
    stream = Device().stream()
    stream.put(lambda: time.sleep(0.2))
    stream.put(lambda: x.fill(2.0))
    check_from = np.full(4096, 2 * 3.0, np.float32)
    scale[64](x, out, 4096, 3.0, BLOCK=64)
    np.testing.assert_array_equal(out, check_from)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_ctrl_c_stops_a_short_launch_and_the_next_one_works() -> None:
    x = np.zeros(64, np.float32)
    warm(lambda: endless[1](x, BLOCK=64))
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        endless[10**6](x, BLOCK=64)
    assert time.perf_counter() - start < 20
    endless[1](x, BLOCK=64)


def test_references_of_arguments_are_given_back() -> None:
    import sys

    x, out = arrays()
    warm(lambda: check(x, out, 100, 3.0))
    before = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(1000):
        scale[2](x, out, 100, 3.0, BLOCK=64)
    assert (sys.getrefcount(x), sys.getrefcount(out)) == before
