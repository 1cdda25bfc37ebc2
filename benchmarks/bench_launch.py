"""Host time of a launch: ours in every form, a loop over cuLaunchKernel, and other libraries.

Run on a machine with a GPU: `python benchmarks/bench_launch.py [--only arrays|kinds]`. `arrays` are
launches with 1 to 16 arrays, `kinds` those of launch_kinds.py. What is not installed is left out,
and named. Each figure is the median over batches of launches, taken in turns, synchronized
between, which is not counted; the floor is the same launch in a loop of machine code.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import math
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from launch_kinds import kind_subjects

from teeny_cuda import Device, launcher

if TYPE_CHECKING:
    from collections.abc import Iterator

# JAX would take most of the GPU's memory at its first use.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

COUNTS = (1, 3, 8, 16)
BATCH, ROUNDS, WARM = 100, 40, 40
# Of launches whose kernels run long: the GPU's queue must not fill up.
FEW = 20
BLOCK = 128
N = 1000

OURS = """
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32

@kernel
def k{count}({typed}, n: i32, BLOCK: Const[int]) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
{body}
"""
TRITON = """
import triton
import triton.language as tl

@triton.jit
def k{count}({plain}, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
{body}
"""
LOOP = """
define void @loop(ptr %launch, ptr %function, ptr %stream, ptr %params, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %r = call i32 %launch(ptr %function, i32 1, i32 1, i32 1, i32 128, i32 1, i32 1, i32 0,
                        ptr %stream, ptr %params, ptr null)
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, %count
  br i1 %more, label %next, label %end
end:
  ret void
}
"""

Batch = Callable[[int], object]


def load_kernel(template: str, count: int, folder: Path, name: str) -> Any:
    """The kernel with `count` arrays that a template describes."""
    arrays = [f"p{at}" for at in range(count)]
    text = template.format(
        count=count,
        typed=", ".join(f"{array}: Ptr[f32]" for array in arrays),
        plain=", ".join(arrays),
        body="\n".join(f"    tl.store({array} + offsets, 1.0, mask)" for array in arrays),
    )
    path = folder / f"{name}{count}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"{name}{count}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, f"k{count}")


@contextmanager
def without_machine_code() -> Iterator[None]:
    """Launches that become hot inside of this stay on cuda-python.

    The switch is private: only this measurement turns it within a process, users set
    `TEENY_NO_JIT_LAUNCHER` before they start one.
    """
    launcher.is_available()
    before = launcher._state["available"]  # noqa: SLF001
    launcher._state["available"] = False  # noqa: SLF001
    try:
        yield
    finally:
        launcher._state["available"] = before  # noqa: SLF001


def repeat(call: Callable[[], object]) -> Batch:
    """A batch out of a single call."""

    def batch(count: int) -> None:
        for _ in range(count):
            call()

    return batch


def our_subjects(device: Device, count: int, folder: Path) -> tuple[dict[str, Batch], Any]:
    """Our forms of the launch, and the loaded program."""
    kernel = load_kernel(OURS, count, folder, "ours")
    buffers = [device.buffer(1024, "f32") for _ in range(count)]
    subjects: dict[str, Batch] = {}

    kernel[1](*buffers, N, BLOCK=BLOCK)
    (program,) = [entry.loaded for entry in kernel.site().programs.values()]
    prepared = program.bind(1, *buffers, N)
    subjects["prepared"] = repeat(prepared)
    subjects["prepared.launch"] = repeat(prepared.launch)
    subjects["buffers"] = repeat(spread(kernel, buffers))
    slow = kernel.options(num_stages=2)
    subjects["buffers, fallback"] = repeat(spread(slow, buffers))
    with without_machine_code():
        fallback = program.bind(1, *buffers, N)
        subjects["prepared, fallback"] = repeat(fallback)
    _foreign_subjects(device, kernel, count, subjects)
    return subjects, program


def _foreign_subjects(device: Device, kernel: Any, count: int, subjects: dict[str, Batch]) -> None:
    """Our launches with arrays of other libraries, as far as they are installed."""
    for stages, library in ((5, "cupy"), (6, "jax")):
        try:
            module: Any = importlib.import_module("jax.numpy" if library == "jax" else library)
            arrays = [module.zeros(1024, "float32") for _ in range(count)]
            for array in arrays if library == "jax" else ():
                array.block_until_ready()
        except Exception as error:  # noqa: BLE001 - what cannot run here is named
            print(f"{library}: {type(error).__name__}: {str(error)[:200]}")
            continue
        other = kernel.options(num_stages=stages)
        subjects[f"{library} arrays"] = repeat(spread(other, arrays))
    try:
        import torch
    except ImportError:
        print("torch is not installed")
        return
    tensors = [torch.zeros(1024, device=device.name) for _ in range(count)]
    tensor_kernel = kernel.options(num_stages=4)
    subjects["torch tensors"] = repeat(spread(tensor_kernel, tensors))
    subjects["torch tensors, lambda grid"] = repeat(
        lambda: tensor_kernel[lambda meta: (1,)](*tensors, N, BLOCK=BLOCK)
    )


def spread(kernel: Any, arrays: list[Any], grid: str = "1") -> Callable[[], object]:
    """The launch with its grid and arguments written out, as user code has them."""
    names = ", ".join(f"a{at}" for at in range(len(arrays)))
    space = {"kernel": kernel, "N": N, "BLOCK": BLOCK}
    exec(  # noqa: S102 - so many positional arguments as there are arrays
        f"def make({names}):\n    return lambda: kernel[{grid}]({names}, N, BLOCK=BLOCK)\n", space
    )
    made: Callable[[], object] = space["make"](*arrays)
    return made


def floor_subject(device: Device, program: Any, count: int) -> Batch:
    """The same launch in a loop of machine code."""
    driver = device.context.driver
    answer = driver.call("cuGetProcAddress", b"cuLaunchKernel", 12000, 0)
    launch = int(answer[0] if isinstance(answer, tuple) else answer)
    (address,) = launcher.code_of(LOOP, ("loop",))
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(address)
    buffers = [device.buffer(1024, "f32") for _ in range(count)]
    cells = program.packer.cells()
    table = program.packer.pack_into(cells, [*(b.pointer for b in buffers), N], 0, 0)
    function = int(program.function)
    kept = (cells, buffers)

    def batch(number: int, _kept: Any = kept) -> None:
        with device.context.bound():
            loop(launch, function, 0, table, number)

    return batch


def other_subjects(device: Device, program: Any, count: int, folder: Path) -> dict[str, Batch]:
    """Other libraries' launches, as far as they are installed."""
    subjects: dict[str, Batch] = {}
    for name, make in (
        ("cuda.core", _cuda_core),
        ("CuPy RawKernel", _cupy),
        ("Triton", _triton),
        ("torch.add", _torch_add),
    ):
        try:
            call = make(device, program, count, folder)
        except Exception as error:  # noqa: BLE001 - a peer that cannot run here is named
            print(f"{name} with {count} arrays: {type(error).__name__}: {str(error)[:200]}")
            continue
        if call is not None:
            subjects[name] = repeat(call)
    return subjects


def _cuda_core(
    device: Device, program: Any, count: int, _folder: Path
) -> Callable[[], object] | None:
    try:
        from cuda import core

        core.Device  # noqa: B018 - older releases have it in `experimental`
    except (ImportError, AttributeError):
        import cuda.core.experimental as core
    gpu = core.Device(device.ordinal)
    gpu.set_current()
    stream = gpu.default_stream
    text = program.artifact.read_text()
    # The architecture that the text names, such as sm_90a, not only the GPU's.
    (arch,) = re.findall(r"(?m)^\.target (\w+)", text)
    options = core.ProgramOptions(arch=arch)
    code = core.Program(text, "ptx", options).compile("cubin")
    kernel = code.get_kernel(program.artifact.metadata.entry_point)
    config = core.LaunchConfig(grid=1, block=BLOCK)
    pointers = [device.buffer(1024, "f32") for _ in range(count)]
    args = [*(buffer.pointer for buffer in pointers), np.int32(N), 0, 0]

    def launch(_kept: Any = pointers) -> None:
        core.launch(stream, config, kernel, *args)

    return launch


def _cupy(device: Device, program: Any, count: int, folder: Path) -> Callable[[], object] | None:
    import cupy

    path = folder / f"cupy{count}.ptx"
    path.write_text(program.artifact.read_text(), encoding="utf-8")
    kernel = cupy.RawModule(path=str(path)).get_function(program.artifact.metadata.entry_point)
    arrays = [cupy.zeros(1024, cupy.float32) for _ in range(count)]
    args = (*arrays, np.int32(N), np.uint64(0), np.uint64(0))
    return lambda: kernel((1,), (BLOCK,), args)


def _triton(device: Device, program: Any, count: int, folder: Path) -> Callable[[], object] | None:
    import torch

    kernel = load_kernel(TRITON, count, folder, "triton_kernel")
    tensors = [torch.zeros(1024, device=device.name) for _ in range(count)]
    return spread(kernel, tensors, "(1,)")


def _torch_add(
    device: Device, program: Any, count: int, _folder: Path
) -> Callable[[], object] | None:
    import torch

    if count != 3:
        return None
    x, y, out = (torch.zeros(1024, device=device.name) for _ in range(3))
    return lambda: torch.add(x, y, out=out)


def measure(
    device: Device, subjects: dict[str, Batch], size: int = BATCH, rounds: int = ROUNDS
) -> dict[str, list[float]]:
    """Nanoseconds of a launch for each subject, one number a batch, the subjects in turns.

    A subject that cannot be launched is named and left out.
    """
    samples: dict[str, list[float]] = {}
    for name, batch in subjects.items():
        try:
            with without_machine_code() if "fallback" in name else _nothing():
                batch(WARM)
                device.synchronize()
                batch(WARM)
                device.synchronize()
        except Exception as error:  # noqa: BLE001 - the others are measured all the same
            print(f"{name} failed: {type(error).__name__}: {str(error)[:200]}")
        else:
            samples[name] = []
    for _ in range(rounds):
        for name, values in samples.items():
            batch = subjects[name]
            # What becomes hot only now must not leave the fallback either.
            with without_machine_code() if "fallback" in name else _nothing():
                start = time.perf_counter_ns()
                batch(size)
                end = time.perf_counter_ns()
            device.synchronize()
            values.append((end - start) / size)
    return samples


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def show(
    samples: dict[str, list[float]], floor: float, rows: list[dict[str, Any]], arrays: int | None
) -> None:
    """Print the subjects' microseconds, and keep them as rows."""
    for label, values in samples.items():
        middle = statistics.median(values)
        low = sorted(values)[len(values) // 10]
        row = {
            "arrays": arrays,
            "what": label,
            "us": middle / 1e3,
            "low_us": low / 1e3,
            "over_us": (middle - floor) / 1e3,
        }
        rows.append(row)
        over = "" if math.isnan(floor) else f"  {row['over_us']:+8.3f}"
        print(f"  {label:36} {middle / 1e3:8.3f} (10 %: {low / 1e3:7.3f}){over}")


def measure_arrays(device: Device, folder: Path) -> list[dict[str, Any]]:
    """Launches with 1 to 16 arrays and a number."""
    rows: list[dict[str, Any]] = []
    for count in COUNTS:
        subjects, program = our_subjects(device, count, folder)
        every = {"loop of cuLaunchKernel": floor_subject(device, program, count), **subjects}
        every.update(other_subjects(device, program, count, folder))
        samples = measure(device, every)
        floor = statistics.median(samples.get("loop of cuLaunchKernel", [math.nan]))
        print(f"\n{count} arrays and 1 int: microseconds a launch, and over the loop")
        show(samples, floor, rows, count)
    print("\nmicroseconds for each further argument, from 3 to 8 and from 8 to 16")
    over = {(row["what"], row["arrays"]): row["over_us"] for row in rows}
    for label in dict.fromkeys(row["what"] for row in rows):
        known = [over.get((label, count), math.nan) for count in (3, 8, 16)]
        if not math.isnan(sum(known)):
            print(f"  {label:28} {(known[1] - known[0]) / 5:+.3f} {(known[2] - known[1]) / 8:+.3f}")
    return rows


def measure_kinds(device: Device, folder: Path) -> list[dict[str, Any]]:
    """Launches with descriptors, scratch memory and declarations, and operations of libraries."""
    rows: list[dict[str, Any]] = []
    try:
        subjects = {name: repeat(call) for name, call in kind_subjects(folder, device.name).items()}
    except ImportError as error:
        print(f"kinds: {error}")
        return rows
    print("\nother kinds, with torch tensors: microseconds of the host a launch or call")
    show(measure(device, subjects, FEW, ROUNDS), math.nan, rows, None)
    return rows


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=("arrays", "kinds"))
    chosen = parser.parse_args()
    device = Device(0)
    print(f"{device!r}, Python {sys.version.split()[0]}, machine code: {launcher.is_available()}")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        if chosen.only != "kinds":
            rows += measure_arrays(device, Path(name))
        if chosen.only != "arrays":
            rows += measure_kinds(device, Path(name))
    if chosen.json:
        rows = [{**row, "over_us": _json(row["over_us"])} for row in rows]
        chosen.json.write_text(json.dumps({"schema": 1, "rows": rows}, indent=1), encoding="utf-8")


def _json(number: float) -> float | None:
    return None if math.isnan(number) else number


if __name__ == "__main__":
    main()
