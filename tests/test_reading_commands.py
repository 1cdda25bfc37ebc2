"""`teeny expand`, `show`, `cost` and `diff` on the examples."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import cli

pytest.importorskip("typer", reason="the `teeny` command is not installed")

EXAMPLES = Path(__file__).parents[1] / "examples"
ADD = [f"{EXAMPLES}/vector_add.py:vector_add", "-D", "D=f32", "-D", "BLOCK_SIZE=1024"]
SOFTMAX = [f"{EXAMPLES}/softmax.py:softmax_rows", "-D", "D=f32", "-D", "BLOCK_SIZE=1024"]
MATMUL = [f"{EXAMPLES}/matmul.py:matmul", "-D", "H=f16", "-D", "BLOCK_M=64", "-D", "BLOCK_N=64",
          "-D", "BLOCK_K=32", "-D", "GROUP=8"]  # fmt: skip


@pytest.fixture(autouse=True)
def _quiet(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "reading-cache"))
    monkeypatch.setenv("TEENY_LOG", "quiet")


def run(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    capsys.readouterr()
    code = cli.main(list(arguments))
    out, err = capsys.readouterr()
    assert code == status, err
    return out


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(run(capsys, *arguments, "--json"))


def source_line(file: str, text: str) -> int:
    lines = (EXAMPLES / file).read_text(encoding="utf-8").splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


def test_expand_shows_the_text_that_was_captured(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "expand", ADD[0])
    assert "#   x_ptr: pointer to D\n" in out
    assert "    x = tl.load(x_ptr + offsets, mask=mask)\n" in out
    assert "entry_point" not in out
    assert "# The last block" not in out  # comments are not part of it


def test_expand_shows_the_unit_of_an_instance(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "expand", *ADD)
    assert "# module entry\nfrom kernel import vector_add\n" in out
    assert "vector_add(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE=1024)" in out
    data = run_json(capsys, "expand", *ADD)
    assert [module["name"] for module in data["modules"]] == ["kernel", "entry"]
    assert data["types"]["x_ptr"] == "Ptr[f32]"
    assert data["constants"] == {"BLOCK_SIZE": "1024"}
    assert len(data["id"]) == 64


def test_show_puts_each_operation_under_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "show", *SOFTMAX, "-t", "interpret", "-s", "mlir").splitlines()
    number = source_line("softmax.py", "tl.exp(x - tl.max(x")
    at = next(
        i for i, line in enumerate(out) if line.strip().startswith(f"// softmax.py:{number}:")
    )
    assert "arith.maxnumf" in out[at + 1]
    plain = run(capsys, "show", *SOFTMAX, "-t", "interpret", "-s", "mlir", "--no-source")
    assert "softmax.py" not in plain
    assert "loc(" not in plain


def test_show_for_a_cpu_has_the_loops(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "show", *SOFTMAX, "-t", "cpu:x86-64-v3", "-s", "clusters")
    assert "nest 1024" in out
    assert f"# softmax.py:{source_line('softmax.py', 'tl.store')}: tl.store" in out


def test_a_stage_that_the_target_lacks_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["show", *ADD, "-t", "cpu", "-s", "ptx"]) == 1
    assert "error[E0915]" in capsys.readouterr().err


def test_what_is_known_of_integers_makes_the_instance(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["show", *ADD, "-t", "interpret", "-s", "mlir"]
    data = run(capsys, *arguments, "--arg", "n_elements=1024", "--no-source")
    assert "%n_elements: i32 {tt.divisibility = 16 : i32}" in data
    assert "%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}" in data
    assert "divisibility" not in run(capsys, *arguments, "--unaligned")
    assert cli.main([*arguments, "--arg", "x_ptr=1"]) == 2
    assert cli.main([*arguments, "--arg", "n_elements=many"]) == 2


def test_cost_on_a_cpu_needs_no_tool(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = run_json(capsys, "cost", *ADD, "-t", "cpu:x86-64-v3")
    assert (row["counts"]["read"], row["counts"]["written"]) == (8192, 4096)
    assert row["counts"]["flops"] == 1024
    assert row["work_ns"] > 0
    assert row["roofline"] is None
    out = run(capsys, "cost", *ADD, "-t", "cpu:x86-64-v3")
    assert "  reads           8.0 KiB a program\n" in out


def test_two_sets_of_options_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    kernel = ["diff", *ADD[:3], "-t", "interpret", "-s", "mlir"]
    sides = ["--left", "BLOCK_SIZE=64", "--right", "BLOCK_SIZE=128"]
    out = run(capsys, *kernel, *sides)
    ranges = [line for line in out.splitlines() if "tt.make_range" in line]
    assert [(line[0], line.rpartition(" : ")[2]) for line in ranges] == [
        ("-", "tensor<64xi32>"),
        ("+", "tensor<128xi32>"),
    ]
    run(capsys, *kernel, *sides, "--exit-code", status=1)
    same = ["--left", "BLOCK_SIZE=64", "--right", "BLOCK_SIZE=64"]
    assert not run(capsys, *kernel, *same, "--exit-code")
    data = run_json(capsys, *kernel, *sides)
    assert data["removed"] == data["added"] > 2


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_two_revisions_are_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    folder = tmp_path / "inner"
    folder.mkdir()
    path = folder / "kernels.py"
    text = (EXAMPLES / "vector_add.py").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    path.write_text(text.replace("x + y", "x - y"), encoding="utf-8")
    monkeypatch.chdir(folder)
    arguments = ["diff", "kernels.py:vector_add", *ADD[1:], "-t", "interpret", "-s", "mlir"]
    out = run(capsys, *arguments, "--ref", "HEAD").splitlines()
    changed = [line for line in out if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert [("arith.addf" in line, "arith.subf" in line) for line in changed[:1]] == [(True, False)]
    assert any("arith.subf" in line for line in changed)
    git("commit", "-qam", "second")
    assert run(capsys, *arguments, "--ref", "HEAD~1..HEAD").splitlines()[2:] == out[2:]
    assert cli.main([*arguments, "--ref", "no-such"]) == 1
    assert "error[E0982]" in capsys.readouterr().err


# --- with Triton ----------------------------------------------------------------------------------


@pytest.mark.accept
@pytest.mark.parametrize("stage", ["mlir", "ttgir", "llvm-ir", "ptx", "sass"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_most_lines_of_every_stage_have_a_place(
    stage: str, arch: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = run_json(capsys, "show", *SOFTMAX, "-t", arch, "-s", stage)
    rows = data["lines"]
    placed = [row for row in rows if row["file"] is not None]
    # Without calls in its lines (Triton 3.6 and 3.7), a listing lacks those of `max` and `sum`.
    assert len(placed) > 0.5 * len(rows)
    named = {row["line"] for row in placed if row["file"].endswith("softmax.py")}
    for text in ("row = ", "mask = ", "x = tl.load", "numerator = ", "y = ", "tl.store"):
        assert source_line("softmax.py", text) in named, text


@pytest.mark.accept
def test_cost_on_gpus_is_what_the_code_has(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--arg", "M=512", "--arg", "N=512", "--arg", "K=512", "--grid", "8,8"]
    rows = run_json(capsys, "cost", *MATMUL, "-t", "sm_80,sm_90", *sizes)
    assert [row["target"] for row in rows] == ["cuda:sm_80", "cuda:sm_90"]
    for row in rows:
        assert row["counts"]["dots"] == {"f16": 2 * 64 * 64 * 512}
        assert row["counts"]["read"] == 16 * (64 * 32 + 32 * 64) * 2
        assert row["counts"]["unknown_loops"] == []
        assert 16 < row["assembly"]["registers"] <= 255
        assert row["occupancy"]["blocks"] >= 1
        assert row["accesses"]["copies"].get("16")
        assert row["roofline"]["programs"] == 64
        assert row["roofline"]["memory"] > row["roofline"]["arithmetic"] > 0
    assert any("mma" in name for name in rows[0]["accesses"]["matrix"])
    out = run(capsys, "cost", *MATMUL, "-t", "sm_90")
    assert "counts once: give its bounds" in out
    assert "registers" in out


@pytest.mark.accept
def test_aligned_arguments_make_wide_accesses(capsys: pytest.CaptureFixture[str]) -> None:
    (wide,) = run_json(capsys, "cost", *ADD, "-t", "sm_80", "--arg", "n_elements=4096")
    (narrow,) = run_json(capsys, "cost", *ADD, "-t", "sm_80", "--unaligned")
    assert set(wide["accesses"]["loads"]) == {"16"}
    assert set(narrow["accesses"]["loads"]) == {"4"}
    assert any("wider than 4 bytes" in note for note in narrow["notes"])
    assert wide["notes"] == []
