"""PTX on its way into the driver: versions, and the rewriting for older drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from teeny_cuda import Device
from teeny_cuda.fake_driver import FakeDriver
from teeny_cuda.ptx import cuda_of_ptx, for_driver, ptx_of_driver
from teeny_cuda.testing import fake_driver
from teeny_macros.artifact import Metadata
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from conftest import MakeArtifact

COPY = "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1];"
PTX = f".version 8.6\n.target sm_90a\n\t{COPY}\n"


def _metadata(num_ctas: int = 1) -> Metadata:
    return Metadata("k", "k_entry_point", "cuda:sm_90", (), num_ctas=num_ctas, ptx_version=86)


@pytest.mark.parametrize(
    ("driver", "newest"),
    [(12000, 80), (12040, 84), (12060, 85), (12070, 86), (12080, 87), (13000, 90), (11000, 0)],
)
def test_the_newest_ptx_of_a_driver_is_known(driver: int, newest: int) -> None:
    assert ptx_of_driver(driver) == newest


def test_releases_of_ptx_versions() -> None:
    assert (cuda_of_ptx(84), cuda_of_ptx(90), cuda_of_ptx(79)) == ("12.4", "13.0", "")


def test_tma_copies_are_spelled_for_older_drivers() -> None:
    text = for_driver(PTX, _metadata(), 12040)
    assert text == PTX.replace("8.6", "8.4").replace("shared::cta", "shared::cluster")


@pytest.mark.parametrize(
    ("text", "num_ctas", "driver"),
    [
        (PTX, 1, 12070),
        (PTX, 1, 13000),
        (PTX, 2, 12040),
        (PTX.replace(COPY, "ret;"), 1, 12040),
        (PTX, 1, 11000),
        ("no version", 1, 12040),
    ],
)
def test_other_code_stays_as_it_is(text: str, num_ctas: int, driver: int) -> None:
    assert for_driver(text, _metadata(num_ctas), driver) == text


def test_the_driver_gets_the_rewritten_text(artifact_of: MakeArtifact) -> None:
    artifact = artifact_of("vector_add", ptx_version=86)
    text = artifact.read_text().replace(".version 8.0", ".version 8.6")
    artifact.path.write_text(text.replace("DONE:", f"// {COPY}\nDONE:"), encoding="utf-8")
    with fake_driver(FakeDriver(version=12040)) as fake:
        Device(0).load(artifact)
        (module,) = fake.modules.values()
        assert module.version == 84
        assert "shared::cluster.global" in module.text
    artifact.path.write_text(text, encoding="utf-8")
    with fake_driver(FakeDriver(version=12040)), pytest.raises(LaunchError) as caught:
        Device(0).load(artifact)
    assert caught.value.code == "E1054"
