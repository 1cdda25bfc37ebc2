"""A process that launches a cached kernel loads no compiler, and on a GPU hardly anything else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

KERNEL = """\
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32

@kernel
def double(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, 2 * tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""
FAKE = """\
from teeny_cuda import driver
from teeny_cuda.fake_driver import FakeDriver
fake = FakeDriver()
fake.kernels["double_entry_point"] = lambda run: None
driver.replace(driver.Driver(fake))
"""
ON_CUDA = """\
import sys
from double import double
import teeny_cuda
device = teeny_cuda.Device(0)
x = device.buffer(64, "f32")
double[1](x, 64, BLOCK=64)
device.synchronize()
loaded = set(sys.modules)
"""
ON_CPU = """\
import sys
import numpy as np
from double import double
x = np.ones(64, np.float32)
double[1](x, 64, BLOCK=64)
loaded = set(sys.modules)
assert (x == 2).all()
"""
REPORT = """
import json
print(json.dumps(sorted(loaded)))
"""
COMPILERS = {"teenyc", "triton", "torch"}


def run(folder: Path, text: str) -> set[str]:
    """The modules that a process had loaded at its first result."""
    environment = os.environ | {"TEENYC_CACHE_DIR": str(folder / "cache"), "TEENY_LOG": "debug"}
    (folder / "double.py").write_text(KERNEL, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", text + REPORT],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if "teeny: compiled" in done.stderr:
        return set()
    return set(json.loads(done.stdout))


def test_a_cached_launch_on_a_gpu_loads_no_compiler_no_llvmlite_and_no_numpy(
    tmp_path: Path,
) -> None:
    if find_spec("triton") is None:
        pytest.skip("PTX needs triton, which is not installed")
    assert run(tmp_path, FAKE + ON_CUDA) == set()  # it compiles
    loaded = run(tmp_path, FAKE + ON_CUDA)
    assert "teeny_cuda.module" in loaded
    assert loaded.isdisjoint(COMPILERS | {"llvmlite", "numpy", "subprocess", "filelock"})


def test_a_cached_launch_on_the_cpu_loads_no_compiler(tmp_path: Path) -> None:
    assert run(tmp_path, ON_CPU) == set()
    loaded = run(tmp_path, ON_CPU)
    assert "teeny_cpu" in loaded
    assert loaded.isdisjoint(COMPILERS | {"subprocess", "filelock"})


@pytest.mark.gpu
def test_a_cached_launch_on_a_real_gpu_loads_neither_llvmlite_nor_numpy(tmp_path: Path) -> None:
    run(tmp_path, ON_CUDA)
    loaded = run(tmp_path, ON_CUDA)
    assert "cuda.bindings.driver" in loaded
    assert loaded.isdisjoint(COMPILERS | {"llvmlite", "numpy"})
