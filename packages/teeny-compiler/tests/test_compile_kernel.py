"""What compile_kernel returns, when it compiles and when it does not, and what it says."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import CompileOptions, Target, compile_kernel, log, versions
from teeny_macros.diagnostics import TeenyError

SM_90 = Target.cuda("sm_90")
Make = Callable[..., Any]


def test_artifact_is_path_like_and_has_metadata_and_stages(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    made = compile_kernel(make_instance(), SM_90)
    assert Path(os.fspath(made)).read_text(encoding="utf-8").startswith("// ptx ")
    assert made.path.name == "scale_entry_point.ptx"
    assert made.path.is_relative_to(cache_dir)
    assert made.metadata.entry_point == "scale_entry_point"
    assert made.metadata.params[0].dtype == "f32"
    assert made.stages["mlir"].read_text(encoding="utf-8").startswith("// mlir ")
    assert made.target == SM_90


def test_second_call_compiles_nothing_and_gives_the_same_file(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    first = compile_kernel(make_instance(), SM_90)
    second = compile_kernel(make_instance(), SM_90)
    assert second.path == first.path
    assert second.metadata == first.metadata
    assert len(teenyc.calls()) == 1


def test_bounds_checks_on_a_cpu_are_asked_for_by_option_or_variable(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compile_kernel(make_instance(), Target.cpu())
    assert plain.path.suffix == ".o"
    assert {"mlir", "llvm-ir", "obj"} <= set(plain.stages)
    checked = compile_kernel(
        make_instance(), Target.cpu(), options=CompileOptions(bounds_checks=True)
    )
    assert checked.path != plain.path
    assert "bounds-checks=on" in teenyc.calls()[-1]
    monkeypatch.setenv("TEENYC_BOUNDS_CHECKS", "on")
    assert compile_kernel(make_instance(), Target.cpu()).path == checked.path
    on_a_gpu = compile_kernel(make_instance(), SM_90)
    assert "bounds-checks" not in teenyc.calls()[-1]
    monkeypatch.setenv("TEENYC_BOUNDS_CHECKS", "perhaps")
    assert compile_kernel(make_instance(), SM_90).path == on_a_gpu.path
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(), Target.cpu())
    assert caught.value.code == "E0914"


def test_force_compiles_again_and_leaves_equal_files_alone(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    first = compile_kernel(make_instance(), SM_90)
    before = first.path.stat()
    second = compile_kernel(make_instance(), SM_90, force=True)
    assert len(teenyc.calls()) == 2
    assert second.path == first.path
    assert second.path.stat().st_ino == before.st_ino


def test_each_thing_that_changes_code_makes_its_own_entry(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [
        compile_kernel(make_instance(), SM_90).path,
        compile_kernel(make_instance(1), SM_90).path,
        compile_kernel(make_instance(name="other"), SM_90).path,
        compile_kernel(make_instance(), Target.cuda("sm_80")).path,
        compile_kernel(make_instance(), SM_90, options=CompileOptions(fp_fusion=False)).path,
        compile_kernel(make_instance(), SM_90, options=CompileOptions(ptx_version=84)).path,
        compile_kernel(make_instance(), SM_90, options=CompileOptions(emit=("ttgir",))).path,
    ]
    monkeypatch.setattr(versions, "_answers", {})
    monkeypatch.setenv("FAKE_VERSION", "2.0")
    teenyc.path.write_bytes(teenyc.path.read_bytes() + b"# another teenyc\n")
    paths.append(compile_kernel(make_instance(), SM_90).path)
    assert len(set(paths)) == len(paths) == len(teenyc.calls())


def test_fusion_is_off_when_the_kernel_or_the_caller_says_so(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    compile_kernel(make_instance(), SM_90)
    compile_kernel(make_instance(1, fp_fusion=False), SM_90)
    compile_kernel(make_instance(2), SM_90, options=CompileOptions(fp_fusion=False))
    given = ["fp-fusion=on" in call for call in teenyc.calls()]
    assert given == [True, False, False]
    assert all("fp-fusion=" in call for call in teenyc.calls())


def test_ptx_version_variable_is_passed_on_and_part_of_the_key(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = compile_kernel(make_instance(), SM_90)
    monkeypatch.setenv("TEENYC_PTX_VERSION", "8.4")
    asked = compile_kernel(make_instance(), SM_90)
    assert asked.path != plain.path
    assert "ptx-version=8.4" in teenyc.calls()[1]
    monkeypatch.setenv("TEENYC_PTX_VERSION", "new")
    with pytest.raises(TeenyError, match="TEENYC_PTX_VERSION is `new`") as caught:
        compile_kernel(make_instance(), SM_90)
    assert caught.value.code == "E0914"


def test_machine_code_is_asked_for_unless_the_environment_or_the_caller_says_no(
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = [compile_kernel(make_instance(), SM_90).path]
    paths.append(compile_kernel(make_instance(), SM_90, options=CompileOptions(cubin=False)).path)
    ptxas = tmp_path / "ptxas"
    ptxas.write_text("one", encoding="utf-8")
    monkeypatch.setenv("TEENYC_PTXAS", str(ptxas))
    paths.append(compile_kernel(make_instance(), SM_90).path)
    ptxas.write_text("another", encoding="utf-8")
    paths.append(compile_kernel(make_instance(), SM_90).path)
    assert len(set(paths)) == 4
    assert ["cubin=on" in call for call in teenyc.calls()] == [True, False, True, True]
    monkeypatch.setenv("TEENYC_CUBIN", "off")
    assert compile_kernel(make_instance(), SM_90).path == paths[1]
    asked = CompileOptions(emit=("cubin",))
    assert compile_kernel(make_instance(), SM_90, options=asked).path == paths[3]
    monkeypatch.setenv("TEENYC_CUBIN", "maybe")
    with pytest.raises(TeenyError, match="TEENYC_CUBIN is `maybe`") as caught:
        compile_kernel(make_instance(), SM_90)
    assert caught.value.code == "E0914"
    compile_kernel(make_instance(), Target.cpu())  # nothing is assembled there
    assert "cubin=on" not in teenyc.calls()[-1]


def test_interpreter_target_gives_the_unit(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    made = compile_kernel(make_instance(), Target.interpret())
    assert made.read_text().startswith("# teeny-unit 1\n")
    assert made.stages["mlir"].exists()


def test_stage_that_the_target_does_not_have_is_refused(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(), SM_90, options=CompileOptions(emit=("obj",)))
    assert caught.value.code == "E0915"
    assert teenyc.calls() == []


def test_two_threads_compile_once(teenyc: Any, cache_dir: Path, make_instance: Make) -> None:
    teenyc.behave("ok", delay=0.3)
    paths: list[Path] = []
    gate = threading.Barrier(2)

    def work() -> None:
        gate.wait()
        paths.append(compile_kernel(make_instance(), SM_90).path)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(teenyc.calls()) == 1
    assert len(paths) == 2
    assert paths[0] == paths[1]


def test_cached_kernel_needs_no_teenyc(
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    made = compile_kernel(make_instance(), SM_90)
    monkeypatch.delenv("TEENYC_PATH")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("teeny_compiler.places.scripts_folders", lambda: (str(tmp_path),))
    assert compile_kernel(make_instance(), SM_90).path == made.path
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(1), SM_90)
    assert caught.value.code == "E0901"
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(), SM_90, force=True)
    assert caught.value.code == "E0901"


def test_version_is_asked_once_per_executable(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_kernel(make_instance(), SM_90)
    monkeypatch.setattr(versions, "_answers", {})  # as in another process
    compile_kernel(make_instance(1), SM_90)
    assert len(teenyc.calls("version")) == 1


def test_executable_that_states_no_version_is_a_coded_error(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VERSION", "none")
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(), SM_90)
    assert caught.value.code == "E0905"


@pytest.mark.parametrize(
    ("level", "expected"), [("quiet", 0), ("info", 1), ("debug", 4), ("", 1), ("loud", 1)]
)
def test_log_variable_sets_how_much_is_said(
    level: str,
    expected: int,
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEENY_LOG", level)
    made = compile_kernel(make_instance(), SM_90)
    compile_kernel(make_instance(), SM_90)
    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if line.startswith("teeny: compiled scale for cuda:sm_90 in ")]
    assert len(said) == (0 if level == "quiet" else 1)
    assert all(line.endswith(str(made.path)) for line in said)
    assert len(lines) == expected if level != "debug" else len(lines) >= expected


def test_closed_stderr_does_not_cost_the_result(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert compile_kernel(make_instance(), SM_90).path.exists()
    log.info("said to nobody")


def test_import_and_a_hit_load_nothing_heavy(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    compile_kernel(make_instance("7"), SM_90)
    fakes = Path(__file__).parent / "fakes"
    script = (
        "import sys, runpy; import teeny_compiler; early = set(sys.modules)\n"
        f"sys.argv = ['x', 'sm_90', '7']; runpy.run_path({str(fakes / 'compile_many.py')!r})\n"
        "heavy = {'typer', 'rich', 'filelock', 'platformdirs', 'subprocess', 'numpy', 'triton',\n"
        "         'llvmlite', 'importlib.metadata', 'teeny_triton', 'inspect'}\n"
        "print(sorted(heavy & early), sorted((heavy & set(sys.modules)) - {'teeny_triton'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[] []", done.stdout
    assert len(teenyc.calls()) == 1
