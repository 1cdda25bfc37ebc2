"""PTX whose positions lead to the user's files."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from teeny_macros import SourceMap
from teeny_macros.positions import rewrite_ptx
from teeny_macros.source import Origin

Module = Callable[..., ModuleType]

PTX = """\
//
.version 8.4
.target sm_90a
.visible .entry copy_entry_point(
\t.param .u64 .ptr .global .align 1 copy_entry_point_param_0
)
{
\t.loc\t1 4 12                          // copy.py:4:12
\t.loc\t1 5 5
\t.loc\t1 99 3
\t.loc\t2 7 1, function_name $L__info_string0, inlined_at 1 5 9
\t.loc\t1 5 0
\t.loc\t1 0 0
$L__func_end0:
}
\t.file\t1 "copy.py"
\t.file\t2 "teeny_triton.py"
\t.section\t.debug_abbrev
"""


def mapped(*rows: tuple[int, str, int, int]) -> SourceMap:
    return SourceMap(
        {body: Origin(file, line, ((1, line, column),)) for body, file, line, column in rows}
    )


def changed(before: str, after: str) -> list[str]:
    old = before.split("\n")
    return [line for line in after.split("\n") if line not in old]


def test_places_of_the_kernel_become_those_of_the_users_file() -> None:
    ptx = rewrite_ptx(PTX, mapped((4, "/projects/k.py", 40, 5), (5, "/projects/lib.py", 8, 1)))
    assert changed(PTX, ptx) == [
        "\t.loc\t3 40 16                          // copy.py:4:12",
        "\t.loc\t4 8 5",
        "\t.loc\t2 7 1, function_name $L__info_string0, inlined_at 4 8 9",
        "\t.loc\t4 8 0",
        '\t.file\t3 "/projects/k.py"',
        '\t.file\t4 "/projects/lib.py"',
    ]
    assert "\t.loc\t1 99 3\n" in ptx
    assert "\t.loc\t1 0 0\n" in ptx
    assert '\t.file\t1 "copy.py"\n\t.file\t3 "/projects/k.py"\n' in ptx


def test_a_file_in_a_folder_is_recognised_by_its_name() -> None:
    ptx = PTX.replace('"copy.py"', '"some/where/copy.py"')
    assert '"k.py"' in rewrite_ptx(ptx, mapped((4, "k.py", 40, 5)))


def test_file_names_are_escaped() -> None:
    ptx = rewrite_ptx(PTX, mapped((4, 'C:\\my "k".py', 40, 5)))
    assert '\t.file\t3 "C:\\\\my \\"k\\".py"\n' in ptx


def test_what_has_no_place_of_the_kernel_stays_as_it_is() -> None:
    source_map = mapped((4, "k.py", 40, 5))
    for ptx in ("", "no ptx", PTX.replace("copy.py", "other.py"), PTX.replace(".entry", ".func")):
        assert rewrite_ptx(ptx, source_map) == ptx
    assert rewrite_ptx(PTX, SourceMap()) == PTX


def test_lines_inserted_above_a_kernel_move_its_places(module: Module) -> None:
    text = "@kernel\ndef copy(x: Ptr[f32]) -> None:\n    tl.store(x, 1.0)\n"
    found: list[int] = []
    for above in ("", "# one\n# two\n# three\n"):
        made: Any = module(above + text).copy.instantiate()
        line = made.source.split("\n").index("    tl.store(x, 1.0)") + 1
        ptx = rewrite_ptx(PTX.replace("1 4 12", f"1 {line} 5"), made.source_map)
        (place,) = (row for row in ptx.split("\n") if row.startswith("\t.loc\t3"))
        found.append(int(place.split()[2]))
    assert found[1] == found[0] + 3
