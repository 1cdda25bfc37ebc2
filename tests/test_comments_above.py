"""Three comment lines above a cached kernel: nothing compiles, and every place follows.

The same file in three fresh processes, edited between them; the driver is a fake that keeps the PTX
or the machine code it is handed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """\
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Ptr, f32, i32
{comments}
@kernel
def scale(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2.0, mask=mask)
"""
COMMENTS = "# one\n# two\n# three\n"

PROGRAM = """\
import json, sys
import numpy as np
from teeny_macros import Target, TeenyError
from teeny_compiler import compile_kernel
from user_kernel import scale

found = {"images": []}
if sys.argv[1] == "gpu":
    import teeny_cuda
    from teeny_cuda.fake_driver import FakeDriver
    from teeny_cuda.testing import fake_driver

    class Keeping(FakeDriver):
        def cuModuleLoadDataEx(self, image, *rest):
            found["images"].append(bytes(image).hex())
            return super().cuModuleLoadDataEx(image, *rest)

    made = compile_kernel(scale.instantiate(BLOCK=128), Target.cuda("sm_90"))
    found["path"] = str(made)
    with fake_driver(Keeping()):
        try:
            teeny_cuda.Device(0).load(made)
        except TeenyError:
            assert found["images"], "the fake need not read all PTX, but it is handed it"
else:
    x = np.ones(16, np.float32)
    scale[1](x, 3, BLOCK=16)
    assert x.tolist() == [2.0] * 3 + [1.0] * 13
    try:
        scale[1](x, 3, BLOCK=10)
    except TeenyError as error:
        span = error.diagnostics[0].span
        found["error"] = [error.code, span.file, span.line, span.column]
print(json.dumps(found))
"""


class Machine:
    """A folder with a user's kernel and program, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.kernel = folder / "user_kernel.py"
        self.program = folder / "program.py"
        self.program.write_text(PROGRAM, encoding="utf-8")
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("TEENYC_", "TEENY_"))},
            "TEENYC_CACHE_DIR": str(folder / "cache"),
        }

    def run(self, how: str, comments: str = "") -> tuple[dict[str, list[str]], int]:
        """What the program found, and how many kernels were compiled for it."""
        self.kernel.write_text(KERNEL.format(comments=comments), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(self.program), how],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr.count("teeny: compiled ")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_errors_follow_and_nothing_compiles(machine: Machine) -> None:
    first, compiled = machine.run("host")
    assert compiled == 1
    assert first["error"] == ["E0401", str(machine.kernel), 7, 28]
    second, compiled = machine.run("host", COMMENTS)
    assert compiled == 0
    assert second["error"] == ["E0401", str(machine.kernel), 10, 28]


def places_of_ptx(data: bytes, folder: Path) -> tuple[str, set[int]]:
    """The user's file as `.file` names it, and the lines that `.loc` gives in it."""
    image = data.decode()
    files = dict(re.findall(r'\.file\s+(\d+)\s+"([^"]*)"', image))
    ((number, name),) = [row for row in files.items() if row[1].endswith("user_kernel.py")]
    return name, {int(line) for line in re.findall(rf"\.loc\s+{number}\s+(\d+)", image)}


def places_of_machine_code(data: bytes, folder: Path) -> tuple[str, set[int]]:
    """The same, as nvdisasm reads them."""
    spec = importlib.util.find_spec("triton")
    assert spec is not None
    assert spec.origin is not None
    tool = Path(spec.origin).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
    path = folder / "handed.cubin"
    path.write_bytes(data)
    command = [str(tool), "-c", "-gi", str(path)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r'File "([^"]*user_kernel.py)", line (\d+)', listed)
    ((name,),) = [{file for file, _ in found}]
    return name, {int(line) for _, line in found}


@pytest.mark.parametrize("cubin", ["on", "off"])
def test_lines_handed_to_the_driver_follow_and_nothing_compiles(
    cubin: str, machine: Machine, tmp_path: Path
) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("the GPU back end needs the extra teenyc[cuda]")
    pytest.importorskip("cuda.bindings")
    machine.environment["TEENYC_CUBIN"] = cubin
    read = places_of_machine_code if cubin == "on" else places_of_ptx

    def places(image: str) -> tuple[str, set[int]]:
        return read(bytes.fromhex(image), tmp_path)

    first, compiled = machine.run("gpu")
    assert compiled == 1
    name, before = places(first["images"][0])
    assert Path(name) == machine.kernel
    # The instructions of line 8, a comparison, are those of the lines that need it.
    assert before >= ({9} if cubin == "on" else {8, 9})
    second, compiled = machine.run("gpu", COMMENTS)
    assert compiled == 0
    assert second["path"] == first["path"]
    name, after = places(second["images"][0])
    assert Path(name) == machine.kernel
    assert {line - 3 for line in after if line} == {line for line in before if line}
