"""Streams of the host: order within and between them, errors, events, copies that wait."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teeny_cpu import Device, Stream
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeNative

ROUNDS = 20_000  # of waste for each program: a launch takes some milliseconds


def test_launches_in_a_stream_run_in_order_and_return_before(native: MakeNative) -> None:
    device = Device(2)
    program, stream = device.load(native("square")), device.stream()
    gate = threading.Event()
    stream.put(gate.wait)
    arrays = [np.zeros(200, np.int64) for _ in range(8)]
    for x, out in pairwise(arrays):
        device.launch(program, 200, (x, out, 10), stream=stream)
    assert not stream.is_done
    assert not arrays[-1].any()
    gate.set()
    stream.synchronize()
    assert stream.is_done
    assert np.array_equal(arrays[-1], 7 * np.arange(200) ** 2)


def test_a_stream_waits_for_another_and_for_events(native: MakeNative) -> None:
    device = Device(2)
    program = device.load(native("square"))
    first, second, third = device.stream(), device.stream(), device.stream()
    a, b, c, d = (np.zeros(100, np.int64) for _ in range(4))
    gate = threading.Event()
    first.put(gate.wait)
    device.launch(program, 100, (a, b, ROUNDS), stream=first)
    second.wait(first)
    device.launch(program, 100, (b, c, ROUNDS), stream=second)
    event = device.event()
    event.record(second)
    third.wait(event)
    device.launch(program, 100, (c, d, 0), stream=third)
    assert not event.is_done
    gate.set()
    third.synchronize()
    assert event.is_done
    assert np.array_equal(d, 3 * np.arange(100) ** 2)


def test_events_measure_the_work_between_them(native: MakeNative) -> None:
    device = Device(1)
    program, stream = device.load(native("square")), device.stream()
    x, out = np.zeros(50, np.int64), np.zeros(50, np.int64)
    start, end = device.event(), device.event()
    start.record(stream)
    device.launch(program, 50, (x, out, ROUNDS), stream=stream)
    end.record(stream)
    took = start.elapsed_ms(end)
    begun = time.perf_counter()
    device.launch(program, 50, (x, out, ROUNDS))
    alone = (time.perf_counter() - begun) * 1e3
    assert alone / 10 < took < alone * 100 + 1000
    assert end.time is not None


def test_launches_without_a_stream_and_copies_wait_for_all_streams(native: MakeNative) -> None:
    device = Device(1)
    program, stream = device.load(native("square")), device.stream()
    x = device.copy_of(np.zeros(60, np.int64))
    middle, out = device.buffer(60, "i64"), device.buffer(60, "i64")
    device.launch(program, 60, (x, middle, ROUNDS), stream=stream)
    device.launch(program, 60, (middle, out, 0))
    assert np.array_equal(out.array, 2 * np.arange(60) ** 2)
    device.launch(program, 60, (out, x, ROUNDS), stream=stream)
    assert np.array_equal(x.to_host(), 3 * np.arange(60) ** 2)
    device.launch(program, 60, (x, out, ROUNDS), stream=stream)
    assert np.array_equal(out.to_host(stream=stream), 4 * np.arange(60) ** 2)


def test_an_error_skips_what_is_behind_it_and_is_raised_once(native: MakeNative) -> None:
    device = Device(2)
    stream, other = device.stream(), device.stream()
    square, checked = device.load(native("square")), device.load(native("checked"))
    short, x, out = np.zeros(3, np.float32), np.zeros(9, np.int64), np.zeros(9, np.int64)
    device.launch(checked, 9, [short], stream=stream)
    device.launch(square, 9, (x, out, 0), stream=stream)
    event = device.event()
    event.record(stream)
    event.synchronize()
    other.synchronize()
    assert not out.any()
    with pytest.raises(LaunchError) as caught:
        device.synchronize()
    assert caught.value.code == "E1122"
    stream.synchronize()
    device.launch(square, 9, (x, out, 0), stream=stream)
    stream.synchronize()
    assert np.array_equal(out, np.arange(9) ** 2)


def test_wrong_arguments_are_said_at_the_launch(native: MakeNative) -> None:
    device = Device(2)
    program = device.load(native("square"))
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 9, (np.zeros(9), np.zeros(9, np.int64), 0), stream=device.stream())
    assert caught.value.code == "E1107"


def test_a_stream_keeps_arrays_no_longer_than_its_work(native: MakeNative) -> None:
    device = Device(1)
    program, stream = device.load(native("square")), device.stream()
    out = np.zeros(50, np.int64)
    kept = weakref.ref(out)
    gate = threading.Event()
    stream.put(gate.wait)
    device.launch(program, 50, (np.zeros(50, np.int64), out, ROUNDS), stream=stream)
    del out
    assert kept() is not None
    gate.set()
    stream.synchronize()
    gc.collect()
    assert kept() is None


def test_streams_of_one_device_run_beside_each_other() -> None:
    first, second = Stream(Device(1)), Stream(Device(1))
    meeting = threading.Barrier(2, timeout=30)
    first.put(meeting.wait)
    second.put(meeting.wait)
    first.synchronize()
    second.synchronize()


def test_streams_may_be_made_while_others_are_waited_for() -> None:
    device, end = Device(1), time.monotonic() + 0.5
    errors: list[Exception] = []

    def work() -> None:
        try:
            while time.monotonic() < end:
                streams = [device.stream() for _ in range(50)]
                device.synchronize()
                del streams
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
