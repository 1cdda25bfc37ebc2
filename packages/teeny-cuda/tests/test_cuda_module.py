"""Programs: loading, what is refused, unloading."""

from __future__ import annotations

import gc
import sys
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teeny_cuda import Device
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver, write_artifact
from teeny_macros.diagnostics import LaunchError
from teeny_macros.source import SourceMap, Span
from teeny_macros.target import Target

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import MakeArtifact


def test_a_program_tells_its_attributes(device: Device, artifact_of: MakeArtifact) -> None:
    program = device.load(artifact_of("vector_add"))
    assert program.attributes.ptx_architecture == 90
    assert program.attributes.binary_architecture == 90
    assert program.attributes.max_threads_per_block == 1024
    assert program.attributes.registers > 0
    assert program.occupancy() == 16
    assert repr(program) == "Program(vector_add, cuda:sm_90 on cuda:0)"


def test_the_drivers_log_is_shown_when_it_rejects_the_code(
    device: Device, artifact_of: MakeArtifact
) -> None:
    _check_rejected(device, artifact_of)


@pytest.mark.gpu
def test_the_log_of_the_real_driver_is_shown(gpu: Device, artifact_of: MakeArtifact) -> None:
    _check_rejected(gpu, artifact_of)
    assert gpu.load(artifact_of("vector_add")).attributes.registers > 0


def _check_rejected(device: Device, artifact_of: MakeArtifact) -> None:
    with pytest.raises(LaunchError) as caught:
        device.load(artifact_of("broken"))
    assert caught.value.code == "E1055"
    text = str(caught.value)
    assert "error log: " in text
    assert "line 12" in text
    assert "frobnicate" in text
    assert "broken_entry_point.ptx" in text


def test_a_rejection_points_at_the_kernels_line(device: Device, artifact_of: MakeArtifact) -> None:
    _check_place(device, artifact_of)


@pytest.mark.gpu
def test_a_rejection_by_the_real_driver_points_there_too(
    gpu: Device, artifact_of: MakeArtifact
) -> None:
    _check_place(gpu, artifact_of)


def _check_place(device: Device, artifact_of: MakeArtifact) -> None:
    artifact = artifact_of("broken")
    text = artifact.path.read_text(encoding="utf-8")
    head, _, body = text.partition(".visible")
    body = body.replace("\tfrobnicate", "\t.loc 1 7 5\n\tfrobnicate")
    artifact.path.write_text(f'{head}.file 1 "broken.py"\n.visible{body}', encoding="utf-8")
    with pytest.raises(LaunchError) as caught:
        device.load(artifact)
    assert caught.value.diagnostics[0].span == Span.point("broken.py", 7, 5)
    assert "--> broken.py:7:5" in str(caught.value)


def test_positions_are_rewritten_before_the_driver_sees_them(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    positions = ModuleType("teeny_macros.positions")
    monkeypatch.setattr(
        positions,
        "rewrite_ptx",
        lambda ptx, source_map: ptx + f"// {len(source_map.origins)} lines\n",
        raising=False,
    )
    monkeypatch.setitem(sys.modules, "teeny_macros.positions", positions)
    artifact = artifact_of("vector_add")
    artifact.source_map = SourceMap()
    device.load(artifact)
    assert next(iter(fake.modules.values())).text.endswith("// 0 lines\n")


def test_ptx_newer_than_the_driver_names_both_versions(
    tmp_path: Path, artifact_of: MakeArtifact
) -> None:
    with fake_driver(FakeDriver(version=12040)):
        artifact = artifact_of("vector_add", ptx_version=87)
        artifact.path.write_text(artifact.read_text().replace(".version 8.0", ".version 8.7"))
        with pytest.raises(LaunchError) as caught:
            Device(0).load(artifact)
    text = str(caught.value)
    assert caught.value.code == "E1054"
    assert "CUDA 12.4" in text
    assert "PTX 8.7" in text
    assert "CUDA 12.8" in text
    assert "TEENYC_PTX_VERSION" in text


@pytest.mark.parametrize(
    ("arch", "capability", "fits"),
    [
        ("sm_80", (9, 0), True),
        ("sm_90", (9, 0), True),
        ("sm_89", (12, 0), True),
        ("sm_90", (10, 0), False),
        ("sm_100", (9, 0), False),
        ("sm_86", (8, 0), False),
        ("sm_80", (8, 6), True),
    ],
)
def test_code_runs_where_its_architecture_allows(
    tmp_path: Path, arch: str, capability: tuple[int, int], fits: bool
) -> None:
    fake = FakeDriver()
    fake.attributes["COMPUTE_CAPABILITY_MAJOR"] = capability[0]
    fake.attributes["COMPUTE_CAPABILITY_MINOR"] = capability[1]
    ptx = f".version 8.0\n.target {arch}\n.visible .entry k_entry_point()\n{{\n\tret;\n}}\n"
    artifact = write_artifact(tmp_path, ptx, "k", [], target=Target.cuda(arch))
    with fake_driver(fake):
        if fits:
            Device(0).load(artifact)
            return
        with pytest.raises(LaunchError) as caught:
            Device(0).load(artifact)
        assert caught.value.code == "E1056"
        assert "sm_{}{}".format(*capability) in str(caught.value)
        assert not fake.modules


def test_an_artefact_for_the_interpreter_is_refused(
    device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    artifact.target = Target.interpret()
    with pytest.raises(LaunchError) as caught:
        device.load(artifact)
    assert caught.value.code == "E1056"


def test_code_without_the_entry_point_is_refused_and_unloaded(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    artifact.path.write_text(artifact.read_text().replace("vector_add_entry", "other"))
    with pytest.raises(LaunchError) as caught:
        device.load(artifact)
    assert caught.value.code == "E1057"
    device.synchronize()
    assert not fake.modules


def test_a_file_that_is_gone_is_refused(device: Device, artifact_of: MakeArtifact) -> None:
    artifact = artifact_of("vector_add")
    artifact.path.unlink()
    with pytest.raises(LaunchError) as caught:
        device.load(artifact)
    assert caught.value.code == "E1055"


@pytest.mark.parametrize(
    ("kernel", "metadata", "what"),
    [
        ("plain_block", {"threads_per_block": 2048}, "2048 threads a block"),
        ("reverse_shared", {"shared_bytes": 232_449}, "232449 bytes of shared memory"),
        ("cluster_rank", {"num_ctas": 32}, "32 blocks a cluster"),
    ],
)
def test_a_block_larger_than_the_device_allows_is_refused(
    device: Device, artifact_of: MakeArtifact, kernel: str, metadata: dict[str, int], what: str
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.load(artifact_of(kernel, **metadata))
    assert caught.value.code == "E1062"
    assert what in str(caught.value)


def test_code_for_other_blocks_than_its_metadata_says_is_refused(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.load(artifact_of("vector_add", threads_per_block=256))
    assert caught.value.code == "E1055"
    assert "128 threads a block, and its metadata says 256" in str(caught.value)
    assert not fake.modules


def test_a_cubin_is_loaded_as_it_is(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    cubin = artifact.path.with_suffix(".cubin")
    cubin.write_bytes(b"CUBN" + artifact.path.read_bytes())
    artifact.path = cubin
    out = device.buffer(4, "f32")
    x = device.copy_of(np.ones(4, np.float32))
    device.launch(device.load(artifact), 1, [x, x, out, 4])
    assert out.to_host().tolist() == [2, 2, 2, 2]


def test_shared_memory_beyond_48_kib_is_asked_for(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("reverse_shared"))
    function = fake.functions[program.function]
    assert function.attributes["MAX_DYNAMIC_SHARED_SIZE_BYTES"] == 100_000
    asked = fake.calls.count("cuFuncSetAttribute")
    device.load(artifact_of("reverse_shared", shared_bytes=49152))
    assert fake.calls.count("cuFuncSetAttribute") == asked


def test_a_dropped_program_is_unloaded_once_its_launches_have_ended(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("spin"))
    out = device.buffer(1, "f32")
    device.launch(program, 1, [out, 10])
    del program
    gc.collect()
    assert len(fake.modules) == 1
    assert device.context.retired == 1
    device.synchronize()
    assert not fake.modules
    assert out.to_host().tolist() == [1.0]


def test_many_dropped_programs_do_not_pile_up(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    for _ in range(150):
        device.load(artifact)
    gc.collect()
    assert len(fake.modules) <= 66


def test_an_unloaded_program_is_not_launched(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    program = device.load(artifact_of("spin"))
    program.unload()
    program.unload()
    assert not fake.modules
    with pytest.raises(LaunchError) as caught:
        device.launch(program, 1, [device.buffer(1, "f32"), 1])
    assert caught.value.code == "E1058"
    assert "unloaded" in repr(program)


@pytest.mark.gpu
def test_a_program_unloads_with_work_in_flight(gpu: Device, artifact_of: MakeArtifact) -> None:
    out = gpu.buffer(1, "f32")
    for _ in range(3):
        program = gpu.load(artifact_of("spin"))
        gpu.launch(program, 1, [out, 30_000_000])
        program.unload()
    assert out.to_host().tolist() == [1.0]


@pytest.mark.gpu
def test_the_gpu_tells_a_programs_attributes(gpu: Device, artifact_of: MakeArtifact) -> None:
    program = gpu.load(artifact_of("vector_add"))
    assert program.attributes.max_threads_per_block == 1024
    assert program.attributes.local_bytes == 0
    major, minor = gpu.capability
    assert program.attributes.binary_architecture == 10 * major + minor
    assert program.occupancy() >= 8
