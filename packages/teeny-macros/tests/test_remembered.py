"""What reading functions found is kept beside a file, and never used for another text."""

from __future__ import annotations

import importlib.util
import linecache
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_macros import remembered

HEAD = """\
import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Ptr, f32, i32

SCALE = 2.5
"""
TEXT = (
    HEAD
    + """

@device
def scaled(x):
    return x * SCALE


@kernel
def scale(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    \"\"\"A docstring.\"\"\"
    i = tl.arange(0, BLOCK)  # a comment
    tl.store(x_ptr + i, scaled(tl.load(x_ptr + i, mask=i < n)), mask=i < n)
"""
)
Load = Callable[[], ModuleType]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kernels.py"


@pytest.fixture(autouse=True)
def memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    yield
    remembered._memories.clear()
    remembered._pending.clear()


def kept(file: Path) -> Path:
    tag = sys.implementation.cache_tag
    return file.parent / "__pycache__" / f"{file.stem}.{tag}.teeny"


def load(file: Path) -> ModuleType:
    """The module as a new process would import it."""
    remembered._write_pending()
    remembered._memories.clear()
    remembered._pending.clear()
    linecache.clearcache()
    spec = importlib.util.spec_from_file_location("kernels_of_a_test", file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    # Python's own cache goes by size and time, which the tests here leave alone on purpose.
    exec(compile(file.read_text("utf-8"), str(file), "exec"), module.__dict__)
    return module


def made(module: ModuleType) -> tuple[str, str, dict[int, Any]]:
    instance = module.scale.instantiate(BLOCK=64)
    return instance.id, instance.source, instance.source_map.origins


def forbid_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise AssertionError("it reads the text again")

    monkeypatch.setattr("teeny_macros.normalise.normalise", refuse)
    monkeypatch.setattr("teeny_macros.names.find_uses", refuse)


def write_as_before(file: Path, text: str) -> None:
    """Another text, which its file's time does not tell."""
    info = file.stat()
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(info.st_atime_ns, info.st_mtime_ns))


def test_second_process_reads_no_text_and_gets_the_same(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(TEXT, encoding="utf-8")
    first = made(load(file))
    module = load(file)
    forbid_reading(monkeypatch)
    assert made(module) == first


def test_process_that_finds_all_remembered_imports_neither_tokens_nor_trees(file: Path) -> None:
    file.write_text(TEXT, encoding="utf-8")
    program = (
        "import sys, kernels\n"
        "print(kernels.scale.instantiate(BLOCK=64).id)\n"
        "print('teeny_macros.normalise' in sys.modules, 'teeny_macros.names' in sys.modules)\n"
    )
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = os.pathsep.join([str(file.parent), *filter(None, sys.path)])
    said = [
        subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert said[0][0] == said[1][0]
    assert said[0][1:] == ["True", "True"]
    assert said[1][1:] == ["False", "False"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x * SCALE", "x / SCALE"),  # a helper, of the same length
        ("i = tl.arange(0, BLOCK)", "i = tl.arange(1, BLOCK)"),
        ("SCALE = 2.5", "SCALE = 3.5"),  # a captured value: no part of what is remembered
        ("mask=i < n)\n", "mask=i < 1)\n"),
    ],
)
def test_edit_that_neither_size_nor_time_tells_is_seen(before: str, after: str, file: Path) -> None:
    file.write_text(TEXT, encoding="utf-8")
    first = made(load(file))
    assert made(load(file)) == first
    write_as_before(file, TEXT.replace(before, after))
    second = made(load(file))
    assert second[0] != first[0]
    assert after.strip().rstrip(")") in second[1]


def test_lines_put_before_a_kernel_move_its_places_and_keep_its_identity(file: Path) -> None:
    file.write_text(TEXT, encoding="utf-8")
    first = made(load(file))
    file.write_text("# one\n# two\n" + TEXT, encoding="utf-8")
    second = made(load(file))
    assert second[0] == first[0]
    assert {line: origin.line - 2 for line, origin in second[2].items()} == {
        line: origin.line for line, origin in first[2].items()
    }


def test_value_of_an_enclosing_function_is_looked_up_in_each_process(file: Path) -> None:
    text = HEAD + (
        "\n\ndef make(by):\n"
        "    @kernel\n"
        "    def scale(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:\n"
        "        i = tl.arange(0, BLOCK)\n"
        "        tl.store(x_ptr + i, tl.load(x_ptr + i) * by)\n"
        "    return scale\n"
    )
    file.write_text(text, encoding="utf-8")
    two = load(file).make(2.0).instantiate(BLOCK=64)
    three = load(file).make(3.0).instantiate(BLOCK=64)
    assert "by = 2.0" in two.source
    assert "by = 3.0" in three.source
    assert load(file).make(2.0).instantiate(BLOCK=64).id == two.id


def test_kernels_renamed_from_one_text_are_remembered_apart(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD + (
        "\n\ndef make(name):\n"
        "    @kernel(name=name)\n"
        "    def scale(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:\n"
        "        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)\n"
        "    return scale\n"
    )
    file.write_text(text, encoding="utf-8")
    module = load(file)
    first = [module.make(name).instantiate(BLOCK=64).id for name in ("a", "longer")]
    assert first[0] != first[1]
    module = load(file)
    forbid_reading(monkeypatch)
    assert [module.make(name).instantiate(BLOCK=64).id for name in ("a", "longer")] == first


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "noise", "folder"])
def test_damaged_memory_is_read_anew_and_mended(damage: str, file: Path) -> None:
    file.write_text(TEXT, encoding="utf-8")
    first = made(load(file))
    load(file)
    path = kept(file)
    whole = path.read_bytes()
    if damage == "flip":
        for at in range(0, len(whole), 97):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
            assert made(load(file)) == first
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes({"cut": whole[:-7], "empty": b"", "noise": b"\xff" * 500}[damage])
    assert made(load(file)) == first
    load(file)
    assert path.is_dir() or path.read_bytes()[:32] == whole[:32]


def test_memory_of_another_python_or_version_counts_for_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(TEXT, encoding="utf-8")
    first = made(load(file))
    load(file)
    before = kept(file).read_bytes()
    monkeypatch.setattr(remembered, "_revisions", [b"another"])
    assert made(load(file)) == first
    load(file)
    assert kept(file).read_bytes()[:32] != before[:32]


def test_where_python_writes_no_code_nothing_is_written(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file.write_text(TEXT, encoding="utf-8")
    made(load(file))
    load(file)
    assert list(file.parent.iterdir()) == [file]


def test_folder_that_cannot_be_written_costs_nothing_but_time(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(os, "makedirs", refuse)
    file.write_text(TEXT, encoding="utf-8")
    assert made(load(file)) == made(load(file))
    assert not kept(file).exists()


def test_many_processes_at_once_leave_one_whole_file(file: Path) -> None:
    file.write_text(TEXT, encoding="utf-8")
    program = "import kernels; print(kernels.scale.instantiate(BLOCK=64).id)"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = os.pathsep.join([str(file.parent), *filter(None, sys.path)])
    running = [
        subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE)
        for _ in range(6)
    ]
    assert len({process.communicate()[0] for process in running}) == 1
    assert [path.name for path in kept(file).parent.glob("*.teeny*")] == [kept(file).name]


def test_text_without_a_file_is_not_remembered() -> None:
    name = "<cell 1>"
    lines = TEXT.splitlines(keepends=True)
    linecache.cache[name] = (len(TEXT), None, lines, name)
    space: dict[str, Any] = {}
    exec(compile(TEXT, name, "exec"), space)
    assert space["scale"].instantiate(BLOCK=64).id
    assert remembered.of(name, lines) is None
