"""What went wrong in other toolchains: caches that mixed kernels up, homes that are not there, ...

Each test runs a program as a user has it, in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(120)
HEAD = """\
import sys
import numpy as np
import teeny_triton as tl
from teeny_macros import kernel, device
from teeny_triton import Const, Ptr, f32, i32, constexpr
"""
COPY = """
@kernel
def copy(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i) + 1.0)
"""
LAUNCH = """
x = np.zeros(16, np.float32)
copy[1](x, BLOCK=16)
assert (x == 1).all()
"""


@pytest.fixture
def run(tmp_path: Path, cache_dir: Path) -> Any:
    """Runs a program on host arrays and returns what it printed; `env` changes its environment."""

    def start(
        text: str, *, env: dict[str, str | None] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        file = tmp_path / "program.py"
        file.write_text(text, encoding="utf-8")
        changed = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "pycache"), **(env or {})}
        kept = {name: value for name, value in changed.items() if value is not None}
        done = subprocess.run(
            [sys.executable, str(file)],
            cwd=cwd or tmp_path,
            env=kept,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    return start


def compiled(done: subprocess.CompletedProcess[str]) -> int:
    return done.stderr.count("teeny: compiled")


# --- the cache ------------------------------------------------------------------------------------


def test_an_edit_two_helpers_down_in_another_module_compiles_again(
    run: Any, tmp_path: Path
) -> None:
    (tmp_path / "outer.py").write_text(
        "from teeny_macros import device\nfrom inner import slope\n"
        "@device\ndef leaky(x):\n    return slope(x)\n",
        encoding="utf-8",
    )
    inner = (
        "import teeny_triton as tl\nfrom teeny_macros import device\n{more}"
        "@device\ndef slope(x):\n    return tl.where(x > 0, x, x * {factor})\n"
    )
    text = (
        HEAD
        + """
from outer import leaky
@kernel
def activate(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, leaky(tl.load(x_ptr + i)))
x = np.full(16, -1, np.float32)
activate[1](x, BLOCK=16)
print(round(float(x[0]), 4))
"""
    )
    module = tmp_path / "inner.py"
    module.write_text(inner.format(more="", factor=0.01), encoding="utf-8")
    first = run(text)
    module.write_text(inner.format(more="", factor=0.02), encoding="utf-8")
    second = run(text)
    unrelated = "UNRELATED = 3\ndef other():\n    return UNRELATED\n# a remark\n"
    module.write_text(inner.format(more=unrelated, factor=0.02), encoding="utf-8")
    third = run(text)
    assert [done.stdout for done in (first, second, third)] == ["-0.01\n", "-0.02\n", "-0.02\n"]
    assert [compiled(done) for done in (first, second, third)] == [1, 1, 0]


def test_a_closures_variable_is_not_the_global_of_its_name(run: Any) -> None:
    done = run(
        HEAD
        + """
K = 7
def factory(v):
    K = constexpr(v)
    @kernel
    def fill(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:
        value = 0.0 if K is None else K
        tl.store(x_ptr + tl.arange(0, BLOCK), value + tl.zeros((BLOCK,), f32))
    return fill
for v in (1, 2, None):
    x = np.full(16, -1, np.float32)
    factory(v)[1](x, BLOCK=16)
    print(float(x[0]))
"""
    )
    assert done.stdout.split() == ["1.0", "2.0", "0.0"]
    assert compiled(done) == 3


def test_a_linked_cache_and_a_linked_working_directory_work(run: Any, tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    for name in ("cache link", "work link"):
        (tmp_path / name).symlink_to(real)
    env = {"TEENYC_CACHE_DIR": str(tmp_path / "cache link")}
    assert compiled(run(HEAD + COPY + LAUNCH, env=env, cwd=tmp_path / "work link")) == 1
    assert compiled(run(HEAD + COPY + LAUNCH, env=env, cwd=tmp_path / "work link")) == 0


@pytest.mark.parametrize("home", ["/", "/nonexistent", "", None])
def test_a_home_that_is_not_there_or_not_writable_does_not_matter(
    home: str | None, run: Any
) -> None:
    env = {"HOME": home, "XDG_DATA_HOME": None, "XDG_CACHE_HOME": None}
    done = run(HEAD + COPY + LAUNCH, env=env)
    assert "warning" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_cache_that_cannot_be_used_is_one_warning_that_names_the_variable(run: Any) -> None:
    many = "".join(f"copy[1](x, BLOCK={2**n})\n" for n in range(3, 7))
    text = HEAD + COPY + "x = np.zeros(64, np.float32)\n" + many
    done = run(text, env={"TEENYC_CACHE_DIR": "/proc/no/such"})
    assert done.stderr.count("warning[W0920]") == 1
    assert "TEENYC_CACHE_DIR" in done.stderr
    assert "Traceback" not in done.stderr


def test_kernels_that_differ_in_launch_options_are_three_kernels(run: Any) -> None:
    if find_spec("triton") is None:
        pytest.skip("PTX needs triton, which is not installed")
    done = run(
        HEAD
        + COPY
        + """
from teeny_compiler import Target, compile_kernel
made = [compile_kernel(copy.instantiate(BLOCK=256, num_warps=n), Target.cuda("sm_90"))
        for n in (1, 4, 8)]
assert len({one.path for one in made}) == 3
for one in made:
    threads = one.read_text().partition(".reqntid ")[2].split()[0]
    print(one.metadata.num_warps, threads)
"""
    )
    assert done.stdout.splitlines() == ["1 32", "4 128", "8 256"]


# --- machines -------------------------------------------------------------------------------------


def test_without_a_driver_all_but_a_launch_on_a_gpu_works(run: Any) -> None:
    if find_spec("triton") is None:
        pytest.skip("PTX needs triton, which is not installed")
    done = run(
        HEAD
        + COPY
        + LAUNCH
        + """
import teeny_cuda, teeny_cuda.testing
from teeny_compiler import Target, compile_kernel
from teeny_macros import TeenyError
print(compile_kernel(copy.instantiate(BLOCK=16), Target.cuda("sm_90")).path.suffix)
try:
    copy.on(1, device="cuda")(None, BLOCK=16)
except TeenyError as error:
    print(error.code)
""",
        env={"CUDA_VISIBLE_DEVICES": "-1"},
    )
    suffix, code = done.stdout.split()
    assert suffix == ".ptx"
    assert code in {"E1051", "E1052"}


def test_nothing_is_looked_for_on_the_path(run: Any, tmp_path: Path) -> None:
    text = HEAD + COPY + LAUNCH
    if find_spec("triton") is not None:
        text += """
from teeny_compiler import Target, compile_kernel
print(compile_kernel(copy.instantiate(BLOCK=16), Target.cuda("sm_90")).path.suffix)
"""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert run(text, env={"PATH": str(empty), "CC": None, "CXX": None}).returncode == 0


def test_a_barrier_on_a_cpu_does_nothing(run: Any) -> None:
    barrier = COPY.replace("    tl.store", "    tl.debug_barrier()\n    tl.store")
    run(HEAD + barrier + LAUNCH)


# --- what users see -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("try:\n        pass\n    except ValueError:\n        pass", "try"),
        ("with open('x') as f:\n        pass", "with"),
        ("import os", "import"),
    ],
)
def test_a_construct_that_no_kernel_can_hold_is_named_with_its_place(
    line: str, words: str, run: Any
) -> None:
    text = HEAD + COPY.replace("    tl.store", f"    {line}\n    tl.store")
    done = run(
        text
        + """
from teeny_macros import TeenyError
try:
    copy[1](np.zeros(16, np.float32), BLOCK=16)
except TeenyError as error:
    found = error.diagnostics[0]
    span = found.labels[0].span
    print(found.code, span.line, span.column)
    print(error)
"""
    )
    code, at, column = done.stdout.splitlines()[0].split()
    assert code.startswith("E01")
    wanted = line.splitlines()[0]
    assert wanted in text.splitlines()[int(at) - 1]
    assert int(column) >= 5
    assert words in done.stdout
    assert "AttributeError" not in done.stdout
    assert "object has no attribute" not in done.stdout


def test_annotations_and_functions_that_nobody_calls_are_accepted(run: Any) -> None:
    lines = "    K: tl.constexpr = 4\n    y: int\n    f = lambda y: y\n    tl.store"
    text = COPY.replace("    tl.store", lines).replace("+ 1.0", "+ K - 3")
    run(HEAD + text + LAUNCH)


def test_an_error_survives_a_process_pool(run: Any, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        HEAD
        + COPY.replace("+ 1.0", "+ nothing")
        + """
def job(_):
    copy[1](np.zeros(16, np.float32), BLOCK=16)
""",
        encoding="utf-8",
    )
    done = run("""
import multiprocessing, pickle
from concurrent.futures import ProcessPoolExecutor
from teeny_macros import TeenyError
import work
if __name__ == "__main__":
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        try:
            pool.submit(work.job, 0).result()
        except TeenyError as error:
            again = pickle.loads(pickle.dumps(error))
            assert str(again) == str(error)
            print(type(again).__name__, again.code, again.diagnostics[0].labels[0].span.line)
            print(again)
""")
    name, code, line = done.stdout.splitlines()[0].split()
    assert (name, code) == ("CompileError", "E0201")
    source = (tmp_path / "work.py").read_text(encoding="utf-8").splitlines()
    assert "nothing" in source[int(line) - 1]
    assert "`nothing`" in done.stdout


@pytest.mark.parametrize(
    ("before", "inside", "types"),
    [
        ("y = 0", "y = y + 1.5", ("i32", "f32")),
        ("y = tl.zeros((8,), f32)", "y = tl.zeros((16,), f32)", ("8", "16")),
    ],
)
def test_a_variable_that_changes_its_type_in_a_loop_is_named_with_both(
    before: str, inside: str, types: tuple[str, str], run: Any
) -> None:
    loop = f"    {before}\n    for k in range(n):\n        {inside}\n    tl.store"
    text = COPY.replace("    tl.store", loop, 1).replace("BLOCK: Const", "n: i32, BLOCK: Const")
    done = run(
        HEAD
        + text
        + """
from teeny_macros import TeenyError
try:
    copy[1](np.zeros(16, np.float32), 3, BLOCK=16)
except TeenyError as error:
    print(error.code, *(label.span.line for label in error.diagnostics[0].labels))
    print(error)
"""
    )
    code, *lines = done.stdout.splitlines()[0].split()
    assert code.startswith("E06")
    assert "`y`" in done.stdout
    for words in types:
        assert words in done.stdout
    shown = [(HEAD + text).splitlines()[int(line) - 1] for line in lines]
    assert any(inside in line or before in line or "for k" in line for line in shown)
