"""Every golden and example through libtriton, for each architecture; ptxas assembles the examples.

`nox -s accept` runs these with each supported libtriton; `--arch` selects architectures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = sorted(path.stem for path in HERE.parent.glob("examples/*.py"))
# Those of single operations are compiled anew by their own test, in the spelling of each version.
GOLDENS = [
    path
    for path in sorted(HERE.parent.glob("packages/teenyc/tests/golden/**/*.mlir"))
    if path.parent.name != "ops"
]
# What a CUDA 12.4 driver reads, which must do for these architectures.
PTX_OF_CUDA_12_4 = 84
OLD_DRIVER_ARCHS = {"sm_80", "sm_90"}

pytestmark = pytest.mark.accept


@cache
def ptxas(version: int) -> Path:
    """A ptxas that reads PTX `version`; that none is there fails the test."""
    from teenyc.backend.gpu.ptx import find_ptxas

    found = find_ptxas(version)
    assert found is not None, "no ptxas: neither on PATH nor in the Triton wheel"
    return found


def assemble(path: Path, version: int, target: str) -> None:
    """Make SASS of a file of PTX; what ptxas says fails the test."""
    cubin = path.with_suffix(".cubin")
    command = [str(ptxas(version)), f"-arch={target}", str(path), "-o", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_ptx_of_an_example_assembles_for_every_architecture(
    example: str, archs: tuple[str, ...], tmp_path: Path
) -> None:
    from teenyc.backend.gpu.ptx import parse_ptx

    done = subprocess.run(
        [sys.executable, str(HERE / "compile_example.py"), example, str(tmp_path), *archs],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TEENYC_CACHE_DIR": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["arch"] for row in rows} == set(archs)
    for row in rows:
        path = Path(row["path"])
        header = parse_ptx(path.read_text(encoding="utf-8"))
        assert header is not None
        assert header.entries == (row["entry"],)
        assert header.target.startswith(row["arch"])
        assert row["repeated"], f"{path.name} differs from run to run"
        if row["arch"] in OLD_DRIVER_ARCHS:
            assert header.version <= PTX_OF_CUDA_12_4, path.name
        assemble(path, header.version, header.target)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_libtriton_and_ptxas_take_a_golden(
    path: Path, archs: tuple[str, ...], tmp_path: Path
) -> None:
    from teenyc.backend.gpu import libtriton, versions
    from teenyc.backend.gpu.child import Child
    from teenyc.backend.gpu.ptx import parse_ptx

    folder = libtriton.find_folder()
    assert folder is not None, "these tests need the extra teenyc[cuda]"
    release = versions.release_of(libtriton.find_version(folder))
    text = path.read_text(encoding="utf-8")
    for arch in archs:
        ptx = versions.choose_ptx_version(arch, release, text, None)
        number = versions.arch_number(arch)
        job = libtriton.Job(text, number, ptx, True, 4, 3, 1, None, ("ptx",))
        outcome = Child.start().run(job)
        assert outcome.failure is None, f"{arch}: {outcome.stage}: {outcome.reason}{outcome.stderr}"
        ptx_text = outcome.stages[-1].text or ""
        header = parse_ptx(ptx_text)
        assert header is not None
        assert len(header.entries) == 1
        file = tmp_path / f"{arch}.ptx"
        file.write_text(ptx_text, encoding="utf-8")
        assemble(file, header.version, header.target)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("example", ["vector_add", "matmul"])
def test_the_ptx_is_the_same_in_every_place(example: str, tmp_path: Path) -> None:
    texts = []
    for name, seed in (("here", "1"), ("there", "2")):
        place = tmp_path / name
        place.mkdir()
        changed = {"HOME": str(place), "TMPDIR": str(place), "PYTHONHASHSEED": seed}
        changed["TEENYC_CACHE_DIR"] = str(place / "cache")
        done = subprocess.run(
            [sys.executable, str(HERE / "compile_example.py"), example, str(place), "sm_90"],
            capture_output=True,
            text=True,
            check=False,
            cwd=place,
            env={**os.environ, **changed},
        )
        assert done.returncode == 0, done.stderr
        texts.append([path.read_bytes() for path in sorted(place.glob("*.ptx"))])
    assert texts[0] == texts[1] != []
