"""compute-sanitizer over every example kernel: memcheck, racecheck, initcheck; and a planted error.

Run on a machine with a GPU and the CUDA toolkit: `python benchmarks/sanitize_examples.py`. Each
example runs once in each of its dtypes, under each tool in a process of its own. The planted write
behind the end of an array must be reported with this file and the kernel's own line.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("memcheck", "racecheck", "initcheck")
PLANTED = "# the planted error"
# A tool slows a kernel down a hundredfold: of the cases with so many elements at most the largest.
ELEMENTS = 40_000
SECONDS = 240


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
    """The status and output of a command under a tool of compute-sanitizer, or under none."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    before = [sanitizer, "--tool", tool, "--error-exitcode", "86"] if tool else []
    try:
        found = subprocess.run(
            [*before, sys.executable, __file__, *command],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    except subprocess.TimeoutExpired as error:
        return -1, f"ran longer than {SECONDS} s\n{error.output or ''}"
    return found.returncode, found.stdout + found.stderr


def verdict(name: str, status: int, output: str) -> tuple[str, bool]:
    """How a run under a tool ended, in a cell of the table, and whether it is clean."""
    runs = output.count("ran " + name)
    found = re.findall(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+)", output)
    if not found or not runs:
        return f"status {status}, no summary", False
    return f"{found[-1]} errors, {runs} runs", status == 0 and found[-1] == "0"


def planted() -> bool:
    """Whether the planted write is reported where it stands."""
    text = Path(__file__).read_text(encoding="utf-8").splitlines()
    line = next(at for at, row in enumerate(text, 1) if row.rstrip().endswith("1.0)  " + PLANTED))
    _, output = run("memcheck", ["--plant"])
    where = f"{Path(__file__).name}:{line}"
    found = where in output and "Invalid __global__ write" in output
    print(f"planted write: {'reported at ' + where if found else 'NOT REPORTED'}")
    if not found:
        print(output[-2000:])
    return found


def main() -> int:
    """Run all and print the table; the number of cells that are not clean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plant", action="store_true", help="only write behind an array")
    parser.add_argument("--drive", metavar="EXAMPLE", help="only run this example, without a tool")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--jobs", type=int, default=1, help="so many processes at the same time")
    parser.add_argument("examples", nargs="*")
    chosen = parser.parse_args()
    if chosen.plant:
        plant()
        return 0
    if chosen.drive:
        drive(chosen.drive)
        return 0
    names = chosen.examples or sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    tools = chosen.tools.split(",")
    with ThreadPoolExecutor(chosen.jobs) as pool:
        # Without a tool first: what is compiled then is found in the cache under the tools.
        plain = list(pool.map(lambda name: run("", ["--drive", name]), names))
        failures = sum(status != 0 for status, _ in plain)
        for name, (status, output) in zip(names, plain, strict=True):
            if status:
                print(f"{name} fails without a tool\n{output[-1500:]}")
        caught = pool.submit(planted)
        pairs = [(name, tool) for name in names for tool in tools]
        cells = dict(
            zip(
                pairs, pool.map(lambda pair: run(pair[1], ["--drive", pair[0]]), pairs), strict=True
            )
        )
        failures += not caught.result()
    print(f"{'':16}" + "".join(f"{tool:24}" for tool in tools))
    for name in names:
        row = [verdict(name, *cells[name, tool]) for tool in tools]
        print(f"{name:16}" + "".join(f"{cell:24}" for cell, _ in row), flush=True)
        for tool, (_, clean) in zip(tools, row, strict=True):
            if not clean:
                failures += 1
                print(f"--- {name} under {tool}\n{cells[name, tool][1][-1500:]}")
    print(f"{failures} failures")
    return failures


if __name__ == "__main__":
    sys.exit(main())
