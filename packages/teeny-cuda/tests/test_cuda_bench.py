"""Measuring: samples, rotation, comparison, reports; ranges for profilers."""

from __future__ import annotations

import csv
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from teeny_cuda import Device, bench, nvtx
from teeny_cuda.bench import Timing
from teeny_macros.diagnostics import LaunchError

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import MakeArtifact

    from teeny_cuda.fake_driver import FakeDriver


def test_a_timing_tells_median_and_spread() -> None:
    timing = Timing("k", tuple(float(n) for n in range(20)), 3)
    assert (timing.median_us, timing.low_us, timing.high_us) == (9.5, 2.0, 17.0)
    assert timing.spread == pytest.approx(15 / 9.5)
    assert timing.per_second(19.0) == pytest.approx(2e6)
    assert str(timing).startswith("k: 9.50 us")


def test_inputs_rotate_and_the_cache_is_emptied(fake: FakeDriver, device: Device) -> None:
    fake.attributes["L2_CACHE_SIZE"] = 1 << 20
    seen: list[int] = []
    buffers = [device.buffer(4, "f32") for _ in range(3)]

    def work(at: int) -> Any:
        def run() -> None:
            seen.append(at)
            buffers[at].fill(1.0)

        return run

    fake.calls.clear()
    timing = bench.measure([work(at) for at in range(3)], device=device, name="fill", rounds=4)
    assert len(timing.samples) == 4
    assert timing.name == "fill"
    assert timing.runs == 1 or timing.runs % 3 == 0
    assert seen == [at % 3 for at in range(len(seen))]
    assert len(seen) >= 9 + 4 * timing.runs
    assert fake.calls.count("cuMemsetD8Async") == 4
    assert all(sample >= 0 for sample in timing.samples)


def test_graphs_are_measured(fake: FakeDriver, device: Device, artifact_of: MakeArtifact) -> None:
    program = device.load(artifact_of("vector_add"))
    x = device.copy_of(np.ones(4, np.float32))
    ran: list[Any] = []
    fake.kernels["vector_add_entry_point"] = ran.append

    def work(stream: Any) -> None:
        device.launch(program, 1, [x, x, x, 4], stream=stream)

    timing = bench.measure(work, device=device, rounds=3, flush_l2=False, graph=True)
    assert (timing.name, len(timing.samples)) == ("work", 3)
    assert len(ran) >= 1 + 3 * timing.runs
    assert len(fake.launches) < 3 * timing.runs


def test_implementations_are_compared_in_turns(device: Device) -> None:
    order: list[str] = []
    rows = {name: (lambda name=name: order.append(name)) for name in ("one", "two")}
    checked: list[int] = []
    found = bench.compare(
        rows, device=device, rounds=3, flush_l2=False, check=lambda: checked.append(1)
    )
    assert [timing.name for timing in found.timings] == ["one", "two"]
    assert checked == [1]
    last = order[-2 * found.timings[0].runs :]
    assert last[0] == "one"
    assert last[-1] == "two"
    assert found.ratio("one") == 1.0
    table = found.table().splitlines()
    assert len(table) == 3
    assert table[1].startswith("one")


@pytest.mark.parametrize(("rows", "rounds"), [({}, 5), ({"x": []}, 5), ({"x": lambda: 0}, 2)])
def test_nothing_to_measure_is_refused(device: Device, rows: Any, rounds: int) -> None:
    with pytest.raises(LaunchError) as caught:
        bench.compare(rows, device=device, rounds=rounds)
    assert caught.value.code == "E1089"


def _report(device: Device) -> bench.Report:
    buffers = {n: device.buffer(n, "f32") for n in (64, 4096)}
    return bench.perf_report(
        "fill",
        "elements",
        [64, 4096],
        {
            "ones": lambda n: lambda: buffers[n].fill(1.0),
            "zeros": lambda n: lambda: buffers[n].fill(0.0),
        },
        unit="GB/s",
        value=lambda n, us: 4 * n / max(us, 1e-3) / 1e3,
        device=device,
        rounds=3,
        flush_l2=False,
    )


def test_a_report_is_written_as_csv_and_json(device: Device, tmp_path: Path) -> None:
    report = _report(device)
    assert report.lines == ("ones", "zeros")
    report.write_csv(tmp_path / "fill.csv")
    with (tmp_path / "fill.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0][:4] == ["elements", "ones", "ones low", "ones high"]
    assert [row[0] for row in rows[1:]] == ["64", "4096"]
    report.write_json(tmp_path / "fill.json")
    data = json.loads((tmp_path / "fill.json").read_text(encoding="utf-8"))
    assert (data["schema"], data["unit"], data["rows"][1]["x"]) == (1, "GB/s", 4096)
    assert data["rows"][0]["values"] == list(report.rows[0].values)
    for row in report.rows:
        for low, middle, high in zip(row.lows, row.values, row.highs, strict=True):
            assert low <= middle <= high
    assert "elements" in report.table()


def test_a_report_is_drawn(device: Device, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    _report(device).plot(tmp_path / "fill.png")
    assert (tmp_path / "fill.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_without_matplotlib_names_the_extra(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(LaunchError) as caught:
        _report(device).plot(tmp_path / "fill.png")
    assert caught.value.code == "E1088"
    assert "teeny-cuda[plot]" in str(caught.value)


class _Library:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def nvtxRangePushA(self, name: bytes) -> None:
        self.events.append(name)

    def nvtxRangePop(self) -> None:
        self.events.append("pop")

    def nvtxMarkA(self, name: bytes) -> None:
        self.events.append((name,))


def test_ranges_are_opened_and_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    library = _Library()
    monkeypatch.setitem(nvtx._state, "library", library)
    with pytest.raises(ZeroDivisionError), nvtx.annotate("outer"):  # noqa: PT012
        with nvtx.annotate("inner"):
            nvtx.mark("here")
        raise ZeroDivisionError
    assert library.events == [b"outer", b"inner", (b"here",), "pop", "pop"]


def test_ranges_without_the_library_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(nvtx._state, "library", None)
    ran = False
    with nvtx.annotate("outer"):
        nvtx.mark("here")
        ran = True
    assert ran
    assert not nvtx.is_available()


@pytest.mark.gpu
def test_times_of_a_kernel_that_waits_are_right(gpu: Device, artifact_of: MakeArtifact) -> None:
    program = gpu.load(artifact_of("spin"))
    out = gpu.buffer(1, "f32")
    timing = bench.measure(
        lambda: gpu.launch(program, 1, [out, 300_000]), device=gpu, name="spin", rounds=9
    )
    # It waits 300 us by the GPU's own clock: a sample below would be a fault of measuring. How far
    # samples spread is the machine's doing (one of nine was 23 % late in a run on an H200).
    assert 295 < timing.low_us <= timing.median_us < 330
    graph = bench.measure(
        lambda stream: gpu.launch(program, 1, [out, 20_000], stream=stream),
        device=gpu,
        rounds=9,
        graph=True,
    )
    assert 19 < graph.median_us < 26
