"""Every way in which a run of teenyc can end is a coded error, with places in the user's file."""

from __future__ import annotations

import os
import pickle
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Target, compile_kernel
from teeny_macros.diagnostics import CompileError, InternalError, TeenyError, ToolchainError
from teeny_macros.source import Origin, SourceMap

SM_90 = Target.cuda("sm_90")
Make = Callable[..., Any]
USER_FILE = """\
import teeny_triton as tl

# scale: a kernel
    @kernel
    def scale(x, y):  # the body begins here
        # a comment that the unit does not have
        return x + y  # both
"""


def failure(instance: Any) -> TeenyError:
    with pytest.raises(TeenyError) as caught:
        compile_kernel(instance, SM_90)
    return caught.value


def kept_folder(error: TeenyError) -> Path:
    found = re.search(r"`cd (\S+) && sh command.sh`", error.diagnostics[-1].helps[-1])
    assert found is not None
    return Path(found[1])


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def entries(cache_dir: Path) -> list[Path]:
    return [path for path in cache_dir.glob("??/*") if path.is_dir()]


def test_faults_point_into_the_file_of_today(
    teenyc: Any, cache_dir: Path, make_instance: Make, tmp_path: Path
) -> None:
    file = tmp_path / "user_kernel.py"
    file.write_text(USER_FILE, encoding="utf-8")
    known = SourceMap({5: Origin(str(file), 7, ((1, 7, 5),))})
    teenyc.behave("refuse")
    error = failure(make_instance(source_map=known))
    assert isinstance(error, CompileError)
    assert [row.code for row in error.diagnostics] == ["E0301", "E0201"]
    label = error.diagnostics[0].labels[0]
    assert (label.span.file, label.span.line, label.span.column) == (str(file), 7, 16)
    assert label.span.end_column == 17
    assert label.source == "        return x + y  # both"
    assert label.source[label.span.column - 1] == "x"
    assert pickle.loads(pickle.dumps(error)).code == "E0301"
    assert entries(cache_dir) == []


def test_faults_keep_the_units_line_when_the_file_is_gone(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    known = SourceMap({5: Origin("/nowhere/kernel.py", 7, ((1, 7, 5),))})
    teenyc.behave("refuse")
    label = failure(make_instance(source_map=known)).diagnostics[0].labels[0]
    assert label.span[:3] == ("/nowhere/kernel.py", 7, 16)
    assert label.source == "        return x + y"


def test_faults_in_text_that_no_user_wrote_keep_their_place(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave("refuse")
    label = failure(make_instance(source_map=SourceMap())).diagnostics[0].labels[0]
    assert label.span[:2] == ("scale.py", 5)
    assert label.source == "    return x + y"


def test_signal_is_named_and_the_unit_is_kept(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave("signal")
    error = failure(make_instance())
    assert isinstance(error, ToolchainError)
    assert error.code == "E0910"
    assert "killed by signal 11 (SIGSEGV)" in error.diagnostics[0].message
    assert "about to die" in " ".join(error.diagnostics[0].notes)
    kept = kept_folder(error)
    assert (kept / "unit.py").read_text(encoding="utf-8").startswith("# teeny-unit 1\n")
    assert "target-cpu=sm_90" in (kept / "command.sh").read_text(encoding="utf-8")
    assert kept.is_relative_to(cache_dir)
    failure(make_instance())
    assert len(list(kept.parent.iterdir())) == 1  # one folder a kernel, however often it fails


@pytest.mark.parametrize("mode", ["garbage", "odd status"])
def test_garbage_is_shown_as_it_is(
    mode: str, teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave(mode)
    error = failure(make_instance())
    assert error.code == "E0910"
    assert "{not json\nTraceback: it fell over" in error.diagnostics[0].notes[0]


def test_own_bug_of_teenyc_is_an_internal_error(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave("bug")
    error = failure(make_instance())
    assert isinstance(error, InternalError)
    assert error.code == "I0000"
    assert (kept_folder(error) / "unit.py").exists()


def test_reproducer_of_a_dead_back_end_moves_along(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave("dead back end")
    error = failure(make_instance())
    assert error.code == "E0703"
    found = re.match(r"`sh (\S+)` shows it again", error.diagnostics[0].helps[0])
    assert found is not None
    assert Path(found[1]).read_text(encoding="utf-8") == "#!/bin/sh\n"


def test_usage_error_means_versions_that_do_not_match(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave("usage")
    error = failure(make_instance())
    assert error.code == "E0913"
    assert "unknown option `-C warp-drive`" in error.diagnostics[0].message


@pytest.mark.parametrize(("mode", "what"), [("partial", "ptx"), ("foreign metadata", "version 99")])
def test_success_without_its_files_is_an_error_and_no_entry(
    mode: str, what: str, teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    teenyc.behave(mode)
    error = failure(make_instance())
    assert error.code in {"E0912", "E0913"}
    assert what in str(error.diagnostics[0].message)
    assert entries(cache_dir) == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see a process")
def test_run_that_takes_too_long_is_ended_with_all_it_started(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    teenyc.behave("hang")
    monkeypatch.setenv("TEENYC_TIMEOUT", "0.5")
    start = time.monotonic()
    error = failure(make_instance())
    assert error.code == "E0911"
    assert time.monotonic() - start < 10
    child = int(teenyc.calls("child")[0].split()[1])
    for _ in range(100):
        if not is_running(child):
            break
        time.sleep(0.02)
    assert not is_running(child)
    teenyc.behave("ok")
    monkeypatch.delenv("TEENYC_TIMEOUT")
    assert compile_kernel(make_instance(), SM_90).path.exists()  # no lock is left


def test_timeout_that_is_no_number_is_refused(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("soon", "-1", "inf", "nan"):
        monkeypatch.setenv("TEENYC_TIMEOUT", value)
        assert failure(make_instance()).code == "E0914"


def test_executable_that_cannot_start_is_a_coded_error(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_kernel(make_instance(), SM_90)
    info = teenyc.path.stat()
    text = teenyc.path.read_bytes()
    teenyc.path.write_bytes(text.replace(b"#!", b"##", 1))  # as many bytes: its version is known
    os.utime(teenyc.path, ns=(info.st_atime_ns, info.st_mtime_ns))
    error = failure(make_instance(1))
    assert error.code == "E0910"
    assert "cannot be started" in error.diagnostics[0].message


def test_warnings_are_printed_and_do_not_stop(
    teenyc: Any, cache_dir: Path, make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    teenyc.behave("warn")
    compile_kernel(make_instance(), SM_90)
    assert "W0302" in capsys.readouterr().err


def test_failed_runs_leave_no_work_folders(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    for mode in ("refuse", "usage", "signal", "partial"):
        teenyc.behave(mode)
        failure(make_instance())
    assert list((cache_dir / ".tmp").iterdir()) == []
