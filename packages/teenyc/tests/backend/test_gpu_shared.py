"""Shared memory read from the IR: least sizes are sure, estimates become exact with Triton."""

from __future__ import annotations

from typing import Any

import pytest

from teeny_macros.diagnostics import TeenyError
from teeny_macros.target import Target
from teeny_macros.unit import Unit, UnitModule
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc import driver
from teenyc.backend.gpu import libtriton
from teenyc.options import Options

BODY = """\
i, k = tl.arange(0, {side}), tl.arange(0, {inner})
a_at, b_at = i[:, None] * {inner} + k[None, :], k[:, None] * {side} + i[None, :]
total = tl.zeros(({side}, {side}), f32)
for step in tl.range(n, num_stages={stages}):
    a = tl.load(x_ptr + step * {side} * {inner} + a_at)
    b = tl.load(x_ptr + step * {side} * {inner} + b_at)
    total = tl.dot(a, b, total)
tl.store(out_ptr + i[:, None] * {side} + i[None, :], total)
"""


def check(arch: str, **sizes: Any) -> driver.Result:
    body = "".join(f"    {line}\n" for line in BODY.format(**sizes).splitlines())
    kernel = (
        "import teeny_triton as tl\nfrom teeny_triton import f32\n"
        f"def k(x_ptr, out_ptr, n):\n{body}"
    )
    entry = (
        "from kernel import k\nfrom teeny_triton import Ptr, f32, i32\n"
        "@entry_point(num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True)\n"
        "def k_entry_point(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32) -> None:\n"
        "    k(x_ptr, out_ptr, n)\n"
    )
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    asked = Options(Target.cuda(arch), ("ptx",), check=True)
    return driver.compile_text(Unit("k", modules, TRITON_SHA, TRITON).render(), asked)


@pytest.mark.parametrize(("arch", "inner", "fits"), [("sm_90", 128, True), ("sm_86", 128, False)])
def test_operands_that_cannot_fit_are_refused_without_triton(
    monkeypatch: pytest.MonkeyPatch, arch: str, inner: int, fits: bool
) -> None:
    monkeypatch.setattr(libtriton, "find_folder", lambda: None)
    sizes = {"side": 128, "inner": inner, "stages": 1}
    if fits:
        assert check(arch, **sizes).warnings == ()
        return
    with pytest.raises(TeenyError) as caught:
        check(arch, **sizes)
    (found,) = caught.value.diagnostics
    assert found.code == "E0716"
    assert "131072 bytes" in found.message
    assert "101376 on sm_86" in found.message
    assert found.span is not None


def test_tiles_loaded_ahead_are_an_estimate_without_triton(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libtriton, "find_folder", lambda: None)
    found = check("sm_90", side=128, inner=64, stages=5).warnings
    assert [warning.code for warning in found] == ["W0716"]
    assert "about 262144 bytes" in found[0].message
    assert found[0].notes == ["estimated from its operands and 5 stages"]


def test_with_triton_the_figure_is_exact() -> None:
    pytest.importorskip("triton")
    with pytest.raises(TeenyError) as caught:
        check("sm_90", side=128, inner=64, stages=5)
    (found,) = caught.value.diagnostics
    assert found.code == "E0716"
    assert "the kernel takes" in found.message
    assert check("sm_90", side=128, inner=64, stages=2).warnings == ()
