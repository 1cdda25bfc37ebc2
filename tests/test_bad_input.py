"""Bad input from end to end: `@kernel` in a user's file, then a compilation or a launch.

Each is a coded error at its own place in that file, and leaves nothing in the cache. In the files
below, `«` and `»` stand around the place.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from teeny_macros import Target, TeenyError

HEAD = """\
import numpy as np
import teeny_triton as tl
from teeny_compiler import compile_kernel
from teeny_macros import Target, device, kernel
from teeny_triton import Const, Ptr, f32, i32

"""
# A kernel with nothing wrong, for launches that are.
FILL = """\
@kernel
def fill(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int]) -> None:
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, 1.0, mask=offsets < n)

def run(x, **more):
"""

User = Callable[[str], ModuleType]


class Place(ModuleType):
    """What a user's module is here: its functions, and the place marked in it."""

    place: tuple[str, int, int, int]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own cache directory, and no variable of ours set besides."""
    for name in list(os.environ):
        if name.startswith(("TEENYC_", "TEENY_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "cache"
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def user(tmp_path: Path, cache: Path) -> Iterator[Callable[[str], Any]]:
    """Imports a user's module from its marked text."""
    made: list[str] = []

    def make(text: str) -> Any:
        lines = (HEAD + text).splitlines()
        path = tmp_path / f"user_file_{len(made)}.py"
        module = Place(path.stem)
        for number, line in enumerate(lines, start=1):
            if "«" in line:
                start = line.index("«") + 1
                module.place = (str(path), number, start, line.index("»"))
        path.write_text("\n".join(lines).translate({0xAB: None, 0xBB: None}), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module.__spec__ = spec
        module.__file__ = str(path)
        made.append(path.stem)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
        return module

    yield make
    for name in made:
        del sys.modules[name]


def refusal(run: Callable[[], object], code: str) -> TeenyError:
    """The coded error that `run` ends with."""
    with pytest.raises(TeenyError) as caught:
        run()
    assert caught.value.code == code, str(caught.value)
    return caught.value


def place_of(error: TeenyError) -> tuple[str, int, int, int]:
    """File, line, column and end column of the first fault."""
    span = error.diagnostics[0].span
    assert span is not None, str(error)
    return span.file, span.line, span.column, span.end_column


def entries(cache: Path) -> list[str]:
    """The entries of the cache, and what a writer has left behind; not reproducers of crashes."""
    found = [*cache.glob("??/*"), *cache.glob(".tmp/**/*")]
    return sorted(str(path.relative_to(cache)) for path in found)


# --- the text of a kernel -------------------------------------------------------------------------

BODIES = {
    "unknown name": ("E0201", "tl.store(x_ptr, «nothing» + 1)"),
    "unknown function of the language": ("E0202", "tl.store(x_ptr, «tl.nothing»(1))"),
    "unsupported syntax": ("E0102", "«try»: pass\n    finally: pass"),
    "block size no power of two": ("E0401", "tl.store(x_ptr + tl.arange(0, «N»), 1.0)"),
    "shape mismatch": ("E0403", "tl.store(x_ptr, tl.arange(0, 16) + «tl.arange(0, 32)»)"),
    "mask of the wrong dtype": (
        "E0502",
        "o = tl.arange(0, 16)\n    tl.store(x_ptr + o, tl.load(x_ptr + o, mask=«o»))",
    ),
    "mask of the wrong rank": (
        "E0505",
        "o = tl.arange(0, 16)\n    tl.store(x_ptr + o, 1.0, mask=«o[:, None] < 3»)",
    ),
    "float index": ("E0309", "o = tl.arange(0, 16)\n    tl.store(x_ptr + «o / 2», 1.0)"),
}


@pytest.mark.parametrize("way", ["launch", "compile_kernel"])
@pytest.mark.parametrize("fault", BODIES)
def test_a_fault_in_a_kernel_has_its_place(
    fault: str, way: str, user: Callable[[str], Any], cache: Path
) -> None:
    code, body = BODIES[fault]
    module = user(f"N = 10\n\n@kernel\ndef faulty(x_ptr: Ptr[f32]) -> None:\n    {body}\n")

    def run() -> object:
        if way == "launch":
            return module.faulty[1](np.zeros(16, np.float32))
        return module.compile_kernel(module.faulty, Target.cuda("sm_90"))

    found = place_of(refusal(run, code))
    assert (found[0], found[1], found[2]) == module.place[:3]
    if fault != "unsupported syntax":  # a whole statement, of which the keyword is the beginning
        assert found == module.place
    assert entries(cache) == []


def test_a_fault_in_a_helper_is_there_and_names_the_call(user: Callable[[str], Any]) -> None:
    module = user(
        "@device\ndef half(x):\n    return x / «two»\n\n"
        "@kernel\ndef faulty(x_ptr: Ptr[f32]):\n    tl.store(x_ptr, half(tl.load(x_ptr)))\n"
    )
    error = refusal(lambda: module.faulty[1](np.zeros(1, np.float32)), "E0201")
    assert place_of(error) == module.place
    assert "called here" in str(error)
    assert [label.span.line for label in error.diagnostics[0].labels] == [9, 13]


def test_several_faults_are_told_at_once(user: Callable[[str], Any]) -> None:
    module = user(
        "@kernel\ndef faulty(x_ptr: Ptr[f32]):\n"
        "    tl.store(x_ptr, first)\n    tl.store(x_ptr, second)\n"
    )
    error = refusal(lambda: module.faulty[1](np.zeros(1, np.float32)), "E0201")
    assert [fault.span.line for fault in error.diagnostics if fault.span] == [9, 10]


def test_an_error_leaves_the_entries_of_others_alone(
    user: Callable[[str], Any], cache: Path
) -> None:
    fine = user(FILL + "    fill[1](x, 3, BLOCK=16)\n")
    fine.run(np.zeros(16, np.float32))
    before = entries(cache)
    assert before
    faulty = user("@kernel\ndef faulty(x_ptr: Ptr[f32]):\n    tl.store(x_ptr, nothing)\n")
    refusal(lambda: faulty.faulty[1](np.zeros(1, np.float32)), "E0201")
    assert entries(cache) == before


# --- launches -------------------------------------------------------------------------------------

LAUNCHES = {
    "missing compile-time value": ("E1011", "«fill[1](x, 3)»"),
    "missing compile-time value of an instance": ("E1011", "«fill.instantiate()»"),
    "missing compile-time value of a compilation": (
        "E1011",
        "«compile_kernel(fill, Target.interpret())»",
    ),
    "too few arguments": ("E1003", "«fill[1](x, BLOCK=16)»"),
    "too many arguments": ("E1004", "«fill[1](x, 3, 16, 4)»"),
    "unknown argument": ("E1005", "«fill[1](x, n=3, m=4, BLOCK=16)»"),
    "array of the wrong dtype": ("E1007", "«fill[1](x.astype(np.float64), 3, BLOCK=16)»"),
    "number of the wrong dtype": ("E1007", "«fill[1](x, 1.5, BLOCK=16)»"),
    "no array": ("E1014", "«fill[1]([1.0], 3, BLOCK=16)»"),
    "grid that is none": ("E1019", "«fill[1, 2, 3, 4](x, 3, BLOCK=16)»"),
    "read-only output": ("E1020", "«fill[1](np.broadcast_to(x, (16,)), 3, BLOCK=16)»"),
}


@pytest.mark.parametrize("fault", LAUNCHES)
def test_a_fault_in_a_call_has_the_place_of_the_call(
    fault: str, user: Callable[[str], Any], cache: Path
) -> None:
    code, call = LAUNCHES[fault]
    module = user(f"{FILL}    {call}\n")
    x = np.zeros(16, np.float32)
    error = refusal(lambda: module.run(x), code)
    assert place_of(error) == module.place
    assert not x.any()
    assert entries(cache) == []


def test_a_fault_in_a_call_also_shows_the_parameter(user: Callable[[str], Any]) -> None:
    module = user(f"{FILL}    fill[1](x, 1.5, BLOCK=16)\n")
    error = refusal(lambda: module.run(np.zeros(16, np.float32)), "E1007")
    other = error.diagnostics[0].labels[1].span
    assert (other.line, other.column, other.end_column) == (8, 27, 28)
    assert "def fill(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int])" in str(error)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("E1015", "«fill[1](x, 3, BLOCK=16, device='cuda:0')»"),
        ("E1016", "«pair[1](x, more['y'])»"),
    ],
)
def test_an_array_on_the_wrong_device_is_refused(
    code: str, call: str, user: Callable[[str], Any], cache: Path
) -> None:
    pytest.importorskip("cuda.bindings")
    import teeny_cuda
    from teeny_cuda.testing import fake_driver

    pair = (
        "@kernel\ndef pair(x_ptr: Ptr[f32], y_ptr: Ptr[f32]):\n"
        "    tl.store(x_ptr, tl.load(y_ptr))\n\n"
    )
    module = user(f"{pair}{FILL}    {call}\n")
    with fake_driver():
        y = teeny_cuda.Device(0).buffer(16, "f32")
        error = refusal(lambda: module.run(np.zeros(16, np.float32), y=y), code)
        assert place_of(error) == module.place
    assert entries(cache) == []


# --- what compiles --------------------------------------------------------------------------------


def executable(path: Path, text: str) -> Path:
    """A Python program that can be run as a command."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_teenyc(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No toolchain anywhere; the folder where named ones would be."""
    from teeny_compiler import places

    monkeypatch.setattr(places, "scripts_folders", lambda: (str(tmp_path / "scripts"),))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "teeny" / "toolchains"


def test_an_absent_toolchain_is_said_at_the_call(
    user: Callable[[str], Any], cache: Path, no_teenyc: Path
) -> None:
    module = user(FILL + "    «fill[1](x, 3, BLOCK=16)»\n")
    error = refusal(lambda: module.run(np.zeros(16, np.float32)), "E0901")
    assert place_of(error) == module.place
    assert entries(cache) == []


def test_several_toolchains_are_said_at_the_call(
    user: Callable[[str], Any], cache: Path, no_teenyc: Path
) -> None:
    from teeny_compiler import places

    for name in ("teenyc-1", "teenyc-2"):
        executable(Path(places.executable_in(str(no_teenyc / name))), "")
    module = user(FILL + "    «fill[1](x, 3, BLOCK=16)»\n")
    error = refusal(lambda: module.run(np.zeros(16, np.float32)), "E0902")
    assert place_of(error) == module.place
    assert entries(cache) == []


def test_an_unwritable_cache_loses_the_caching_and_not_the_result(
    user: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # No one can make a directory below a file, root neither.
    (tmp_path / "file").write_text("", encoding="utf-8")
    module = user(FILL + "    fill[1](x, 3, BLOCK=16)\n")
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    x = np.zeros(16, np.float32)
    module.run(x)
    assert x.tolist() == [1.0] * 3 + [0.0] * 13
    assert "warning[W0920]" in capsys.readouterr().err


def test_a_back_end_that_dies_is_a_coded_error_with_a_reproducer(
    user: Callable[[str], Any], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if importlib.util.find_spec("triton") is None:  # not imported: other tests fork this process
        pytest.skip("the GPU back end needs the extra teenyc[cuda]")
    teenyc = executable(
        tmp_path / "teenyc",
        "import os, signal, sys\n"
        "from teenyc.backend.gpu import libtriton\n"
        "from teenyc.cli import main\n"
        "libtriton.run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "sys.exit(main())\n",
    )
    monkeypatch.setenv("TEENYC_PATH", str(teenyc))
    module = user("@kernel\ndef «doomed»(x_ptr: Ptr[f32]):\n    tl.store(x_ptr, 1.0)\n")
    error = refusal(lambda: module.compile_kernel(module.doomed, Target.cuda("sm_90")), "E0703")
    assert "SIGKILL" in str(error)
    assert entries(cache) == []


# --- what never happens ---------------------------------------------------------------------------

WATCH = """\
import sys
log = open({log!r}, "a", encoding="utf-8")
def watch(event, args):
    if event == "exec":
        code = args[0]
        print("exec", code.co_filename, code.co_name, *code.co_names, file=log, flush=True)
    elif event == "import":
        print("import", args[0], file=log, flush=True)
sys.addaudithook(watch)
from teenyc.cli import main
sys.exit(main())
"""


def test_compiling_executes_no_user_code(
    user: Callable[[str], Any], cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the process that launches nor in teenyc, and the module is imported only once."""
    trace = tmp_path / "trace.txt"
    teenyc = executable(tmp_path / "teenyc", WATCH.format(log=str(trace)))
    monkeypatch.setenv("TEENYC_PATH", str(teenyc))
    module = user(
        "ran = ['import']\ndef note(kind):\n    ran.append('annotation')\n    return kind\n\n"
        "@device\ndef peculiar_helper(x, by: note(f32)):\n"
        "    return x * by\n\n"
        "@kernel\ndef peculiar_kernel(x_ptr: note(Ptr[f32]), N: Const[int]):\n"
        "    tl.static_assert(N > 1)\n"
        "    o = tl.arange(0, N)\n"
        "    tl.store(x_ptr + o, peculiar_helper(tl.load(x_ptr + o), 3.0))\n"
    )
    ran = list(module.ran)
    path = module.__file__
    entered: list[str] = []

    def profile(frame: Any, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code.co_filename == path:
            entered.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        instance = module.peculiar_kernel.instantiate(N=16)
        module.compile_kernel(instance, Target.interpret())
    finally:
        sys.setprofile(None)
    assert entered == []
    assert module.ran == ran == ["import", "annotation", "annotation"]
    said = trace.read_text(encoding="utf-8")
    assert "exec" in said
    assert "teenyc/cli.py" in said
    for name in ("peculiar", module.__name__, "teeny_triton", "ran"):
        assert not any(name in line.split() for line in said.splitlines()), name
    assert "peculiar" not in said
