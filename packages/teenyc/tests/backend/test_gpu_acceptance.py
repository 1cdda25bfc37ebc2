"""PTX of hand-written kernels for each architecture: ptxas takes it, and it never varies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teenyc.backend.gpu.ptx import find_ptxas, parse_ptx
from teenyc.backend.gpu.versions import ARCH_FLOOR

if TYPE_CHECKING:
    from conftest import Backend

NAMES = ("vector_add", "row_sum", "matmul", "descriptor_copy")


def _assemble(ptx: str, folder: Path) -> None:
    header = parse_ptx(ptx)
    assert header is not None
    ptxas = find_ptxas(header.version)
    assert ptxas is not None, "ptxas is neither on PATH nor in the Triton wheel"
    file = folder / "kernel.ptx"
    file.write_text(ptx, encoding="utf-8")
    done = subprocess.run(
        [str(ptxas), f"-arch={header.target}", str(file), "-o", str(folder / "kernel.cubin")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("name", NAMES)
def test_ptxas_accepts_the_ptx(backend: Backend, tmp_path: Path, name: str, arch: str) -> None:
    ptx = backend.ptx(backend.job(name, arch))
    header = parse_ptx(ptx)
    assert header is not None
    assert header.entries == (f"{name}_entry_point",)
    assert header.threads == 128
    assert header.files == (f"{name}.py",)
    _assemble(ptx, tmp_path)


@pytest.mark.parametrize("arch", sorted(ARCH_FLOOR))
def test_the_floor_of_each_architecture_is_enough(
    backend: Backend, tmp_path: Path, arch: str
) -> None:
    _assemble(backend.ptx(backend.job("vector_add", arch)), tmp_path)


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", ["vector_add", "row_sum", "matmul"])
def test_plain_kernels_load_with_a_cuda_12_4_driver(backend: Backend, name: str, arch: str) -> None:
    assert backend.job(name, arch).ptx_version <= 84


def test_ptx_carries_the_positions_of_the_unit(backend: Backend) -> None:
    ptx = backend.ptx(backend.job("vector_add"))
    lines = {line.split()[2] for line in ptx.splitlines() if line.startswith("\t.loc")}
    assert {"5", "6", "7", "8"} <= lines


def test_fp_fusion_off_rounds_each_step(backend: Backend) -> None:
    mlir = backend.module("vector_add").replace(
        "%s = arith.addf %xv, %yv",
        '%t = arith.mulf %xv, %yv : tensor<1024xf32> loc("vector_add.py":7:1)\n'
        "    %s = arith.addf %t, %yv",
    )
    fused = backend.ptx(backend.job("vector_add", mlir=mlir))
    apart = backend.ptx(backend.job("vector_add", mlir=mlir, fp_fusion=False))
    assert "fma.rn.f32" in fused
    assert "fma" not in apart
    assert "mul.rn.f32" in apart


def test_each_stage_can_be_kept(backend: Backend) -> None:
    outcome = backend.run(backend.job("vector_add", emit=("ttgir", "llvm-ir", "ptx")))
    texts = {stage.name: stage.text for stage in outcome.stages}
    assert "#ttg.blocked" in str(texts["ttgir"])
    assert "define" in str(texts["llvm-ir"])
    assert ".visible .entry" in str(texts["ptx"])
    assert texts["ttir"] is None


def test_stages_after_the_last_wanted_one_are_not_run(backend: Backend) -> None:
    outcome = backend.run(backend.job("vector_add", emit=("ttgir",)))
    assert [stage.name for stage in outcome.stages] == ["loading", "mlir", "ttir", "ttgir"]


_PRINT_PTX = """
import json, sys
from teenyc.backend.gpu.child import Child
from teenyc.backend.gpu.libtriton import Job
data = json.load(sys.stdin)
data["emit"] = tuple(data["emit"])
outcome = Child.start().run(Job(**data))
sys.stdout.write("".join(stage.text or "" for stage in outcome.stages))
"""


def _in_another_process(job: object, folder: Path, environment: dict[str, str]) -> str:
    import json

    data = job._asdict()  # type: ignore[attr-defined]
    done = subprocess.run(
        [sys.executable, "-c", _PRINT_PTX],
        input=json.dumps(data),
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("name", ["vector_add", "matmul"])
def test_two_processes_give_the_same_bytes(backend: Backend, tmp_path: Path, name: str) -> None:
    job = backend.job(name, "sm_90", emit=("ttgir", "llvm-ir", "ptx"))
    one = _in_another_process(job, Path.cwd(), {"PYTHONHASHSEED": "1"})
    two = _in_another_process(job, tmp_path, {"PYTHONHASHSEED": "2"})
    assert one
    assert one == two


def test_no_text_names_a_file_of_this_machine(backend: Backend, tmp_path: Path) -> None:
    # Also for operations without a location, which take the name of the file they were read from.
    mlir = backend.module("row_sum").replace(' loc("row_sum.py":6:1)', "")
    job = backend.job("row_sum", "sm_90", mlir=mlir, emit=("ttgir", "llvm-ir", "ptx"))
    text = _in_another_process(job, tmp_path, {})
    folders = (tmp_path, Path.home(), sys.prefix, Path(__file__).parents[4], "/proc/", "/tmp/")
    for root in map(str, folders):
        assert root not in text


def test_the_environment_cannot_change_code(backend: Backend, tmp_path: Path) -> None:
    job = backend.job("matmul", "sm_80")
    hostile = {
        "DISABLE_LLVM_OPT": "1",
        "LLVM_IR_ENABLE_DUMP": "1",
        "MLIR_ENABLE_DUMP": "1",
        "MLIR_ENABLE_TIMING": "1",
        "NVPTX_ENABLE_DUMP": "1",
        "PTXAS_OPTIONS": "--nonsense",
        "TRITON_DEFAULT_FP_FUSION": "0",
        "TRITON_DISABLE_LINE_INFO": "1",
        "TRITON_LIBDEVICE_PATH": "/nowhere/libdevice.bc",
        "TRITON_OVERRIDE_ARCH": "sm75",
        "TRITON_PTXAS_PATH": "/nowhere/ptxas",
        "DISABLE_MMA_V3": "1",
    }
    assert _in_another_process(job, tmp_path, hostile) == backend.ptx(job)
