"""What the CPU target promises, measured: each line with its target, ours beside the other's.

`python benchmarks/bench_cpu.py [SECTION ...] [--json FILE]`. One thread on one core, both sides in
turns in one process. Status 1 where a target is missed with `--strict`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from cpu_measure import BUDGET, Row, blas_kernel, one_core, processor  # isort: split

import cpu_costs
import cpu_rows
import cpu_unusual
import numpy as np

SECTIONS: dict[str, Callable[[], Iterator[Row]]] = {
    "elementwise": cpu_rows.elementwise,
    "rows": cpu_rows.rows,
    "products": cpu_rows.products,
    "unusual": cpu_unusual.unusual,
    "checks": cpu_rows.checks,
    "compile": cpu_costs.compiling,
    "load": cpu_costs.loading,
    "launch": cpu_costs.launching,
    "start": cpu_costs.starting,
    "interpreter": cpu_costs.interpreter,
}
ALL_CORES = frozenset(("launch", "start", "interpreter"))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each side of a line")
    chosen = parser.parse_args()
    BUDGET["seconds"] = chosen.seconds
    unknown = set(chosen.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    print(
        f"{processor()}; Python {sys.version.split()[0]}, NumPy {np.__version__}, {blas_kernel()}"
    )
    found: list[tuple[str, Row]] = []
    for name in chosen.sections or SECTIONS:
        print(name, flush=True)
        with contextlib.nullcontext() if name in ALL_CORES else one_core():
            for row in SECTIONS[name]():
                print(row, flush=True)
                found.append((name, row))
    missed = [row for _, row in found if not row.holds]
    print(f"{len(found)} lines, {len(missed)} missed")
    if chosen.json:
        rows = [{"section": name, **row._asdict(), "holds": row.holds} for name, row in found]
        text = json.dumps({"schema": 1, "machine": processor(), "rows": rows}, indent=1)
        chosen.json.write_text(text, encoding="utf-8")
    return 1 if missed and chosen.strict else 0


if __name__ == "__main__":
    sys.exit(main())
