"""The pages of this package's codes: each one's example raises its code, the corrected one runs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import teeny_macros
from teeny_macros import CaptureError, Target, TeenyError, bundle, explain
from teeny_macros.__main__ import main
from teeny_macros.codes import CODES
from teeny_macros.normalise import normalise
from teeny_macros.pages import all_codes, packages
from teeny_macros.protocol import ArrayInfo
from teeny_macros.testing import missing_parts

Module = Callable[..., ModuleType]

FOLDER = Path(teeny_macros.__file__).parent / "explain"
FENCE = re.compile(r"^```py (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(FOLDER.glob("*.md"))
WITHOUT_EXAMPLE = {"I0000"}
BUNDLES = ("E1030", "E1031", "E1032", "E1033")  # their examples compile kernels
# About texts that stand in no file of the kernel, about bundles, about another process.
WITHOUT_PLACE = {"E0020", "E0021", "E0023", "E1026", "E1032", "E1033", "E1040"}
DTYPES = {"<f4": "f32", "<f8": "f64", "<f2": "f16", "<i4": "i32", "|V4": "", "<c8": ""}


def blocks(page: Path) -> dict[str, str]:
    return dict(FENCE.findall(page.read_text(encoding="utf-8")))


def run(text: str, make: Module) -> None:
    """Run a block as a module; on a Python that lacks its syntax, normalise it."""
    if re.search(r"^def \w+\[", text, re.MULTILINE):
        normalise(text.split("\n"), 1)
    else:
        make(text, header="")


@pytest.fixture
def numpy_world(
    request: pytest.FixtureRequest, world: Any, array: Any, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """The fake devices, the host one knowing NumPy arrays, and a `teeny_cuda` of fake buffers."""
    pytest.importorskip("numpy")
    own = world.cpu.describe

    def describe(value: Any) -> ArrayInfo | None:
        interface = getattr(value, "__array_interface__", None)
        if interface is None:
            found: ArrayInfo | None = own(value)
            return found
        address, readonly = interface["data"]
        dtype = DTYPES[interface["typestr"]]
        if "[E1035]" not in request.node.name:  # the others are not about alignment
            address = address // 16 * 16
        rows = interface["strides"] is None
        return ArrayInfo(address, dtype, value.nbytes, "cpu", readonly, rows)

    def layout(value: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return value.shape, tuple(step // value.itemsize for step in value.strides)

    monkeypatch.setattr(world.cpu, "describe", describe)
    monkeypatch.setattr(world.cpu, "layout", layout, raising=False)
    if any(f"[{code}]" in request.node.name for code in BUNDLES):
        pytest.importorskip("teenyc")
        target = Target.cpu("x86-64")
        monkeypatch.setattr(world.cpu, "target", target)
        monkeypatch.setattr(bundle, "_registry", bundle._Registry())
    if "[E1016]" not in request.node.name:
        return world
    gpu = SimpleNamespace(buffer=lambda _size, dtype: array(dtype.__name__, place="cuda:0"))
    fake: Any = ModuleType("teeny_cuda")
    fake.Device = lambda _number: gpu
    monkeypatch.setitem(sys.modules, "teeny_cuda", fake)
    return world


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_example_of_a_page_raises_exactly_its_code(
    page: Path, module: Module, numpy_world: Any
) -> None:
    found = blocks(page)
    if page.stem in WITHOUT_EXAMPLE:
        assert not found
        return
    if page.stem == "E1022":
        del numpy_world.found["teeny.compiler", "default"]
    with pytest.raises(TeenyError) as caught:
        run(found[page.stem], module)
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == [page.stem]
    assert missing_parts(caught.value, placed=page.stem not in WITHOUT_PLACE) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_corrected_example_of_a_page_runs(page: Path, module: Module, numpy_world: Any) -> None:
    found = blocks(page)
    if page.stem in {*WITHOUT_EXAMPLE, "E1022"}:
        assert "ok" not in found
        return
    run(found["ok"], module)


def test_every_code_has_a_page_that_names_it() -> None:
    assert {page.stem for page in PAGES} == {row.code for row in CODES}
    for row in CODES:
        assert explain(row.code).startswith(f"# {row.code}: {row.name}\n\n## What it means\n")


def test_pages_are_found_however_a_code_is_written() -> None:
    assert explain("E0022") == explain("e0022") == explain(" W0022 ")


@pytest.mark.parametrize("code", ["E9999", "", "../codes", "E0001/../E0001"])
def test_an_unknown_code_is_a_coded_error(code: str) -> None:
    with pytest.raises(CaptureError) as caught:
        explain(code)
    assert caught.value.code == "E0023"


@pytest.mark.parametrize(
    ("code", "package"),
    [
        ("E0699", "teenyc"),
        ("W0999", "teeny-compiler"),
        ("E1051", "teeny-cuda"),
        ("e1102", "teeny-cpu"),
    ],
)
def test_a_page_that_comes_with_another_package_names_it(
    code: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("teeny_macros.pages.packages", lambda: ["teeny_macros"])
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(CaptureError) as caught:
        explain(code)
    assert f"`pip install {package}`" in caught.value.diagnostics[0].helps[0]


def test_the_codes_of_installed_packages_are_found() -> None:
    names = packages()
    assert names[0] == "teeny_macros"
    codes = [row.code for row in all_codes()]
    assert len(codes) == len(set(codes)) >= len(CODES)


def test_a_page_is_printed_without_teenyc(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "e0022"]) == 0
    assert capsys.readouterr().out == explain("E0022")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["explain", "E9999"], 1, "error[E0023]"),
        (["explain"], 2, "usage: python -m teeny_macros explain CODE"),
        (["expand", "E0022"], 2, "usage: python -m teeny_macros explain CODE"),
    ],
)
def test_what_cannot_be_explained_is_said_on_standard_error(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.err.startswith(said)
    assert not captured.out
