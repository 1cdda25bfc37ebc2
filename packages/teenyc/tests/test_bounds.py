"""`--check --bounds`: extents, polynomials, verdicts, and that witnesses are real."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from teeny_macros.diagnostics import TeenyError
from teeny_macros.target import Target
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc import codes, driver
from teenyc.bounds.poly import Atoms, Poly, at_least
from teenyc.options import Options

if TYPE_CHECKING:
    from teeny_macros.instance import KernelInstance

pytest.importorskip("z3")

PAGES = Path(codes.__file__).parent / "explain"
BLOCK = re.compile(r"^```py (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASKED = Options(Target.cuda("sm_90"), ("ptx",), check=True, bounds=True)
HEAD = """\
from typing import Annotated
import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, Extent, Ptr, f32, i32, i64

"""


@pytest.fixture
def instance(tmp_path: Path) -> Any:
    """Makes the instance of the kernel in a text."""

    def make(text: str) -> KernelInstance[...]:
        path = tmp_path / "kernel_of_test.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("kernel_of_test", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["kernel_of_test"] = module
        spec.loader.exec_module(module)
        made: KernelInstance[...] = module.example.instantiate()
        return made

    return make


def rows(made: KernelInstance[...]) -> list[dict[str, Any]]:
    """The rows of all accesses. Raises what was refuted."""
    assert made.definition is not None
    unit = made.checked_unit(TRITON, TRITON_SHA, made.definition.extents)
    found: list[dict[str, Any]] = driver.compile_text(unit.render(), ASKED).facts["bounds"]
    return found


@pytest.mark.parametrize("code", ["E0513", "E0514", "E0515", "E0517"])
def test_the_kernels_of_a_page_do_what_it_says(code: str, instance: Any) -> None:
    blocks = dict(BLOCK.findall((PAGES / f"{code}.md").read_text(encoding="utf-8")))
    with pytest.raises(TeenyError) as caught:
        rows(instance(blocks[code]))
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.helps
    assert all(row["verdict"] == "proved" for row in rows(instance(blocks["ok"])))


def test_a_refutation_names_program_lane_and_parameters(instance: Any) -> None:
    text = (
        HEAD
        + '@kernel(extents={"x_ptr": "n"})\n'
        + "def example(x_ptr: Ptr[f32], n: i32 | int) -> None:\n"
        + "    i = tl.program_id(0) * 16 + tl.arange(0, 16)\n"
        + "    tl.store(x_ptr + i, 0.0, mask=i <= n)\n"
    )
    with pytest.raises(TeenyError) as caught:
        rows(instance(text))
    (fault,) = caught.value.diagnostics
    match = re.fullmatch(
        r"program \((\d+), 0, 0\), element \((\d+),\): writes `x_ptr \+ (\d+)`, "
        r"outside of (\d+) elements",
        fault.message,
    )
    assert match is not None
    program, lane, element, size = map(int, match.groups())
    assert element == program * 16 + lane == size
    assert f"for example with n = {size}" in fault.notes
    assert getattr(caught.value, "facts")["bounds"][0]["verdict"] == "refuted"  # noqa: B009


def test_extents_stand_in_annotations_too_and_the_option_takes_precedence(instance: Any) -> None:
    text = (
        HEAD
        + '@kernel(extents={"y_ptr": "n"})\n'
        + "def example(x_ptr: Annotated[Ptr[f32], Extent('n')], "
        + "y_ptr: Annotated[Ptr[f32], Extent('m')], n: i32 | int) -> None:\n"
        + "    i = tl.program_id(0) * 16 + tl.arange(0, 16)\n"
        + "    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)\n"
    )
    made = instance(text)
    assert made.definition.extents == {"x_ptr": "n", "y_ptr": "n"}
    assert [row["verdict"] for row in rows(made)] == ["proved", "proved"]


def test_extents_of_the_option_are_no_part_of_identity_or_code(instance: Any) -> None:
    body = (
        "def example(x_ptr: Ptr[f32], n: i32 | int) -> None:\n"
        "    tl.store(x_ptr + tl.arange(0, 16), 0.0, mask=tl.arange(0, 16) < n)\n"
    )
    plain = instance(HEAD + "@kernel\n" + body)
    declared = instance(HEAD + '@kernel(extents={"x_ptr": "n"})\n' + body)
    assert plain.id == declared.id
    assert plain.unit(None, "") == declared.unit(None, "")


def test_what_is_not_declared_or_loaded_is_unknown_and_says_why(instance: Any) -> None:
    text = (
        HEAD
        + '@kernel(extents={"x_ptr": "n", "i_ptr": "16"})\n'
        + "def example(x_ptr: Ptr[f32], i_ptr: Ptr[i32], y_ptr: Ptr[f32], n: i32 | int) -> None:\n"
        + "    i = tl.arange(0, 16)\n"
        + "    tl.store(y_ptr + i, tl.load(x_ptr + tl.load(i_ptr + i)))\n"
    )
    found = {row["what"]: (row["verdict"], row["reason"]) for row in rows(instance(text))}
    assert found == {
        "load of `i_ptr`": ("proved", ""),
        "load of `x_ptr`": ("unknown", "its place depends on a value that is loaded"),
        "store of `y_ptr`": ("unknown", "no extent is declared for `y_ptr`"),
    }


def test_the_strides_of_rows_are_taken_not_to_overlap(instance: Any) -> None:
    body = (
        "def example(x_ptr: Ptr[f32], rows: i32 | int, cols: i32 | int, s: i32 | int) -> None:\n"
        "    r = tl.program_id(0) * 4 + tl.arange(0, 4)[:, None]\n"
        "    c = tl.program_id(1) * 4 + tl.arange(0, 4)[None, :]\n"
        "    tl.store(x_ptr + r * s + c, (r + c).to(f32), mask=(r < rows) & (c < cols))\n"
    )
    declared = '@kernel(extents={"x_ptr": "(rows - 1) * s + cols"})\n'
    assert rows(instance(HEAD + declared + body))[0]["verdict"] == "proved"
    # Of a flat extent nothing is known of the stride: rows may overlap, or reach too far.
    flat = '@kernel(extents={"x_ptr": "rows * cols + 0 * s"})\n'
    with pytest.raises(TeenyError) as caught:
        rows(instance(HEAD + flat + body))
    assert caught.value.code == "E0513"


def test_polynomials_compute_as_numbers_do() -> None:
    atoms = Atoms()
    x, y = (Poly.of(atoms.make("param", name, (32,), name)) for name in "xy")
    assert (x + y) * (x - y) == x * x - y * y
    assert (x + 1) * 2 - x - x == Poly.constant(2)
    assert (x - x).number == 0
    assert (x * y + 3).number is None
    assert ~at_least(x, y) == at_least(y - 1, x)
