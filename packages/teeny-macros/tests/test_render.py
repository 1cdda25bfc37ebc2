"""Renderings of diagnostics, as stored texts and by their parts."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from teeny_macros import Diagnostic, Label, LaunchError, Span
from teeny_macros.codes import E0022, E1003
from teeny_macros.render import (
    render,
    render_concise,
    render_full,
    render_github,
    render_json,
    wants_color,
)

Golden = Callable[[str, str], None]


def label(
    line: int,
    columns: tuple[int, int],
    text: str = "",
    *,
    source: str | None = None,
    primary: bool = True,
    file: str = "softmax.py",
    end_line: int | None = None,
) -> Label:
    span = Span(file, line, columns[0], end_line or line, columns[1])
    return Label(span, text, primary=primary, source=source)


def fault(*labels: Label, message: str = "block size is not a power of two") -> Diagnostic:
    return Diagnostic("E0401", "range-not-power-of-two", message, labels=labels)


HEADER = "def softmax_forward(x_ptr, y_ptr, n_cols, BLOCK_SIZE: Const[int]):"
CASES = {
    "two_labels": fault(
        label(12, (43, 53), "bound to 100 here", source=HEADER, primary=False),
        label(18, (25, 35), "needs a power of two", source="    cols = tl.arange(0, BLOCK_SIZE)"),
    ),
    "one_line_two_labels": fault(
        label(3, (5, 6), "f32", source="x = a + bb", primary=False),
        label(3, (9, 11), "f16", source="x = a + bb"),
    ),
    "three_labels_on_a_line": fault(
        label(3, (1, 2), "left", source="a + b + c", primary=False),
        label(3, (5, 6), "middle", source="a + b + c"),
        label(3, (9, 10), "right", source="a + b + c", primary=False),
    ),
    "adjacent_lines": fault(
        label(9, (1, 2), "first", source="a", primary=False),
        label(10, (1, 2), "second", source="b"),
    ),
    "several_lines": fault(
        label(4, (9, 6), "this call", source="    x = tl.load(", end_line=6),
    ),
    "two_files": fault(
        label(7, (5, 8), "here", source="    row_max(x)"),
        label(
            120, (12, 15), "called from here", source="    return foo", primary=False, file="b.py"
        ),
    ),
    "tabs": fault(label(2, (4, 7), "tabs", source="\tx\tyyy")),
    "wide_characters": fault(label(2, (9, 10), "wide", source='x = "漢字"y')),
    "combining_characters": fault(label(1, (6, 7), "after", source="e\u0301e\u0301 =x")),
    "beyond_the_line": fault(label(1, (12, 14), "the end is missing", source="x = (1 +")),
    "no_source": fault(label(5, (3, 4), "somewhere", file="<string>")),
    "no_place": fault(),
}
NOTED = fault(label(18, (1, 5), source="cols"))
NOTED.notes += ["in `row_max`, called from softmax.py:31:9", "two\nlines"]
NOTED.helps.append("pass 128 and mask the tail with `cols < n_cols`")
CASES["notes_and_helps"] = NOTED


@pytest.mark.parametrize("name", CASES)
def test_a_diagnostic_renders_as_stored(name: str, golden: Golden) -> None:
    found = CASES[name]
    texts = [render_full(found), render_concise(found), render_github(found)]
    golden(f"render/{name}.txt", "\n\n".join(texts) + "\n")


@pytest.mark.parametrize("name", CASES)
def test_color_changes_nothing_but_color(name: str) -> None:
    colored = render_full(CASES[name], color=True)
    assert "\x1b[" in colored
    plain = colored
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m"):
        plain = plain.replace(code, "")
    assert plain == render_full(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_json_reads_back_as_the_same_diagnostic(name: str) -> None:
    text = render_json(CASES[name])
    assert "\n" not in text
    assert Diagnostic.from_json(json.loads(text)).to_json() == CASES[name].to_json()


def test_a_warning_says_that_it_is_one() -> None:
    found = E0022.warn(Span.point("a.py", 1), "here", name="x", what="a list")
    assert render_concise(found).startswith("a.py:1:1: warning[W0022] `x` is a list")
    assert render_github(found).startswith("::warning file=a.py,")


def test_the_lines_of_a_file_are_read_when_the_label_has_none(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("first\nsecond line\n", encoding="utf-8")
    text = render_full(fault(label(2, (8, 12), "this", file=str(path))))
    assert "2 | second line\n  |        ^^^^ this" in text


def test_a_span_of_several_lines_shows_its_first_and_last_line(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("x = load(\n    a,\n    b,\n)\n", encoding="utf-8")
    text = render_full(fault(label(1, (5, 10), "this", file=str(path), end_line=3)))
    assert (
        "1 | x = load(\n  |     ^^^^^ this (to line 3)\n  :\n3 |     b,\n  |     ^^^^^ to here\n"
    ) in text


def test_a_file_of_the_same_name_on_the_path_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere.py").write_text("x = 1\ny = 2\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = render_full(fault(label(1, (1, 2), "this", file="elsewhere.py", end_line=2)))
    assert "y = 2" not in text


def test_a_line_past_the_end_of_the_file_leaves_the_place(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("one\n", encoding="utf-8")
    text = render_full(fault(label(9, (1, 2), "gone", file=str(path))))
    assert f"{path}:9:1" in text
    assert "9:1: gone" in text


def test_github_properties_are_escaped() -> None:
    found = fault(label(1, (1, 2), "100%", file="a,b:c.py"), message="one\ntwo")
    text = render_github(found)
    assert "file=a%2Cb%3Ac.py" in text
    assert "one%0Atwo%0A100%25" in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("form", "function"),
    [
        ("full", render_full),
        ("concise", render_concise),
        ("json", render_json),
        ("github", render_github),
    ],
)
def test_render_chooses_by_name(form: str, function: Callable[[Diagnostic], str]) -> None:
    assert render(NOTED, form) == function(NOTED)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_color_is_for_terminals_that_nobody_made_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TEENY_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_color(Terminal())
    assert not wants_color(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TEENY_COLOR", "never")
    assert not wants_color(Terminal())


def test_the_text_of_an_exception_is_the_full_rendering() -> None:
    error = E1003.error(kernel="k", names="`n`").help("give it")
    assert str(error) == render_full(error.diagnostics[0])
    assert "= help: give it" in str(error)


def test_a_blank_line_stands_between_the_faults_of_an_exception() -> None:
    first, second = (E1003.error(kernel=name, names="`n`").diagnostics[0] for name in "kh")
    assert str(LaunchError(first, second)) == f"{render_full(first)}\n\n{render_full(second)}"


def test_where_teenyc_is_not_installed_its_command_is_named_for_its_own_codes_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    shown = {
        code: render_full(Diagnostic(code, "name", "it is wrong")) for code in ("E1030", "E0401")
    }
    assert "= help: python -m teeny_macros explain E1030" in shown["E1030"]
    assert "= help: teenyc --explain E0401" in shown["E0401"]


@pytest.mark.parametrize("code", ["E0901", "E1022", "E1101"])
def test_without_teenyc_an_error_is_explained_by_what_is_there(code: str) -> None:
    fault = Diagnostic(code, "missing", "teenyc is missing")
    assert f"= help: python -m teeny_macros explain {code}" in render_full(fault)
    assert "teenyc --explain" not in render_full(fault)
