"""`teeny check`: what it finds in a tree, what it does not report, and that it runs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from teeny_compiler import cli
from teeny_compiler.check import check_paths
from teeny_compiler.check.session import Summary
from teeny_macros.diagnostics import TeenyError
from teeny_macros.target import Target

ROOT = Path(__file__).parents[3]
TARGET = Target.cuda("sm_90")
HEAD = """\
import numpy as np
import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, DeviceArray, Float, Num, Ptr, f16, f32, i32
from typing import TypeVar

D = TypeVar("D", bound=Num)


@kernel
def copy(x_ptr: Ptr[D], y_ptr: Ptr[D], n: i32 | int, BLOCK: Const[int]) -> None:
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


"""


def check(tmp_path: Path, text: str, *, head: str = HEAD, name: str = "kernels.py") -> Summary:
    path = tmp_path / name
    path.write_text(head + textwrap.dedent(text), encoding="utf-8")
    return check_paths([str(path)], TARGET)


def found(summary: Summary) -> list[tuple[str, int]]:
    """Code and line of each fault, the line counted from the end of `HEAD`."""
    first = HEAD.count("\n")
    return [(fault.code, fault.span.line - first) for fault in summary.faults if fault.span]


def test_a_right_tree_has_no_faults_and_each_launch_gives_an_instance(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        def run(x: DeviceArray[f16], n: int) -> None:
            copy[(tl.cdiv(n, 128),)](x, x, n, BLOCK=128)
            copy[(1,)](np.zeros(16, np.float32), np.ones(16, dtype="float32"), 16, BLOCK=16)
        """,
    )
    assert found(summary) == []
    assert (summary.kernels, summary.instances, summary.skipped) == (1, 2, [])


@pytest.mark.parametrize(
    ("launch", "code"),
    [
        ("copy[(1,)](x, x, 16)", "E1011"),
        ("copy[(1,)](x, 16, BLOCK=16)", "E1003"),
        ("copy[(1,)](x, x, 16, 16, 16)", "E1004"),
        ("copy[(1,)](x, x, 16, BLOK=16)", "E1005"),
        ("copy[(1,)](x, x, 16, n=16, BLOCK=16)", "E1006"),
        ("copy[(1,)](x, x, 16.0, BLOCK=16)", "E1007"),
        ("copy[(1,)](x, x, n / 2, BLOCK=16)", "E1007"),
        ("copy[(1,)](x, h, 16, BLOCK=16)", "E1008"),
        ("copy[(1,)](x, np.zeros(16), 16, BLOCK=16)", "E1008"),
        ("copy[(1,)](x, x, 3000000000, BLOCK=16)", "E1010"),
        ("copy[(1,)](x, x, 16, BLOCK=np.zeros(3))", "E1013"),
        ("copy[(1,)](x, 5, 16, BLOCK=16)", "E1014"),
        ("copy[()](x, x, 16, BLOCK=16)", "E1019"),
        ("copy[(1, 1, 1, 1)](x, x, 16, BLOCK=16)", "E1019"),
        ("copy[n / 16](x, x, 16, BLOCK=16)", "E1019"),
        ("copy[lambda meta: meta['BLOCK'] / 2](x, x, 16, BLOCK=16)", "E1019"),
        ("copy[lambda meta: meta['BLOK']](x, x, 16, BLOCK=16)", "E0953"),
        ("copy[(1,)](x, x, 16, BLOCK=16, num_warps=3)", "E1023"),
        ("copy.options(num_warp=4)[(1,)](x, x, 16, BLOCK=16)", "E1023"),
        ("copy(x, x, 16, BLOCK=16)", "E1001"),
        ("copy[(1,)]", "E0951"),
        ("y = copy[(1,)](x, x, 16, BLOCK=16)", "E0952"),
        ("copy.on((1,), device='tpu')(x, x, 16, BLOCK=16)", "E1018"),
        ("copy.instantiate(D=f32)", "E1011"),
        ("copy.instantiate(D=f32, BLOCK=16.0)", "E1007"),
        ("copy.instantiate(D=np.float32, BLOCK=16)", "E1024"),
    ],
)
def test_a_wrong_launch_is_reported_at_its_line(tmp_path: Path, launch: str, code: str) -> None:
    text = "def run(x: DeviceArray[f32], h: DeviceArray[f16], n: int) -> None:\n    " + launch
    assert found(check(tmp_path, text)) == [(code, 2)]


def test_a_kernel_is_compiled_with_the_values_of_its_launch(tmp_path: Path) -> None:
    summary = check(tmp_path, "copy[(1,)](np.zeros(9), np.zeros(9), 9, BLOCK=100)\n")
    (fault,) = summary.faults
    assert fault.code == "E0401"
    assert fault.span is not None
    assert (fault.span.file, fault.span.line) == (str(tmp_path / "kernels.py"), 12)
    asked = [label.span.line for label in fault.labels if label.text == "asked for here"]
    assert asked == [HEAD.count("\n") + 1]


def test_what_is_launched_nowhere_is_checked_with_plausible_values(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        @kernel
        def broken(x_ptr: Ptr[D], SIDE: Const[int], FAST: Const[bool]) -> None:
            if FAST:
                tl.store(x_ptr + tl.arange(0, SIDE), tl.zeros((SIDE,), f32)[:, None])
        """,
    )
    errors = [fault for fault in summary.faults if fault.severity == "error"]
    assert [fault.code for fault in errors] == ["E0505"]
    assert "assumed: D = f32, SIDE = 64" in errors[0].notes[0]
    assert "it is launched nowhere here" in errors[0].notes[0]


def test_an_assumption_that_the_kernel_refuses_is_no_error(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        @kernel
        def picky(x_ptr: Ptr[f32], SIDE: Const[int]) -> None:
            tl.static_assert(SIDE == 48)
            tl.store(x_ptr + tl.arange(0, 64), 0.0)
        """,
    )
    assert found(summary) == []
    assert [(row.kernel, "refuses the assumed" in row.reason) for row in summary.skipped] == [
        ("picky", True)
    ]


def test_names_are_followed_through_modules_of_the_tree(tmp_path: Path) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("from .kernels import scale as renamed\n")
    (package / "sizes.py").write_text("SIDE = 100\nFACTOR = 2.0\n")
    (package / "kernels.py").write_text(
        "import teeny_triton as tl\nfrom teeny_macros import kernel\nfrom . import sizes\n"
        "from teeny_triton import Const, Ptr, f32\n\n\n@kernel\n"
        "def scale(x_ptr: Ptr[f32], BLOCK: Const[int]) -> None:\n"
        "    i = tl.arange(0, BLOCK)\n"
        "    tl.store(x_ptr + i, tl.load(x_ptr + i) * sizes.FACTOR)\n"
    )
    (tmp_path / "use.py").write_text(
        "import numpy as np\nimport mine\nfrom mine.sizes import SIDE\n\n\ndef run():\n"
        "    mine.renamed[1](np.zeros(SIDE, np.float32), BLOCK=SIDE)\n"
    )
    summary = check_paths([str(tmp_path)], TARGET)
    assert [fault.code for fault in summary.faults] == ["E0401"]
    span = summary.faults[0].span
    assert span is not None
    assert span.file.endswith("kernels.py")


def test_nothing_of_the_tree_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    text = f"open({str(trace)!r}, 'w').close()\nSIZE = __import__('os').getpid()\n"
    summary = check(tmp_path, text)
    assert not trace.exists()
    assert summary.kernels == 1
    assert "kernels" not in sys.modules


def test_a_captured_value_of_run_time_is_said_and_no_error(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        import os
        SIZE = len(os.listdir("."))

        @kernel
        def fill(x_ptr: Ptr[f32]) -> None:
            tl.store(x_ptr + tl.arange(0, SIZE), 0.0)
        """,
    )
    assert found(summary) == []
    assert [row.kernel for row in summary.skipped] == ["fill"]
    assert "--import" in summary.skipped[0].reason


def test_importing_checks_kernels_made_at_run_time(tmp_path: Path) -> None:
    path = tmp_path / "made_at_run_time.py"
    path.write_text(
        HEAD
        + textwrap.dedent(
            """\
            def make(size):
                @kernel
                def fill(x_ptr: Ptr[f32]) -> None:
                    tl.store(x_ptr + tl.arange(0, size), 0.0)
                return fill

            fill = make(int("100"))
            """
        ),
        encoding="utf-8",
    )
    assert [row.kernel for row in check_paths([str(path)], TARGET).skipped] == ["fill"]
    summary = check_paths([str(path)], TARGET, importing=True)
    assert [fault.code for fault in summary.faults] == ["E0401"]


def test_configs_of_a_tuner_are_all_checked(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        from teeny_compiler import Config, autotune

        @autotune(configs=[Config({"BLOCK": 64}), Config({"BLOCK": 96})], key=["n"])
        @kernel
        def fill(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = tl.auto()) -> None:
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(x_ptr + i, 0.0, mask=i < n)

        def run(x: DeviceArray[f32], n: int) -> None:
            fill[lambda meta: tl.cdiv(n, meta["BLOCK"])](x, n)
        """,
    )
    assert found(summary) == [("E0401", 6)]


def test_faults_that_are_meant_are_not_reported(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        import pytest

        def test_it(x: DeviceArray[f32]) -> None:
            copy[(1,)](x, x, 16)  # teeny: ignore[E1011]
            with pytest.raises(Exception):
                copy[(1,)](x, x, 16, 16, 16)
            copy[(1,)](x, x, 16)  # teeny: ignore[E0401]
        """,
    )
    assert found(summary) == [("E1011", 7)]


def test_a_file_that_is_no_python_is_a_fault_at_its_place(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    (fault,) = check_paths([str(tmp_path)], TARGET).faults
    assert fault.code == "E0950"
    assert fault.span is not None
    assert fault.span.line == 2


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TeenyError) as caught:
        check_paths([str(tmp_path / "nowhere")], TARGET)
    assert caught.value.code == "E0950"


in_the_checkout = pytest.mark.skipif(
    not (ROOT / "examples").is_dir(), reason="the examples are not part of the package"
)


@in_the_checkout
@pytest.mark.parametrize("folder", ["examples", "tests/public_style"])
def test_the_kernels_of_the_repository_have_no_faults(folder: str) -> None:
    summary = check_paths([str(ROOT / folder)], TARGET)
    assert [fault.message for fault in summary.faults] == []
    assert summary.skipped == []
    assert summary.kernels >= 8


@in_the_checkout
def test_units_are_those_of_the_import_path(tmp_path: Path) -> None:
    """Each example's kernels: their text found statically, and after importing, is one."""
    from teeny_compiler.check.session import Session

    session = Session()
    session.follow([str(ROOT / "examples")])
    script = (
        "import json, sys; sys.path.insert(0, sys.argv[1])\n"
        "from importlib import import_module; from teeny_macros.kernel import Kernel\n"
        "from teeny_macros.compose import compose\n"
        "from pathlib import Path\n"
        "texts = {}\n"
        "for path in sorted(Path(sys.argv[1]).glob('*.py')):\n"
        "    for value in list(vars(import_module(path.stem)).values()):\n"
        "        if isinstance(value, Kernel):\n"
        "            texts[value.name] = [list(m) for m in compose(value).modules]\n"
        "print(json.dumps(texts))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(ROOT / "examples")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    from teeny_macros.compose import compose

    ours = {
        one.kernel.name: [list(m) for m in compose(one.kernel).modules] for one in session.kernels
    }
    assert ours == json.loads(done.stdout)
    assert len(ours) >= 8


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("human", "error[E1011]: "),
        ("concise", "kernels.py:17:5: error[E1011] "),
        ("github", "::error file=kernels.py,line=17,col=5,"),
        ("json", '{"schema": 1, "code": "E1011"'),
    ],
)
def test_four_formats_and_the_exit_status(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    form: str,
    start: str,
) -> None:
    text = HEAD + "def run(x: DeviceArray[f32]) -> None:\n    copy[(1,)](x, x, 16)\n"
    (tmp_path / "kernels.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "--format", form, "kernels.py"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith(start)
    assert "1 kernel" in err
    assert "1 error, 0 warnings" in err
    if form == "json":
        last = json.loads(out.splitlines()[-1])
        assert (last["errors"], last["kernels"]) == (1, 1)
    (tmp_path / "kernels.py").write_text(HEAD, encoding="utf-8")
    assert cli.main(["check", "--format", form, "kernels.py"]) == 0
    assert cli.main(["check", "nowhere"]) == 2
    assert cli.main(["check", "--format", "xml", "kernels.py"]) == 2
    capsys.readouterr()


def test_settings_of_the_project_hold_where_the_command_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.teeny.check]\npaths = ["src"]\nexclude = ["*_old.py"]\nformat = "concise"\n'
    )
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(HEAD)
    (tmp_path / "src" / "b_old.py").write_text("def f(:\n")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check"]) == 0
    assert "in 1 file:" in capsys.readouterr().err
    (tmp_path / "pyproject.toml").write_text("[tool.teeny.check]\nbound = true\n")
    assert cli.main(["check"]) == 2
    assert "E0954" in capsys.readouterr().err


def test_bounds_are_decided_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("z3")
    text = HEAD + textwrap.dedent(
        """\
        @kernel(extents={"x_ptr": "n"})
        def fill(x_ptr: Ptr[D], n: i32 | int, WIDE: Const[bool]) -> None:
            i = tl.program_id(0) * 64 + tl.arange(0, 64)
            tl.store(x_ptr + i, 1, mask=i <= n)
            tl.store(x_ptr + i, 0, mask=i < n)
        """
    )
    (tmp_path / "kernels.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", "--bounds", "--format", "concise", "kernels.py"]) == 1
    out, err = capsys.readouterr()
    first = HEAD.count("\n")
    refuted = [line for line in out.splitlines() if "E0513" in line]
    assert [line.split(":")[1] for line in refuted] == [str(first + 4)]
    # `copy` declares no extents: said once for each access, however many instances there are.
    assert out.count("no extent is declared for `x_ptr`") == 1
    assert "refuted" in err
    assert cli.main(["check", "--bounds", "--format", "json", "kernels.py"]) == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["bounds"]["proved"] == last["bounds"]["refuted"] > 0


def test_sizes_of_tiles_are_held_against_the_target(tmp_path: Path) -> None:
    text = """\
        @kernel
        def square(x_ptr: Ptr[f32], SIDE: Const[int] = 128) -> None:
            i = tl.arange(0, SIDE)
            at = i[:, None] * SIDE + i[None, :]
            y = tl.load(x_ptr + SIDE * SIDE + at)
            tl.store(x_ptr + at, tl.dot(tl.load(x_ptr + at), y))
        """
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + textwrap.dedent(text), encoding="utf-8")
    assert check_paths([str(path)], TARGET).faults == []
    codes = [fault.code for fault in check_paths([str(path)], Target.cuda("sm_86")).faults]
    assert codes == ["E0716"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.12 has type parameters")
def test_type_parameters_of_a_kernel_are_read(tmp_path: Path) -> None:
    summary = check(
        tmp_path,
        """\
        @kernel
        def first[T: Num](x_ptr: Ptr[T], y_ptr: Ptr[T]) -> None:
            tl.store(y_ptr, tl.load(x_ptr))

        first[(1,)](np.zeros(1, np.float32), np.zeros(1))
        """,
    )
    assert found(summary) == [("E1008", 5)]
