"""Checks that error codes are honest: listed once, in their block, explained, and used.

That the example of each page raises exactly its code is the business of the packages' own tests.
"""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from teeny_macros.diagnostics import Code

PACKAGES = Path(__file__).parents[1] / "packages"
CODE = re.compile(r"\b[EWI]\d{4}\b")

# The blocks of each package: E00 is capture, E03 types, and so on; I0000 is our own bug.
BLOCKS = {
    "teeny_macros": r"I0000|E00\d\d|E10[0-4]\d",
    "teeny_triton": r"E001\d",
    "teenyc": r"E0[1-8]\d\d",
    "teeny_compiler": r"E09\d\d",
    "teeny_cuda": r"E10[5-9]\d",
    "teeny_cpu": r"E11\d\d",
    "teeny_kernels": r"E12\d\d",
}
PROPER_NOUNS = {"NumPy", "Python", "Triton"}


def folder(package: str) -> Path:
    return PACKAGES / package.replace("_", "-") / "src" / package


CODED = [name for name in BLOCKS if (folder(name) / "codes.py").is_file()]


def rows(package: str) -> tuple[Code, ...]:
    return tuple(import_module(f"{package}.codes").CODES)


def test_the_packages_that_report_errors_have_codes() -> None:
    assert {"teeny_macros", "teenyc", "teeny_compiler", "teeny_cuda"} <= set(CODED)


def test_no_code_is_used_twice_and_no_name_within_a_package() -> None:
    everything = [(package, row) for package in CODED for row in rows(package)]
    codes = Counter(row.code for _, row in everything)
    names = Counter(f"{package}: {row.name}" for package, row in everything)
    twice = [text for text, count in (codes + names).items() if count > 1]
    assert not twice, "; ".join(twice)


@pytest.mark.parametrize("package", CODED)
def test_every_code_lies_in_the_block_of_its_package(package: str) -> None:
    assert [row.code for row in rows(package) if not re.fullmatch(BLOCKS[package], row.code)] == []


@pytest.mark.parametrize("package", CODED)
def test_names_and_messages_keep_the_house_form(package: str) -> None:
    for row in rows(package):
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", row.name), row
        assert "\n" not in row.message, row
        assert not row.message.endswith("."), row
        first = row.message.split()[0].removesuffix("'s")
        assert first[0] == first[0].lower() or first.isupper() or first in PROPER_NOUNS, row


@pytest.mark.parametrize("package", CODED)
def test_every_code_has_a_page_and_every_page_a_code(package: str) -> None:
    pages = {path.stem for path in (folder(package) / "explain").glob("*.md")}
    codes = {row.code for row in rows(package)}
    assert not codes - pages, f"without a page: {' '.join(sorted(codes - pages))}"
    assert not pages - codes, f"without a row: {' '.join(sorted(pages - codes))}"


@pytest.mark.parametrize("package", CODED)
def test_every_page_says_what_it_means_and_names_only_real_codes(package: str) -> None:
    known = {row.code for name in CODED for row in rows(name)}
    for path in sorted((folder(package) / "explain").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert "What it means" in text, path.name
        mentioned = {"E" + code[1:] if code[0] == "W" else code for code in CODE.findall(text)}
        assert mentioned <= known, path.name
        assert path.stem in mentioned, path.name


@pytest.mark.parametrize("package", CODED)
def test_every_code_is_used_outside_the_table(package: str) -> None:
    used: set[str] = set()
    for path in PACKAGES.glob("*/src/**/*.py"):
        if path.name != "codes.py":
            used.update(CODE.findall(path.read_text(encoding="utf-8")))
    unused = [row.code for row in rows(package) if row.code not in used]
    assert not unused, f"never raised: {' '.join(unused)}"


def test_every_code_in_the_sources_is_a_row() -> None:
    known = {row.code for package in CODED for row in rows(package)}
    unknown = []
    for path in PACKAGES.glob("*/src/**/*.py"):
        named = CODE.findall(path.read_text(encoding="utf-8"))
        found = {"E" + code[1:] if code[0] == "W" else code for code in named}
        unknown += [f"{path.name}: {code}" for code in sorted(found - known)]
    assert not unknown, "; ".join(unknown)
