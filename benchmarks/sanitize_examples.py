"""compute-sanitizer over every example kernel: memcheck, racecheck, initcheck; and a planted error.

Run on a machine with a GPU and the CUDA toolkit: `python benchmarks/sanitize_examples.py`. Each
example runs once in each of its dtypes. The planted write behind the end of an array must be
reported with this file and the kernel's own line.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("memcheck", "racecheck", "initcheck")
PLANTED = "# the planted error"
# A tool slows a kernel down a hundredfold: of the cases with so many elements at most the largest.
ELEMENTS = 40_000


def plant() -> None:
    """Write behind the end of an array."""
    import teeny_triton as tl
    from teeny_cuda import Device
    from teeny_macros import kernel
    from teeny_triton import Const, Ptr, f32, i32

    @kernel
    def overrun(out_ptr: Ptr[f32], n: i32 | int, BLOCK_SIZE: Const[int]) -> None:
        offsets = tl.arange(0, BLOCK_SIZE)
        tl.store(out_ptr + offsets + n, 1.0)  # the planted error

    device = Device(0)
    out: Any = device.buffer(64, "f32")
    overrun[1](out, 1 << 20, BLOCK_SIZE=128)
    device.synchronize()


def drive(name: str) -> None:
    """Run an example, one case for each of its dtypes."""
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests")]
    from example_cases import Case, all_cases, inputs
    from teeny_cuda import Device

    chosen: dict[str, tuple[int, Case]] = {}
    for case in all_cases():
        elements = sum(math.prod(shape) for shape in case.shapes)
        if case.example == name and chosen.get(case.dtype, (0,))[0] < elements <= ELEMENTS:
            chosen[case.dtype] = elements, case
    module, device = importlib.import_module(name), Device(0)
    for _, case in chosen.values():
        module.run(device, *inputs(case), case.dtype)
        print(f"ran {case.name}")


def run(tool: str, command: list[str]) -> tuple[int, str]:
    """The status and output of a command under a tool of compute-sanitizer."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    found = subprocess.run(
        [sanitizer, "--tool", tool, "--error-exitcode", "86", *command],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return found.returncode, found.stdout + found.stderr


def main() -> int:
    """Run all; the number of tools that found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plant", action="store_true", help="only write behind an array")
    parser.add_argument("--drive", metavar="EXAMPLE", help="only run this example, without a tool")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("examples", nargs="*")
    chosen = parser.parse_args()
    if chosen.plant:
        plant()
        return 0
    if chosen.drive:
        drive(chosen.drive)
        return 0
    failures = 0
    text = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(at for at, row in enumerate(text, 1) if row.rstrip().endswith("1.0)  " + PLANTED))
    _, output = run("memcheck", [sys.executable, __file__, "--plant"])
    where = f"{Path(__file__).name}:{line}"
    found = where in output and "Invalid __global__ write" in output
    print(f"planted write: {'reported at ' + where if found else 'NOT REPORTED'}")
    if not found:
        failures += 1
        print(output[-3000:])
    names = chosen.examples or sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    for tool in chosen.tools.split(","):
        for name in names:
            status, output = run(tool, [sys.executable, __file__, "--drive", name])
            runs = output.count("ran " + name)
            clean = status == 0 and ("ERROR SUMMARY: 0 errors" in output or "0 hazards" in output)
            clean = clean and runs > 0
            state = f"clean, {runs} runs" if clean else f"status {status}, {runs} runs"
            print(f"{tool:10} {name:14} {state}", flush=True)
            if not clean:
                failures += 1
                print(output[-2000:])
    return failures


if __name__ == "__main__":
    sys.exit(main())
