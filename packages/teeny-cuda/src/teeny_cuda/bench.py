"""Measures GPU time: by events, with a cold L2 cache and rotating inputs, as medians with spread.

`measure` times one piece of work, `compare` several side by side in turns, so that a change of the
clocks meets them all. perf_report in report.py sweeps over sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.clocks import Clocks, read_clocks
from teeny_cuda.codes import E1089
from teeny_cuda.report import Report, perf_report

if TYPE_CHECKING:
    from teeny_cuda.device import Device

__all__ = ["Comparison", "Report", "Timing", "compare", "measure", "perf_report"]

Work = Callable[..., object]

_SHORT_US = 50.0  # below, an event's resolution of 0.5 us would be more than 1 %
_SAMPLE_US = 200.0
_MOST_RUNS = 200


class Timing(NamedTuple):
    """GPU times of one piece of work in microseconds, each sample the mean of `runs` runs.

    `clocks` are those at the end, when NVML tells them.
    """

    name: str
    samples: tuple[float, ...]
    runs: int
    clocks: Clocks | None = None

    @property
    def median_us(self) -> float:
        """The median of the samples."""
        return median(self.samples)

    @property
    def low_us(self) -> float:
        """One sample in ten is faster."""
        return sorted(self.samples)[len(self.samples) // 10]

    @property
    def high_us(self) -> float:
        """One sample in ten is slower."""
        return sorted(self.samples)[-1 - len(self.samples) // 10]

    @property
    def spread(self) -> float:
        """From the low to the high sample, over the median."""
        return (self.high_us - self.low_us) / self.median_us if self.median_us else 0.0

    def per_second(self, amount: float) -> float:
        """`amount` (bytes, operations) of one run as a rate per second."""
        return amount / self.median_us * 1e6

    def __str__(self) -> str:
        held = (
            f", held down: {', '.join(self.clocks.throttled)}"
            if self.clocks and self.clocks.throttled
            else ""
        )
        return f"{self.name}: {self.median_us:.2f} us ±{50 * self.spread:.1f} %{held}"


class Comparison(NamedTuple):
    """Timings of several implementations of the same work, held against the first."""

    timings: tuple[Timing, ...]

    def ratio(self, name: str) -> float:
        """The time of an implementation over that of the first."""
        found = {timing.name: timing for timing in self.timings}
        return found[name].median_us / self.timings[0].median_us

    def table(self) -> str:
        """A table as text."""
        width = max(len(timing.name) for timing in self.timings)
        lines = [f"{'':{width}}  median us   10 %..90 %        ratio"]
        lines += [
            f"{t.name:{width}}  {t.median_us:9.2f}  {t.low_us:7.2f}..{t.high_us:<7.2f}"
            f"  {self.ratio(t.name):6.3f}"
            for t in self.timings
        ]
        return "\n".join(lines)


def measure(
    work: Work | Sequence[Work],
    *,
    device: Device | None = None,
    name: str = "",
    rounds: int = 30,
    flush_l2: bool = True,
    graph: bool = False,
) -> Timing:
    """The GPU time of `work`, a function that puts it into the default stream.

    Several functions (the same work on other inputs) are called in turn. With `graph` they take a
    stream, are captured and replayed, which leaves the host's time out: for kernels of a few
    microseconds. `flush_l2` empties the L2 cache before each sample.

    Raises:
        LaunchError: E1089 when there is nothing to measure, or too few rounds.
    """
    rows = {name or _name_of(work): work}
    return compare(rows, device=device, rounds=rounds, flush_l2=flush_l2, graph=graph).timings[0]


def compare(
    rows: Mapping[str, Work | Sequence[Work]],
    *,
    device: Device | None = None,
    rounds: int = 30,
    flush_l2: bool = True,
    graph: bool = False,
    check: Callable[[], object] | None = None,
) -> Comparison:
    """The GPU times of several implementations, measured in turns; see `measure`.

    `check` runs once before, to compare their results.

    Raises:
        LaunchError: E1089 when there is nothing to measure, or too few rounds.
    """
    if rounds < 3 or not rows:
        raise E1089.error(reason="at least one piece of work and three rounds are needed").help(
            "give a function that launches, and three rounds or more"
        )
    if device is None:
        from teeny_cuda.context import current_ordinal
        from teeny_cuda.device import Device

        device = Device(current_ordinal())
    subjects = [_Subject(device, name, work, graph=graph) for name, work in rows.items()]
    for subject in subjects:
        subject.settle()
    if check is not None:
        check()
    flush = _Flush(device) if flush_l2 else None
    for _ in range(rounds):
        for subject in subjects:
            subject.sample(flush)
    device.synchronize()
    return Comparison(tuple(subject.timing(read_clocks(device)) for subject in subjects))


class _Flush:
    """Writes more memory than the L2 cache holds."""

    def __init__(self, device: Device) -> None:
        self._buffer = device.buffer(2 * max(device.properties["l2_cache_size"], 1 << 20), "u8")

    def __call__(self) -> None:
        self._buffer.fill(0)


class _Subject:
    """One implementation: its functions in turn, so often in a sample, and the samples' events."""

    def __init__(
        self, device: Device, name: str, work: Work | Sequence[Work], *, graph: bool
    ) -> None:
        self.device = device
        self.name = name
        self.runs = 1
        self.turn = 0
        self.marks: list[tuple[Any, Any]] = []
        functions = tuple(work) if isinstance(work, Sequence) else (work,)
        if not functions:
            raise E1089.error(reason=f"`{name}` has no function to call").help(
                "give a function without parameters: `lambda: kernel[grid](...)`"
            )
        self.functions = functions
        self.graph: Any = None
        self.is_graph = graph

    def settle(self) -> None:
        """Warm up, and choose how many runs make a sample."""
        if self.is_graph:
            for function in self.functions:
                function(None)
            self._capture(len(self.functions))
        for _ in range(2):
            self._run(len(self.functions))
        single = self._timed(len(self.functions)) / len(self.functions)
        wanted = (
            1 if single >= _SHORT_US else min(_MOST_RUNS, int(_SAMPLE_US / max(single, 1.0)) + 1)
        )
        turns = -(-wanted // len(self.functions))
        self.runs = turns * len(self.functions) if wanted > 1 else 1
        if self.is_graph:
            self.runs = max(self.runs, len(self.functions))
            self._capture(self.runs)
            self._run(self.runs)

    def sample(self, flush: _Flush | None) -> None:
        """Put one sample into the default stream, with its two events."""
        if flush is not None:
            flush()
        start, end = self.device.event(), self.device.event()
        start.record()
        self._run(self.runs)
        end.record()
        self.marks.append((start, end))

    def timing(self, clocks: Clocks | None) -> Timing:
        """The samples' times."""
        samples = tuple(1e3 * start.elapsed_ms(end) / self.runs for start, end in self.marks)
        return Timing(self.name, samples, self.runs, clocks)

    def _timed(self, count: int) -> float:
        start, end = self.device.event(), self.device.event()
        start.record()
        self._run(count)
        end.record()
        return 1e3 * start.elapsed_ms(end)

    def _run(self, count: int) -> None:
        if self.graph is not None:
            self.graph.launch()
            return
        functions = self.functions
        for _ in range(count):
            functions[self.turn % len(functions)]()
            self.turn += 1

    def _capture(self, count: int) -> None:
        self.graph = self.device.capture()
        with self.graph as graph:
            for at in range(count):
                self.functions[at % len(self.functions)](graph.stream)


def _name_of(work: Work | Sequence[Work]) -> str:
    if isinstance(work, Sequence):
        return _name_of(work[0]) if work else "nothing"
    return getattr(work, "__name__", "work")
