"""`compile_kernels` over a fake teenyc: warm, isolated, in the order that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Target, compile_kernel, log, progress, workers
from teeny_compiler.workers import compile_kernels
from teeny_macros.artifact import Artifact
from teeny_macros.diagnostics import CompileError, ToolchainError

SM_90 = Target.cuda("sm_90")
SM_80 = Target.cuda("sm_80")

Fake = Any
Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_worker_stays() -> Iterator[None]:
    yield
    workers.close_workers()


def test_kernels_come_back_in_the_order_that_was_asked_for(
    teenyc: Fake, cache_dir: Path, make_instance: Make
) -> None:
    pairs = [(make_instance(n), target) for n in range(4) for target in (SM_90, SM_80)]
    found = compile_kernels(pairs, workers=2, progress=False)
    assert all(isinstance(made, Artifact) for made in found)
    alone = [compile_kernel(*pair) for pair in pairs]
    assert [str(made) for made in found] == [str(made) for made in alone]
    assert len(teenyc.calls()) == 8
    assert 1 <= len(teenyc.calls("worker")) <= 2


def test_the_cache_is_looked_at_first_and_twins_are_compiled_once(
    teenyc: Fake, cache_dir: Path, make_instance: Make
) -> None:
    compile_kernels([(make_instance(1), SM_90), (make_instance(1), SM_90)], progress=False)
    assert len(teenyc.calls()) == 1
    compile_kernels([(make_instance(1), SM_90)], progress=False)
    assert len(teenyc.calls()) == 1
    assert len(teenyc.calls("worker")) == 1


def test_a_worker_that_dies_costs_one_kernel(
    teenyc: Fake, cache_dir: Path, make_instance: Make
) -> None:
    pairs = [(make_instance(n), SM_90) for n in range(3)]
    pairs.insert(1, (make_instance(name="die"), SM_90))
    found = compile_kernels(pairs, workers=1, progress=False)
    error = found[1]
    assert isinstance(error, ToolchainError)
    assert error.code == "E0910"
    assert "SIGKILL" in str(error)
    assert "about to die" in str(error)
    assert [isinstance(made, Artifact) for made in found] == [True, False, True, True]
    assert len(teenyc.calls("worker")) == 2


def test_a_worker_that_ended_while_idle_is_replaced_unseen(
    teenyc: Fake, cache_dir: Path, make_instance: Make
) -> None:
    compile_kernels([(make_instance(1), SM_90)], progress=False)
    (worker,) = workers._warm.idle
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    (found,) = compile_kernels([(make_instance(2), SM_90)], progress=False)
    assert isinstance(found, Artifact)
    assert len(teenyc.calls("worker")) == 2


def test_a_refused_kernel_is_one_error_with_a_help_that_stays_true(
    teenyc: Fake, cache_dir: Path, make_instance: Make
) -> None:
    found = compile_kernels(
        [(make_instance(name="refused"), SM_90), (make_instance(1), SM_90)], progress=False
    )
    assert isinstance(found[0], CompileError)
    assert found[0].code == "E0301"
    assert isinstance(found[1], Artifact)
    assert "`sh out/again.sh`" in str(found[0])


def test_a_kernel_that_takes_too_long_ends_its_worker_alone(
    teenyc: Fake, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_TIMEOUT", "0.5")
    pairs = [(make_instance(name="hang"), SM_90), (make_instance(1), SM_90)]
    found = compile_kernels(pairs, workers=1, progress=False)
    assert isinstance(found[0], ToolchainError)
    assert found[0].code == "E0911"
    assert isinstance(found[1], Artifact)


def test_workers_of_another_environment_are_not_used_again(
    teenyc: Fake, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_kernels([(make_instance(1), SM_90)], progress=False)
    monkeypatch.setenv("TRITON_OVERRIDE", "1")
    compile_kernels([(make_instance(2), SM_90)], progress=False)
    assert len(teenyc.calls("worker")) == 2


def test_a_missing_toolchain_is_the_error_of_every_kernel(
    cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_PATH", "/nowhere/teenyc")
    found = compile_kernels([(make_instance(n), SM_90) for n in range(2)], progress=False)
    assert [error.code for error in found if isinstance(error, ToolchainError)] == ["E0903"] * 2


def test_progress_counts_every_kernel_that_was_compiled(
    teenyc: Fake, cache_dir: Path, make_instance: Make
) -> None:
    seen: list[tuple[int, int, str]] = []

    def report(done: int, total: int, text: str) -> None:
        seen.append((done, total, text))

    pairs = [(make_instance(name="die"), SM_90), (make_instance(1), SM_90)]
    compile_kernels(pairs, workers=1, progress=report)
    assert [(done, total) for done, total, _ in seen] == [(1, 2), (2, 2)]
    assert sorted(text for _, _, text in seen) == ["die failed (E0910)", "scale"]


def test_where_no_terminal_is_a_line_now_and_then_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter(range(0, 1000, 12))
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    with log.hushed(), progress.follow("compiling", 12, progress=True) as step:
        for _ in range(12):
            step("scale")
    assert capsys.readouterr().err.splitlines() == [
        "teeny: compiling: 3 of 12",
        "teeny: compiling: 6 of 12",
        "teeny: compiling: 9 of 12",
    ]
    monkeypatch.setenv("TEENY_LOG", "quiet")
    with progress.follow("compiling", 2, progress=True) as step:
        step("scale")
    assert capsys.readouterr().err == ""
