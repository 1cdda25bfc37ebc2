"""`overflow-checks=on`: integers that overflow on the way to an address, on every target."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import teeny_triton as tl
from teeny_compiler import CompileOptions, compile_kernel
from teeny_macros import Target, kernel
from teeny_macros.diagnostics import TeenyError
from teeny_triton import Const, Ptr, f32, i32, u32


@kernel
def strided(x_ptr: Ptr[f32], stride: i32 | int, back: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    far = i * stride
    near = far.to(tl.i64) - back
    tl.store(x_ptr + near % 64, 1.0)


@kernel
def summed(x_ptr: Ptr[f32], n: i32 | int, step: i32 | int) -> None:
    at = n
    for _ in tl.range(3):
        at = at + step
    if n > 0:
        at = at - 1
    tl.store(x_ptr + (at & 7), 1.0, mask=at < 0)
    tl.store(x_ptr + tl.maximum(at, 0) % 8, 1.0)


@kernel
def hashed(x_ptr: Ptr[f32], seed: u32 | int, n: i32 | int) -> None:
    wrapped = (seed * 2654435761) >> 29
    tl.store(x_ptr + wrapped, 1.0)
    tl.store(x_ptr + 8, tl.cast(n * n, f32))


@kernel
def tiles(x_ptr: Ptr[f32], n: i32 | int, row: i32 | int) -> None:
    x = tl.make_tensor_descriptor(x_ptr, (8, 8), (8, 1), (4, 4))
    x.store((row * n, 0), tl.zeros((4, 4), f32))


@pytest.fixture(params=["cpu", "interpret"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TEENYC_OVERFLOW_CHECKS", "on")
    return str(request.param)


def line_of(made: Any, text: str) -> int:
    """The line of this file on which a kernel says `text`."""
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().split("\n")
    start = next(at for at, line in enumerate(lines) if f"def {made.name}(" in line)
    return next(at for at, line in enumerate(lines[start:], start + 1) if text in line)


CASES = [
    (strided, (2**30, 0), {"BLOCK": 4}, "i * stride", "*"),
    (summed, (1, 2**30), {}, "at = at + step", "+"),
    (summed, (2**31 - 1, 0), {}, "", ""),
    (summed, (-(2**31), 0), {}, "", ""),
    (tiles, (2**20, 2**12), {}, "row * n", "*"),
]


@pytest.mark.parametrize(("made", "args", "named", "text", "symbol"), CASES)
def test_an_overflow_that_reaches_an_address_is_reported_at_its_line(
    made: Any, args: tuple[int, ...], named: dict[str, int], text: str, symbol: str, device: str
) -> None:
    x = np.zeros(64, np.float32)
    launch = made.on(1, device=device)
    if not text:
        launch(x, *args, **named)
        return
    with pytest.raises(TeenyError) as caught:
        launch(x, *args, **named)
    (fault,) = caught.value.diagnostics
    assert fault.span is not None
    assert fault.span.file == __file__
    assert fault.span.line == line_of(made, text)
    assert f"i32 overflow in `{symbol}`" in fault.message


@pytest.mark.parametrize("n", [2, 2**20])
def test_what_reaches_no_address_may_wrap(n: int, device: str) -> None:
    x = np.zeros(16, np.float32)
    hashed.on(1, device=device)(x, 12345, n)
    assert x[8] == np.float32(np.int32(np.uint32(n * n % 2**32)))


def test_numbers_that_fit_are_not_touched(device: str) -> None:
    x = np.zeros(64, np.float32)
    strided.on(1, device=device)(x, 3, 0, BLOCK=8)
    assert np.flatnonzero(x).tolist() == list(range(0, 24, 3))


def test_the_option_is_part_of_the_cache_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path))
    instance = strided.instantiate(BLOCK=8)
    paths = set()
    for target in (Target.cpu(), Target.interpret()):
        for checks in (None, True, False):
            made = compile_kernel(instance, target, options=CompileOptions(overflow_checks=checks))
            assert made.metadata.overflow_checks == bool(checks)
            paths.add(made.path.parent)
    assert len(paths) == 4
    monkeypatch.setenv("TEENYC_OVERFLOW_CHECKS", "on")
    assert compile_kernel(instance, Target.cpu()).path.parent in paths


@pytest.mark.accept
def test_code_for_a_gpu_checks_where_asked(
    archs: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path))
    for made in (strided.instantiate(BLOCK=128), summed.instantiate(), tiles.instantiate()):
        for arch in archs:
            texts = [
                compile_kernel(made, Target.cuda(arch), options=options).read_text()
                for options in (
                    CompileOptions(),
                    CompileOptions(overflow_checks=True),
                    CompileOptions(assertions=True),
                )
            ]
            assert ["__assertfail" in text for text in texts] == [False, True, False]


# In a process of its own: a failed assertion ends the GPU's context.
ON_GPU = """
import sys
import numpy as np
import teeny_cuda
from teeny_macros.diagnostics import TeenyError
sys.path.insert(0, sys.argv[1])
from test_overflow_checks import strided
gpu = teeny_cuda.Device(0)
x = gpu.buffer((64,), "f32")
x.fill(0)
strided[1](x, 3, 0, BLOCK=8)
assert np.flatnonzero(x.to_host()).tolist() == list(range(0, 24, 3))
try:
    strided[1](x, 2**30, 0, BLOCK=4)
    gpu.synchronize()
except TeenyError as error:
    print("refused", error.code)
"""


@pytest.mark.gpu
def test_an_overflow_stops_a_launch_on_the_gpu(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ON_GPU, str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "TEENYC_OVERFLOW_CHECKS": "on",
            "TEENYC_CACHE_DIR": str(tmp_path),
        },
    )
    assert done.returncode == 0, done.stderr
    assert "refused E10" in done.stdout
    assert "i32 overflow in `*`" in done.stdout + done.stderr
