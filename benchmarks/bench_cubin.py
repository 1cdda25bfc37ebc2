"""Whether a linked cubin is the same code as PTX that the driver loads, and what keeping it saves.

`python benchmarks/bench_cubin.py`, on a GPU: for vector add, softmax, the matrix product and
attention, registers and spills both ways, the time of a launch both ways, in turns, and the time of
a first load (link), a later one (cubin) and a load of PTX.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_toolchain import WORKS, Work, instance_of

if TYPE_CHECKING:
    from teeny_cuda import Device

ROUNDS, LAUNCHES = 15, 20
SHAPES: dict[str, tuple[tuple[int, ...], list[Any]]] = {
    # grid, and run-time scalars
    "vector_add": ((4096, 1, 1), [4096 * 1024]),
    "softmax_rows": ((4096, 1, 1), [1024]),
    "matmul": ((1024, 1, 1), [2048, 2048, 2048]),
    "attention": ((32, 32, 1), [2048, 0.125]),
}
ELEMENTS = 4096 * 1024


def load(device: Device, artifact: Any, *, kept: bool) -> tuple[Any, float]:
    """A program, and the milliseconds that loading it took; the driver's own cache is off."""
    os.environ["TEENY_CUBIN_CACHE"] = "1" if kept else "0"
    start = time.perf_counter()
    program = device.load(artifact)
    return program, (time.perf_counter() - start) * 1e3


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
    from teeny_compiler import compile_kernel

    artifact = compile_kernel(instance_of(work), device.target)
    plain, plain_load = load(device, artifact, kept=False)
    linked, link_load = load(device, artifact, kept=True)
    again, later_load = load(device, artifact, kept=True)
    assert list(artifact.path.parent.glob("*.cubin")), "no cubin was kept"
    grid, scalars = SHAPES[work.name]
    dtypes = [dtype for name, dtype in work.types.items() if name.endswith("_ptr")]
    buffers = [device.buffer(ELEMENTS, dtype) for dtype in dtypes]
    for buffer in buffers:
        buffer.fill(0)
    times: dict[str, list[float]] = {"plain": [], "linked": [], "again": []}
    programs = {"plain": plain, "linked": linked, "again": again}
    for _ in range(ROUNDS):
        for name, program in programs.items():

            def run(program: Any = program) -> None:
                device.launch(program, grid, [*buffers, *scalars])

            times[name].append(milliseconds(device, run))
    used = [programs[name].attributes for name in ("plain", "linked", "again")]
    ratio = min(times["linked"]) / min(times["plain"])
    print(
        f"{work.name:<14} registers {'/'.join(str(u.registers) for u in used)}, "
        f"local bytes {'/'.join(str(u.local_bytes) for u in used)}; "
        f"launch {min(times['plain']) * 1e3:.1f} us from PTX, "
        f"{min(times['linked']) * 1e3:.1f} linked ({ratio:.3f}); "
        f"load: PTX {plain_load:.1f} ms, link {link_load:.1f}, cubin {later_load:.2f}",
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
        print("registers and local bytes: from PTX / linked / from the kept cubin")
        for work in WORKS:
            compare(device, work)


if __name__ == "__main__":
    main()
