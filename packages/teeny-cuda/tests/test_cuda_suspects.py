"""Faults name the launches that machine code made: each of one place and of several, in order."""

# Arrays of the fake driver, and numbers, stand where checkers want values of the language.
# mypy: disable-error-code="arg-type, unused-ignore"

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda.fake_base import CUresult
from teeny_macros import kernel
from teeny_macros.diagnostics import LaunchError
from teeny_macros.hot import HOT
from teeny_triton import Const, Ptr, bf16, f16, f32, f64, i1, i32, i64

if TYPE_CHECKING:
    from conftest import Compiler, MakeArtifact, Slow

    from teeny_cuda import Device
    from teeny_cuda.fake_driver import FakeDriver

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.usefixtures("launchers")


@kernel
def fill(out_ptr: Ptr[f32], n: i32, BLOCK: Const[int] = 32) -> None:
    tl.store(out_ptr + tl.arange(0, BLOCK), 1.0, tl.arange(0, BLOCK) < n)


@kernel
def spread(out_ptr: Ptr[f32], n: i32, BLOCK: Const[int] = 32) -> None:
    tl.store(out_ptr + tl.arange(0, BLOCK), 2.0, tl.arange(0, BLOCK) < n)


@kernel
def numbers(
    out_ptr: Ptr[f32], a: i64, b: i32, c: f32, d: f64, e: i1, g: f16, h: bf16, k: i32,
    last_1: i32, last_2: i32, last_3: i32, last_4: i32,
) -> None:  # fmt: skip
    tl.store(out_ptr + a + b + k + last_1 + last_2 + last_3 + last_4, c + d.to(f32) + e.to(f32))
    tl.store(out_ptr, g.to(f32) + h.to(f32))


def _hot(call: Any) -> None:
    for _ in range(2 * HOT + 2):
        call()


def _fault(fake: FakeDriver, device: Device) -> str:
    """The error of waiting now: whatever has run, one kernel faulted."""
    fake.fault = CUresult(700)
    with pytest.raises(LaunchError) as caught:
        device.synchronize()
    return str(caught.value)


def _loop(out: Any) -> Any:
    def launch(grid: Any, n: int) -> None:
        fill[grid](out, n)

    return launch


def test_every_launch_of_one_place_is_named_the_latest_first(
    fake: FakeDriver, device: Device, compiler: Compiler, slow: Slow
) -> None:
    out = device.copy_of(np.zeros(64, np.float32))
    launch = _loop(out)
    _hot(lambda: launch(3, 7))
    device.synchronize()
    before = slow.count
    for grid, n in (((5, 4, 6), 9), (2, -1), (7, 2)):
        launch(grid, n)
    assert slow.count == before  # machine code made all three
    text = _fault(fake, device)
    expected = (
        f"`fill` over 7 x 1 x 1 (out_ptr = {out.pointer:#x}, n = 2); "
        f"`fill` over 2 x 1 x 1 (out_ptr = {out.pointer:#x}, n = -1); "
        f"`fill` over 5 x 4 x 6 (out_ptr = {out.pointer:#x}, n = 9)"
    )
    assert f"the latest first: {expected}" in text
    assert "over 3 x" not in text
    assert "more" not in text.partition(expected)[2].partition("\n")[0]


def test_launches_of_several_places_and_ways_stand_in_their_order(
    fake: FakeDriver, device: Device, compiler: Compiler, artifact_of: MakeArtifact
) -> None:
    out = device.copy_of(np.zeros(64, np.float32))
    launch = _loop(out)

    def other(n: int) -> None:
        spread[4](out, n)

    prepared = device.load(artifact_of("spin")).bind(9, out, 5)
    _hot(lambda: launch(3, 7))
    _hot(lambda: other(7))
    device.synchronize()
    launch(11, 7)
    prepared()
    other(3)
    fill[12](out, 3)  # a place of its own, not hot
    launch(13, 7)
    text = _fault(fake, device)
    order = [
        text.index(part)
        for part in (
            "`fill` over 13 x", "`fill` over 12 x", "`spread` over 4 x",
            f"`spin` over 9 x 1 x 1 (out_ptr = {out.pointer:#x}, ", "`fill` over 11 x",
        )
    ]  # fmt: skip
    assert order == sorted(order)


def test_of_very_many_launches_the_latest_are_named_and_the_others_counted(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    out = device.copy_of(np.zeros(64, np.float32))
    launch = _loop(out)
    _hot(lambda: launch(3, 7))
    device.synchronize()
    for n in range(300):
        launch(3, n)
    text = _fault(fake, device)
    named = [f"n = {n})" for n in range(299, 293, -1)]
    assert all(part in text for part in named)
    assert "n = 293)" not in text
    assert "and 294 more" in text


def test_arguments_of_all_kinds_are_shown_as_they_were_given(
    fake: FakeDriver, device: Device, compiler: Compiler
) -> None:
    out = device.copy_of(np.zeros(64, np.float32))

    def launch() -> None:
        numbers[1](out, 2**40, -3, 1.5, -0.1, True, 0.25, 2.0, 7, 1, 2, 3, 4)

    _hot(launch)
    device.synchronize()
    launch()
    text = _fault(fake, device)
    assert f"a = {2**40}, b = -3, c = 1.5, d = -0.1, e = " in text
    assert "g = 0.25, " in text
    assert "k = 7, last_1 = 1, last_2 = 2, last_3 = 3, ...)" in text


def test_launches_of_a_place_that_is_gone_are_still_named(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    out = device.copy_of(np.zeros(64, np.float32))
    spin = device.load(artifact_of("spin"))
    prepared = [spin.bind(at, out, 3) for at in range(1, 600)]
    for run in prepared:
        run()
    device.synchronize()
    prepared[4]()
    del run
    prepared.clear()
    gc.collect()
    spin.bind(700, out, 3)  # looks through the names of those that are gone
    text = _fault(fake, device)
    assert f"is `spin` over 5 x 1 x 1 (out_ptr = {out.pointer:#x}, " in text
    assert len(device.context.suspects._followed) < 300
