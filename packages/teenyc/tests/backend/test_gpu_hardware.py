"""What an architecture lacks is said at the kernel's line, and exists where the table says."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from teeny_macros.diagnostics import CompileError
from teeny_macros.target import Target
from teeny_macros.unit import Unit, UnitModule
from teenyc.backend.gpu.hardware import HARDWARE, LIMITS
from teenyc.backend.gpu.versions import ARCH_FLOOR, arch_number
from teenyc.codes import CODES
from teenyc.driver import compile_text
from teenyc.options import Options

if TYPE_CHECKING:
    from pathlib import Path

TILE = """\
r = tl.arange(0, 32)
at = r[:, None] * 32 + r[None, :]
"""
# One kernel for each row of the table: the dtype that it reads and its last line.
KERNELS = {
    "conversion to f8e5m2": ("f32", "tl.store(y_ptr, tl.max(tl.load(x_ptr + at).to(tl.float8e5)))"),
    "the smaller or greater f16 or bf16 through a descriptor (`atomic_min`, `atomic_max`)": (
        "f16",
        (
            "tl.make_tensor_descriptor(x_ptr, (32, 32), (32, 1), (8, 8)).atomic_min("
            "(0, 0), tl.zeros((8, 8), tl.f16))"
        ),
    ),
    "waiting for the grid before (`gdc_wait`, `gdc_launch_dependents`)": ("f32", "tl.gdc_wait()"),
    "f8e4m3 arithmetic": ("f32", "tl.store(y_ptr, tl.max(tl.load(x_ptr + at).to(f8e4m3)))"),
    "`dot` of i8": ("i8", "tl.store(y_ptr + at, tl.dot(tl.load(x_ptr + at), tl.load(x_ptr + at)))"),
}


def unit_of(what: str, num_ctas: int = 1) -> Unit:
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    dtype, last = KERNELS[what]
    body = "".join(f"    {line}\n" for line in (TILE + last).splitlines())
    kernel = (
        f"import teeny_triton as tl\nfrom teeny_triton import f8e4m3\ndef k(x_ptr, y_ptr):\n{body}"
    )
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, f16, f32, i8\n"
        f"@entry_point(num_warps=4, num_stages=3, num_ctas={num_ctas}, maxnreg=None, "
        "enable_fp_fusion=True, launch_pdl=True)\n"
        f"def k_entry_point(x_ptr: Ptr[{dtype}], y_ptr: Ptr[f32]) -> None:\n    k(x_ptr, y_ptr)\n"
    )
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    return Unit("k", modules, TRITON_SHA, TRITON)


def test_every_row_has_a_kernel_here() -> None:
    assert {row.what for row in HARDWARE} == set(KERNELS)
    assert all(row.first in ARCH_FLOOR for row in HARDWARE)


@pytest.mark.parametrize("row", HARDWARE, ids=lambda row: row.what)
def test_an_older_architecture_is_refused_at_the_line(row: object, tmp_path: Path) -> None:
    what, first = row.what, row.first  # type: ignore[attr-defined]
    for arch in ARCH_FLOOR:
        if arch_number(arch) >= arch_number(first):
            continue
        with pytest.raises(CompileError) as caught:
            compile_text(unit_of(what).render(), Options(Target.cuda(arch), ("mlir",)))
        (found,) = caught.value.diagnostics
        assert found.code == "E0713"
        assert found.span is not None
        assert (found.span.file, found.span.line) == ("k.py", 6)
        assert first in found.message
        assert len(found.helps) == 2


@pytest.mark.accept
@pytest.mark.parametrize("row", HARDWARE, ids=lambda row: row.what)
def test_the_first_architecture_has_it(row: object, tmp_path: Path) -> None:
    options = Options(Target.cuda(row.first), ("ptx",))  # type: ignore[attr-defined]
    text = unit_of(row.what).render()  # type: ignore[attr-defined]
    result = compile_text(text, options, folder=str(tmp_path))
    assert ".entry" in result.texts["ptx"]


def test_a_cluster_is_refused_where_there_are_none() -> None:
    text = unit_of("`dot` of i8", num_ctas=2).render()
    with pytest.raises(CompileError) as caught:
        compile_text(text, Options(Target.cuda("sm_80"), ("mlir",)))
    (found,) = caught.value.diagnostics
    assert found.code == "E0713"
    assert "num_ctas=2" in found.message


@pytest.mark.accept
def test_clusters_and_dependent_launches_are_in_ptx_and_metadata(tmp_path: Path) -> None:
    text = unit_of("waiting for the grid before (`gdc_wait`, `gdc_launch_dependents`)", 2).render()
    for arch in ("sm_90", "sm_100"):
        try:
            result = compile_text(text, Options(Target.cuda(arch), ("ptx",)), folder=str(tmp_path))
        except CompileError as error:
            # An assertion of the planner of clusters until 3.8, reported with its words.
            old = version("triton").startswith(("3.6.", "3.7.", "3.8."))
            if not old or "CTAPlann" not in str(error):
                raise
            continue
        ptx = result.texts["ptx"]
        assert "griddepcontrol.wait" in ptx
        assert ".reqnctapercluster 2" in ptx or ".explicitcluster" in ptx
        assert (result.metadata.num_ctas, result.metadata.launch_pdl) == (2, True)
        assert not result.metadata.launch_cooperative_grid


@pytest.mark.accept
@pytest.mark.parametrize(
    "line",
    [
        'tl.load(x_ptr + at, cache_modifier=".cg", eviction_policy="evict_last")',
        'tl.store(y_ptr, 1.0, cache_modifier=".cs", eviction_policy="evict_first")',
        "helper(y_ptr)",
    ],
)
def test_an_access_that_the_assembler_refuses_is_refused_at_its_line(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use = line if line.startswith(("tl.store", "helper")) else f"tl.store(y_ptr, tl.max({line}))"
    monkeypatch.setitem(KERNELS, "here", ("f32", use))
    unit = unit_of("here")
    if line.startswith("helper"):
        first, *rest = unit.modules
        text = first.text.replace(
            "def k(",
            "def helper(p):\n    tl.store(p, 1.0, cache_modifier='.wt', "
            "eviction_policy='evict_last')\ndef k(",
        )
        unit = unit._replace(modules=(first._replace(text=text), *rest))
    options = Options(Target.cuda("sm_90"), ("ptx",))
    with pytest.raises(CompileError) as caught:
        compile_text(unit.render(), options, folder=str(tmp_path))
    (found,) = caught.value.diagnostics
    assert found.code == "E0715"
    assert found.span is not None
    lines = unit.body.split("\n")
    assert "cache_modifier" in lines[found.span.line - 1] or "helper(" in lines[found.span.line - 1]


@pytest.mark.parametrize("row", HARDWARE, ids=lambda row: row.what)
def test_a_cpu_makes_of_it_what_the_table_says(row: object) -> None:
    text = unit_of(row.what).render()  # type: ignore[attr-defined]
    refused = row.host if row.host.startswith("E") else ""  # type: ignore[attr-defined]
    codes = []
    try:
        compile_text(text, Options(Target.cpu(), ("obj",)))
    except CompileError as error:
        codes = [found.code for found in error.diagnostics]
    assert codes == ([refused] if refused else [])


# Those limits that one line of a kernel shows, with the targets that refuse it.
LINES = {
    "`inline_asm_elementwise`": (
        'tl.store(y_ptr, tl.inline_asm_elementwise("mov.f32 $0, 0f00000000;", "=f", [], '
        "tl.float32, True, 1))"
    ),
    "`cache_modifier` and `eviction_policy` of one access": (
        'tl.store(y_ptr, 1.0, cache_modifier=".cs", eviction_policy="evict_first")'
    ),
}


@pytest.mark.accept
@pytest.mark.parametrize("what", LINES)
def test_a_limit_is_what_the_table_says(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (limit,) = (row for row in LIMITS if row.what == what)
    monkeypatch.setitem(KERNELS, "here", ("f32", LINES[what]))
    text = unit_of("here").render()
    for target, said in ((Target.cuda("sm_90"), limit.gpus), (Target.cpu(), limit.cpu)):
        stage = "ptx" if target.kind == "cuda" else "obj"
        codes = []
        try:
            compile_text(text, Options(target, (stage,)), folder=str(tmp_path))
        except CompileError as error:
            codes = [found.code for found in error.diagnostics]
        assert codes == ([said] if said.startswith("E") else [])


def test_the_codes_of_the_table_are_codes() -> None:
    known = {row.code for row in CODES}
    for limit in LIMITS:
        for said in limit[1:]:
            if said[:2] in ("E0", "W0"):
                assert f"E{said[1:5]}" in known
