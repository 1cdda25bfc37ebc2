"""A program, run by a test: compiles every kernel that one example launches for some architectures.

`python tests/compile_example.py EXAMPLE FOLDER ARCH...` runs the example in the interpreter with
small inputs of each dtype, notes which instances it asks the compiler for, compiles each for every
architecture twice, and prints one JSON line for each PTX it leaves in FOLDER.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import teeny_compiler
import teeny_cpu
from example_cases import Case, all_cases, inputs
from teeny_macros import Target


def smallest_cases(example: str) -> list[Case]:
    """Return the smallest case without an empty dimension for each dtype of the example."""
    cases = [case for case in all_cases() if case.example == example and min(case.sizes) > 0]
    dtypes = dict.fromkeys(case.dtype for case in cases)
    return [
        min((case for case in cases if case.dtype == dtype), key=lambda case: case.sizes)
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
    try:
        module = importlib.import_module(example)
        for case in smallest_cases(example):
            module.run(teeny_cpu.Device(), *inputs(case), case.dtype)
    finally:
        teeny_compiler.compile_kernel = compile_kernel
    return found


def main(example: str, folder: Path, archs: list[str]) -> None:
    """Compile, copy, report."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    for number, instance in enumerate(launched_instances(example).values()):
        for arch in archs:
            target = Target.cuda(arch)
            artifact = teeny_compiler.compile_kernel(instance, target, force=True)
            first = Path(artifact).read_bytes()
            path = folder / f"{number}-{instance.name}-{arch}.ptx"
            shutil.copy(artifact, path)
            again = Path(teeny_compiler.compile_kernel(instance, target, force=True)).read_bytes()
            row = {"arch": arch, "path": str(path), "entry": instance.entry_point_name}
            print(json.dumps({**row, "repeated": first == again}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
