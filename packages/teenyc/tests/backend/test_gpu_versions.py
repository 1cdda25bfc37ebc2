"""The version table: PTX floors, their override, spellings, and what is refused by name."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from teeny_macros.diagnostics import CompileError, ToolchainError
from teeny_macros.target import CUDA_ARCHS
from teenyc.backend.gpu import versions
from teenyc.backend.gpu.ptx import find_ptxas, parse_ptx
from teenyc.backend.gpu.versions import BACK_END_FLOOR, FEATURES, NEWEST, RELEASES

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Backend

PLAIN = "module {}"
DESCRIPTORS = "%d = tt.make_tensor_descriptor %p : !tt.tensordesc<64x64xf16>"
FP8 = "%x = tt.fp_to_fp %y : tensor<64xf16> -> tensor<64xf8E4M3FN>"
SCALED = "%d = tt.dot_scaled %a scale %s, %b scale %t, %c"


def test_every_architecture_of_the_target_has_a_floor() -> None:
    assert tuple(versions.ARCH_FLOOR) == CUDA_ARCHS


def test_floors_are_versions_that_exist() -> None:
    floors = {BACK_END_FLOOR, *versions.ARCH_FLOOR.values()}
    for feature in FEATURES:
        floors |= {feature.floor, *dict(feature.other_floors).values()}
    assert floors <= versions.PTX_VERSIONS


def test_features_name_only_releases_of_the_table() -> None:
    names = {release.name for release in RELEASES.values()}
    assert all(dict(feature.other_floors).keys() <= names for feature in FEATURES)


@pytest.mark.parametrize(
    ("arch", "release", "mlir", "expected"),
    [
        ("sm_75", (3, 6), PLAIN, 78),
        ("sm_80", (3, 8), PLAIN, 78),
        ("sm_80", (3, 9), DESCRIPTORS, 78),  # below sm_90 descriptors become pointers
        ("sm_89", (3, 9), PLAIN, 78),
        ("sm_89", (3, 9), FP8, 84),
        ("sm_90", (3, 9), FP8, 80),
        ("sm_90", (3, 6), DESCRIPTORS, 86),
        ("sm_90", (3, 9), PLAIN, 80),
        ("sm_90", (3, 9), DESCRIPTORS, 86),
        ("sm_100", (3, 9), SCALED, 88),
        ("sm_120", (3, 9), SCALED, 87),
        ("sm_121", (3, 9), DESCRIPTORS, 88),
    ],
)
def test_the_highest_floor_wins(
    arch: str, release: tuple[int, int], mlir: str, expected: int
) -> None:
    assert versions.choose_ptx_version(arch, RELEASES[release], mlir, None) == expected


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_plain_code_for_ampere_and_hopper_stays_at_ptx_8_4_or_below(arch: str) -> None:
    assert all(
        versions.choose_ptx_version(arch, release, PLAIN, None) <= 84
        for release in RELEASES.values()
    )


def test_a_higher_version_may_be_asked_for() -> None:
    assert versions.choose_ptx_version("sm_80", NEWEST, PLAIN, 84) == 84


def test_a_version_below_the_floor_names_what_needs_more() -> None:
    with pytest.raises(CompileError) as caught:
        versions.choose_ptx_version("sm_90", RELEASES[3, 9], DESCRIPTORS, 84)
    assert caught.value.code == "E0706"
    message = caught.value.diagnostics[0].message
    assert "PTX 8.4 is too old for tensor descriptors on sm_90" in message
    assert "PTX 8.6" in message


@pytest.mark.parametrize("version", sorted(versions.PTX_VERSIONS))
def test_ptx_versions_print_and_parse_back(version: int) -> None:
    assert versions.parse_ptx_version(versions.format_ptx_version(version)) == version


@pytest.mark.parametrize("text", ["", "84", "7.9", "6.9", "8.10", "8.", "x.y", "-8.4", "²·1"])
def test_numbers_that_are_no_ptx_version_are_refused(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        versions.parse_ptx_version(text)
    assert caught.value.code == "E0707"


@pytest.mark.parametrize("version", ["3.5.1", "3.10.0", "4.0.0", "2.1", "", "nightly"])
def test_releases_outside_the_range_are_refused_by_name(version: str) -> None:
    with pytest.raises(ToolchainError) as caught:
        versions.release_of(version)
    assert caught.value.code == "E0702"
    assert version in caught.value.diagnostics[0].message


@pytest.mark.parametrize("version", ["3.6.0", "3.7.1", "3.8.0+git1234", "3.9.0rc1"])
def test_patch_releases_share_the_row_of_their_minor_release(version: str) -> None:
    assert version.startswith(versions.release_of(version).name)


def test_eight_bit_floats_assemble_on_ada_at_their_floor(backend: Backend, tmp_path: Path) -> None:
    mlir = backend.module("matmul").replace(
        "%d = tt.dot %av, %bv, %acc : tensor<64x64xf16> * tensor<64x64xf16>",
        "%a8 = tt.fp_to_fp %av, rounding = rtne : tensor<64x64xf16> -> tensor<64x64xf8E4M3FN>\n"
        "%b8 = tt.fp_to_fp %bv, rounding = rtne : tensor<64x64xf16> -> tensor<64x64xf8E4M3FN>\n"
        "%d = tt.dot %a8, %b8, %acc : tensor<64x64xf8E4M3FN> * tensor<64x64xf8E4M3FN>",
    )
    ptx = backend.ptx(backend.job("matmul", "sm_89", mlir=mlir))
    assert ".e4m3" in ptx
    header = parse_ptx(ptx)
    assert header is not None
    file = tmp_path / "kernel.ptx"
    file.write_text(ptx, encoding="utf-8")
    ptxas = find_ptxas(header.version)
    assert ptxas is not None
    output = tmp_path / "kernel.cubin"
    subprocess.run([str(ptxas), "-arch=sm_89", str(file), "-o", str(output)], check=True)


_LOAD = "%xv = tt.load %xp, %m : tensor<1024x!tt.ptr<f32>>"
_INLINE = "%xv = tt.load %xp, %m cacheModifier = cg : tensor<1024x!tt.ptr<f32>>"
_ATTRIBUTE = (
    "%xv = tt.load %xp, %m {cachePolicy = #tt.cache_policy<cache_modifier = cg, "
    "eviction_policy = evict_normal>} : tensor<1024x!tt.ptr<f32>>"
)


@pytest.mark.parametrize("attribute", [False, True])
def test_the_spelling_of_cache_policies_is_that_of_the_table(
    backend: Backend, *, attribute: bool
) -> None:
    spelled = _ATTRIBUTE if attribute else _INLINE
    mlir = backend.module("vector_add").replace(_LOAD, spelled)
    outcome = backend.run(backend.job("vector_add", mlir=mlir))
    if attribute == backend.release.cache_policy_attribute:
        assert "ld.global.cg" in str(outcome.stages[-1].text)
    else:
        assert outcome.stage == "mlir"


def test_negation_is_lowered_where_the_table_says_so(backend: Backend) -> None:
    mlir = backend.module("vector_add").replace("%s = arith.addf %xv, %yv", "%s = arith.negf %xv")
    outcome = backend.run(backend.job("vector_add", mlir=mlir))
    assert (outcome.failure is None) == backend.release.has_negf


def test_the_other_spelling_of_descriptor_types_is_refused(backend: Backend) -> None:
    mlir = backend.module("descriptor_copy")
    if backend.release.bare_descriptor_type:
        mlir = mlir.replace("<64x64xf16>", "<tensor<64x64xf16>>")
    else:
        mlir = mlir.replace("<tensor<64x64xf16>>", "<64x64xf16>")
    outcome = backend.run(backend.job("descriptor_copy", "sm_90", mlir=mlir))
    assert outcome.stage == "mlir"


@pytest.mark.parametrize("barrier", ["gpu.barrier", "ttg.barrier all"])
def test_barriers_are_spelled_as_the_table_says(backend: Backend, barrier: str) -> None:
    mlir = backend.module("vector_add").replace(
        "    tt.return", f'    {barrier} loc("vector_add.py":9:1)\n    tt.return'
    )
    outcome = backend.run(backend.job("vector_add", mlir=mlir))
    assert (outcome.failure is None) == (barrier == "gpu.barrier" or backend.release.ttg_barrier)
