"""Many processes on one directory: one compiles, the rest wait; a killed one costs nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

COMPILE_MANY = Path(__file__).parent / "fakes" / "compile_many.py"
PROCESSES, VARIANTS, ROUNDS = 8, 8, 2


def start(*variants: str, gate: Path | None = None) -> subprocess.Popen[str]:
    environment = dict(os.environ)
    if gate is not None:
        environment["FAKE_GATE"] = str(gate)
    return subprocess.Popen(
        [sys.executable, str(COMPILE_MANY), "sm_90", *variants],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(process: subprocess.Popen[str]) -> dict[str, tuple[str, str]]:
    """`variant -> (path, digest)` of a process that must end well."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "warning" not in err
    rows = [line.split() for line in out.splitlines() if line != "ready"]
    return {variant: (path, digest) for variant, path, digest in rows}


def test_eight_processes_compile_each_of_eight_variants_once(
    teenyc: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for turn in range(ROUNDS):
        monkeypatch.setenv("TEENYC_CACHE_DIR", str(tmp_path / f"cache{turn}"))
        gate = tmp_path / f"gate{turn}"
        names = [str(number) for number in range(VARIANTS)]
        # Each process begins with another variant, so that all meet all.
        processes = [start(*names[k:], *names[:k], gate=gate) for k in range(PROCESSES)]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        gate.touch()
        results = [finish(process) for process in processes]
        assert all(result == results[0] for result in results)
        assert len({digest for _, digest in results[0].values()}) == VARIANTS
        assert len(teenyc.calls()) == VARIANTS * (turn + 1)
        for folder in (".tmp", ".locks"):
            assert list((tmp_path / f"cache{turn}" / folder).iterdir()) == []


def test_killed_writer_leaves_no_half_entry_and_no_lock(teenyc: Any, cache_dir: Path) -> None:
    teenyc.behave("ok", delay=30)
    writer = start("a")
    for _ in range(500):
        if teenyc.calls():
            break
        time.sleep(0.01)
    assert len(teenyc.calls()) == 1
    teenyc.behave("ok")
    waiter = start("a")
    time.sleep(0.2)
    work = list((cache_dir / ".tmp").iterdir())
    assert len(work) == 1  # the second one waits for the first
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    path, _ = finish(waiter)["a"]
    assert path.startswith(str(cache_dir))
    assert len(teenyc.calls()) == 2
    end_orphan(work[0])


def end_orphan(work: Path) -> None:
    """End the fake that the killed writer had started: it sleeps in its folder."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cwd").readlink() == work:
                os.kill(int(folder.name), signal.SIGKILL)
        except OSError:
            continue
