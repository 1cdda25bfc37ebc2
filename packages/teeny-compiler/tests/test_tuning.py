"""Tuned kernels in the interpreter: what they choose, what they keep, what they leave alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import teeny_triton as tl
from teeny_compiler import Config, Prune, autotune, heuristics, tune, workers
from teeny_compiler.tuning import measure, store
from teeny_macros import LaunchError, ToolchainError, kernel
from teeny_triton import Const, Ptr, f32, i32

np = pytest.importorskip("numpy")
pytest.importorskip("teeny_cpu")

BLOCKS = [Config({"BLOCK": 64}), Config({"BLOCK": 128}), Config({"BLOCK": 256}, num_warps=8)]


@kernel
def add_one(x_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = tl.auto()) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + 1.0, mask=mask)


@kernel
def total(x_ptr: Ptr[f32], out_ptr: Ptr[f32], n: i32 | int, BLOCK: Const[int] = tl.auto()) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))


@kernel
def half(out_ptr: Ptr[f32], HALF: Const[int] = tl.auto()) -> None:
    offsets = HALF * 512 + tl.arange(0, 512)
    tl.store(out_ptr + offsets, tl.full((512,), 1.0, f32))


@kernel
def copy(
    x_ptr: Ptr[f32],
    out_ptr: Ptr[f32] | None,
    n: i32 | int,
    FACTOR: Const[float] = 1.0,
    BLOCK: Const[int] = tl.auto(),
    EVEN: Const[bool] = False,
) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask) * FACTOR
    if EVEN:
        x = x + 100.0
    if out_ptr is not None:
        tl.store(out_ptr + offsets, x, mask=mask)
    tl.store(x_ptr + offsets, x, mask=mask)


@autotune(
    configs={"BLOCK": [64, 128, 256]},
    key=["n"],
    prune_configs_by={
        "early_config_prune": lambda configs, args: sorted(
            configs, key=(lambda c: max((c.values["BLOCK"]), (min((args["n"]), 1))))
        )[:2]
    },
)
@heuristics({"EVEN": lambda args: ((args["n"]) % (args["BLOCK"])) == (0)})
@kernel
def decorated(
    x_ptr: Ptr[f32],
    n: i32 | int,
    BLOCK: Const[int] = tl.auto(),
    EVEN: Const[bool] = tl.auto(),
) -> None:
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    added = 10.0 if EVEN else 1.0
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + added, mask=mask)


def blocks(meta: Mapping[str, Any]) -> tuple[int]:
    return (4 if meta["BLOCK"] == 64 else 2 if meta["BLOCK"] == 128 else 1,)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One compile cache for all tests here: they differ in what they tune."""
    yield tmp_path_factory.mktemp("compiled")
    workers.close_workers()


@pytest.fixture(autouse=True)
def _fresh(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(compiled / ".tuned", ignore_errors=True)
    monkeypatch.setenv("TEENYC_CACHE_DIR", str(compiled))
    monkeypatch.setenv("TEENY_DEVICE", "interpret")
    monkeypatch.setenv("TEENY_LOG", "quiet")
    monkeypatch.setattr(measure, "MILLISECONDS", 2.0)
    monkeypatch.setattr(store, "_shipped", {})
    monkeypatch.setattr(store, "_loaded", set())


# --- what trials leave alone ----------------------------------------------------------------------


def test_an_atomic_sum_is_right_from_the_first_call_on() -> None:
    tuned = autotune(configs=BLOCKS, key=["n"])(total)
    for n in (120, 120, 120, 120, 250):
        x = np.random.default_rng(n).random(n, dtype=np.float32)
        out = np.zeros(1, np.float32)
        tuned[blocks](x, out, n)
        np.testing.assert_allclose(out[0], x.sum(), rtol=1e-5)
    assert [tuning.measured for tuning in tuned.tunings] == [3, 3]


def test_an_output_that_its_wrapper_zeroes_is_right_in_every_call() -> None:
    tuned = autotune(configs=BLOCKS, key=["n"], reset_to_zero=["out_ptr"])(total)
    x = np.ones(250, np.float32)
    out = np.full(1, np.nan, np.float32)
    for _ in range(3):
        out.fill(0.0)
        tuned[blocks](x, out, 250)
        assert out[0] == 250
        out.fill(np.nan)


def test_a_kernel_in_place_runs_once_however_its_array_is_named() -> None:
    for names in ({}, {"restore_value": ["x_ptr"]}, {"reset_to_zero": ["x_ptr"]}):
        tuned = autotune(configs=BLOCKS, **names)(add_one)  # type: ignore[arg-type]
        x = np.full(200, 5.0, np.float32)
        for call in (1, 2, 3):
            tuned[blocks](x, 200)
            assert (x == 5.0 + call).all()
        shutil.rmtree(Path(store.Store()._path("x")).parent, ignore_errors=True)


def test_resetting_and_restoring_the_same_argument_is_refused() -> None:
    with pytest.raises(ToolchainError, match="E0940") as caught:
        autotune(configs=BLOCKS, reset_to_zero=["x_ptr"], restore_value=["x_ptr"])(add_one)
    assert "`x_ptr` is in `reset_to_zero` and in `restore_value`" in str(caught.value)


def test_trials_of_losing_configs_leave_no_trace() -> None:
    configs = [Config({"HALF": 0}), Config({"HALF": 1})]
    for reference in ("first", None):
        tuned = autotune(configs=configs, reference=reference)(half)
        out = np.full(1024, -1.0, np.float32)
        tuned[1](out)
        won = tuned.tunings[0].best.values["HALF"]
        assert (out[512 * won : 512 * won + 512] == 1.0).all()
        assert (out[512 * (1 - won) : 512 * (1 - won) + 512] == -1.0).all()
        shutil.rmtree(Path(store.Store()._path("x")).parent, ignore_errors=True)


def test_a_config_with_other_results_than_the_first_is_wrong() -> None:
    found = tune(half, [np.zeros(1024, np.float32)], {"HALF": [0, 1]}, grid=1)
    assert [row.state for row in found.rows.values()] == ["measured", "wrong"]
    assert "element 0 is 0 instead of 1 and 1023 more" in str(found)


def test_none_and_the_same_array_twice_can_be_restored() -> None:
    tuned = autotune(configs=BLOCKS, restore_value=["x_ptr", "out_ptr"])(copy)
    x = np.arange(250, dtype=np.float32)
    tuned[blocks](x, None, 250, FACTOR=2.0)
    np.testing.assert_array_equal(x, 2.0 * np.arange(250))
    tuned[blocks](x, x, 250, FACTOR=2.0)
    np.testing.assert_array_equal(x, 4.0 * np.arange(250))


def test_an_unaligned_and_a_strided_view_are_tuned_as_they_are() -> None:
    base = np.zeros(501, np.float32)
    view = base[1:]
    autotune(configs=BLOCKS)(add_one)[blocks](view[:200], 200)
    assert base[0] == 0
    assert (base[1:201] == 1).all()
    assert (base[201:] == 0).all()


# --- what is remembered ---------------------------------------------------------------------------

_AGAIN = """
import sys
import numpy as np
from teeny_compiler import Config, autotune
sys.path.insert(0, {folder!r})
from {module} import add_one, blocks
configs = [Config({{"BLOCK": 64}}), Config({{"BLOCK": 128}})] + [{more}]
tuned = autotune(configs=configs, key=["n"])(add_one)
x = np.zeros({n}, np.float32)
tuned[blocks](x, {n})
assert (x == 1).all()
print(tuned.tunings[0].measured)
"""


def _again(more: str = "", n: int = 200) -> int:
    here = Path(__file__)
    text = _AGAIN.format(folder=str(here.parent), module=here.stem, more=more, n=n)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_another_process_measures_only_what_is_new() -> None:
    assert _again() == 2
    assert _again() == 0
    assert _again(more='Config({"BLOCK": 256})') == 1
    assert _again(n=100) == 2


def test_another_dtype_is_tuned_anew(compiled: Path) -> None:
    @kernel
    def twice(x_ptr: Any, n: Any, BLOCK: Const[int] = tl.auto()) -> None:
        offsets = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n)
        tl.store(x_ptr + offsets, x + x, mask=offsets < n)

    tuned = autotune(configs={"BLOCK": [64, 128]})(twice)
    for dtype in (np.float32, np.float32, np.int32, np.float16):
        x = np.ones(64, dtype)
        tuned[1](x, 64)
        assert (x == 2).all()
    assert [tuning.measured for tuning in tuned.tunings] == [2, 2, 2]


def test_results_can_be_shipped_as_a_file(tmp_path: Path, compiled: Path) -> None:
    from teeny_compiler import export_tunings, load_tunings

    tune(add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks)
    path = tmp_path / "tuned.json"
    assert export_tunings(path, [add_one]) == 3
    shutil.rmtree(compiled / ".tuned")
    assert load_tunings(path) == 3
    assert tune(add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks).measured == 0


def test_a_file_of_results_can_be_named_in_the_environment(
    tmp_path: Path, compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from teeny_compiler import export_tunings

    tune(add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks)
    export_tunings(tmp_path / "tuned.json", ["add_one"])
    shutil.rmtree(compiled / ".tuned")
    monkeypatch.setenv("TEENY_TUNED", str(tmp_path / "tuned.json"))
    assert tune(add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks).measured == 0


def test_the_command_shows_and_forgets_results(capsys: pytest.CaptureFixture[str]) -> None:
    from teeny_compiler import cli

    tuning = tune(add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks)
    assert cli.main(["cache", "tunings", "add_one"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("add_one  interpret ")
    assert out.endswith(f"{tuning.best}\n")
    assert err == "teeny: 3 configs measured for 1 key\n"
    assert cli.main(["cache", "tunings", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert {row["state"] for row in record["rows"].values()} == {"measured"}
    assert cli.main(["cache", "tunings", "another"]) == 0
    assert not capsys.readouterr().out
    assert cli.main(["cache", "clear", "--tunings"]) == 0
    assert "forgot the times of 3 configs" in capsys.readouterr().err
    assert tune(add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks).measured == 3


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    from teeny_compiler import load_tunings

    for text in ("", "{}", '{"schema": 99, "tunings": []}', "[1]"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ToolchainError, match="E0943"):
            load_tunings(tmp_path / "bad.json")


def test_damaged_results_are_measured_again(compiled: Path) -> None:
    args = [np.zeros(200, np.float32), 200]
    tune(add_one, args, BLOCKS, grid=blocks)
    (path,) = (compiled / ".tuned").glob("*.json")
    for text in ("{", json.dumps({"schema": 1, "rows": {"x": 3}})):
        path.write_text(text)
        assert tune(add_one, args, BLOCKS, grid=blocks).measured == 3
    assert tune(add_one, args, BLOCKS, grid=blocks, force=True).measured == 3


# --- what is tried --------------------------------------------------------------------------------


def test_configs_that_fail_are_reported_and_survived() -> None:
    found = tune(add_one, [np.zeros(200, np.float32), 200], {"BLOCK": [100, 256]}, grid=1)
    states = {config.values["BLOCK"]: row.state for config, row in found.rows.items()}
    assert states == {100: "failed", 256: "measured"}
    assert found.best.values == {"BLOCK": 256}
    assert "E04" in str(found)


def test_when_no_config_works_the_causes_are_told() -> None:
    with pytest.raises(ToolchainError, match="E0941") as caught:
        tune(
            add_one,
            [np.zeros(200, np.float32), 200],
            [Config({"BLOCK": 100}), Config({"BLOCK": 2.5})],
            grid=1,
        )
    assert "BLOCK=100" in str(caught.value)
    assert "E1007" in str(caught.value)


def test_a_wrong_argument_is_the_launch_s_own_error() -> None:
    tuned = autotune(configs=BLOCKS)(add_one)
    with pytest.raises(LaunchError, match="E1003"):
        tuned[blocks](np.zeros(200, np.float32))  # type: ignore[call-arg]
    with pytest.raises(LaunchError, match=r"E100[789]"):
        tuned[blocks](np.zeros(200, np.int32), 200)


def test_a_reference_decides_what_is_right() -> None:
    def right(args: Mapping[str, Any]) -> dict[str, Any]:
        assert args["BLOCK"] == 64
        return {"x_ptr": args["x_ptr"] + 1}

    def other(args: Mapping[str, Any]) -> dict[str, Any]:
        return {"x_ptr": args["x_ptr"] + 2}

    x = np.arange(200, dtype=np.float32).reshape(10, 20)
    assert tune(add_one, [x, 200], BLOCKS, grid=blocks, reference=right).measured == 3
    with pytest.raises(ToolchainError, match="E0941") as caught:
        tune(add_one, [x, 200], BLOCKS, grid=blocks, reference=other, force=True)
    assert "`x_ptr` is not what the reference gives: element 0 is 1 instead of 2" in str(
        caught.value
    )


def test_pruning_sees_the_arguments_and_keeps_the_order() -> None:
    def early(configs: Sequence[Config], args: Mapping[str, Any]) -> list[Config]:
        return [c for c in configs if c.values["BLOCK"] <= args["n"]]

    args = [np.zeros(200, np.float32), 200]
    found = tune(add_one, args, BLOCKS, grid=blocks, prune_configs_by=early)
    assert [config.values["BLOCK"] for config in found.rows] == [64, 128]
    triton = {"perf_model": lambda BLOCK, **_: BLOCK, "top_k": 1}
    found = tune(add_one, args, BLOCKS, grid=blocks, prune_configs_by=triton)
    assert [config.values["BLOCK"] for config in found.rows] == [64]
    with pytest.raises(ToolchainError, match="E0940"):
        tune(add_one, args, BLOCKS, grid=blocks, prune_configs_by=Prune(lambda *_: []))


def test_a_budget_measures_at_least_one_config() -> None:
    found = tune(
        add_one, [np.zeros(200, np.float32), 200], BLOCKS, grid=blocks, budget=0.0, workers=1
    )
    assert [row.state for row in found.rows.values()] == ["measured", "left", "left"]


def test_decorators_with_nested_lambdas_stand_above_a_kernel() -> None:
    x = np.zeros(200, np.float32)
    decorated[blocks](x, 200)
    assert (x == 1).all()
    assert [c.values["BLOCK"] for c in decorated.tunings[-1].rows] == [64, 128]
    decorated[lambda meta: (256 // meta["BLOCK"],)](x[:128], 128)
    assert (x[:128] == 11).all()


# --- launching ------------------------------------------------------------------------------------


def test_heuristics_follow_from_arguments_and_the_chosen_config() -> None:
    rules = {"EVEN": lambda args: args["n"] % args["BLOCK"] == 0}
    for tuned in (
        autotune(configs={"BLOCK": [64]})(heuristics(rules)(copy)),
        heuristics(rules)(autotune(configs={"BLOCK": [64]})(copy)),
    ):
        x = np.zeros(64, np.float32)
        tuned[1](x, None, 64)
        assert (x == 100).all()
        x = np.zeros(64, np.float32)
        tuned[1](x, None, 63)
        assert (x == 0).all()
        tuned[1](x, None, 63, EVEN=True)
        assert (x[:63] == 100).all()
    with pytest.raises(ToolchainError, match="E0940"):
        heuristics({"n": lambda args: 1})(copy)


def test_heuristics_work_without_a_tuner() -> None:
    ruled = heuristics({"BLOCK": lambda args: 64 if args["n"] < 65 else 256})(add_one)
    x = np.zeros(200, np.float32)
    ruled[1](x, 200)
    assert (x == 1).all()


def test_a_value_of_the_tuner_cannot_be_given() -> None:
    tuned = autotune(configs=BLOCKS)(add_one)
    for arguments in ((64,), ()):
        named = {} if arguments else {"BLOCK": 64}
        with pytest.raises(ToolchainError, match="E0942"):
            tuned[blocks](np.zeros(200, np.float32), 200, *arguments, **named)
    with pytest.raises(ToolchainError, match="E0942"):
        tuned[blocks](np.zeros(200, np.float32), 200, num_warps=4)  # type: ignore[call-arg]


def test_without_a_tuner_an_auto_parameter_has_to_be_given() -> None:
    with pytest.raises(LaunchError, match="E1011"):
        add_one[1](np.zeros(8, np.float32), 8)


def test_an_empty_grid_tunes_nothing() -> None:
    tuned = autotune(configs=BLOCKS)(add_one)
    tuned[0](np.zeros(200, np.float32), 200)
    assert tuned.tunings == []


def test_configs_and_keys_are_checked_where_they_are_written() -> None:
    for space, key in (
        ([], []),
        ([Config({"BLOK": 1})], []),
        ([Config({"n": 1})], []),
        (BLOCKS, ["m"]),
    ):
        with pytest.raises(ToolchainError, match="E0940"):
            autotune(configs=space, key=key)(add_one)
    with pytest.raises(LaunchError, match="E1023"):
        autotune(configs=[Config({"BLOCK": 64}, num_warps=3)])(add_one)
    with pytest.raises(ToolchainError, match="E0940"):
        autotune(configs=BLOCKS, restore_value=["y_ptr"])(add_one)


def test_machine_code_for_the_host_is_tuned_too() -> None:
    tuned = autotune(configs=BLOCKS, key=["n"])(add_one)
    x = np.zeros(200, np.float32)
    for call in (1, 2, 3):
        tuned.on(blocks, device="cpu")(x, 200)
        assert (x == call).all()
    (tuning,) = tuned.tunings
    assert tuning.measured == 3
    assert tuning.scope.device.startswith("cpu")
    assert all(row.ms > 0 for row in tuning.rows.values())


@pytest.mark.parametrize(
    "decorator", [autotune(configs=BLOCKS), heuristics({"BLOCK": lambda _: 64})]
)
def test_a_tuner_below_the_kernel_is_told_where_it_belongs(decorator: Any) -> None:
    def plain(n: Any, BLOCK: Const[int]) -> None: ...

    with pytest.raises(ToolchainError, match="E0940") as caught:
        decorator(plain)
    assert "above `@kernel`" in caught.value.diagnostics[0].helps[0]
