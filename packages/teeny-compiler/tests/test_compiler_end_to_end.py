"""A captured kernel through the real teenyc: artifacts, cache hits, errors at the user's lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import (
    Artifact,
    CompileOptions,
    Target,
    compile_kernel,
    compile_kernels,
    find_teenyc,
)
from teeny_compiler.versions import ABSENT, versions_of
from teeny_compiler.workers import close_workers
from teeny_macros.diagnostics import CompileError, LaunchError

SM_90 = Target.cuda("sm_90")
Load = Callable[..., Any]
HEAD = """\
import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Ptr, f32, i32

FACTOR = {factor}

{comments}
@device
def half(x):
    return x * FACTOR
"""
KERNEL = (
    HEAD
    + '''
@kernel
def scale(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK: Const[int]):
    """Scales."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # one block
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, half(x){extra}, mask=mask)
'''
)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Writes a module with the kernel and imports it."""
    count = 0

    def make(*, factor: str = "0.5", comments: str = "", extra: str = "") -> Any:
        nonlocal count
        count += 1
        path = tmp_path / f"user_kernels_{count}.py"
        text = KERNEL.format(factor=factor, comments=comments, extra=extra)
        path.write_text(text, encoding="utf-8")
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, path.stem, module)
        spec.loader.exec_module(module)
        return module.scale

    return make


@pytest.fixture(scope="module")
def has_triton() -> bool:
    """Whether the toolchain of this environment can write PTX."""
    return dict(versions_of(find_teenyc()))["triton"] != ABSENT


def compiled(capsys: pytest.CaptureFixture[str]) -> int:
    """How many kernels were compiled since the last call, by what was said."""
    return capsys.readouterr().err.count("teeny: compiled ")


def first_user_line(made: Artifact) -> int:
    """The line, in the user's file, of the first line of the unit that comes from there."""
    assert made.source_map is not None
    found = made.source_map.lookup(min(made.source_map.origins))
    assert found is not None
    return found[1]


def test_kernel_becomes_ptx_with_metadata(cache_dir: Path, load: Load, *, has_triton: bool) -> None:
    if not has_triton:
        pytest.skip("triton is not installed beside teenyc")
    options = CompileOptions(emit=("ttgir", "llvm-ir"))
    made = compile_kernel(load().instantiate(BLOCK=256), SM_90, options=options)
    text = made.read_text()
    assert ".target sm_90a" in text
    assert ".entry scale_entry_point(" in text
    assert [param.name for param in made.metadata.params] == ["x_ptr", "out_ptr", "n"]
    assert made.metadata.threads_per_block == 128
    assert made.metadata.fp_fusion
    assert set(made.stages) == {"mlir", "ttgir", "llvm-ir", "ptx", "cubin"}
    assert "tt.func public @scale_entry_point" in made.stages["mlir"].read_text(encoding="utf-8")


def test_launch_options_are_part_of_the_entry(
    cache_dir: Path, load: Load, *, has_triton: bool
) -> None:
    if not has_triton:
        pytest.skip("triton is not installed beside teenyc")
    kernel = load()
    made: list[Artifact] = [
        compile_kernel(kernel.instantiate(BLOCK=256, num_warps=warps), SM_90) for warps in (1, 4, 8)
    ]
    assert [artifact.metadata.num_warps for artifact in made] == [1, 4, 8]
    assert len({artifact.path for artifact in made}) == 3


def test_warm_workers_write_what_single_runs_write(
    cache_dir: Path,
    load: Load,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    has_triton: bool,
) -> None:
    if not has_triton:
        pytest.skip("triton is not installed beside teenyc")
    kernel = load()
    instances = [kernel.instantiate(BLOCK=block) for block in (64, 100, 128)]
    try:
        found = compile_kernels([(each, SM_90) for each in instances], workers=2, progress=False)
    finally:
        close_workers()
    error = found[1]
    assert isinstance(error, CompileError)
    assert error.code == "E0401"
    assert error.diagnostics[0].labels[0].span.file.endswith(".py")
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "other"))
    for made, instance in ((found[0], instances[0]), (found[2], instances[2])):
        assert isinstance(made, Artifact)
        alone = compile_kernel(instance, SM_90)
        assert alone.path != made.path
        assert alone.path.read_bytes() == made.path.read_bytes()
        assert alone.metadata == made.metadata


def test_unit_for_the_interpreter_is_kept(cache_dir: Path, load: Load) -> None:
    made = compile_kernel(load().instantiate(BLOCK=16), Target.interpret())
    assert made.read_text().startswith("# teeny-unit 1\n")
    assert made.metadata.entry_point == "scale_entry_point"
    assert "tt.store" in made.stages["mlir"].read_text(encoding="utf-8")


def test_comments_compile_nothing_and_positions_follow_them(
    cache_dir: Path, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    first = compile_kernel(load().instantiate(BLOCK=16), Target.interpret())
    assert compiled(capsys) == 1
    moved = load(comments="# one\n# two\n# three\n")
    second = compile_kernel(moved.instantiate(BLOCK=16), Target.interpret())
    assert compiled(capsys) == 0
    assert second.path == first.path
    assert first_user_line(second) - first_user_line(first) == 3


def test_edited_helper_constant_compiles_again(
    cache_dir: Path, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    first = compile_kernel(load().instantiate(BLOCK=16), Target.interpret())
    second = compile_kernel(load(factor="0.25").instantiate(BLOCK=16), Target.interpret())
    assert compiled(capsys) == 2
    assert first.path != second.path


def test_faults_are_at_their_line_and_column_in_the_users_file(cache_dir: Path, load: Load) -> None:
    kernel = load(comments="# a line more", extra=" + nothing_of_that_name")
    with pytest.raises(CompileError) as caught:
        compile_kernel(kernel.instantiate(BLOCK=16), Target.interpret())
    label = caught.value.diagnostics[0].labels[0]
    lines = Path(label.span.file).read_text(encoding="utf-8").splitlines()
    stretch = lines[label.span.line - 1][label.span.column - 1 : label.span.end_column - 1]
    assert stretch == "nothing_of_that_name"
    assert label.source == lines[label.span.line - 1]


def test_error_in_one_kernel_leaves_no_entry(cache_dir: Path, load: Load) -> None:
    with pytest.raises(CompileError):
        compile_kernel(load().instantiate(BLOCK=100), Target.interpret())
    assert [path for path in cache_dir.glob("??/*") if path.is_dir()] == []


def test_ptx_version_below_the_floor_is_refused(
    cache_dir: Path, load: Load, monkeypatch: pytest.MonkeyPatch, *, has_triton: bool
) -> None:
    if not has_triton:
        pytest.skip("triton is not installed beside teenyc")
    monkeypatch.setenv("TEENYC_PTX_VERSION", "7.0")
    with pytest.raises(CompileError) as caught:
        compile_kernel(load().instantiate(BLOCK=16), SM_90)
    assert caught.value.code == "E0706"
    monkeypatch.setenv("TEENYC_PTX_VERSION", "8.4")
    made = compile_kernel(load().instantiate(BLOCK=16), SM_90)
    assert ".version 8.4" in made.read_text()
    assert made.metadata.ptx_version == 84


def test_kernel_becomes_an_object_for_the_host(cache_dir: Path, load: Load) -> None:
    if dict(versions_of(find_teenyc()))["llvmlite"] == ABSENT:
        pytest.skip("llvmlite is not installed beside teenyc")
    made = compile_kernel(load().instantiate(BLOCK=16), Target.cpu())
    assert made.path.suffix == ".o"
    assert made.path.stat().st_size > 0
    assert [param.kind for param in made.metadata.params] == ["pointer", "pointer", "scalar"]


def test_missing_compile_time_value_is_said_before_anything_runs(
    cache_dir: Path, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LaunchError):
        load().instantiate()
    assert compiled(capsys) == 0


def test_kernel_with_nothing_to_fix_is_its_own_instance(
    cache_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "plain_kernel.py"
    path.write_text(
        "import teeny_triton as tl\n"
        "from teeny_macros import kernel\n"
        "from teeny_triton import Ptr, f32\n"
        "@kernel\n"
        "def double(x_ptr: Ptr[f32]):\n"
        "    tl.store(x_ptr, tl.load(x_ptr) * 2)\n",
        encoding="utf-8",
    )
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    made = compile_kernel(module.double, Target.interpret())
    assert made.path == compile_kernel(module.double.instantiate(), Target.interpret()).path


_PARTS = """
import math
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Ptr, f32

class Config:
    SCALE = 3

@kernel
def k(x_ptr: Ptr[f32]):
    tl.store(x_ptr, math.pi)
    tl.store(x_ptr + 1, Config.SCALE)
"""


def test_parts_of_modules_and_classes_are_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "parts_of_modules.py").write_text(_PARTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import importlib

    module = importlib.import_module("parts_of_modules")
    monkeypatch.delitem(sys.modules, "parts_of_modules")
    mlir = compile_kernel(module.k.instantiate(), Target.interpret()).stages["mlir"].read_text()
    assert "3.14159274" in mlir
    assert "3.0" in mlir or "3.000000e+00" in mlir or "3 : i32" in mlir
