"""The project's tasks: `nox -l` lists them, `nox -s NAME` runs one, `-- ...` hands arguments on.

Each session makes what it needs in `.nox/` and reuses it next time; only the sessions that run
libtriton download Triton's wheel. `nox -s test -P 3.13` runs a session on another Python.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True
nox.options.sessions = ["lint", "types", "test"]

ROOT = Path(__file__).parent
PROJECT = nox.project.load_toml(ROOT / "pyproject.toml")

# In the order of their dependencies.
PACKAGES = (
    "teeny-macros",
    "teeny-triton",
    "teenyc",
    "teeny-compiler",
    "teeny-cuda",
    "teeny-cpu",
    "teeny-kernels",
)
LIBTRITONS = ("3.6", "3.7", "3.8", "3.9")
EXTRAS = {"teenyc": "interpret,bounds", "teeny-compiler": "cli"}
RUFF_TARGETS = (
    "packages",
    "tests",
    "examples",
    "benchmarks",
    "docs",
    "tools",
    "noxfile.py",
    "conftest.py",
)


def group(name: str) -> tuple[str, ...]:
    """Return the requirements of one dependency group of pyproject.toml."""
    return nox.project.dependency_groups(PROJECT, name)


def install(session: nox.Session, *requirements: str, libtriton: str | None = None) -> None:
    """Install the seven packages in editable form with `requirements`, unless that is done.

    A stamp in the environment remembers the arguments and the metadata of the packages.
    """
    wanted = list(requirements)
    if libtriton is not None and sys.platform == "linux":
        wanted.append(f"triton=={libtriton}.*")
    editable = [
        argument
        for name in PACKAGES
        for argument in (
            "-e",
            f"./packages/{name}" + (f"[{EXTRAS[name]}]" if name in EXTRAS else ""),
        )
    ]
    digest = hashlib.sha256(json.dumps([wanted, editable]).encode())
    for path in sorted(ROOT.glob("packages/*/pyproject.toml")):
        digest.update(path.read_bytes())
    stamp = Path(session.virtualenv.location) / "workspace.sha256"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest.hexdigest():
        return
    # The build tool first: without isolation the seven builds share it, which saves minutes of pip.
    session.install(*group("build"))
    session.install("--no-build-isolation", *editable, *wanted)
    stamp.write_text(digest.hexdigest(), encoding="utf-8")


def test_paths(session: nox.Session) -> tuple[list[str], list[str]]:
    """Split the positional arguments into test folders (of the packages named) and pytest's own."""
    names = [argument for argument in session.posargs if argument in PACKAGES]
    rest = [argument for argument in session.posargs if argument not in PACKAGES]
    return [f"packages/{name}/tests" for name in names], rest


def paths_in(folder: str) -> list[str]:
    """The Python files right in a folder."""
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / folder).glob("*.py"))]


def with_python(paths: Iterable[str]) -> list[str]:
    """Return those of `paths` that are Python files or hold some."""
    return [path for path in paths if (ROOT / path).is_file() or any((ROOT / path).rglob("*.py"))]


@nox.session
def demo(session: nox.Session) -> None:
    """Run the first example: a typed function, its MLIR and PTX, and the numbers it computes."""
    install(session, libtriton=LIBTRITONS[-1])
    session.run("python", "examples/vector_add.py", *session.posargs)


@nox.session
def test(session: nox.Session) -> None:
    """Run the tests of all packages, or of those named: `nox -s test -- teenyc`."""
    install(session, *group("test"), libtriton=LIBTRITONS[-1])
    paths, rest = test_paths(session)
    # On every core, unless somebody looks into a test.
    spread = [] if {"-n", "-s", "--pdb"} & set(rest) else ["-n", "auto"]
    session.run("python", "-m", "pytest", *spread, *paths, *rest)


# By pip: it may be told of a build for the CPU, where uv takes the index's for CUDA, of some GB.
@nox.session(venv_backend="virtualenv")
def torch(session: nox.Session) -> None:
    """Run the tests that compare operations of the kernel library with PyTorch's own (CPU)."""
    install(session, *group("test"), *group("torch"))
    tests = ["-m", "torch", "-n", "auto", "packages/teeny-kernels"]
    session.run("python", "-m", "pytest", *tests, *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check all types, with mypy and basedpyright, and the catalogue of mistakes."""
    install(session, *group("types"), libtriton=LIBTRITONS[-1])
    # One run for each folder of tests: they are no packages, and each may have a conftest.py.
    # Benchmarks import examples, and the tests' cases of them.
    checks = [
        [*paths_in("tests"), "conftest.py", "noxfile.py"],
        ["examples", "benchmarks", "tests/example_cases.py", "tests/test_public_style.py"],
        ["docs"],
        ["tools"],
    ]
    # Kernels of several origins, in files of equal names; those of the catalogue are wrong.
    kernels = {path.parent.name for path in ROOT.glob("tests/*/*.py")} - {"mistakes"}
    checks += [paths_in(f"tests/{name}") for name in sorted(kernels)]
    for name in PACKAGES:
        folder = ROOT / "packages" / name
        parts = ("src", "hatch_build.py", "stubgen", "genindex.py")
        checks.append([f"packages/{name}/{part}" for part in parts])
        folders = sorted({path.parent for path in folder.glob("tests/**/*.py")})
        checks += [
            [str(path.relative_to(ROOT)) for path in sorted(tests.glob("*.py"))]
            for tests in folders
        ]
    commands = [["mypy", *found] for paths in checks if (found := with_python(paths))]
    failed = []
    typing_tests = ["python", "-m", "pytest", "-q", "packages/teeny-triton/tests/test_typing.py"]
    catalogue = ["python", "-m", "pytest", "-q", "-m", "checkers", "tests"]
    library = ["python", "tools/strict_library.py"]
    for command in [*commands, ["basedpyright"], library, typing_tests, catalogue]:
        try:
            session.run(*command, env={"MYPYPATH": "tests"})
        except nox.command.CommandFailed:
            failed.append(" ".join(command))
    if failed:
        session.error("; ".join(failed))


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format with ruff; `-- --fix` repairs what it can."""
    session.install(*group("lint"))
    targets = with_python(RUFF_TARGETS)
    fix = "--fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []), *targets)
    session.run("ruff", "format", *([] if fix else ["--check"]), *targets)


@nox.session
def build(session: nox.Session) -> None:
    """Build wheels and sdists, inspect their contents, run the tests from the wheels alone."""
    dist = build_distributions(session)
    tree = dist.with_name("tree")
    shutil.rmtree(tree, ignore_errors=True)
    extra = {**EXTRAS, "teenyc": "interpret,bounds,cuda"}
    wheels = {path.name.split("-")[0].replace("_", "-"): path for path in dist.glob("*.whl")}
    session.install("--force-reinstall", "--no-deps", *(str(path) for path in wheels.values()))
    session.install(
        *(str(wheels[name]) + (f"[{extra[name]}]" if name in extra else "") for name in PACKAGES),
        *group("test"),
    )
    # The tests come from the sdists; nothing of that tree or of the checkout is on sys.path.
    (tree / "packages").mkdir(parents=True)
    for name in PACKAGES:
        (sdist,) = dist.glob(f"{name.replace('-', '_')}-*.tar.gz")
        shutil.unpack_archive(sdist, tree, filter="data")
        (tree / sdist.name.removesuffix(".tar.gz")).rename(tree / "packages" / name)
    for file in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / file, tree / file)
    session.run(
        "python", "-m", "pytest", "tests/test_distributions.py", "--distributions", str(dist)
    )
    with session.chdir(tree):
        imported = "import teeny_macros; print(teeny_macros.__file__)"
        if "site-packages" not in str(session.run("python", "-P", "-c", imported, silent=True)):
            session.error("the tests would not run from the wheels")
        session.run("python", "-P", "-m", "pytest", "packages", *session.posargs)


def build_distributions(session: nox.Session) -> Path:
    """Build a wheel and an sdist of every package, and return their folder."""
    session.install(*group("build"))
    dist = Path(session.create_tmp()).resolve() / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    for name in PACKAGES:
        # The wheel is built from the sdist, so the sdist is complete.
        session.run("python", "-m", "build", "-n", "-o", str(dist), f"packages/{name}", silent=True)
    return dist


@nox.session
def publish(session: nox.Session) -> None:
    """Build and check a release; `-- --rehearse` tries it, `-- --index URL --upload` uploads it."""
    session.install(*group("publish"))
    options = list(session.posargs)
    dist = str(build_distributions(session))
    if "--rehearse" in options:
        options.remove("--rehearse")
        session.install(*group("test"))
        session.run("python", "-m", "pytest", "tests/test_release.py")
        session.run("python", "tools/release.py", "rehearse", dist, *options)
        return
    session.run("python", "tools/release.py", "check", dist)
    if "--index" not in options:
        session.log("nothing was uploaded: name an index, `nox -s publish -- --index URL --upload`")
        return
    # Without `--upload` it only says what it would do.
    options = ["--really" if option == "--upload" else option for option in options]
    session.run("python", "tools/release.py", "upload", dist, *options)


@nox.session
@nox.parametrize("libtriton", LIBTRITONS)
def accept(session: nox.Session, libtriton: str) -> None:
    """Take every golden and example through libtriton; `-- 3.6 3.9 --arch sm_90` selects."""
    versions = [argument for argument in session.posargs if argument in LIBTRITONS]
    rest = [argument for argument in session.posargs if argument not in LIBTRITONS]
    if versions and libtriton not in versions:
        session.skip(f"only {', '.join(versions)} asked for")
    install(session, *group("test"), libtriton=libtriton)
    session.run("python", "-m", "pytest", "-m", "accept and not gpu and not large", *rest)


@nox.session
def gpu(session: nox.Session) -> None:
    """Run the tests that need an NVIDIA GPU; `-- --large` those that need up to 60 GB of it."""
    install(session, *group("test"), libtriton=LIBTRITONS[-1])
    paths, rest = test_paths(session)
    large = "--large" in rest
    rest = [argument for argument in rest if argument != "--large"]
    chosen = "gpu and large" if large else "gpu and not large"
    session.run("python", "-m", "pytest", "-m", chosen, *paths, *rest)


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmarks, or those named: `nox -s bench -- examples`."""
    install(session, *group("bench"))
    found = {path.stem.removeprefix("bench_"): path for path in ROOT.glob("benchmarks/bench_*.py")}
    names = [argument for argument in session.posargs if argument in found] or sorted(found)
    rest = [argument for argument in session.posargs if argument not in found]
    if not names:
        session.error("there is no benchmarks/bench_*.py")
    for name in names:
        session.run("python", str(found[name].relative_to(ROOT)), *rest)


@nox.session
def mutate(session: nox.Session) -> None:
    """Make kernels of the library a little wrong, and see that its tests catch it."""
    install(session, *group("test"))
    session.run("python", "tools/mutation", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation with warnings as errors, and run every code block in it."""
    install(session, *group("docs"), *group("test"), libtriton=LIBTRITONS[-1])
    session.run("mkdocs", "build", "--strict", *session.posargs)
    session.run("python", "-m", "pytest", "tests/test_docs.py", "tests/test_docs_generated.py")


@nox.session
def golden(session: nox.Session) -> None:
    """Accept new golden texts where they differ; review the diff before you commit it."""
    install(session, *group("test"), libtriton=LIBTRITONS[-1])
    paths, rest = test_paths(session)
    session.run("python", "-m", "pytest", "--update-golden", *paths, *rest, success_codes=[0, 1])
    session.run("git", "status", "--short", external=True)
