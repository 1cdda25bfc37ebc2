"""What assembles a kernel best: ptxas when it is compiled, the driver at its load, or its linker.

`python benchmarks/bench_cubin.py`, on a GPU: for vector add, softmax, the matrix product and
attention, registers and local bytes of the three, the times of launches in turns, the times of
loads, and what is kept of the linked code. The linker compiles for linking (as `ptxas -c` does), so
that code may need more registers; such code is not kept.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_toolchain import WORKS, Work, instance_of

if TYPE_CHECKING:
    from teeny_cuda import Device, Program

ROUNDS, LAUNCHES = 15, 20
SHAPES: dict[str, tuple[tuple[int, ...], list[Any]]] = {
    # grid, and run-time scalars
    "vector_add": ((4096, 1, 1), [4096 * 1024]),
    "softmax_rows": ((4096, 1, 1), [1024]),
    "matmul": ((1024, 1, 1), [2048, 2048, 2048]),
    "attention": ((32, 32, 1), [2048, 0.125]),
}
ELEMENTS = 4096 * 1024


def load(device: Device, artifact: Any) -> tuple[Program, float]:
    """A program, and the milliseconds that loading it took; the driver's own cache is off."""
    start = time.perf_counter()
    program = device.load(artifact)
    return program, (time.perf_counter() - start) * 1e3


def programs_of(device: Device, work: Work) -> tuple[dict[str, Program], dict[str, float], str]:
    """The three programs, how long each took to load, and what became of the linked one."""
    from teeny_compiler import CompileOptions, compile_kernel
    from teeny_cuda import cubin, module

    instance = instance_of(work)
    made = compile_kernel(instance, device.target)
    assert made.cubin, "no ptxas made machine code"
    plain = compile_kernel(instance, device.target, options=CompileOptions(cubin=False))
    image = module._ptx(device, plain, plain.read_bytes())  # noqa: SLF001 - a part of what is measured
    programs, times = {}, {}
    plain.side_folder, kept = None, plain.side_folder
    programs["driver"], times["driver"] = load(device, plain)
    programs["ptxas"], times["ptxas"] = load(device, made)
    with device.context.bound():
        start = time.perf_counter()
        linked = cubin._link(device.context.driver, image)  # noqa: SLF001 - as above
        times["link"] = (time.perf_counter() - start) * 1e3
    assert linked is not None
    plain.cubin = linked
    programs["linked"], times["linked"] = load(device, plain)
    plain.cubin, plain.side_folder = None, kept
    load(device, plain)
    path = cubin._path(device, plain, image)  # noqa: SLF001 - as above
    assert path is not None
    state = "kept" if Path(path).stat().st_size > 100 else "not kept"
    _, times["again"] = load(device, plain)
    return programs, times, state


def milliseconds(device: Device, run: Any) -> float:
    """Milliseconds of one launch of several."""
    start, end = device.event(), device.event()
    start.record()
    for _ in range(LAUNCHES):
        run()
    end.record()
    end.synchronize()
    return float(start.elapsed_ms(end)) / LAUNCHES


def compare(device: Device, work: Work) -> None:
    """One row of the report."""
    programs, loads, state = programs_of(device, work)
    grid, scalars = SHAPES[work.name]
    dtypes = [dtype for name, dtype in work.types.items() if name.endswith("_ptr")]
    buffers = [device.buffer(ELEMENTS, dtype) for dtype in dtypes]
    for buffer in buffers:
        buffer.fill(0)
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, program in programs.items():

            def run(program: Program = program) -> None:
                device.launch(program, grid, [*buffers, *scalars])

            times[name].append(milliseconds(device, run))
    best = min(times["ptxas"])
    used = ", ".join(
        f"{name} {program.attributes.registers} registers"
        f" {program.attributes.local_bytes} local {min(times[name]) * 1e3:.1f} us"
        f" ({min(times[name]) / best:.3f})"
        for name, program in programs.items()
    )
    print(
        f"{work.name:<13} {used}; linked code is {state}; load ms: driver {loads['driver']:.1f}, "
        f"ptxas {loads['ptxas']:.2f}, linked {loads['linked']:.2f} (linking {loads['link']:.1f}), "
        f"as kept {loads['again']:.2f}",
        flush=True,
    )


def main() -> None:
    """Compare every kernel."""
    os.environ["CUDA_CACHE_DISABLE"] = "1"
    os.environ["TEENY_LOG"] = "quiet"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TEENYC_CACHE_DIR"] = str(Path(folder, "cache"))
        from teeny_cuda import Device
        from teeny_macros import TeenyError

        try:
            device = Device(0)
        except TeenyError as error:
            print(f"there is no GPU to load code: {error.code}")
            return
        print("least of launches in turns; in brackets over the time of ptxas's code")
        for work in WORKS:
            compare(device, work)


if __name__ == "__main__":
    main()
