"""The mutation tool: changes are what they say, wrong kernels are caught, right ones are not."""

from __future__ import annotations

import ast
import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TOOL = ROOT / "tools" / "mutation"
SOURCE = ROOT / "packages" / "teeny-kernels" / "src"
TEXT = '''
from teeny_macros import device, kernel
import teeny_triton as tl


@device
def half(x: int) -> int:
    """Half of x; 1 - 2 is in no kernel."""
    return x * 0.5


@kernel
def copy(out_ptr, x_ptr, n, BLOCK) -> None:
    i = tl.arange(0, BLOCK) + 1
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(out_ptr + i, half(x), mask=i < n)


def host(n: int) -> int:
    return n + 1
'''


@pytest.fixture(name="sites")
def _sites(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOL))
    sys.modules.pop("sites", None)
    return importlib.import_module("sites")


def test_changes_are_made_in_kernels_and_helpers_only(sites: Any, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(TEXT, encoding="utf-8")
    found = sites.find_sites(tmp_path)
    assert {site.function for site in found} == {"half", "copy"}
    told = {(site.kind, site.old, site.new) for site in found}
    assert ("factor dropped", "x * 0.5", "(x)") in told
    assert ("constant", "x * 0.5", "(x * 0.505)") in told
    assert ("bound", "i < n", "i <= n") in told
    load = "tl.load(x_ptr + i, mask=i < n, other=0.0)"
    assert ("mask dropped", load, "tl.load(x_ptr + i)") in told
    assert ("off by one", "tl.arange(0, BLOCK) + 1", "(tl.arange(0, BLOCK) + 2)") in told


def test_every_change_of_the_library_is_python_that_differs(sites: Any) -> None:
    folder = SOURCE / "teeny_kernels"
    found = sites.find_sites(folder)
    assert len(found) > 1000
    for site in found[::23]:
        text = (folder / site.file).read_text(encoding="utf-8")
        changed = sites.apply(text, site)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text)), site.told


@pytest.mark.skipif(not hasattr(os, "fork"), reason="changed kernels run in forked processes")
def test_a_wrong_kernel_is_caught_and_a_right_one_is_not(
    sites: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import subprocess

    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(TOOL)!r})
import run, sites
run.load_everything_else()
source = Path({str(SOURCE)!r})
uses = run.find_uses(source)
site = next(s for s in sites.find_sites(source / "teeny_kernels")
            if s.function == "relu_formula" and s.old != s.new)
wrong = run.try_change(source, site, uses)
right = run.try_change(source, site._replace(new=site.old), uses)
print(wrong.verdict, right.verdict)
"""
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TEENY_LOG", "quiet")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.stdout.split() == ["caught", "survived"], done.stdout + done.stderr
