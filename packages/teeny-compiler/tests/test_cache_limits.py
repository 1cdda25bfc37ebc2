"""The cache keeps its limits by itself: the least recently used goes, what is in use stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from teeny_compiler import Target, compile_kernel
from teeny_compiler.cache import Cache, limits, lock, survey, units
from teeny_macros.diagnostics import TeenyError

SM_90 = Target.cuda("sm_90")
DAY = 86400
Make = Callable[..., Any]


def fill(cache_dir: Path, make_instance: Make, count: int) -> list[str]:
    """`count` entries, the oldest first, each used an hour after the one before."""
    keys = []
    start = time.time() - DAY
    for variant in range(count):
        folder = compile_kernel(make_instance(variant), SM_90).path.parent
        used = start + 3600 * variant
        age(cache_dir, folder.name, used)
        keys.append(folder.name)
    return keys


def age(cache_dir: Path, key: str, when: float) -> None:
    """Make an entry look as if it was made and used at `when`."""
    stamp = cache_dir / ".used" / key
    stamp.parent.mkdir(exist_ok=True)
    stamp.touch()
    os.utime(stamp, (when, when))
    manifest = Cache(cache_dir).folder(key) + "/manifest.json"
    text = Path(manifest).read_text(encoding="utf-8")
    made = text.partition('"created": ')[2].partition(",")[0].partition("\n")[0]
    Path(manifest).write_text(text.replace(made, str(int(when))), encoding="utf-8")


def size_of_one(cache_dir: Path) -> int:
    return max(record.size for record in survey.survey(Cache(cache_dir)))


def test_a_full_cache_loses_what_was_used_least_recently(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = fill(cache_dir, make_instance, 6)
    one = size_of_one(cache_dir)
    os.utime(cache_dir / ".used" / keys[0])  # the oldest is used now
    monkeypatch.setenv("TEENYC_CACHE_MAX_SIZE", str(5 * one))
    (cache_dir / limits.LEDGER).unlink()
    newest = compile_kernel(make_instance("new"), SM_90).path.parent.name
    left = set(Cache(cache_dir).list_keys())
    assert newest in left
    assert keys[0] in left
    assert keys[1] not in left
    assert keys[5] in left
    assert sum(record.size for record in survey.survey(Cache(cache_dir))) <= 5 * one


def test_what_was_used_minutes_ago_stays_even_beyond_the_limit(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_MAX_SIZE", "1")
    made = [compile_kernel(make_instance(variant), SM_90) for variant in range(3)]
    assert all(artifact.path.exists() for artifact in made)


def test_what_was_not_used_for_long_goes(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = fill(cache_dir, make_instance, 2)
    age(cache_dir, keys[0], time.time() - 100 * DAY)
    monkeypatch.setenv("TEENYC_CACHE_MAX_AGE", "none")
    (cache_dir / limits.LEDGER).unlink()
    compile_kernel(make_instance("a"), SM_90)
    assert keys[0] in Cache(cache_dir).list_keys()
    monkeypatch.delenv("TEENYC_CACHE_MAX_AGE")
    (cache_dir / limits.LEDGER).unlink()
    compile_kernel(make_instance("b"), SM_90)
    assert keys[0] not in Cache(cache_dir).list_keys()
    assert keys[1] in Cache(cache_dir).list_keys()


def test_the_entries_are_looked_at_rarely(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    real = survey.survey

    def look(cache: Cache) -> list[survey.Record]:
        looks.append(1)
        return real(cache)

    monkeypatch.setattr(survey, "survey", look)
    for variant in range(5):
        compile_kernel(make_instance(variant), SM_90)
    assert len(looks) == 1


def test_a_clock_that_jumps_costs_no_result(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.time
    for jump in (0.0, 10 * 365 * DAY, -10 * 365 * DAY, 0.0):
        monkeypatch.setattr(time, "time", lambda jump=jump: real() + jump)
        for variant in ("old", f"new {jump}"):
            made = compile_kernel(make_instance(variant), SM_90)
            assert made.read_text().startswith("// ptx ")
    assert list((cache_dir / ".tmp").iterdir()) == []


def test_the_folder_of_a_process_that_still_works_is_not_swept(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    cache = Cache(cache_dir)
    work = Path(cache.folders_to_work_in()[0]())
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    other = work.with_name(work.name.replace(f"-{os.getpid()}-", f"-{gone}-"))
    other.mkdir()
    for folder in (work, other):
        os.utime(folder, (0, 0))
    compile_kernel(make_instance(), SM_90)
    assert work.exists()
    assert not other.exists()


def test_old_locks_and_failures_are_swept_with_the_entries(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    old, new = cache_dir / lock.FOLDER / "old.lock", cache_dir / lock.FOLDER / "new.lock"
    failed = cache_dir / ".failed" / "scale-0123"
    failed.mkdir(parents=True)
    old.parent.mkdir()
    for path in (old, new, failed / "unit.py"):
        path.touch()
    for path in (old, failed):
        os.utime(path, (0, 0))
    compile_kernel(make_instance(), SM_90)
    assert not old.exists()
    assert new.exists()
    assert not failed.exists()


@pytest.mark.parametrize("name", ["TEENYC_CACHE_MAX_SIZE", "TEENYC_CACHE_MAX_AGE"])
def test_a_limit_that_cannot_be_read_is_said_before_anything_is_compiled(
    name: str, teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "much")
    with pytest.raises(TeenyError) as caught:
        compile_kernel(make_instance(), SM_90)
    assert caught.value.code == "E0914"
    assert name in str(caught.value)
    assert teenyc.calls() == []


def test_a_ledger_that_cannot_be_written_or_read_costs_nothing(
    teenyc: Any, cache_dir: Path, make_instance: Make
) -> None:
    compile_kernel(make_instance(0), SM_90)
    ledger = cache_dir / limits.LEDGER
    ledger.write_bytes(b"\xff\x00 nonsense\n+x\n")
    compile_kernel(make_instance(1), SM_90)
    ledger.unlink(missing_ok=True)
    ledger.mkdir()
    compile_kernel(make_instance(2), SM_90)
    assert Cache(cache_dir).count() == 3


def test_what_is_no_size_or_age_is_none() -> None:
    assert units.parse_size("5 GiB") == 5 * 2**30
    assert units.parse_size("5 lots") is None
    assert units.parse_age("90d") == 90 * DAY
    assert units.parse_age("soon") is None
