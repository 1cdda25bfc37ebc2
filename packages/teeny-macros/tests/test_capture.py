"""Capturing functions: where their text is found, and what is refused."""

from __future__ import annotations

import importlib
import linecache
import os
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from teeny_macros import CaptureError, Kernel, TeenyError, device, kernel, normalise

Module = Callable[..., ModuleType]

BODY = "    tl.store(out, x)\n"


def refusal(function: Callable[[], object]) -> TeenyError:
    with pytest.raises(CaptureError) as caught:
        function()
    assert caught.value.diagnostics[0].helps, "each refusal names a remedy"
    return caught.value


def code_of(make: Module, text: str) -> str:
    return refusal(lambda: make(text)).code


# --- where the text is found --------------------------------------------------------------------


def test_a_kernel_of_a_module_is_captured_with_its_places(module: Module) -> None:
    text = '@kernel  # c\ndef k(out, x):\n    """Doc."""\n\n    # c\n    tl.store(out, x)\n'
    found: Any = module(text)
    captured = found.k.captured
    assert found.k.kernel_source == "def k(out, x):\n    tl.store(out, x)\n"
    assert captured.file == found.__file__
    assert captured.in_file(2, 5, 2, 13) == (found.__file__, 9, 5, 9, 13)
    assert (found.k.__name__, found.k.__doc__, found.k.__module__) == ("k", "Doc.", found.__name__)


def test_decorators_above_and_below_are_no_part_of_it(module: Module) -> None:
    text = """\
        import functools
        def tune(**options):
            return lambda found: found
        def noted(f):
            @functools.wraps(f)
            def wrapper(*args):
                return f(*args)
            return wrapper
        @tune(prune=lambda configs: [c for c in configs if (lambda d: (d, ")"))(c)],
              key=("(", {"a": lambda: (1)}))
        @kernel
        @noted
        @tune(
            # (
            x=lambda: 1)
        def k(out, x):
            tl.store(out, x)
        """
    found: Any = module(textwrap.dedent(text))
    assert isinstance(found.k, Kernel)
    assert found.k.kernel_source == "def k(out, x):\n    tl.store(out, x)\n"


def test_nested_functions_and_class_members_are_captured(module: Module) -> None:
    text = """\
        class Kernels:
            class Inner:
                @staticmethod
                @kernel
                def above(out, x):
                    tl.store(out, x)

            @kernel
            @staticmethod
            def below(out, x):
                tl.store(out, x)

            @kernel
            def plain(out, x):
                tl.store(out, x)

        def make():
            if True:
                for _ in range(1):
                    @kernel
                    def k(out, x):
                        tl.store(out, x)
            return k
        """
    found: Any = module(textwrap.dedent(text))
    kernels = [
        found.Kernels.Inner.above,
        found.Kernels.below,
        found.Kernels.plain,
        found.make(),
    ]
    for one in kernels:
        assert one.kernel_source == f"def {one.name}(out, x):\n    tl.store(out, x)\n"


def test_a_kernel_of_a_zipped_module_is_captured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "zipped.zip"
    text = f"from teeny_macros import kernel\n@kernel\ndef k(out, x):  # c\n{BODY}"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("in_an_archive.py", text)
    monkeypatch.syspath_prepend(str(archive))
    found = importlib.import_module("in_an_archive")
    assert found.k.kernel_source == f"def k(out, x):\n{BODY}"
    monkeypatch.delitem(sys.modules, "in_an_archive")


EXECUTED = f"@kernel\ndef k(out, x):\n{BODY}"


def run_as(file: str, text: str = EXECUTED) -> Any:
    names: dict[str, Any] = {"kernel": kernel, "__name__": "somewhere"}
    exec(compile(text, file, "exec"), names)
    return names["k"]


def test_text_run_by_exec_is_refused_and_the_remedy_works(monkeypatch: pytest.MonkeyPatch) -> None:
    error = refusal(lambda: run_as("<generated>"))
    assert error.code == "E0006"
    assert "exec" in error.diagnostics[0].notes[0]
    assert "linecache" in error.diagnostics[0].helps[0]
    lines = EXECUTED.splitlines(keepends=True)
    entry = (len(EXECUTED), None, lines, "<generated>")
    monkeypatch.setitem(linecache.cache, "<generated>", entry)
    assert run_as("<generated>").kernel_source == f"def k(out, x):\n{BODY}"


def test_a_notebook_cell_run_again_gives_the_new_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, text in enumerate(
        (EXECUTED, EXECUTED.replace("store(out, x)", "store(out, x + 1)"))
    ):
        cell = f"<ipython-input-{number}>"
        lines = text.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, cell, (len(text), None, lines, cell))
        found = run_as(cell, text)
    assert "x + 1" in found.kernel_source


def test_a_function_typed_at_a_prompt_is_refused() -> None:
    text = f"from teeny_macros import kernel\n{EXECUTED}\n"
    done = subprocess.run(
        [sys.executable, "-i", "-q"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHON_BASIC_REPL": "1"},
    )
    if sys.version_info < (3, 13):  # later ones keep what is typed
        assert "error[E0006]" in done.stderr
        assert "IPython" in done.stderr


def test_compiled_code_without_its_file_is_refused(module: Module) -> None:
    error = refusal(lambda: run_as("no_such_file.py"))
    assert error.code == "E0006"


def test_a_file_edited_after_its_import_is_noticed(module: Module) -> None:
    found: Any = module(f"def k(out, x):\n{BODY}")
    path = Path(found.__file__)
    for text in ("x = 1\n" * 9, "def other(out, x):\n    pass\n" * 9, "def k(a, b): pass\n" * 9):
        path.write_text(text, encoding="utf-8")
        assert refusal(lambda: kernel(found.k)).code == "E0007"
    path.write_text("", encoding="utf-8")
    assert refusal(lambda: kernel(found.k)).code == "E0006"


def test_the_text_is_what_the_file_held_when_the_decorator_ran(module: Module) -> None:
    found: Any = module(f"def k(out, x):\n{BODY}")
    captured: Any = kernel(found.k)
    Path(found.__file__).write_text("def k(out, x):\n    changed\n", encoding="utf-8")
    linecache.checkcache()
    assert "changed" not in captured.kernel_source
    assert captured.kernel_source.startswith("def k(out, x):")


def test_kernels_that_nobody_uses_cost_no_reading_of_tokens(
    module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    real = normalise.normalise

    def counted(lines: Any, first_line: int, file: str) -> Any:
        read.append(first_line)
        return real(lines, first_line, file)

    monkeypatch.setattr(normalise, "normalise", counted)
    found: Any = module("".join(f"@kernel\ndef k{i}(out, x):\n{BODY}" for i in range(9)))
    assert read == []
    assert found.k3.kernel_source
    assert len(read) == 1


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("@kernel\nclass K: pass\n", "E0001"),
        ("kernel(len)\n", "E0001"),
        ("kernel(3)\n", "E0001"),
        ("import functools\nkernel(functools.partial(print, 1))\n", "E0001"),
        ("k = kernel(lambda out, x: None)\n", "E0002"),
        (f"@kernel\nasync def k(out, x):\n{BODY}", "E0003"),
        ("@kernel\nasync def k(out, x):\n    yield x\n", "E0003"),
        ("@kernel\ndef k(out, x):\n    yield x\n", "E0004"),
        (f"class A:\n    @kernel\n    def k(self, out, x):\n    {BODY}", "E0005"),
        (f"class A:\n    @kernel\n    def k(cls, /, out, x):\n    {BODY}", "E0005"),
        (f"class A:\n    def k(self, out, x):\n    {BODY}kernel(A().k)\n", "E0005"),
        (f"@kernel\ndef k(*args):\n{BODY}", "E0008"),
        (f"@kernel\ndef k(out, **kwargs):\n{BODY}", "E0008"),
        (f"@kernel\ndef k(out, x, stream):\n{BODY}", "E0009"),
        (f"@kernel\ndef k(out, x, *, num_warps):\n{BODY}", "E0009"),
        ("@device\nclass K: pass\n", "E0001"),
        ("k = device(lambda x: x)\n", "E0002"),
    ],
)
def test_what_is_no_plain_function_is_refused(module: Module, text: str, code: str) -> None:
    assert code_of(module, text) == code


def test_a_refusal_points_at_the_function(module: Module) -> None:
    error = refusal(lambda: module(f"x = 1\n@kernel\nasync def k(out, x):\n{BODY}"))
    assert underlined(error) == "def k"
    error = refusal(lambda: module(f"@kernel\ndef k(\n    out,\n    **rest\n):\n{BODY}"))
    assert underlined(error) == "**rest"
    error = refusal(lambda: module(f"@kernel\ndef k(out, stream):\n{BODY}"))
    assert underlined(error) == "stream"


def underlined(error: TeenyError) -> str:
    """What the place of a refusal underlines."""
    span = error.diagnostics[0].span
    assert span is not None
    line = Path(span.file).read_text(encoding="utf-8").split("\n")[span.line - 1]
    return line[span.column - 1 : span.end_column - 1]


def test_a_function_whose_first_parameter_is_called_self_is_a_kernel(module: Module) -> None:
    found: Any = module(
        f"def make():\n    @kernel\n    def k(self, out, x):\n    {BODY}    return k\n"
    )
    assert found.make().name == "k"


def test_variables_of_the_scope_that_only_share_a_name_are_not_kept(module: Module) -> None:
    found: Any = module(
        f"def make():\n    x, out, n, Short = 1, [2], 3, f32\n    @kernel\n"
        f"    def k(out: Ptr[Short], x):\n    {BODY}    return k\n"
    )
    assert set(found.make().captured.local_names) == {"Short"}


def test_a_helper_may_take_a_variable_number_of_arguments(module: Module) -> None:
    found: Any = module("@device\ndef h(*sides):\n    return sides\n")
    assert found.h.captured.text == "def h(*sides):\n    return sides\n"


def test_decorating_twice_is_decorating_once() -> None:
    @kernel
    def k(out: Any) -> None:
        pass

    assert kernel(k) is k  # type: ignore[call-overload]


def test_a_device_function_is_itself_for_checkers_and_named_alike_at_run_time() -> None:
    @device
    def helper(x: int) -> int:
        """Doc."""
        return x

    assert (helper.__name__, helper.__doc__) == ("helper", "Doc.")
    assert "device function" in repr(helper)
