"""The machine code of short launches: how it is kept, what it names, and that it runs on a GPU."""

# Arrays of every kind are launched.
# mypy: disable-error-code="arg-type, call-arg, func-returns-value"

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import teeny_triton as tl
from teeny_cuda import Device, launcher
from teeny_cuda.emit import Pattern, common_text, entry_text
from teeny_cuda.emit_arrays import Argument, Relied
from teeny_cuda.emit_parts import FUNCTIONS, OBJECTS
from teeny_cuda.provider import PROVIDER
from teeny_cuda.testing import import_library
from teeny_macros import devices, kernel
from teeny_macros.hot import HOT
from teeny_macros.launch import LaunchSite
from teeny_triton import Const, Ptr, f32, i32

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import MakeArtifact

pytest.importorskip("llvmlite")


@kernel
def vector_add(
    x_ptr: Ptr[f32], y_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32, BLOCK_SIZE: Const[int] = 128
) -> None:
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask)
    tl.store(out_ptr + offsets, x + tl.load(y_ptr + offsets, mask), mask)


def test_the_code_is_kept_on_disk_and_a_damaged_file_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert launcher.is_available()
    monkeypatch.setenv("TEENY_LAUNCHER_CACHE", str(tmp_path / "kept"))
    text = common_text(launcher.places())
    data = launcher._object_of(text)
    (path,) = (tmp_path / "kept").iterdir()
    assert launcher._object_of(text) == data
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert launcher._object_of(text) == data
    assert bytes(damaged) != path.read_bytes()
    (tmp_path / "kept").chmod(0o777)
    assert launcher._folder() is None


def test_the_code_names_only_known_symbols() -> None:
    assert launcher.is_available()
    llvm = launcher._state["llvm"]
    relied = Relied(
        contiguous=True, alignment=64, separate=True, sized=True, strides=((1, 0),), itemsize=4
    )
    array = Argument("dlpack", 0, relied=relied)
    tiles = Argument("map", 2, rank=2, itemsize=2, array=Argument("buffer", 2, aligned=True))
    arguments = (array, Argument("number", 1, "f32"), tiles)
    pattern = Pattern(3, 1, arguments, 7, "exchange", scratch=True)
    module = llvm.parse_assembly(entry_text(pattern, launcher.places()))
    module.verify()
    declared = {f.name for f in module.functions if f.is_declaration}
    assert declared <= {*FUNCTIONS, "llvm.fabs.f64"}
    assert {v.name for v in module.global_variables} <= set(OBJECTS)


@pytest.mark.gpu
@pytest.mark.parametrize("library", ["buffers", "torch"])
def test_hot_launches_on_the_gpu_give_the_sums(
    gpu: Device, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    monkeypatch.setitem(devices._compilers, "default", lambda *_, **__: artifact_of("vector_add"))
    monkeypatch.setitem(devices._providers, "cuda", PROVIDER)
    counts = []
    launch = LaunchSite.launch
    monkeypatch.setattr(LaunchSite, "launch", lambda *args: (counts.append(1), launch(*args))[1])
    n = 1000
    host = np.arange(n, dtype=np.float32)
    if library == "torch":
        torch = import_library("torch")
        arrays = [torch.from_numpy(host).cuda() for _ in range(3)]
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3 * HOT):
                arrays[2].zero_()
                vector_add[8](*arrays, n)
            assert len(counts) <= HOT
            assert np.array_equal(arrays[2].cpu().numpy(), 2 * host)
        return
    arrays = [gpu.copy_of(host) for _ in range(3)]
    for _ in range(3 * HOT):
        arrays[2].fill(0.0)
        vector_add[8](*arrays, n)
    assert len(counts) <= HOT
    assert np.array_equal(arrays[2].to_host(), 2 * host)
