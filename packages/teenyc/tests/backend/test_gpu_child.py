"""The back end's process: results, refusals, and deaths of every kind."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from teenyc.backend.gpu import child, libtriton
from teenyc.backend.gpu.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Backend

# 3.8 on ends the process on a PTX version too low for the target; older ones only print bad PTX.
_ENDS_ON_LOW_PTX = ("3.8", "3.9")


def test_facts_come_back_with_the_texts(backend: Backend) -> None:
    outcome = backend.run(backend.job("matmul", "sm_90"))
    assert outcome.facts is not None
    assert outcome.facts.num_warps == 4
    assert outcome.facts.shared_bytes > 0
    assert outcome.failure is None
    assert all(stage.seconds >= 0 for stage in outcome.stages)


def test_kernels_with_descriptors_ask_for_scratch_memory(backend: Backend) -> None:
    facts = backend.run(backend.job("descriptor_copy", "sm_90")).facts
    assert facts is not None
    assert facts.global_scratch_bytes == 256  # two descriptors of 128 bytes
    assert facts.global_scratch_align == 128


def test_nothing_is_printed_into_the_caller(
    backend: Backend, capfd: pytest.CaptureFixture[str]
) -> None:
    backend.run(backend.job("vector_add", mlir="module { nonsense"))
    assert capfd.readouterr() == ("", "")


def test_the_parent_never_loads_the_library(backend: Backend) -> None:
    backend.run(backend.job("vector_add"))
    assert not libtriton.is_loaded()
    assert "triton._C.libtriton" not in sys.modules


def test_a_module_that_cannot_be_read_says_where(backend: Backend) -> None:
    mlir = backend.module("vector_add").replace("arith.addf", "arith.bogus")
    outcome = backend.run(backend.job("vector_add", mlir=mlir))
    assert (outcome.failure, outcome.stage) == ("refused", "mlir")
    assert "arith.bogus" in outcome.stderr
    assert outcome.facts is None


def test_an_llvm_error_that_ends_the_process_is_survived(backend: Backend) -> None:
    if backend.release.name not in _ENDS_ON_LOW_PTX:
        pytest.skip("this libtriton does not end on a low PTX version")
    outcome = backend.run(backend.job("vector_add", "sm_120", ptx_version=86))
    assert outcome.failure == "died"
    assert outcome.reason == "exit status 1"
    assert outcome.stage == "llvm-ir"
    assert "LLVM ERROR" in outcome.stderr
    assert [stage.name for stage in outcome.stages][-1] == "ttgir"


def _replaced_run(monkeypatch: pytest.MonkeyPatch, run: Callable[..., object]) -> None:
    """The forked child inherits the replacement."""
    monkeypatch.setattr(libtriton, "run", run)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("forks")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_killed_process_names_its_signal(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def die(*_: object) -> None:
        faulthandler.disable()  # pytest's would write to the terminal
        os.write(2, b"last words\n")
        os.kill(os.getpid(), number)

    _replaced_run(monkeypatch, die)
    outcome = backend.run(backend.job("vector_add"))
    assert outcome.failure == "died"
    assert outcome.reason == f"signal {number.value} ({number.name})"
    assert outcome.stderr == "last words\n"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("forks")
def test_a_process_that_ends_quietly_has_died_all_the_same(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    _replaced_run(monkeypatch, lambda *_: os._exit(0))
    outcome = backend.run(backend.job("vector_add"))
    assert (outcome.failure, outcome.reason) == ("died", "exit status 0")


def test_a_record_cut_short_counts_as_death() -> None:
    stage = b'{"record": "stage", "name": "loading", "seconds": 0.1, "text": null}'
    outcome = child._outcome([stage, b'{"record": "done", "facts": {"num_wa'], 0, "")
    assert outcome.failure == "died"
    assert outcome.stage == "mlir"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("forks")
def test_our_own_bug_comes_back_as_a_traceback(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("planted")

    _replaced_run(monkeypatch, fail)
    outcome = backend.run(backend.job("vector_add"))
    assert outcome.failure == "bug"
    assert "KeyError: 'planted'" in outcome.reason


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("forks")
def test_a_library_that_cannot_be_loaded_is_told(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise ImportError("libtriton.so: file too short")

    monkeypatch.setattr(libtriton, "load", fail)
    outcome = backend.run(backend.job("vector_add"))
    assert (outcome.failure, outcome.reason) == ("broken", "libtriton.so: file too short")


def test_a_dismissed_process_is_gone(backend: Backend) -> None:
    process = Child.start()
    assert process.is_waiting()
    process.dismiss()
    assert not process.is_waiting()
    with pytest.raises(ProcessLookupError):
        os.kill(process._pid, 0)


def test_a_process_that_died_while_waiting_is_noticed(backend: Backend) -> None:
    process = Child.start()
    os.kill(process._pid, signal.SIGKILL)
    process._wait(True)
    assert not process.is_waiting()
    assert process.run(backend.job("vector_add")).failure == "died"


def test_a_fresh_interpreter_gives_the_same_as_a_fork(backend: Backend) -> None:
    job = backend.job("vector_add", "sm_90")
    spawned = child._spawn().run(job)
    assert spawned.failure is None, spawned
    assert spawned.stages[-1].text == backend.ptx(job)


def test_a_spawned_process_that_dies_names_how(backend: Backend) -> None:
    process = child._spawn()
    os.kill(process._pid, signal.SIGKILL)
    assert process.run(backend.job("vector_add")).reason == "signal 9 (SIGKILL)"


def test_a_threaded_process_does_not_fork() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        assert not child._can_fork()
    finally:
        release.set()
        thread.join()


def test_a_foreign_triton_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "triton", sys)
    assert not child._can_fork()


_LOAD_THEN_FORK = """
from conftest import Backend
from teenyc.backend.gpu import libtriton
backend = Backend()
job = backend.job("matmul", "sm_90")
cold = backend.ptx(job)
libtriton.load()
libtriton.warm()
assert backend.ptx(job) == cold
assert backend.ptx(job) == cold
import os
os._exit(0)
"""


def test_children_of_a_warm_process_give_the_same_bytes() -> None:
    folder = Path(__file__).parent
    subprocess.run([sys.executable, "-c", _LOAD_THEN_FORK], cwd=folder, check=True, timeout=60)
