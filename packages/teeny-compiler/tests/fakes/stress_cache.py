"""One cache directory under everything that can go wrong: `stress_cache.py [--processes 64] ...`.

Processes compile overlapping kernels round after round, while others are killed, bits of stored
files are flipped, entries are removed, clocks jump and calls of the system fail. Then the same on a
small disk, in a directory that cannot be written, and in default directories of other users. Every
result is compared with what it must be; the figures are printed as JSON, and status 1 says that one
is wrong. `--limit SECONDS` ends what still works by then, which counts as missing.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import json
import os
import random
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from teeny_compiler import Target, compile_kernel, log
from teeny_compiler import options as option_names
from teeny_compiler.cache import Cache, directory
from teeny_triton.triton_lang import TRITON, TRITON_SHA

HERE = Path(__file__).resolve()
Instance = runpy.run_path(str(HERE.with_name("instance.py")))["Instance"]
SM_90 = Target.cuda("sm_90")
VARIANTS = 6  # of each round
YEARS = 10 * 365 * 86400
OTHER_USER = 65534
AS_OTHER: dict[str, Any] = {"user": OTHER_USER, "group": OTHER_USER, "extra_groups": []}


# --- a worker -------------------------------------------------------------------------------------


def expected(instance: Any) -> str:
    """What the fake teenyc writes for an instance, without asking the cache or the fake."""
    unit = instance.unit(TRITON, TRITON_SHA).render()
    options = option_names.resolve(None, SM_90, fp_fusion=True)
    arguments = ["unit.py", *option_names.arguments(options, SM_90)]
    arguments += ["-o", "out", "--error-format", "json"]
    digest = hashlib.sha256((unit + " ".join(arguments)).encode()).hexdigest()
    return f"// ptx {digest}\n" * 50


def inject(chance: float, dice: random.Random) -> None:
    """Let calls on the cache fail by chance, as full disks and network file systems do."""
    cache = os.environ["TEENYC_CACHE_DIR"]
    codes = (errno.ENOSPC, errno.EACCES, errno.EBUSY, errno.ESTALE)
    for name in ("rename", "replace", "mkdir", "fsync", "unlink"):
        real = getattr(os, name)

        def fail(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            place = str(args[0])
            if (place.startswith(cache) or place.isdecimal()) and dice.random() < chance:
                code = dice.choice(codes)
                raise OSError(code, os.strerror(code))
            return real(*args, **kwargs)

        setattr(os, name, fail)


def work(number: int, start: int, rounds: int, faults: float, report: str) -> None:
    """Compile the kernels of each round in an order of its own, and compare every result."""
    dice = random.Random(1000 * number + start)
    real = time.time
    if faults:
        inject(faults, dice)
    with open(report, "a", encoding="utf-8") as file:
        for turn in range(start, rounds):
            jump = dice.choice((0, 0, 0, YEARS, -YEARS)) if faults else 0
            time.time = lambda jump=jump: real() + jump  # type: ignore[misc]
            row: dict[str, Any] = {"round": turn, "wrong": 0, "errors": [], "longest": 0.0}
            for variant in dice.sample(range(VARIANTS), VARIANTS):
                instance = Instance(f"{turn}.{variant}")
                begin = time.monotonic()
                try:
                    found = compile_kernel(instance, SM_90).read_text()
                except Exception as error:  # noqa: BLE001 - none is allowed
                    row["errors"].append(str(error))
                    continue
                row["longest"] = max(row["longest"], time.monotonic() - begin)
                row["wrong"] += found != expected(instance)
            file.write(json.dumps(row) + "\n")
            file.flush()
            log._said.clear()


# --- the processes --------------------------------------------------------------------------------


class Crowd:
    """Processes that work; one that is killed begins again where it was."""

    until = float("inf")  # when all of them end

    def __init__(
        self, folder: Path, cache: Path, count: int, rounds: int, faults: float, python: str = ""
    ) -> None:
        self.folder, self.cache, self.rounds, self.faults = folder, cache, rounds, faults
        self.python = python  # of another user
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)
        self.reports = [folder / f"report{number}" for number in range(count)]
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        for number in range(count):
            self.start(number)

    def start(self, number: int) -> None:
        """Start a process at the first round that it has not reported."""
        done = len(self.rows(number))
        if done >= self.rounds:
            return
        command = [
            self.python or sys.executable,
            str(HERE),
            "--work",
            str(number),
            str(done),
            str(self.rounds),
        ]
        command += [str(self.faults), str(self.reports[number])]
        environment = os.environ | {"TEENYC_CACHE_DIR": str(self.cache), "TEENY_LOG": "info"}
        if str(self.cache) == "default":
            del environment["TEENYC_CACHE_DIR"]
            environment["STRESS_SHARED"] = str(self.folder / "shared")
        if self.python:
            environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(self.folder)}
            environment["TEENYC_PATH"] = install_fake(self.folder, self.python)
        kind = AS_OTHER if self.python else {}
        with open(f"{self.reports[number]}.err", "ab") as stderr:
            self.running[number] = subprocess.Popen(
                command,
                env=environment,
                stderr=stderr,
                start_new_session=True,
                **kind,
            )

    def rows(self, number: int) -> list[dict[str, Any]]:
        """What a process reported; a line that a kill cut off does not count."""
        rows = []
        with contextlib.suppress(FileNotFoundError):
            for line in self.reports[number].read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):
                    rows.append(json.loads(line))
        return rows

    def kill(self, dice: random.Random) -> bool:
        """Kill a process with all that it started, and start another in its place."""
        alive = [n for n, process in self.running.items() if process.poll() is None]
        if not alive:
            return False
        number = dice.choice(alive)
        process = self.running[number]
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.start(number)
        return True

    def end(self) -> None:
        """End what still works."""
        for process in self.running.values():
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def poll(self) -> bool:
        """Whether any process still works; none does when time is up."""
        if time.monotonic() > self.until:
            self.end()
        return any(process.poll() is None for process in self.running.values())

    def result(self) -> dict[str, Any]:
        """What came of it all."""
        rows = [row for number in range(len(self.reports)) for row in self.rows(number)]
        text = "".join(Path(f"{r}.err").read_text(errors="replace") for r in self.reports)
        statuses = Counter(process.wait() for process in self.running.values())
        return {
            "results": VARIANTS * len(rows) - sum(len(row["errors"]) for row in rows),
            "wrong": sum(row["wrong"] for row in rows),
            "errors": [error for row in rows for error in row["errors"]][:5],
            "missing_rounds": self.rounds * len(self.reports) - len(rows),
            "bad_ends": sum(count for status, count in statuses.items() if status),
            "tracebacks": text.count("Traceback"),
            "compiled": text.count("teeny: compiled"),
            "healed": text.count("warning[W0921]"),
            "not_kept": text.count("warning[W0920]"),
            "longest_s": round(max((row["longest"] for row in rows), default=0.0), 2),
        }


def is_good(found: dict[str, Any]) -> bool:
    """Whether every result came and was right."""
    bad = ("wrong", "errors", "missing_rounds", "bad_ends", "tracebacks")
    return not any(found[name] for name in bad)


# --- what goes wrong ------------------------------------------------------------------------------


def flip(cache: Path, dice: random.Random) -> bool:
    """Flip one bit of one stored file."""
    keys = Cache(cache).list_keys()
    if not keys:
        return False
    folder = Path(Cache(cache).folder(dice.choice(keys)))
    try:
        path = folder / dice.choice(sorted(os.listdir(folder)))
        with open(path, "r+b") as file:
            size = os.fstat(file.fileno()).st_size
            at = dice.randrange(max(1, size))
            file.seek(at)
            byte = file.read(1) or b"\0"
            file.seek(at)
            file.write(bytes([byte[0] ^ 1 << dice.randrange(8)]))
    except (OSError, IndexError):
        return False  # it was removed at this moment
    return True


def chaos(folder: Path, count: int, rounds: int, dice: random.Random) -> dict[str, Any]:
    """Everything at once on one directory, then what is left of it."""
    cache = folder / "cache"
    crowd = Crowd(folder / "chaos", cache, count, rounds, 0.01)
    done: Counter[str] = Counter()
    began = time.monotonic()
    most = count * rounds // 20 + 2
    try:
        while crowd.poll():
            time.sleep(0.05)
            if done["kills"] < most:
                done["kills"] += crowd.kill(dice)
            done["flips"] += flip(cache, dice)
            keys = Cache(cache).list_keys()
            if keys and dice.random() < 0.2:
                done["removed"] += Cache(cache).remove(dice.choice(keys))
            with contextlib.suppress(OSError, IndexError):
                work = os.listdir(cache / ".tmp")[0]
                os.utime(cache / ".tmp" / work, (0, 0))  # as if a clock had jumped
    finally:
        crowd.end()
    found = {**crowd.result(), **done, "seconds": round(time.monotonic() - began, 1)}
    # Afterwards one quiet process finds all of it right, and leaves all of it whole.
    after = Crowd(folder / "after", cache, 1, rounds, 0.0)
    try:
        while after.poll():
            time.sleep(0.05)
    finally:
        after.end()
    quiet = after.result()
    store = Cache(cache)
    found["entries"] = store.count()
    found["damaged_after"] = sum(bool(store.fault(key)) for key in store.list_keys())
    found["healed_after"] = quiet["healed"]
    found["held_locks"] = held_locks(cache)
    found["left_aside"] = len(list((cache / ".tmp").glob("*")))
    found["good"] = (
        is_good(found)
        and is_good(quiet)
        and found["entries"] == VARIANTS * rounds
        and not found["damaged_after"]
        and not found["held_locks"]
    )
    return found


def held_locks(cache: Path) -> int:
    """How many locks somebody still holds when nobody works."""
    from filelock import FileLock, Timeout

    count = 0
    for path in (cache / ".locks").glob("*.lock"):
        try:
            with FileLock(str(path), timeout=0.5):
                pass
        except Timeout:
            count += 1
    return count


def plain(folder: Path, cache: Path, count: int, rounds: int, python: str = "") -> dict[str, Any]:
    """Processes on a directory that has something wrong with it from the start."""
    crowd = Crowd(folder, cache, count, rounds, 0.0, python)
    try:
        while crowd.poll():
            time.sleep(0.05)
    finally:
        crowd.end()
    found = crowd.result()
    found["good"] = is_good(found)
    return found


def small_disk(folder: Path, count: int, rounds: int) -> dict[str, Any]:
    """A disk of 64 KiB, where the system lets us make one."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return {"good": True, "left_out": "no right to mount a tmpfs; ENOSPC was injected above"}
    try:
        found = plain(folder / "small", disk / "cache", count, rounds)
        found["good"] = found["good"] and found["not_kept"] > 0
        return found
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False, capture_output=True)


def python_of_others() -> str:
    """A Python that another user can run this file with; empty without one."""
    if os.name != "posix" or os.geteuid() != 0:
        return ""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": "/"}
    for name in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        with contextlib.suppress(OSError):
            command = [name, str(HERE), "--help"]
            done = subprocess.run(
                command, env=environment, capture_output=True, check=False, cwd="/", **AS_OTHER
            )
            if done.returncode == 0:
                return name
    return ""


def install_fake(folder: Path, python: str) -> str:
    """Write the teenyc of these tests, for an interpreter; returns its path."""
    path = folder / "teenyc"
    if not path.exists():
        text = HERE.with_name("teenyc.py").read_text(encoding="utf-8")
        path.write_text(f"#!{python} -IS\n{text}", encoding="utf-8")
        path.chmod(0o755)
    return str(path)


def other_users(folder: Path, count: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Directories that belong to another user; two real users where the test runs as root."""
    python = python_of_others()
    if not python:
        why = "needs root, and a Python that others may run; EACCES was injected above"
        return {"other users": {"good": True, "left_out": why}}
    closed = folder / "closed"
    closed.mkdir(mode=0o755)
    found = {"read-only": plain(folder / "read", closed, count, rounds, python)}
    found["read-only"]["good"] &= not any(closed.iterdir())
    for kind in ("foreign", "linked"):
        place = folder / kind
        place.mkdir(mode=0o777)
        shared = place / "shared"
        shared.mkdir()
        shared.chmod(0o1777)
        trap = shared / directory.NAME
        if kind == "foreign":
            trap.mkdir(mode=0o777)
            trap.chmod(0o777)
        else:
            goal = place / "goal"
            goal.mkdir()
            goal.chmod(0o777)
            trap.symlink_to(goal)
        row = plain(place, Path("default"), count, rounds, python)
        own = shared / f"{directory.NAME}-{OTHER_USER}"
        row["good"] &= not any(trap.iterdir()) and Cache(own).count() == VARIANTS * rounds
        found[f"{kind} default directory"] = row
    return found


def main() -> int:
    """Run every part and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=float("inf"))
    parser.add_argument("--work", nargs=5)
    given = parser.parse_args()
    if given.work:
        if "STRESS_SHARED" in os.environ:
            directory.shared_folder = lambda: os.environ["STRESS_SHARED"]
        number, start, rounds, faults, report = given.work
        work(int(number), int(start), int(rounds), float(faults), report)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the processes too
    began = time.monotonic()
    Crowd.until = began + given.limit
    few, short = max(2, given.processes // 8), max(1, given.rounds // 5)
    with tempfile.TemporaryDirectory(prefix="stress-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        os.environ["TEENYC_PATH"] = install_fake(folder, sys.executable)
        dice = random.Random(given.seed)
        found = {"chaos": chaos(folder, given.processes, given.rounds, dice)}
        found["small disk"] = small_disk(folder, few, short)
        found |= other_users(folder, few, short)
        facts = {"processes": given.processes, "rounds": given.rounds, "cores": os.cpu_count()}
        facts["seconds"] = round(time.monotonic() - began, 1)
        print(json.dumps({**found, "run": facts}, indent=1))
        shutil.rmtree(folder / "cache", ignore_errors=True)
    return 0 if all(row["good"] for row in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
