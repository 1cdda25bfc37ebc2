"""Cubins beside the PTX: made once, found again, never trusted when they are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from teeny_cuda import Device, cubin
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.testing import fake_driver
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact

    from teeny_macros.artifact import Artifact


def beside(artifact: Artifact) -> list[Path]:
    return sorted(artifact.path.parent.glob("*.cubin"))


def kept(artifact_of: MakeArtifact, kernel: str = "vector_add") -> Artifact:
    """An artefact with a folder for cubins: its own."""
    artifact = artifact_of(kernel)
    artifact.side_folder = artifact.path.parent
    return artifact


def links(fake: FakeDriver) -> int:
    return fake.calls.count("cuLinkComplete")


def test_the_second_load_links_nothing(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = kept(artifact_of)
    first = device.load(artifact)
    (path,) = beside(artifact)
    assert path.name.startswith("vector_add_entry_point.sm_90-")
    assert links(fake) == 1
    second = device.load(artifact)
    assert links(fake) == 1
    assert second.attributes == first.attributes
    assert fake.links == {}
    check_sum(device, second)


def check_sum(device: Device, program: object) -> None:
    x = np.arange(256, dtype=np.float32)
    left, out = device.buffer(256, "f32"), device.buffer(256, "f32")
    left.copy_from(x)
    device.launch(program, (2, 1, 1), [left, left, out, 256])  # type: ignore[arg-type]
    assert (out.to_host() == 2 * x).all()


@pytest.mark.parametrize(("whole", "jit"), [(True, 0), (False, 1)])
def test_a_cubin_that_came_with_the_ptx_is_tried_first(
    whole: bool,
    jit: int,
    fake: FakeDriver,
    device: Device,
    artifact_of: MakeArtifact,
    tmp_path: Path,
) -> None:
    artifact = artifact_of("vector_add")
    text = artifact.path.read_bytes()
    given = tmp_path / "given.cubin"
    given.write_bytes(b"CUBN" + text + b"\0" if whole else b"CUBNbroken\0")
    artifact.stages["cubin"] = given
    before = fake.calls.count("cuModuleLoadDataEx")
    check_sum(device, device.load(artifact))
    assert fake.calls.count("cuModuleLoadDataEx") - before == 1 + jit
    assert links(fake) == 0


def test_zero_turns_it_off(
    fake: FakeDriver,
    device: Device,
    artifact_of: MakeArtifact,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEENY_CUBIN_CACHE", "0")
    artifact = kept(artifact_of)
    device.load(artifact)
    assert links(fake) == 0
    assert beside(artifact) == []


def test_an_artefact_without_a_folder_of_its_own_leaves_nothing(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = artifact_of("vector_add")
    device.load(artifact)
    assert links(fake) == 0
    assert beside(artifact) == []


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign"])
def test_a_damaged_cubin_is_made_again(
    damage: str, fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = kept(artifact_of)
    device.load(artifact)
    (path,) = beside(artifact)
    good = path.read_bytes()
    flipped = bytearray(good)
    flipped[-9] ^= 1
    bad = {"empty": b"", "cut": good[:-1], "flipped": bytes(flipped), "foreign": b"\x7fELF"}
    path.write_bytes(bad[damage])
    check_sum(device, device.load(artifact))
    assert links(fake) == 2
    assert path.read_bytes() == good


def test_a_cubin_that_the_driver_does_not_take_is_made_again(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = kept(artifact_of)
    device.load(artifact)
    (path,) = beside(artifact)
    good = path.read_bytes()
    cubin._write(str(path), b"not what this driver loads")
    check_sum(device, device.load(artifact))
    assert path.read_bytes() == good


def test_another_driver_device_or_text_has_a_cubin_of_its_own(
    artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = kept(artifact_of)
    artifact.path.write_text(artifact.read_text().replace("sm_90", "sm_80"), encoding="utf-8")
    artifact.target = type(artifact.target).cuda("sm_80")
    for version, minor in ((12080, 0), (13000, 0), (13000, 6)):
        fake = FakeDriver(version=version)
        fake.attributes["COMPUTE_CAPABILITY_MINOR"] = minor
        with fake_driver(fake):
            Device(0).load(artifact)
    assert len(beside(artifact)) == 3
    cubin._driver_build.cache_clear()
    monkeypatch.setattr(cubin, "_DRIVER_BUILD", str(artifact.path))
    with fake_driver(FakeDriver(version=13000)):
        Device(0).load(artifact)
    cubin._driver_build.cache_clear()
    assert len(beside(artifact)) == 4
    for lines in range(1, 4):
        with fake_driver(FakeDriver(version=13000)):
            text = artifact.read_text()
            artifact.path.write_text(text + f"// {lines}\n", encoding="utf-8")
            Device(0).load(artifact)
    assert len(beside(artifact)) == 4  # the oldest went


def test_a_folder_that_is_gone_or_read_only_costs_only_the_cubin(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact, tmp_path: Path
) -> None:
    artifact = artifact_of("vector_add")
    for folder in (tmp_path / "gone", Path("/proc/self")):
        artifact.side_folder = folder
        check_sum(device, device.load(artifact))
    assert not (tmp_path / "gone").exists()


def test_a_driver_without_a_linker_loads_the_ptx(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    fake.links_fail = True
    artifact = kept(artifact_of)
    check_sum(device, device.load(artifact))
    assert beside(artifact) == []


def test_code_that_moves_registers_between_warps_is_not_linked(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = kept(artifact_of)
    text = artifact.read_text() + "// setmaxnreg.inc.sync.aligned.u32 240;\n"
    artifact.path.write_text(text, encoding="utf-8")
    check_sum(device, device.load(artifact))
    assert links(fake) == 0


def test_ptx_that_is_refused_shows_the_drivers_log(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    with pytest.raises(LaunchError) as caught:
        device.load(kept(artifact_of, "broken"))
    assert caught.value.code == "E1055"
    assert "frobnicate" in str(caught.value)
    assert fake.links == {}


def test_linked_code_that_needs_more_registers_is_not_kept(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    fake.linked_registers = 20
    artifact = kept(artifact_of)
    first = device.load(artifact)
    check_sum(device, first)
    (path,) = beside(artifact)
    assert cubin._read(str(path)) == b""
    again = device.load(artifact)
    assert again.attributes == first.attributes
    assert (links(fake), fake.compiled) == (1, 2)
    assert len(fake.modules) == 2  # the linked one went at once


def test_a_refused_cubin_is_told_once_and_the_ptx_runs(
    fake: FakeDriver,
    device: Device,
    artifact_of: MakeArtifact,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cubin, "_told", False)
    monkeypatch.delenv("TEENY_LOG", raising=False)
    fake.cubins_fail = True
    artifact = artifact_of("vector_add")
    artifact.cubin = b"CUBN" + artifact.path.read_bytes()
    for _ in range(2):
        check_sum(device, device.load(artifact))
    said = capsys.readouterr().err
    assert said.count("warning[W1090]") == 1
    assert "CUDA_ERROR_NO_BINARY_FOR_GPU" in said
    assert fake.compiled == 2


@pytest.mark.parametrize("way", ["off", "another architecture"])
def test_a_cubin_is_loaded_only_where_it_is_wanted_and_fits(
    way: str,
    fake: FakeDriver,
    device: Device,
    artifact_of: MakeArtifact,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    artifact = artifact_of("vector_add")
    artifact.cubin = b"CUBN" + artifact.path.read_bytes()
    device.load(artifact)
    assert fake.compiled == 0
    if way == "off":
        monkeypatch.setenv("TEENY_CUBIN_CACHE", "0")
    else:
        artifact.target = type(artifact.target).cuda("sm_80")
    device.load(artifact)
    assert fake.compiled == 1


def test_a_cubin_that_came_with_the_ptx_is_never_pruned(
    fake: FakeDriver, device: Device, artifact_of: MakeArtifact
) -> None:
    artifact = kept(artifact_of)
    own = artifact.path.with_suffix(".cubin")
    own.write_bytes(b"of the cache's entry")
    for lines in range(6):
        text = artifact.read_text()
        artifact.path.write_text(text + f"// {lines}\n", encoding="utf-8")
        device.load(artifact)
    assert own.exists()
    assert len(beside(artifact)) == 1 + 4


@pytest.mark.gpu
def test_a_real_driver_links_once_and_gives_the_same_code(
    gpu: Device, artifact_of: MakeArtifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = kept(artifact_of)
    plain = artifact_of("vector_add")
    direct = gpu.load(plain)
    linked = gpu.load(artifact)
    (path,) = beside(artifact)
    made = path.stat().st_mtime_ns
    monkeypatch.setattr(cubin, "_link", lambda *_: pytest.fail("it was linked again"))
    again = gpu.load(artifact)
    assert path.stat().st_mtime_ns == made
    for program in (direct, linked, again):
        check_sum(gpu, program)
    assert linked.attributes.registers == direct.attributes.registers
    assert again.attributes == linked.attributes
    monkeypatch.undo()
    path.write_bytes(path.read_bytes()[:-100])
    check_sum(gpu, gpu.load(artifact))
    assert path.stat().st_mtime_ns != made


@pytest.mark.gpu
def test_the_log_of_the_real_driver_is_shown_with_a_folder_for_cubins(
    gpu: Device, artifact_of: MakeArtifact
) -> None:
    with pytest.raises(LaunchError) as caught:
        gpu.load(kept(artifact_of, "broken"))
    assert "frobnicate" in str(caught.value)
    assert gpu.load(kept(artifact_of)).attributes.registers > 0
