"""Bundles from the examples: the same bytes everywhere, and run where there is no compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SOURCES = [str(path) for path in sorted(ROOT.glob("packages/*/src"))]
# As the command does it, without typer and what that brings.
BUILD = """\
import sys
from teeny_compiler.bundling.build import write_bundle
from teeny_compiler.bundling.manifest import Finders, read_manifest, wanted_by
from teeny_compiler.cli import kernels

found = read_manifest(sys.argv[1])
find = Finders(kernels.load_module, kernels.find_kernel, kernels.parse_value)
wanted = wanted_by(found, found.targets, find)
write_bundle(wanted, sys.argv[2], name=found.name, sealed=found.sealed, progress=False)
"""
MANIFEST = """\
[bundle]
name = "examples"
target = ["cpu"]
sealed = true

[[kernel]]
kernel = "{examples}/vector_add.py:vector_add"
choices = {{ D = ["f32", "i32"], BLOCK_SIZE = 1024 }}

[[kernel]]
kernel = "{examples}/softmax.py:softmax_rows"
choices = {{ D = ["f32"], BLOCK_SIZE = 128 }}
{more}
"""
# Runs where none of the three can be imported, and counts what came from the bundle.
PROGRAM = """\
import sys

for name in ("teenyc", "teeny_compiler", "triton"):
    sys.modules[name] = None
import numpy as np
from teeny_macros import bundle

found = bundle.load(sys.argv[1])
sys.path.insert(0, sys.argv[2])
from softmax import softmax_rows
from vector_add import vector_add

rng = np.random.default_rng(0)
programs = 0
for kernel in (vector_add, found["vector_add"]):
    for dtype in (np.float32, np.int32):
        for n in (1, 16, 17, 5000, 4096):
            x, y = (rng.random((2, n + 1)) * 100).astype(dtype)[:, 1:]
            out = np.zeros(n, dtype)
            kernel[-(-n // 1024)](x, y, out, n, BLOCK_SIZE=1024)
            assert (out == x + y).all()
for kernel in (softmax_rows, found["softmax_rows"]):
    for columns in (100, 128):
        x, out = rng.random((2, 7, columns), dtype=np.float32)
        kernel[7](out, x, columns, BLOCK_SIZE=128)
        e = np.exp(x - x.max(1, keepdims=True))
        assert np.allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5, atol=0)
try:
    vector_add[1](x[0], x[1], out[0], 100, BLOCK_SIZE=512)
except Exception as error:
    assert error.code == "E1030", error
else:
    raise SystemExit("compiled")
assert not {"teenyc", "teeny_compiler", "triton"} & {n for n, m in sys.modules.items() if m}
print(found.hits, found.misses)
"""


def manifest(folder: Path, more: str = "") -> Path:
    path = folder / "examples.toml"
    path.write_text(MANIFEST.format(examples=EXAMPLES.as_posix(), more=more), encoding="utf-8")
    return path


def environment(folder: Path, paths: list[str], **more: str) -> dict[str, str]:
    """A plain environment in which the packages come from `paths`."""
    kept = {
        name: os.environ[name] for name in ("PATH", "TMPDIR", "SYSTEMROOT") if name in os.environ
    }
    return {
        **kept,
        "HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(paths),
        "TEENYC_CACHE_DIR": str(folder / "cache"),
        "TEENY_LOG": "quiet",
        **more,
    }


def build(python: str, folder: Path, paths: list[str], given: Path, **more: str) -> bytes:
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / "out.teeny"
    done = subprocess.run(
        [python, "-c", BUILD, str(given), str(out)],
        cwd=folder,
        env=environment(folder, paths, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return out.read_bytes()


def teenyc(folder: Path, python: str = sys.executable, paths: list[str] = SOURCES) -> str:
    """An executable that runs teenyc of this tree with a Python."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "teenyc"
    body = f"import sys\nsys.path[:0] = {paths!r}\nfrom teenyc.cli import main\nsys.exit(main())\n"
    path.write_text(f"#!{python}\n{body}", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """The manifest, and the bundle that this Python makes of it."""
    folder = tmp_path_factory.mktemp("bundle")
    given = manifest(folder)
    return given, build(
        sys.executable, folder, SOURCES, given, TEENYC_PATH=teenyc(folder), PYTHONHASHSEED="1"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="TEENYC_PATH is a script")
def test_a_bundle_runs_where_there_is_no_compiler(
    built: tuple[Path, bytes], tmp_path: Path
) -> None:
    path = tmp_path / "a.teeny"
    path.write_bytes(built[1])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(EXAMPLES)],
        env=environment(tmp_path, SOURCES),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    hits, misses = map(int, done.stdout.split())
    assert hits > 8
    assert misses == 1  # the one that was to be missed


@pytest.mark.skipif(sys.platform == "win32", reason="TEENYC_PATH is a script")
def test_a_second_build_elsewhere_gives_the_same_bytes(
    built: tuple[Path, bytes], tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    given = tmp_path / "examples.toml"
    text = built[0].read_text(encoding="utf-8").replace(EXAMPLES.as_posix(), copy.as_posix())
    given.write_text(text, encoding="utf-8")
    again = build(
        sys.executable,
        tmp_path / "build",
        SOURCES,
        given,
        TEENYC_PATH=teenyc(tmp_path),
        PYTHONHASHSEED="2",
        LC_ALL="C",
        TZ="Asia/Tokyo",
    )
    assert again == built[1]


def other_pythons() -> Iterator[str]:
    """Further Pythons of this machine, by name on PATH or as pyenv keeps them."""
    for minor in (11, 12, 13, 14):
        if sys.version_info[1] == minor:
            continue
        found = shutil.which(f"python3.{minor}")
        places = [found] if found else []
        places += map(str, Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        for place in places:
            probe = subprocess.run([place, "-c", "import sys"], capture_output=True, check=False)
            if probe.returncode == 0:
                yield place
                break


def pure_packages(folder: Path) -> str:
    """A folder with what building needs of this environment, and nothing compiled."""
    from importlib.util import find_spec

    for name in ("filelock", "platformdirs"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        (folder / name).symlink_to(Path(spec.origin).parent)
    # The examples import it, and their kernels use nothing of it.
    (folder / "numpy.py").write_text("", encoding="utf-8")
    return str(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="TEENYC_PATH is a script")
def test_another_python_gives_the_same_bytes(built: tuple[Path, bytes], tmp_path: Path) -> None:
    pythons = list(other_pythons())
    if not pythons:
        pytest.skip("no other Python from 3.11 on is installed")
    pure = tmp_path / "pure"
    pure.mkdir()
    paths = [*SOURCES, pure_packages(pure)]
    compiler = teenyc(tmp_path)
    for number, python in enumerate(pythons):
        folder = tmp_path / str(number)
        again = build(python, folder, paths, built[0], TEENYC_PATH=compiler)
        assert again == built[1], python


@pytest.mark.accept
@pytest.mark.skipif(sys.platform != "linux", reason="Triton is there for Linux")
def test_a_bundle_for_gpus_is_the_same_twice_and_whole(tmp_path: Path) -> None:
    more = (
        f'\n[[kernel]]\nkernel = "{EXAMPLES.as_posix()}/matmul.py:matmul"\n'
        'target = ["sm_90"]\nhints = "none"\n'
        'choices = { H = "f16", BLOCK_M = 64, BLOCK_N = 64, BLOCK_K = 32, GROUP = 8 }\n'
    )
    given = manifest(tmp_path, more)
    text = given.read_text(encoding="utf-8").replace('["cpu"]', '["sm_80", "sm_90", "sm_120"]')
    given.write_text(text, encoding="utf-8")
    compiler = teenyc(tmp_path)
    first, second = (
        build(sys.executable, tmp_path / turn, SOURCES, given, TEENYC_PATH=compiler)
        for turn in ("first", "second")
    )
    assert first == second
    from teeny_macros.bundle import Bundle

    found = Bundle(tmp_path / "first" / "out.teeny")
    assert not found.faults()
    assert {t for row in found.row("vector_add").instances for t in row.code} == {
        "cuda:sm_80", "cuda:sm_90", "cuda:sm_120",
    }  # fmt: skip


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle that run_bundle.py runs, for this machine's devices."""
    folder = tmp_path_factory.mktemp("examples")
    given = folder / "bundle_examples.toml"
    text = (ROOT / "tests" / "bundle_examples.toml").read_text(encoding="utf-8")
    given.write_text(text.replace("examples/", f"{EXAMPLES.as_posix()}/"), encoding="utf-8")
    build(sys.executable, folder, SOURCES, given, TEENYC_PATH=teenyc(folder))
    return folder / "out.teeny"


def run_examples(path: Path, device: str, folder: Path) -> list[int]:
    """Cases, hits and misses of a run without any compiler."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "run_bundle.py"), str(path), device, "--hide"],
        env=environment(folder, SOURCES),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    return [int(words[at]) for at in (0, 2, 4)]


@pytest.mark.accept
@pytest.mark.skipif(sys.platform != "linux", reason="Triton is there for Linux")
def test_the_examples_run_from_a_bundle_on_the_cpu(examples: Path, tmp_path: Path) -> None:
    cases, hits, misses = run_examples(examples, "cpu", tmp_path)
    assert cases == 27
    assert hits >= 12
    assert misses == 0


@pytest.mark.gpu
def test_the_examples_run_from_a_bundle_on_a_gpu(examples: Path, tmp_path: Path) -> None:
    cases, hits, misses = run_examples(examples, "cuda:0", tmp_path)
    assert cases == 27
    assert hits >= 12
    assert misses == 0
