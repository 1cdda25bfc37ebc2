"""The typed surface under mypy and basedpyright, strict: correct kernels pass, mistakes do not.

The settings are those that a user gets told to use; one run of each checker covers all files.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CASES = ROOT / "typing_tests"
SOURCES = [ROOT / "src", ROOT.parent / "teeny-macros" / "src", CASES]
FILES = ("accepted", "untyped", "rejected")
Report = dict[str, dict[int, set[str]]]
# Consequences of a mistake that is reported beside them.
NOISE = re.compile(r"reportUnknown\w+|reportUnusedExpression")

MYPY = f"""\
[mypy]
strict = true
allow_redefinition = true
enable_error_code = deprecated, possibly-undefined, truthy-bool
python_version = 3.11
mypy_path = {":".join(map(str, SOURCES))}
"""
PYRIGHT = {
    "include": [str(CASES)],
    "extraPaths": [str(path) for path in SOURCES],
    "pythonVersion": "3.11",
    "typeCheckingMode": "strict",
    "reportDeprecated": "error",
    "reportConstantRedefinition": False,
    "reportUnknownLambdaType": False,
}


@pytest.fixture(scope="module")
def mypy(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Report:
    """The rules that mypy reports, by file and line."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    config = tmp_path_factory.mktemp("mypy") / "mypy.ini"
    config.write_text(MYPY, encoding="utf-8")
    assert request.config.cache is not None
    cache = request.config.cache.mkdir("typing")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--config-file", str(config)),
            *("--cache-dir", str(cache), "--no-pretty", str(CASES)),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    report: Report = defaultdict(lambda: defaultdict(set))
    pattern = re.compile(r"^(.*?)(\w+)\.pyi?:(\d+)(?::\d+)?: error: .*\[([\w-]+)\]$")
    for line in done.stdout.splitlines():
        found = pattern.match(line)
        if found is None:
            assert ": error:" not in line, line
            continue
        report[found[2]][int(found[3])].add(found[4])
    assert done.returncode == 1, done.stdout + done.stderr
    return report


@pytest.fixture(scope="module")
def basedpyright(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The rules that basedpyright reports, by file and line."""
    pytest.importorskip("basedpyright", reason="basedpyright is not installed")
    config = tmp_path_factory.mktemp("pyright") / "pyrightconfig.json"
    config.write_text(json.dumps(PYRIGHT), encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "basedpyright", "-p", str(config)),
            *("--pythonpath", sys.executable, "--outputjson"),
        ],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    report: Report = defaultdict(lambda: defaultdict(set))
    for row in json.loads(done.stdout)["generalDiagnostics"]:
        report[Path(row["file"]).stem][row["range"]["start"]["line"] + 1].add(row["rule"])
    return report


@pytest.fixture(scope="module", params=["mypy", "basedpyright"])
def report(request: pytest.FixtureRequest) -> tuple[int, Report]:
    """Each checker's place in an `# E:` comment, and its report."""
    found: Report = request.getfixturevalue(request.param)
    return ("mypy", "basedpyright").index(request.param), found


def expected() -> dict[int, tuple[set[str], set[str]]]:
    """Line -> the rules of mypy and of basedpyright, from the comments of rejected.py."""
    rows: dict[int, tuple[set[str], set[str]]] = {}
    text = (CASES / "rejected.py").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        _, found, comment = line.partition("  # E: ")
        if found:
            first, second = (set(part.split()) - {"-"} for part in comment.split(" | "))
            rows[number] = first, second
    return rows


@pytest.mark.parametrize("name", ["accepted", "untyped"])
def test_correct_kernels_are_accepted(report: tuple[int, Report], name: str) -> None:
    assert not dict(report[1][name])


def test_every_mistake_is_reported_as_expected_and_nothing_else(
    report: tuple[int, Report],
) -> None:
    checker, found = report
    rows = {number: rules[checker] for number, rules in expected().items() if rules[checker]}
    reported = {
        number: {rule for rule in rules if not NOISE.fullmatch(rule)}
        for number, rules in found["rejected"].items()
    }
    assert {number: rules for number, rules in reported.items() if rules} == rows


def test_only_the_cases_are_reported(report: tuple[int, Report]) -> None:
    assert set(report[1]) <= set(FILES)


def test_few_mistakes_escape_both_checkers() -> None:
    rows = expected().values()
    assert len(rows) > 80
    assert sum(not first and not second for first, second in rows) <= 7
