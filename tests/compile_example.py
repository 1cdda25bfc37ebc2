"""A program, run by a test: compiles every kernel that one example launches for some architectures.

`python tests/compile_example.py EXAMPLE FOLDER ARCH...` runs the example in the interpreter with
small inputs of each dtype, notes which instances it asks the compiler for, compiles each for every
architecture, and prints one JSON line for each PTX it leaves in FOLDER.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import teeny_compiler
import teeny_cpu
from example_cases import Case, all_cases, inputs
from teeny_macros import Target

LEAST_SIZE = 63


def small_cases(example: str) -> list[Case]:
    """Return the smallest case that fills a block of threads, or half of it, for each dtype."""
    cases = [
        case
        for case in all_cases()
        if case.example == example and min(case.sizes) > 0 and max(case.sizes) >= LEAST_SIZE
    ]
    dtypes = dict.fromkeys(case.dtype for case in cases)
    return [
        min((case for case in cases if case.dtype == dtype), key=lambda case: math.prod(case.sizes))
        for dtype in dtypes
    ]


def launched_instances(example: str) -> dict[str, Any]:
    """Run the example and return the instances it launches, by id."""
    found: dict[str, Any] = {}
    compile_kernel = teeny_compiler.compile_kernel

    def note(instance: Any, *args: Any, **options: Any) -> Any:
        found[instance.id] = instance
        return compile_kernel(instance, *args, **options)

    teeny_compiler.compile_kernel = note
    os.environ["TEENY_DEVICE"] = "interpret"
    try:
        module = importlib.import_module(example)
        for case in small_cases(example):
            module.run(teeny_cpu.Interpreter(), *inputs(case), case.dtype)
    finally:
        teeny_compiler.compile_kernel = compile_kernel
    return found


def compiled(instance: Any, arch: str) -> bytes:
    """Return the PTX of an instance, compiled whatever the cache holds."""
    artifact = teeny_compiler.compile_kernel(instance, Target.cuda(arch), force=True)
    return Path(artifact).read_bytes()


def main(example: str, folder: Path, archs: list[str]) -> None:
    """Compile, copy, report."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    for number, instance in enumerate(launched_instances(example).values()):
        for arch in archs:
            text = compiled(instance, arch)
            path = folder / f"{number}-{instance.name}-{arch}.ptx"
            path.write_bytes(text)
            row = {"arch": arch, "path": str(path), "entry": instance.entry_point_name}
            # Once more for one architecture: the bytes must not vary from run to run.
            repeated = arch != archs[0] or compiled(instance, arch) == text
            print(json.dumps({**row, "repeated": repeated}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
