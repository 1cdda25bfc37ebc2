"""`perf_report`: measurements over a range of sizes, as a table, CSV, JSON or a plot (`[plot]`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from teeny_cuda.codes import E1088

if TYPE_CHECKING:
    import os


class Row(NamedTuple):
    """One size: the value of each line, with the low and high ones."""

    x: float
    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


class Report(NamedTuple):
    """What `perf_report` measured: `lines` in the unit `unit` over `x_name`."""

    title: str
    x_name: str
    unit: str
    lines: tuple[str, ...]
    rows: tuple[Row, ...]

    def table(self) -> str:
        """A table as text."""
        head = f"{self.x_name:>12}" + "".join(f"{line:>16}" for line in self.lines)
        body = [
            f"{row.x:12g}" + "".join(f"{value:16.3f}" for value in row.values) for row in self.rows
        ]
        return "\n".join([f"{self.title} ({self.unit})", head, *body])

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file: the size, then for each line its value, low and high."""
        import csv

        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            names = [f"{line}{part}" for line in self.lines for part in ("", " low", " high")]
            writer.writerow([self.x_name, *names])
            for row in self.rows:
                parts = zip(row.values, row.lows, row.highs, strict=True)
                writer.writerow([row.x, *(number for part in parts for number in part)])

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file with the same."""
        import json

        data = {**self._asdict(), "schema": 1, "rows": [row._asdict() for row in self.rows]}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Draw the lines, with their spread shaded. Raises E1088 without matplotlib."""
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise E1088.error(what="a plot", library="matplotlib").help(
                "pip install 'teeny-cuda[plot]'"
            ) from error
        figure: Any = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.subplots()
        xs = [row.x for row in self.rows]
        for at, line in enumerate(self.lines):
            axes.plot(xs, [row.values[at] for row in self.rows], marker="o", label=line)
            lows, highs = [row.lows[at] for row in self.rows], [row.highs[at] for row in self.rows]
            axes.fill_between(xs, lows, highs, alpha=0.2)
        axes.set(title=self.title, xlabel=self.x_name, ylabel=self.unit)
        if len(xs) > 2 and xs[0] > 0 and xs[-1] / xs[0] > 20:
            axes.set_xscale("log", base=2)
        axes.legend()
        figure.savefig(path)


def perf_report(
    title: str,
    x_name: str,
    xs: Sequence[float],
    lines: Mapping[str, Callable[[Any], Any]],
    *,
    unit: str = "us",
    value: Callable[[Any, float], float] | None = None,
    **options: Any,
) -> Report:
    """Measure every line at every size.

    `lines` maps a name to a function that makes the work for a size, as `bench.measure` takes it;
    `value(x, microseconds)` converts a time into `unit`, such as GB/s. `options` are those of
    `bench.compare`.
    """
    from teeny_cuda.bench import compare

    convert = value or (lambda _x, microseconds: microseconds)
    rows: list[Row] = []
    for x in xs:
        found = compare({name: make(x) for name, make in lines.items()}, **options).timings
        sorted_pairs = [
            sorted((convert(x, timing.low_us), convert(x, timing.high_us))) for timing in found
        ]
        rows.append(
            Row(
                x,
                tuple(convert(x, timing.median_us) for timing in found),
                tuple(pair[0] for pair in sorted_pairs),
                tuple(pair[1] for pair in sorted_pairs),
            )
        )
    return Report(title, x_name, unit, tuple(lines), tuple(rows))
