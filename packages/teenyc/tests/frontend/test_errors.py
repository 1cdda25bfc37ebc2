"""Errors of the front end as a reader sees them: golden/errors/*.md and the pages of the codes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teeny_macros import unit as units
from teeny_macros.diagnostics import TeenyError
from teeny_macros.render import render_full
from teeny_macros.testing import missing_parts
from teenyc import codes
from teenyc.frontend import lower_unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from teeny_macros.unit import Unit

    MakeUnit = Callable[[str], Unit]

GOLDEN = Path(__file__).parents[1] / "golden" / "errors"
PAGES = Path(codes.__file__).parent / "explain"
OURS = re.compile(r"E0[126](?!99)\d\d")
BLOCK = re.compile(r"```py\n(?P<kernel>.*?)```\n\n```text\n(?P<text>.*?)```\n", re.DOTALL)
EXAMPLE = re.compile(r"```py (?P<kind>E\d{4}|ok)\n(?P<text>.*?)```\n", re.DOTALL)


def faults_of(unit: Unit) -> list[str]:
    """The renderings of all that is wrong with a unit."""
    with pytest.raises(TeenyError) as caught:
        lower_unit(unit)
    assert missing_parts(caught.value) == []
    return [render_full(diagnostic) for diagnostic in caught.value.diagnostics]


def example_unit(unit_of: MakeUnit, text: str) -> Unit:
    """The unit of an example: a kernel, or a whole unit where the page is about units."""
    if text.startswith("# teeny-unit"):
        return units.parse(text)
    return unit_of(text)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.md")), ids=lambda path: path.stem)
def test_errors_read_as_on_their_golden_page(
    path: Path, unit_of: MakeUnit, *, update_golden: bool
) -> None:
    text = path.read_text(encoding="utf-8")
    assert BLOCK.search(text)

    def rendered(match: re.Match[str]) -> str:
        kernel = match["kernel"]
        faults = "\n\n".join(faults_of(unit_of(kernel)))
        return f"```py\n{kernel}```\n\n```text\n{faults}\n```\n"

    found = BLOCK.sub(rendered, text)
    if update_golden:
        path.write_text(found, encoding="utf-8")
    assert found == text or update_golden


@pytest.mark.parametrize(
    "path", [p for p in sorted(PAGES.glob("*.md")) if OURS.fullmatch(p.stem)], ids=lambda p: p.stem
)
def test_the_examples_of_a_page_do_what_the_page_says(path: Path, unit_of: MakeUnit) -> None:
    examples = [(m["kind"], m["text"]) for m in EXAMPLE.finditer(path.read_text(encoding="utf-8"))]
    assert [kind for kind, _ in examples][:1] == [path.stem]
    for kind, text in examples:
        unit = example_unit(unit_of, text)
        if kind == "ok":
            lower_unit(unit)
            continue
        with pytest.raises(TeenyError) as caught:
            lower_unit(unit)
        found = caught.value.diagnostics
        assert [diagnostic.code for diagnostic in found] == [kind]
        assert missing_parts(caught.value, placed=kind != "E0214") == []


def test_every_code_of_the_front_end_has_a_page() -> None:
    ours = {row.code for row in codes.CODES if OURS.fullmatch(row.code)}
    assert len(ours) > 30
    assert ours == {path.stem for path in PAGES.glob("*.md") if OURS.fullmatch(path.stem)}


def test_a_loop_without_end_stands_before_the_faults_of_its_body(unit_of: MakeUnit) -> None:
    unit = unit_of(
        "import teeny_triton as tl\n"
        "def k(x_ptr: Ptr[f32]):\n"
        "    while True:\n"
        "        tl.store(x_ptr, nothing)\n"
    )
    loop, body = faults_of(unit)
    assert loop.startswith("error[E0607]: this loop never ends\n --> k.py:3:11")
    assert body.startswith("error[E0201]: `nothing` is not defined\n --> k.py:4:")


@pytest.mark.parametrize("module", ["tl", "tl.math"])
def test_a_name_that_a_later_version_has_is_told_from_an_unknown_one(
    module: str, unit_of: MakeUnit
) -> None:
    from teeny_triton.triton import later

    name = later._NOT_SUPPORTED_YET[0]
    unit = unit_of(
        "import teeny_triton as tl\n"
        "def k(x_ptr: Ptr[f32]):\n"
        f"    p = {module}.{name}(x_ptr)\n"
        f"    q = tl.{name}_of_nobody(x_ptr)\n"
    )
    refused, unknown = faults_of(unit)
    assert refused.startswith(f"error[E0199]: `{name}` is not supported in this version\n")
    assert f"k.py:3:9\n  |\n3 |     p = {module}.{name}(x_ptr)\n  |         ^" in refused
    assert "^" * len(f"{module}.{name}") in refused
    assert unknown.startswith("error[E0202]: module `teeny_triton` has no attribute `")
