"""The worker: answers in order, the same bytes as a cold run, and survival of every bad request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import IO, TYPE_CHECKING, Any, Self

import pytest

from teenyc import __version__, cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from teeny_macros.unit import Unit

    MakeUnit = Callable[..., Unit]

SM_80 = ["-C", "target-cpu=sm_80"]


class Client:
    """The other end of a worker."""

    def __init__(self, folder: Path, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *(command or ("-m", "teenyc", "--worker"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout
        self.stderr: IO[bytes] = self.process.stderr

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.stdin.closed:
            self.close()

    def ask_raw(self, line: bytes) -> dict[str, Any]:
        self.stdin.write(line + b"\n")
        self.stdin.flush()
        answer: dict[str, Any] = json.loads(self.stdout.readline())
        return answer

    def ask(self, unit: Unit, *args: str, identity: object = 1) -> dict[str, Any]:
        request = {"id": identity, "unit": unit.render(), "args": list(args)}
        return self.ask_raw(json.dumps(request).encode())

    def close(self) -> bytes:
        """End the worker; what it wrote on standard error."""
        self.stdin.close()
        said = self.stderr.read()
        assert self.process.wait(20) == 0
        self.stdout.close()
        self.stderr.close()
        return said


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One worker for the tests that leave it well."""
    with Client(tmp_path_factory.mktemp("worker")) as client:
        yield client
        assert client.close() == b""


def codes_of(answer: dict[str, Any]) -> list[str]:
    return [row["code"] for row in answer["diagnostics"]]


def test_files_are_those_of_a_cold_run(shared: Client, make_unit: MakeUnit, tmp_path: Path) -> None:
    warm, cold = tmp_path / "warm", tmp_path / "cold"
    asked = [*SM_80, "--emit", "mlir,ttgir,llvm-ir,ptx"]
    answer = shared.ask(make_unit(), *asked, "-o", str(warm), identity="first")
    assert answer["id"] == "first"
    assert (answer["status"], answer["diagnostics"]) == (0, [])
    assert answer["timings"]["ptx"] > 0
    file = tmp_path / "unit.py"
    file.write_text(make_unit().render(), encoding="utf-8")
    assert cli.main([str(file), *asked, "-o", str(cold)]) == cli.OK
    names = sorted(path.name for path in cold.iterdir())
    assert sorted(path.name for path in warm.iterdir()) == names
    assert all((warm / name).read_bytes() == (cold / name).read_bytes() for name in names)
    assert sorted(answer["files"].values()) == sorted(str(warm / name) for name in names)


def test_a_digest_is_enough_once_the_text_was_there(make_unit: MakeUnit, tmp_path: Path) -> None:
    asked = ["--target", "interpret", "-o", str(tmp_path)]
    with Client(tmp_path) as client:
        unknown = client.ask(make_unit(with_dsl=False), *asked)
        assert (unknown["status"], codes_of(unknown)) == (1, ["E0709"])
        assert client.ask(make_unit(), *asked)["status"] == 0
        assert client.ask(make_unit(with_dsl=False), *asked)["status"] == 0


def test_faults_come_back_as_records(shared: Client, make_unit: MakeUnit) -> None:
    unit = make_unit(
        "import teeny_triton as tl\n"
        "def bad(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE):\n"
        "    tl.store(out_ptr, missing)\n"
    )
    answer = shared.ask(unit, *SM_80)
    assert answer["status"] == cli.DIAGNOSTICS
    assert answer["diagnostics"][0]["labels"][0]["line"] == 3
    assert shared.ask(make_unit(), *SM_80, "--check")["status"] == cli.OK


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"not json",
        b"[]",
        b"{}",
        b'{"id": 3, "unit": 1, "args": []}',
        b'{"id": 3, "unit": "", "args": [1]}',
        b'{"id": 3, "unit": "", "args": ["--frobnicate"]}',
        b'{"id": 3, "unit": "", "args": ["--worker"]}',
        b'{"id": 3, "unit": "", "args": ["--version"]}',
        b'{"id": 3, "unit": "", "args": ["other.py"]}',
    ],
)
def test_requests_that_make_no_sense_are_answered(shared: Client, line: bytes) -> None:
    answer = shared.ask_raw(line)
    assert (answer["status"], codes_of(answer)) == (cli.USAGE, ["E0711"])
    assert shared.ask_raw(b'{"id": 4, "ping": true}')["id"] == 4


def test_a_ping_tells_the_versions(shared: Client) -> None:
    answer = shared.ask_raw(b'{"id": null, "ping": true}')
    assert answer["teenyc"] == __version__
    assert answer["triton"].startswith("3.")
    assert answer["pid"] == shared.process.pid


def test_a_unit_that_is_none_is_refused(shared: Client) -> None:
    request = {"id": 5, "unit": "print()", "args": SM_80}
    assert codes_of(shared.ask_raw(json.dumps(request).encode())) == ["E0020"]


def _children(pid: int) -> list[int]:
    done = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in done.stdout.split()]


def test_the_worker_outlives_its_waiting_back_end(make_unit: MakeUnit, tmp_path: Path) -> None:
    asked = [*SM_80, "-o", str(tmp_path)]
    with Client(tmp_path) as client:
        assert client.ask(make_unit(), *asked)["status"] == cli.OK
        for _ in range(3):
            client.ask_raw(b'{"ping": true}')  # by its answer the next process waits
            (pid,) = _children(client.process.pid)
            os.kill(pid, signal.SIGKILL)
            assert client.ask(make_unit(), *asked)["status"] == cli.OK


_PLANTED = """
import os, signal, sys
from teenyc import worker
from teenyc.backend.gpu import libtriton
real = libtriton.run
def run(job, on_stage):
    if b"doomed" in job.mlir.encode():
        os.kill(os.getpid(), signal.SIGSEGV)
    return real(job, on_stage)
libtriton.run = run
worker.serve()
"""


def test_a_crash_costs_one_request(make_unit: MakeUnit, tmp_path: Path) -> None:
    doomed = make_unit(
        "import teeny_triton as tl\n"
        "def doomed(x_ptr, y_ptr, out_ptr, n_elements, BLOCK_SIZE):\n"
        "    tl.store(out_ptr, tl.load(x_ptr))\n"
    )
    with Client(tmp_path, "-c", _PLANTED) as client:
        answer = client.ask(doomed, *SM_80, "-o", "out")
        assert (answer["status"], codes_of(answer)) == (cli.DIAGNOSTICS, ["E0703"])
        assert (tmp_path / "out" / "doomed_entry_point.reproducer.sh").is_file()
        assert client.ask(make_unit(), *SM_80, "-o", "out")["status"] == cli.OK


def test_the_worker_ends_with_its_input_and_leaves_nobody(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.ask_raw(b'{"ping": true}')
        children = _children(client.process.pid)
        assert len(children) == 1
        assert client.close() == b""
    with pytest.raises(ProcessLookupError):
        os.kill(children[0], 0)
