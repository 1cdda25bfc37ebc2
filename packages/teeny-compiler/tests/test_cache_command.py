"""`teeny cache`: what it lists, why a kernel misses, and what it takes out."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from teeny_compiler import Target, cli, compile_kernel
from teeny_compiler.cache import Cache, store, survey
from teeny_compiler.cli import entries
from teeny_macros.diagnostics import TeenyError

SM_90 = Target.cuda("sm_90")
Make = Callable[..., Any]
DAY = 86400
MODULE = """\
import runpy
_Instance = runpy.run_path({instance!r})["Instance"]
class _Kernel:
    name, kernel_source = "scale", "def scale(): ..."
    def instantiate(self, **bindings):
        return _Instance(sorted(bindings.items()))
scale = _Kernel()
"""


@pytest.fixture
def keys(
    teenyc: Any, cache_dir: Path, make_instance: Make, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """The keys of an entry of two days ago and one of yesterday; nobody hit them yet."""
    found = []
    for variant, age in enumerate((2, 1)):
        past = SimpleNamespace(time=lambda age=age: time.time() - age * DAY, sleep=time.sleep)
        with monkeypatch.context() as patched:
            patched.setattr(store, "time", past)
            found.append(compile_kernel(make_instance(variant), SM_90).path.parent.name)
    return found


def run(*arguments: str) -> int:
    return cli.main(["cache", *arguments])


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_path_is_where_kernels_are_cached(
    cache_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("path") == 0
    assert capsys.readouterr().out == f"{cache_dir}\n"


def test_path_for_scripts_has_layers_remote_and_limits(
    cache_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TEENYC_CACHE_LAYERS", str(tmp_path))
    monkeypatch.setenv("TEENYC_CACHE_REMOTE", "s3://bucket/teenyc")
    monkeypatch.setenv("TEENYC_CACHE_REMOTE_MODE", "read")
    monkeypatch.setenv("TEENYC_CACHE_MAX_SIZE", "1G")
    monkeypatch.setenv("TEENYC_CACHE_MAX_AGE", "none")
    assert run("path", "--json") == 0
    assert said(capsys) == {
        "path": str(cache_dir),
        "layers": [str(tmp_path)],
        "remote": {"url": "s3://bucket/teenyc", "write": False},
        "max_bytes": 2**30,
        "max_age_seconds": None,
    }


def test_an_absent_cache_is_empty(cache_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("ls", "verify", "clear"):
        assert run(command) == 0
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines() == [
        "teeny: 0 entries, 0 B",
        "teeny: 0 entries, 0 damaged",
        "teeny: removed 0 entries, 0 B",
    ]


def test_each_process_that_finds_an_entry_is_a_hit_and_a_use(
    keys: list[str], make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        compile_kernel(make_instance(0), SM_90)
    capsys.readouterr()
    assert run("ls", "--json") == 0
    rows = said(capsys)
    assert [(row["key"], row["hits"]) for row in rows] == [(keys[1], 0), (keys[0], 3)]
    assert rows[1]["last_used"] > rows[0]["last_used"]
    assert rows[0]["seconds"] > 0
    assert run("ls") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[0] == keys[1][:12]
    assert "0 hits" in first
    assert "3 hits" in second
    assert second.endswith("cuda:sm_90  scale")


def test_show_takes_the_first_digits_of_a_key(
    keys: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run("show", keys[0][:16].upper()) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"key: {keys[0]}\n")
    assert "\nversions.teenyc: 1.0\n" in out
    assert "\nfile: scale_entry_point.ptx, " in out


@pytest.mark.parametrize("given", ["", "nothing"])
def test_a_key_that_names_no_entry_or_several_is_refused(given: str, keys: list[str]) -> None:
    with pytest.raises(TeenyError) as caught:
        entries.find_entry(Cache("absent"), given)
    assert caught.value.code == "E0923"
    assert run("show", given) == 1


def test_verify_names_what_is_damaged(
    keys: list[str], cache_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(Cache(cache_dir).folder(keys[1]), "manifest.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert run("verify") == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"{keys[1][:12]}: its manifest ")
    assert err.startswith("teeny: 2 entries, 1 damaged\n")
    assert run("ls") == 0
    assert "cuda:sm_90  scale" in capsys.readouterr().out


def test_verify_is_content_with_whole_entries(
    teenyc: Any, cache_dir: Path, make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = compile_kernel(make_instance(), SM_90).path.parent
    capsys.readouterr()
    assert run("verify", "--json") == 0
    assert said(capsys) == {"entries": 1, "damaged": {}}
    (folder / "scale_entry_point.ptx").write_text("else", encoding="utf-8")
    assert run("verify", "--json") == 1
    assert said(capsys)["damaged"] == {folder.name: "`scale_entry_point.ptx` has changed"}


def test_clear_takes_every_entry_and_they_come_again(
    keys: list[str], cache_dir: Path, make_instance: Make, teenyc: Any
) -> None:
    assert run("clear") == 0
    assert Cache(cache_dir).list_keys() == []
    assert list((cache_dir / ".tmp").iterdir()) == []
    before = len(teenyc.calls())
    assert compile_kernel(make_instance(0), SM_90).path.is_file()
    assert len(teenyc.calls()) == before + 1


def test_gc_by_size_takes_the_least_recently_used(
    keys: list[str], cache_dir: Path, make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    os.utime(_stamp(cache_dir, keys[0]))
    size = survey.survey(Cache(cache_dir))[0].size
    capsys.readouterr()
    assert run("gc", "--max-size", str(size + 100), "--json") == 0
    assert said(capsys)["removed"] == [keys[1]]
    assert Cache(cache_dir).list_keys() == [keys[0]]


def test_gc_by_age_takes_what_was_not_used_for_so_long(keys: list[str], cache_dir: Path) -> None:
    assert run("gc", "--max-age", "36h") == 0
    assert Cache(cache_dir).list_keys() == [keys[1]]
    assert run("gc", "--max-age", "36h", "--max-size", "1G") == 0
    assert Cache(cache_dir).list_keys() == [keys[1]]


def test_gc_without_a_limit_is_wrong_usage(
    cache_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("gc") == 2
    assert run("gc", "--max-size", "plenty") == 1
    assert "error[E0934]: `plenty` is not a size" in capsys.readouterr().err
    assert run("gc", "--max-age", "old") == 1
    assert "error[E0934]: `old` is not an age" in capsys.readouterr().err


def test_why_miss_names_the_inputs_that_differ(
    teenyc: Any,
    cache_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    instance = str(Path(__file__).parent / "fakes" / "instance.py")
    path = tmp_path / "kernels_to_miss.py"
    path.write_text(MODULE.format(instance=instance), encoding="utf-8")
    asked = ["why-miss", f"{path}:scale", "-t", "sm_90", "-D", "BLOCK=64"]
    assert run(*asked) == 0
    assert capsys.readouterr().out == "`scale` was never compiled into this cache\n"
    assert cli.main(["compile", f"{path}:scale", "-t", "sm_80", "-D", "BLOCK=64"]) == 0
    capsys.readouterr()
    assert run(*asked, "--json") == 0
    (row,) = said(capsys)["differences"]
    assert row == {"input": "target", "wanted": "cuda:sm_90", "found": "cuda:sm_80"}
    assert cli.main(["compile", f"{path}:scale", "-t", "sm_90", "-D", "BLOCK=64"]) == 0
    capsys.readouterr()
    assert run(*asked) == 0
    assert capsys.readouterr().out.startswith("it is cached: ")
    # Another value is another text: the lines of the least different entry are shown.
    other = [*asked[:-1], "BLOCK=128"]
    assert run(*other) == 0
    says, old, new = capsys.readouterr().out.splitlines()
    assert says.endswith(", the most similar entry:")
    assert (old, new) == ("  -    return [('BLOCK', 64)]", "  +    return [('BLOCK', 128)]")
    assert run(*other, "--json") == 0
    found = said(capsys)
    assert (found["hit"], found["nearest"][:12]) == (False, says.split()[6].rstrip(","))
    assert found["text"] == [old[2:], new[2:]]


def test_an_entry_that_kept_no_text_is_told_by_its_identity(
    teenyc: Any,
    cache_dir: Path,
    make_instance: Make,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    publish = Cache.publish

    def without_text(*given: Any, text: str, **named: Any) -> Any:
        assert text
        return publish(*given, **named)

    monkeypatch.setattr(Cache, "publish", without_text)
    compile_kernel(make_instance(1), SM_90)
    monkeypatch.setattr("teeny_compiler.cli.kernels.find_kernel", lambda _: make_instance(2))
    assert run("why-miss", "any:scale", "-t", "sm_90") == 0
    assert capsys.readouterr().out.startswith("id: wanted ")


def test_show_takes_the_name_of_a_kernel_with_one_entry(
    keys: list[str], make_instance: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    key = compile_kernel(make_instance(name="alone"), SM_90).path.parent.name
    capsys.readouterr()
    assert run("show", "alone") == 0
    assert capsys.readouterr().out.startswith(f"key: {key}\n")
    assert run("show", "scale") == 1
    err = capsys.readouterr().err
    assert "`scale` names 2 entries" in err
    assert all(key[:12] in err for key in keys)


@pytest.mark.parametrize(
    ("given", "size"), [("10", 10), ("1K", 1024), ("1.5 MiB", 1572864), ("2gb", 2 * 1024**3)]
)
def test_sizes_are_read_in_units_of_1024(given: str, size: int) -> None:
    assert entries.parse_size(given) == size


def test_sizes_and_ages_are_shown_in_their_largest_unit() -> None:
    assert [entries.show_size(n) for n in (5, 2048, 3 << 20, 5 << 30)] == [
        *("5 B", "2.0 KiB", "3.0 MiB", "5.0 GiB")
    ]
    assert [entries.show_age(n) for n in (-1, 0, 59, 60, 7200, 15 * DAY)] == [
        *("0s", "0s", "59s", "1m", "2h", "2w")
    ]


def _stamp(cache_dir: Path, key: str) -> Path:
    path = cache_dir / ".used" / key
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b".")
    return path
