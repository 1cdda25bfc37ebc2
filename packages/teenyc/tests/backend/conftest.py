"""Hand-written modules in Triton's dialect, jobs made of them, and what they are compiled with."""

from __future__ import annotations

from pathlib import Path

import pytest

from teenyc.backend.gpu import libtriton, versions
from teenyc.backend.gpu.child import Child, Outcome
from teenyc.backend.gpu.libtriton import Job

KERNELS = Path(__file__).parent / "kernels"


class Backend:
    """The installed libtriton with short ways to use it."""

    def __init__(self) -> None:
        folder = libtriton.find_folder()
        assert folder is not None, "these tests need the extra teenyc[cuda]"
        self.version = libtriton.find_version(folder)
        self.release = versions.release_of(self.version)

    def module(self, name: str) -> str:
        """The text of a kernel, spelled for the installed version."""
        text = (KERNELS / f"{name}.mlir").read_text(encoding="utf-8")
        tile = "64x64xf16" if self.release.bare_descriptor_type else "tensor<64x64xf16>"
        return text.replace("TILE", tile)

    def job(self, name: str, arch: str = "sm_80", **changes: object) -> Job:
        """The job of compiling a kernel to PTX at the floor version."""
        text = str(changes.pop("mlir", None) or self.module(name))
        floor = versions.choose_ptx_version(arch, self.release, text, None)
        job = Job(text, versions.arch_number(arch), floor, True, 4, 3, 1, None, ("ptx",))
        return job._replace(**changes)  # type: ignore[arg-type]

    def run(self, job: Job) -> Outcome:
        """Compile in a child process."""
        return Child.start().run(job)

    def ptx(self, job: Job) -> str:
        """The PTX of a job that must succeed."""
        outcome = self.run(job)
        assert outcome.failure is None, outcome
        text = outcome.stages[-1].text
        assert text is not None
        return text


@pytest.fixture(scope="session")
def backend() -> Backend:
    """The installed libtriton."""
    return Backend()
