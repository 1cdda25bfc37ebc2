"""What stands around a launch on the CPU: compiling, loading, launching, starting a process.

And the whole beside Triton's interpreter, the other way to run such kernels without a GPU.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bias_gelu import bias_gelu_residual
from cpu_measure import Row, least, short
from cpu_rows import bound, normal, product
from logsumexp import logsumexp_columns
from masked_copy import masked_copy
from matmul_relu import matmul_relu_scale
from softmax import softmax_rows
from vector_add import vector_add

from teeny_compiler import compile_kernel
from teeny_cpu import Device
from teeny_macros import Target
from teeny_macros.artifact import Artifact
from teeny_triton import f32
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc.backend.cpu.compile import compile_module
from teenyc.frontend import lower_unit
from teenyc.passes import run

ROOT = Path(__file__).resolve().parents[1]
ONE_PROGRAM = 1024


def compiling() -> Iterator[Row]:
    """The back end alone, IR to object, for tiles of 64x64 and of 256x256."""
    sides = {"BLOCK_M": 0, "BLOCK_N": 0}
    kernels: list[tuple[str, Any, dict[str, Any]]] = [
        ("masked copy", masked_copy, {"D": f32, **sides}),
        ("bias + GELU + residual", bias_gelu_residual, {"D": f32, **sides}),
        ("log-sum-exp", logsumexp_columns, {"D": f32, **sides}),
        ("matmul with epilogue", matmul_relu_scale, {"H": f32, **sides, "BLOCK_K": 32}),
    ]
    for name, kernel, consts in kernels:
        for side in (64, 256):
            given = {**consts, "BLOCK_M": side, "BLOCK_N": side}
            yield Row(f"compile {name}, {side}x{side}", backend_ms(kernel, given), " ms", 80)
    for size in (4096, 65536):
        given = {"D": f32, "BLOCK_SIZE": size}
        yield Row(f"compile vector add, {size}", backend_ms(vector_add, given), " ms", 80)
        yield Row(f"compile softmax, {size}", backend_ms(softmax_rows, given), " ms", 80)


def backend_ms(kernel: Any, consts: dict[str, Any]) -> float:
    """The least CPU time of five compilations (each runs in one thread)."""
    unit = kernel.instantiate(**consts).unit(TRITON, TRITON_SHA)
    best = float("inf")
    for _ in range(5):
        module = lower_unit(unit)
        run(module)
        gc.collect()
        start = time.thread_time()
        compile_module(module, "host", (), fusion=True)
        best = min(best, time.thread_time() - start)
    return best * 1e3


def loading() -> Iterator[Row]:
    """A kernel that the cache has: read, checked, linked, each for the first time."""
    device = Device(threads=1)
    sizes = [1 << k for k in range(5, 14)]
    instances = [vector_add.instantiate(D=f32, BLOCK_SIZE=size) for size in sizes]
    for instance in instances:
        compile_kernel(instance, Target.cpu())
    found, loaded = [], []
    for instance in instances:
        start = time.perf_counter()
        artifact = compile_kernel(instance, Target.cpu())
        found.append(time.perf_counter() - start)
        start = time.perf_counter()
        device.load(artifact)
        loaded.append(time.perf_counter() - start)
    # The first of all makes LLVM's engine. An editable install is searched for changes each time.
    times = [statistics.median(values[1:]) * 1e3 for values in (found, loaded)]
    yield Row("load a cached kernel, median of 8", times[1], " ms", 1.0)
    note = "an editable install takes 1.5 ms more: its sources may have changed"
    yield Row("find it in the cache and load it", sum(times), " ms", 1.0, note=note)


def launching() -> Iterator[Row]:
    """Launches of nearly nothing: what is left is the launch."""
    n = ONE_PROGRAM
    x, y, out = normal(n), normal(n), np.empty(n, np.float32)
    prepared = bound(vector_add, (1,), (x, y, out, n), D=f32, BLOCK_SIZE=n)
    program = compile_kernel(vector_add.instantiate(D=f32, BLOCK_SIZE=n), Target.cpu())

    def named() -> None:
        vector_add[1](x, y, out, n, BLOCK_SIZE=1024)

    for _ in range(100):  # until such launches take the short way
        named()
    times = least(prepared, named, lambda: np.add(x, y, out=out))
    note = f"of 1024 elements; np.add {short(times[2])}"
    yield Row("launch, prepared, serial", times[0] * 1e6, " us", 2.0, note=note)
    yield Row("launch, kernel[grid](...), serial", times[1] * 1e6, " us", 5.0, note=note)
    # The same program, said to be long: workers are called for programs that are masked off.
    long = program.metadata._replace(work=10**6)
    heavy = Device().load(Artifact(program.path, long, program.target))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for threads in sorted({2, min(cores or 1, 8), min(cores or 1, 16)} - {1}):
        call = heavy.bind(threads, x, y, out, 0, threads=threads)
        (taken,) = least(call)
        yield Row(f"launch, prepared, {threads} threads", taken * 1e6, " us", 10.0)


NUMPY = "import numpy, llvmlite.binding"
FIRST = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from vector_add import vector_add
x = np.ones(1000, np.float32)
out = np.empty_like(x)
vector_add[1](x, x, out, 1000, BLOCK_SIZE=1024)
assert (out == 2).all()
"""


def starting() -> Iterator[Row]:
    """From the start of a process to the first result of a cached kernel."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"
        } | {"TEENYC_CACHE_DIR": cache, "TEENY_LOG": "quiet"}
        examples = str(ROOT / "examples")

        def process(text: str) -> None:
            command = [sys.executable, "-c", text, examples]
            subprocess.run(command, env=environment, check=True, capture_output=True)

        process(FIRST)  # compiles
        ours, theirs = least(lambda: process(FIRST), lambda: process(NUMPY), seconds=4)
    yield Row(
        "process to first result, over its imports", (ours - theirs) * 1e3, " ms", 120,
        ours=ours, theirs=theirs, note="against: import numpy, llvmlite.binding",
    )  # fmt: skip


def interpreter() -> Iterator[Row]:
    """The same launches under Triton's interpreter (`TRITON_INTERPRET=1`).

    It leaves the product of each pair of blocks to NumPy, so the larger the blocks, the less there
    is to gain: beside a product stands what BLAS makes of the whole of it in one call.
    """
    script = Path(__file__).with_name("cpu_interpreted.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        print(f"  not measured: {reason}")
        return
    theirs: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    n = 1 << 16
    x, y, out = normal(n), normal(n), np.empty(n, np.float32)
    rows, soft = normal(64, 1024), np.empty((64, 1024), np.float32)
    ours: dict[str, Callable[[], None]] = {
        "add": bound(vector_add, (64,), (x, y, out, n), D=f32, BLOCK_SIZE=1024),
        "softmax": bound(softmax_rows, (64,), (soft, rows, 1024), D=f32, BLOCK_SIZE=1024),
        "matmul": product(256, "f32", (64, 64, 32))[0],
        "matmul 32": product(256, "f32", (32, 32, 32))[0],
        "matmul, all threads": product(256, "f32", (64, 64, 32), threads=None)[0],
    }
    labels = {
        "add": "vector add 64 K",
        "softmax": "softmax 64x1024",
        "matmul": "matmul 256",
        "matmul 32": "matmul 256, 32x32x32",
        "matmul, all threads": "matmul 256, all threads",
    }
    a, b, c = normal(256, 256), normal(256, 256), np.empty((256, 256), np.float32)
    (blas,) = least(partial(np.matmul, a, b, out=c))
    for name, call in ours.items():
        (mine,) = least(call)
        other = theirs[name.partition(",")[0]]
        note = f"BLAS on one thread: {other / blas:.0f}x" if name.startswith("matmul") else ""
        yield Row(
            f"{labels[name]} / Triton's", other / mine, "x", 1000,
            at_least=True, ours=mine, theirs=other, note=note,
        )  # fmt: skip
