"""The targets that this machine runs: its own, and levels of instructions."""

from __future__ import annotations

import pytest

from teeny_cpu import Device, jit, levels
from teeny_macros.target import Target

V2 = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}
V3 = V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}


def test_this_machine_comes_first() -> None:
    assert Device().targets[0] == Target.cpu() == Device().target


@pytest.mark.parametrize(
    ("features", "found"),
    [
        (set(), ["x86-64"]),
        (V2, ["x86-64-v2", "x86-64"]),
        (V3, ["x86-64-v3", "x86-64-v2", "x86-64"]),
        (V3 - {"bmi2"}, ["x86-64-v2", "x86-64"]),
        (V3 - {"popcnt"}, ["x86-64"]),
        (
            V3 | {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
            ["x86-64-v3", "x86-64-v2", "x86-64"],
        ),
        (
            V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
            ["x86-64-v4", "x86-64-v3", "x86-64-v2", "x86-64"],
        ),
    ],
)
def test_a_level_needs_all_its_features_and_those_below(
    features: set[str], found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "host_machine", lambda: "x86-64")
    monkeypatch.setattr(jit, "host_features", lambda: frozenset(features))
    assert list(levels.runnable_levels()) == found


@pytest.mark.parametrize(("machine", "found"), [("aarch64", ["aarch64"]), ("riscv64", [])])
def test_other_machines_run_their_own(
    machine: str, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "host_machine", lambda: machine)
    assert list(levels.runnable_levels()) == found
