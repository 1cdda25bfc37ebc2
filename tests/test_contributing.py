"""CONTRIBUTING.md is true: adding an operation, done as the page says in a copy of the packages.

The page's example is taken out of the copy, and put in again half by half; its composite is new.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PACKAGES = ("teeny-macros", "teeny-triton", "teenyc")
KINDS = {".py", ".pyi", ".mlir", ".md"}
GOLDEN_TEST = "packages/teenyc/tests/ops/test_golden_ops.py"
GOLDENS = "packages/teenyc/tests/golden/ops"
BLOCK = re.compile(
    r"^(?P<indent> *)```py (?P<path>packages/\S+)(?P<new> \(new\))?\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)

pytestmark = pytest.mark.timeout(300)


def snippets(*, new: bool) -> dict[str, str]:
    """The page's texts by the file that they belong to, without the indentation of the page."""
    found: dict[str, str] = {}
    for match in BLOCK.finditer(PAGE):
        if bool(match["new"]) is new:
            indent = match["indent"]
            lines = match["text"].splitlines(keepends=True)
            found[match["path"]] = "".join(line.removeprefix(indent) for line in lines)
    return found


EXAMPLE = snippets(new=False)
COMPOSITE = snippets(new=True)
RECORD = {path: text for path, text in EXAMPLE.items() if "/teenyc/ops/" in path}
LANGUAGE = {path: text for path, text in EXAMPLE.items() if path not in RECORD}


class Copy:
    """A copy of the packages that an operation needs, and the commands of the page in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        ignored = shutil.ignore_patterns("__pycache__", ".*", "_embedded.py")
        for name in PACKAGES:
            shutil.copytree(ROOT / "packages" / name, root / "packages" / name, ignore=ignored)
        for name in ("pyproject.toml", "conftest.py"):
            shutil.copy(ROOT / name, root / name)
        (root / "tests").mkdir()
        sources = [str(root / "packages" / name / "src") for name in PACKAGES]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}

    def change(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands in a file exactly once."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"CONTRIBUTING.md shows what {path} does not hold"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def take_out(self, parts: dict[str, str]) -> None:
        """Remove texts, leaving a line where each stood."""
        for path, text in parts.items():
            self.change(path, text, self.mark(text))

    def put_in(self, parts: dict[str, str]) -> None:
        """Put them in where they stood."""
        for path, text in parts.items():
            self.change(path, self.mark(text), text)

    @staticmethod
    def mark(text: str) -> str:
        """A comment in the place of a text, at its indentation."""
        return f"{' ' * (len(text) - len(text.lstrip()))}# here\n"

    def run(self, *command: str, folder: str = ".") -> subprocess.CompletedProcess[str]:
        """Run Python in the copy."""
        return subprocess.run(
            [sys.executable, *command],
            cwd=self.root / folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def contents(self) -> dict[Path, bytes]:
        """All sources, stubs and goldens."""
        parts = ("packages/teeny-triton/src", "packages/teenyc/src", GOLDENS)
        files = (path for part in parts for path in (self.root / part).rglob("*.*"))
        return {path: path.read_bytes() for path in files if path.suffix in KINDS}

    def stubs(self) -> None:
        """Step 3."""
        done = self.run("-m", "stubgen", folder="packages/teeny-triton")
        assert done.returncode == 0, done.stdout + done.stderr

    def tests(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What `nox -s test` or `nox -s golden` run, with a part of the tests."""
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)

    def missing(self) -> list[str]:
        """Step 4: what the completeness test names."""
        done = self.tests("packages/teenyc/tests/test_ops_complete.py", "-k", "nothing_is_missing")
        assert done.returncode in (0, 1), done.stdout
        named = r"^E +(?:AssertionError: )?((?:DSL|handler|op|operator) `.*)"
        found = re.findall(named, done.stdout, re.MULTILINE)
        assert bool(found) == bool(done.returncode), done.stdout
        return list(dict.fromkeys(found))

    def golden(self, name: str) -> None:
        """Step 5, of one operation."""
        done = self.tests(GOLDEN_TEST, "--update-golden", "-k", f"[{name}]")
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def test_the_page_shows_one_record_and_one_function(copy: Copy) -> None:
    assert len(RECORD) == len(COMPOSITE) == 1
    assert [Path(path).name for path in LANGUAGE] == ["math.py", "types.py"]


def test_an_operation_is_added_as_the_page_says(copy: Copy) -> None:
    golden = copy.root / GOLDENS / "floor.mlir"
    before = copy.contents()
    copy.take_out(EXAMPLE)
    golden.unlink()
    assert copy.missing() == []
    copy.put_in(LANGUAGE)
    assert copy.missing() == ["DSL `floor` has no handler in teenyc.ops"]
    copy.take_out(LANGUAGE)
    copy.put_in(RECORD)
    assert copy.missing() == [
        "handler `floor` has no DSL function",
        "op `math.floor` names the unknown DSL function `floor`",
    ]
    copy.put_in(LANGUAGE)
    copy.stubs()
    assert copy.missing() == []
    copy.golden("floor")
    assert copy.contents() == before


def add_composite(copy: Copy) -> str:
    """Step 2 of the composite, unless that is done; the file that holds it."""
    ((path, text),) = COMPOSITE.items()
    file = copy.root / path
    before = file.read_text(encoding="utf-8")
    if text not in before:
        file.write_text(f"{before}\n\n{text}", encoding="utf-8")
    return path


def test_a_composite_operation_is_one_function(copy: Copy) -> None:
    path = add_composite(copy)
    copy.stubs()
    assert copy.missing() == []
    golden = copy.root / GOLDENS / "softsign.mlir"
    copy.golden("softsign")
    assert "math.absf" in golden.read_text(encoding="utf-8")
    stub = (copy.root / path).with_suffix(".pyi").read_text(encoding="utf-8")
    assert "def softsign(x: Tensor[F, R]) -> Tensor[F, R]:" in stub


def test_what_was_added_computes_and_verifies(copy: Copy) -> None:
    """In the interpreter; and libtriton takes both goldens, where it is installed."""
    program = copy.root / "use.py"
    program.write_text(
        dedent(
            """
            import numpy as np
            import teeny_triton as tl
            from teeny_macros import kernel
            from teeny_triton import Ptr, f32
            from teeny_triton.triton_lang import TRITON, TRITON_SHA
            from teenyc.interp import load

            @kernel
            def both(x_ptr: Ptr[f32], out_ptr: Ptr[f32]) -> None:
                o = tl.arange(0, 4)
                x = tl.load(x_ptr + o)
                tl.store(out_ptr + o, tl.floor(x) + tl.softsign(x))

            x, out = np.array([-1.5, 0.0, 1.0, 3.0], np.float32), np.zeros(4, np.float32)
            unit = both.instantiate().unit(TRITON, TRITON_SHA)
            load(unit.render()).launch((1, 1, 1), [x, out])
            print(out.tolist())
            """
        ),
        encoding="utf-8",
    )
    done = copy.run(str(program))
    assert done.returncode == 0, done.stderr
    expected = [-2 - 1.5 / 2.5, 0.0, 1.5, 3.75]
    assert [round(float(value), 5) for value in done.stdout.strip("[]\n").split(",")] == expected


@pytest.mark.accept
def test_libtriton_takes_what_was_added(copy: Copy) -> None:
    add_composite(copy)
    for name in ("floor", "softsign"):
        done = copy.tests(GOLDEN_TEST, "-m", "accept", "-k", f"[{name}]")
        assert done.returncode == 0, done.stdout
