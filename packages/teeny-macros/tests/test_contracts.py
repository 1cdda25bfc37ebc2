"""Units, diagnostics, positions, targets and metadata: each reads back what it wrote."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from teeny_macros import (
    Artifact,
    CaptureError,
    CompileError,
    Diagnostic,
    Label,
    LaunchError,
    Metadata,
    SourceMap,
    Span,
    Target,
    TeenyError,
    env,
    unit,
)
from teeny_macros.artifact import Param
from teeny_macros.codes import CODES, E0001, E0022, E1003
from teeny_macros.source import Origin
from teeny_macros.target import CUDA_ARCHS
from teeny_macros.unit import Unit, UnitModule

# --- units --------------------------------------------------------------------------------------

ODD = 'TEXT = "\f \x85 \u2028 \x1c # module"\n'
MADE = Unit(
    "k",
    (
        UnitModule("m0", ODD),
        UnitModule("kernel", "def k(): pass\n\n"),
        UnitModule("entry", "k()\n"),
    ),
    "ab" * 32,
    "def load(p): ...\n",
)


@pytest.mark.parametrize("made", [MADE, MADE._replace(dsl_text=None), MADE._replace(modules=())])
def test_a_unit_reads_back(made: Unit) -> None:
    assert unit.parse(made.render()) == made


def test_a_unit_knows_its_lines_and_names() -> None:
    assert (MADE.file, MADE.entry_point) == ("k.py", "k_entry_point")
    assert [MADE.first_line(name) for name in ("m0", "kernel", "entry")] == [1, 2, 4]
    assert MADE.body == ODD + "def k(): pass\n\nk()\n"
    with pytest.raises(CompileError):
        MADE.first_line("m1")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda _text: "", "E0020"),
        (lambda text: text[1:], "E0020"),
        (lambda text: text.replace("# module kernel 2", "# module kernel"), "E0020"),
        (lambda text: text.replace("# module kernel 2", "# module kernel x"), "E0020"),
        (lambda text: text.replace("# module kernel 2", "# module kernel 1"), "E0020"),
        (lambda text: text.replace("# module kernel 2", "# module kernel 3"), "E0020"),
        (lambda text: text.replace("# language 1\n", ""), "E0020"),
        (lambda text: text.replace("# language 1", "# language x"), "E0020"),
        (lambda text: text + "more\n", "E0020"),
        (lambda text: text.replace("# teeny-unit 1", "# teeny-unit 2"), "E0021"),
        (lambda text: text.replace("# language 1", "# language 2"), "E0021"),
    ],
)
def test_a_damaged_or_newer_unit_is_refused(change: Callable[[str], str], code: str) -> None:
    with pytest.raises(CompileError) as caught:
        unit.parse(change(MADE.render()))
    assert caught.value.code == code
    assert caught.value.diagnostics[0].helps


# --- diagnostics --------------------------------------------------------------------------------


def test_errors_are_of_the_kind_of_their_code_and_pickle() -> None:
    span = Span("a.py", 3, 1, 3, 5)
    error = E0022.at(span, "here", name="x", what="a list")
    assert isinstance(error, CaptureError)
    error.also(Span("b.py", 1, 1, 1, 2), "there", source="text").note("fact").help("remedy")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CaptureError
    assert [d.to_json() for d in again.diagnostics] == [d.to_json() for d in error.diagnostics]
    assert str(again) == str(error)
    assert error.diagnostics[0].span == span


def test_an_unknown_second_place_is_left_out() -> None:
    assert len(E1003.error(kernel="k", names="n").also(None, "x").diagnostics[0].labels) == 0


def test_a_diagnostic_reads_back() -> None:
    made = Diagnostic("E0401", "a-name", "text", severity="warning", notes=["n"], helps=["h"])
    made.labels.append(Label(Span("a.py", 1, 2, 3, 4), "t", primary=False, source="s"))
    again = Diagnostic.from_json(json.loads(json.dumps(made.to_json())))
    assert again.to_json() == made.to_json()
    assert again.span == Span("a.py", 1, 2, 3, 4)


def test_messages_fill_their_templates_and_braces_stay() -> None:
    assert (
        E0001.error(what="`{x}`").diagnostics[0].message == "`{x}` cannot be captured as a kernel"
    )


def test_codes_are_unique_and_sorted_into_their_blocks() -> None:
    codes = [row.code for row in CODES]
    assert codes == sorted(set(codes), key=codes.index)
    kinds = {row.code[:3]: row.kind for row in CODES if row.kind in (CaptureError, LaunchError)}
    assert kinds == {"E00": CaptureError, "E10": LaunchError}
    assert all(issubclass(row.kind, TeenyError) for row in CODES)


# --- positions ----------------------------------------------------------------------------------

MAP = SourceMap(
    {
        3: Origin("a.py", 10, ((1, 10, 5),)),
        4: Origin("a.py", 11, ((1, 11, 5), (8, 13, 9))),
        5: Origin("b.py", 1, ()),
    }
)


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ((3, 1), ("a.py", 10, 5)),
        ((3, 4), ("a.py", 10, 8)),
        ((4, 7), ("a.py", 11, 11)),
        ((4, 8), ("a.py", 13, 9)),
        ((4, 10), ("a.py", 13, 11)),
        ((5, 3), ("b.py", 1, 3)),
        ((6, 1), None),
    ],
)
def test_places_are_led_back(place: tuple[int, int], wanted: object) -> None:
    assert MAP.lookup(*place) == wanted
    assert SourceMap.from_json(json.loads(json.dumps(MAP.to_json()))).lookup(*place) == wanted


def test_spans_are_led_back_with_their_ends() -> None:
    assert MAP.span(Span("u", 3, 2, 3, 4)) == Span("a.py", 10, 6, 10, 8)
    assert MAP.span(Span("u", 3, 2, 4, 9)) == Span("a.py", 10, 6, 13, 10)
    assert MAP.span(Span("u", 3, 2, 5, 9)) == Span("a.py", 10, 6, 10, 7)
    assert MAP.span(Span("u", 9, 2, 9, 4)) == Span("u", 9, 2, 9, 4)


# --- targets, artifacts, environment ------------------------------------------------------------


def test_targets_are_values() -> None:
    assert Target.cuda("sm_90") == Target("cuda", "sm_90")
    assert [str(t) for t in (Target.cuda("sm_90"), Target.cpu(), Target.interpret())] == [
        "cuda:sm_90",
        "cpu:host",
        "interpret",
    ]
    assert [t.triple for t in (Target.cuda("sm_75"), Target.cpu(), Target.interpret())] == [
        "nvptx64-nvidia-cuda",
        "cpu",
        "interpret",
    ]
    assert {Target.cuda(arch) for arch in CUDA_ARCHS} == {Target("cuda", a) for a in CUDA_ARCHS}


@pytest.mark.parametrize("arch", ["sm_35", "90", "", "sm_90a"])
def test_an_unknown_architecture_is_refused_with_the_known_ones(arch: str) -> None:
    with pytest.raises(LaunchError) as caught:
        Target.cuda(arch)
    assert caught.value.code == "E1040"
    assert "sm_90" in caught.value.diagnostics[0].helps[0]


@pytest.mark.parametrize("arch", ["x86-64-v5", "znver3", ""])
def test_an_unknown_cpu_is_refused_with_the_known_ones(arch: str) -> None:
    with pytest.raises(LaunchError) as caught:
        Target.cpu(arch)
    assert caught.value.code == "E1040"
    assert "x86-64-v3" in caught.value.diagnostics[0].helps[0]
    assert str(Target.cpu("x86-64-v3")) == "cpu:x86-64-v3"


def metadata() -> Metadata:
    params = (Param("x_ptr", "pointer", "f32"), Param("n", "scalar", "i32"))
    versions = (("teenyc", "0.1.0"), ("triton", "3.6"))
    return Metadata("k", "k_entry_point", "cuda:sm_90", params, 4, 128, versions=versions)


def test_metadata_reads_back_and_knows_its_schema() -> None:
    data = json.loads(json.dumps(metadata().to_json()))
    assert data["schema"] == 1
    assert Metadata.from_json(data) == metadata()
    with pytest.raises(CompileError) as caught:
        Metadata.from_json({**data, "schema": 2})
    assert caught.value.code == "E0021"


def test_an_artifact_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("// größe\n", encoding="utf-8")
    found = Artifact(path, metadata(), Target.cuda("sm_90"), stages={"ptx": path})
    assert os.fspath(found) == str(path)
    assert Path(found) == path
    assert found.read_text() == "// größe\n"
    assert found.stages == {"ptx": path}
    assert "k.ptx" in repr(found)


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in env.VARIABLES:
        monkeypatch.setenv(variable.name, "")
        assert variable.get() == variable.default
        monkeypatch.setenv(variable.name, "other")
        assert variable.get() == "other"
        assert variable.help
