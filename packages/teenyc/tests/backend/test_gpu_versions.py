"""The version table: PTX floors, their override, spellings, and what is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teeny_macros.diagnostics import CompileError, ToolchainError
from teeny_macros.target import CUDA_ARCHS
from teenyc.backend.gpu import versions
from teenyc.backend.gpu.versions import FEATURE_TMA, NEWEST, RELEASES

if TYPE_CHECKING:
    from conftest import Backend

NO_FEATURES: frozenset[str] = frozenset()
TMA = frozenset({FEATURE_TMA})


def test_every_architecture_of_the_target_has_a_floor() -> None:
    assert tuple(versions.ARCH_FLOOR) == CUDA_ARCHS


def test_floors_are_versions_that_exist() -> None:
    floors = {*versions.ARCH_FLOOR.values()}
    floors |= {floor for row in RELEASES.values() for floor in (row.ptx_floor, row.tma_floor)}
    assert floors - {0} <= versions.PTX_VERSIONS


@pytest.mark.parametrize(
    ("arch", "release", "features", "expected"),
    [
        ("sm_75", (3, 6), NO_FEATURES, 63),
        ("sm_80", (3, 6), NO_FEATURES, 70),
        ("sm_80", (3, 8), NO_FEATURES, 78),
        ("sm_80", (3, 9), TMA, 70),  # below sm_90 descriptors become pointers
        ("sm_90", (3, 6), TMA, 83),
        ("sm_90", (3, 9), NO_FEATURES, 80),
        ("sm_90", (3, 9), TMA, 86),
        ("sm_121", (3, 9), TMA, 88),
    ],
)
def test_the_highest_floor_wins(
    arch: str, release: tuple[int, int], features: frozenset[str], expected: int
) -> None:
    assert versions.choose_ptx_version(arch, RELEASES[release], features, None) == expected


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_plain_code_for_ampere_and_hopper_stays_at_ptx_8_4_or_below(arch: str) -> None:
    assert all(
        versions.choose_ptx_version(arch, release, NO_FEATURES, None) <= 84
        for release in RELEASES.values()
    )


def test_a_higher_version_may_be_asked_for() -> None:
    assert versions.choose_ptx_version("sm_80", NEWEST, NO_FEATURES, 84) == 84


def test_a_version_below_the_floor_names_what_needs_more() -> None:
    with pytest.raises(CompileError) as caught:
        versions.choose_ptx_version("sm_90", RELEASES[3, 9], TMA, 84)
    assert caught.value.code == "E0706"
    message = caught.value.diagnostics[0].message
    assert "PTX 8.4 is too old for tensor descriptors" in message
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


def test_descriptors_are_found_in_the_text(backend: Backend) -> None:
    assert versions.find_features(backend.module("descriptor_copy")) == TMA
    assert versions.find_features(backend.module("matmul")) == NO_FEATURES


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
