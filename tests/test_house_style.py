"""Checks of the whole tree against the house rules, and of the rules against made-up violations."""

from __future__ import annotations

import ast
import importlib
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import house_rules as rules

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "packages"
DISTRIBUTIONS = tuple(sorted(path.parent.name for path in PACKAGES.glob("*/pyproject.toml")))
TEXT_KINDS = {".md", ".mlir", ".py", ".pyi", ".toml", ".txt", ".yml", ".json", ""}
GENERATED = {"_embedded.py"}
SKIPPED_FOLDERS = {".git", ".nox", ".ci-venv", "__pycache__", "site", "dist", ".hypothesis"}


def own_files(*suffixes: str, under: str = ".") -> Iterator[Path]:
    for path in sorted((ROOT / under).rglob("*")):
        folders = set(path.relative_to(ROOT).parts[:-1])
        if path.name == ".git":
            continue  # of a second work tree: a file that says where the repository is
        if folders & SKIPPED_FOLDERS or any(name.endswith("_cache") for name in folders):
            continue
        if any((ROOT / name / "pyvenv.cfg").exists() for name in folders):
            continue  # an environment that someone has made in the checkout
        if path.is_file() and path.suffix in suffixes and path.name not in GENERATED:
            yield path


def sources(distribution: str = "*") -> Iterator[Path]:
    for folder in sorted(PACKAGES.glob(f"{distribution}/src/*")):
        yield from own_files(".py", under=str(folder.relative_to(ROOT)))


def import_name(path: Path) -> str:
    return path.relative_to(PACKAGES).parts[2]


def report(found: Iterable[tuple[Path, str]]) -> str:
    return "\n".join(f"{path.relative_to(ROOT)}:{text}" for path, text in found)


def violations(
    paths: Iterable[Path], rule: Callable[[ast.Module], Iterable[str]]
) -> Iterator[tuple[Path, str]]:
    for path in paths:
        for text in rule(ast.parse(path.read_text(encoding="utf-8"))):
            yield path, text


def test_no_file_is_longer_than_the_limit() -> None:
    lengths = {path: path.read_text("utf-8").count("\n") for path in own_files(".py")}
    found = [
        (path, f"{lines} lines") for path, lines in lengths.items() if lines > rules.MAX_FILE_LINES
    ]
    assert len(lengths) > len(DISTRIBUTIONS)
    assert not found, report(found)


def test_no_function_is_longer_than_the_limit() -> None:
    found = list(violations(own_files(".py"), rules.long_functions))
    assert not found, report(found)


def test_every_module_says_what_it_owns() -> None:
    found = list(violations(own_files(".py"), rules.missing_docstring))
    assert not found, report(found)


def test_packages_import_each_other_only_along_the_allowed_edges() -> None:
    found = [
        (path, text)
        for path in [*sources(), *own_files(".pyi", under="packages")]
        if "tests" not in path.parts
        for text in rules.crossed_package_edges(
            ast.parse(path.read_text(encoding="utf-8")), import_name(path)
        )
    ]
    assert not found, report(found)


def test_third_party_libraries_are_imported_only_at_their_edges() -> None:
    found = [
        (path, text)
        for path in sources()
        for text in rules.crossed_library_edges(
            ast.parse(path.read_text(encoding="utf-8")),
            "/".join(path.relative_to(PACKAGES).parts[2:]),
        )
    ]
    assert not found, report(found)


def test_there_is_no_module_for_odds_and_ends() -> None:
    found = [(path, "name the thing it owns") for path in own_files(".py") if path.stem == "utils"]
    assert not found, report(found)


def test_the_environment_is_read_only_in_env_modules() -> None:
    paths = [path for path in sources() if path.name != "env.py"]
    found = list(violations(paths, rules.environment_reads))
    assert not found, report(found)


def test_failures_that_a_user_can_meet_are_coded_errors() -> None:
    found = list(violations(sources(), rules.bare_raises))
    assert not found, report(found)


def test_no_text_names_a_private_machine() -> None:
    found = [
        (path, text)
        for path in own_files(*TEXT_KINDS)
        for text in rules.private_text(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not found, report(found)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_public_names_are_those_of_the_stored_list(
    distribution: str, *, update_golden: bool
) -> None:
    package = importlib.import_module(distribution.replace("-", "_"))
    stored = ROOT / "tests" / "api" / f"{package.__name__}.txt"
    names = "".join(f"{name}\n" for name in sorted(package.__all__))
    if update_golden:
        stored.parent.mkdir(exist_ok=True)
        stored.write_text(names, encoding="utf-8")
    assert names == stored.read_text(encoding="utf-8"), "accept with `nox -s golden`"
    assert all(hasattr(package, name) for name in package.__all__)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_the_metadata_follows_the_architecture(distribution: str) -> None:
    folder = PACKAGES / distribution
    name = distribution.replace("-", "_")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ours = {text.split(">")[0].replace("-", "_") for text in project["dependencies"]}
    assert ours & rules.PACKAGE_EDGES.keys() == rules.PACKAGE_EDGES[name]
    assert project["requires-python"] == ">=3.11"
    assert (folder / "src" / name / "py.typed").is_file()
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert project["version"] in (folder / "CHANGELOG.md").read_text(encoding="utf-8")
    version = getattr(importlib.import_module(name), "__version__", project["version"])
    assert version == project["version"]


def test_the_workspace_lists_every_package() -> None:
    root = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    members = root["tool"]["hatch"]["envs"]["default"]["workspace"]["members"]
    listed = {Path(m["path"] if isinstance(m, dict) else m).name for m in members}
    sourced = {Path(path).parent.name for path in root["tool"]["mypy"]["mypy_path"]}
    assert listed == sourced == set(DISTRIBUTIONS)
    assert set(root["tool"]["coverage"]["run"]["source_pkgs"]) == set(rules.PACKAGE_EDGES)


# --- the rules find what they forbid ---------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.long_functions, "def f():\n" + "    pass\n" * rules.MAX_FUNCTION_LINES),
        (rules.missing_docstring, "x = 1\n"),
        (rules.environment_reads, "import os\nos.environ['A']\n"),
        (rules.environment_reads, "import os\nos.getenv('A')\n"),
        (rules.environment_reads, "from os import environ\n"),
        (rules.bare_raises, "raise ValueError('no')\n"),
        (rules.bare_raises, "def f():\n    raise NotImplementedError\n"),
        (lambda tree: rules.crossed_package_edges(tree, "teenyc"), "import teeny_triton.triton\n"),
        (lambda tree: rules.crossed_package_edges(tree, "teeny_macros"), "from teenyc import ir\n"),
        (lambda tree: rules.crossed_library_edges(tree, "teenyc/cli.py"), "import triton\n"),
        (
            lambda tree: rules.crossed_library_edges(tree, "teenyc/driver.py"),
            "import importlib\nimportlib.import_module('numpy.linalg')\n",
        ),
        (
            lambda tree: rules.crossed_library_edges(tree, "teeny_cuda/core.py"),
            "from cuda.bindings import driver\n",
        ),
        (lambda tree: rules.crossed_library_edges(tree, "teeny_cpu/jit.py"), "import pandas\n"),
    ],
)
def test_each_rule_finds_its_violation(
    rule: Callable[[ast.Module], Iterable[str]], text: str
) -> None:
    assert len(list(rule(ast.parse(text)))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("teenyc/backend/gpu/libtriton.py", "from triton._C.libtriton import ir\n"),
        ("teeny_cuda/driver.py", "from cuda.bindings import driver\n"),
        (
            "teenyc/types.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n",
        ),
        ("teeny_macros/unit.py", "import json\nfrom . import source\n"),
    ],
)
def test_an_import_at_its_edge_is_accepted(path: str, text: str) -> None:
    assert list(rules.crossed_library_edges(ast.parse(text), path)) == []


@pytest.mark.parametrize("text", ["see /" + "root/x", "at /home/" + "me/y", "from py" + "pi.org"])
def test_private_text_is_found(text: str) -> None:
    assert len(list(rules.private_text(text))) == 1
