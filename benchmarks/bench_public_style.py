"""GPU time of the kernels in public style against the same text under Triton, interleaved.

Run where there are a GPU, PyTorch and Triton: `python benchmarks/bench_public_style.py [--json
FILE] [--rounds N] [--only NAME,NAME] [--driver]`. Each case of `tests/public_style` runs once on
each side with larger inputs, its results are compared, and its launches are recorded; graphs that
repeat them, over the same arrays on both sides, are then timed in turns. It prints the medians, the
median of the rounds' ratios (ours / Triton) with the distance of its quartiles, whether the PTX is
equal after renaming, and the geometric mean. Machine code is made by Triton's ptxas on both sides,
as it is by default; with `--driver` ours is what the driver makes of the PTX.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

# Microseconds that a graph should take, so that events tell its time well.
GRAPH_US = 2000.0
MOST_REPEATS = 200


class Launch(NamedTuple):
    """One launch of a case: its kernel, grid and arguments."""

    kernel: Any
    grid: Any
    args: tuple[Any, ...]
    named: dict[str, Any]

    def __call__(self) -> None:
        """Launch it again."""
        self.kernel[self.grid](*self.args, **self.named)


class Recorder:
    """Stands for a kernel in its module, and notes what it launches."""

    def __init__(self, kernel: Any, launches: list[Launch], ptx: list[str]) -> None:
        self.kernel = kernel
        self.launches = launches
        self.ptx = ptx

    def _our_ptx(self) -> str:
        import torch

        from teeny_compiler import Target, compile_kernel

        *_, (instance, _) = self.kernel.site().programs
        major, minor = torch.cuda.get_device_capability()
        return compile_kernel(instance, Target.cuda(f"sm_{major}{minor}")).read_text()

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **named: Any) -> None:
            self.launches.append(Launch(self.kernel, grid, args, named))
            compiled = self.kernel[grid](*args, **named)
            self.ptx.append(compiled.asm["ptx"] if compiled is not None else self._our_ptx())

        return launch


def recorded(module: ModuleType) -> tuple[list[Launch], list[str]]:
    """Let every kernel of a module note its launches, and their PTX, in lists that come back."""
    launches: list[Launch] = []
    ptx: list[str] = []
    for name, value in list(vars(module).items()):
        if name.endswith(("_kernel", "_fused")) and hasattr(type(value), "__getitem__"):
            setattr(module, name, Recorder(value, launches, ptx))
    return launches, ptx


def normal_ptx(ptx: str) -> str:
    """PTX without names, comments, positions, debug sections and the version of the language."""
    ptx = ptx.split(".section", 1)[0]
    ptx = re.sub(r"//[^\n]*|\.(file|loc|version)[^\n]*|\$L__\w+:?|[ \t]+\n", "", ptx)
    (name,) = re.findall(r"\.entry (\w+)", ptx)
    return re.sub(r"\s+", " ", ptx.replace(name, "kernel"))


def _bytes(rng: Any, *shape: int) -> Any:
    return (rng.standard_normal(shape).astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)


def large_inputs(name: str, given: list[Any], rng: Any) -> list[Any]:
    """Inputs that keep a GPU busy for a while, of the kinds of the small ones."""
    f, h = np.float32, np.float16
    normal = rng.standard_normal
    makers: dict[str, Callable[[], list[Any]]] = {
        "matmul": lambda: [normal((2048, 1024)).astype(h), normal((1024, 2048)).astype(h)],
        "split_k": lambda: [normal((512, 2048)).astype(h), normal((2048, 512)).astype(h)],
        "persistent_descriptor": lambda: list(normal((2, 512, 512)).astype(h)),
        "int8_matmul": lambda: [
            *(rng.integers(-128, 128, (1024, 1024), dtype=np.int8) for _ in range(2)),
            *rng.random((2, 1024)).astype(f),
        ],
        "attention": lambda: list(normal((4, 16, 1024, 16)).astype(h)),
        "attention_dq": lambda: [
            *normal((4, 8, 1024, 64)).astype(h),
            *normal((2, 8, 1024)).astype(f),
        ],
        "grouped_matmul": lambda: [
            np.array([[1024, 1024, 512]] * 4, np.int32),
            *normal((2, 4 * 1024 * 512)).astype(h),
        ],
        "fp8_matmul": lambda: [
            *_bytes(rng, 2, 2048, 1024).view(np.int8),
            *rng.random((2, 2048)).astype(f),
        ],
        "block_scaled_matmul": lambda: [
            _bytes(rng, 1024, 1024),
            rng.integers(122, 132, (1024, 32), dtype=np.uint8),
            _bytes(rng, 1024, 1024),
            rng.integers(122, 132, (1024, 32), dtype=np.uint8),
        ],
        "rope": lambda: [normal((4096, 32, 32)).astype(f), *normal((2, 4096, 16)).astype(f)],
        "cross_entropy": lambda: [
            normal((65536, 100)).astype(f),
            rng.integers(0, 100, 65536, dtype=np.int64),
        ],
        "embedding": lambda: [
            normal((4096, 256)).astype(f),
            rng.integers(0, 4096, 32768, dtype=np.int64),
            normal((32768, 256)).astype(f),
        ],
        "transpose": lambda: [normal((4096, 4096)).astype(f)],
        "conv1d": lambda: [normal((2048, 4096)).astype(f), normal((2048, 4)).astype(f)],
        "max_pool": lambda: [normal((512, 128, 128)).astype(f)],
        "histogram": lambda: [rng.integers(0, 16, 2**22, dtype=np.int32)],
        "collatz": lambda: [rng.integers(1, 10_000, 65536, dtype=np.int32)],
    }
    if name in makers:
        return makers[name]()
    if name in ("add", "dropout", "adamw"):
        return [np.abs(normal(2**22)).astype(f) for _ in given]
    # Rows of as many columns as the block of the kernel holds; a lock keeps layer_norm from many.
    rows = 2048 if name == "layer_norm" else 65536
    return [
        np.tile(x, (rows // x.shape[0] + 1, 1))[:rows].copy() if x.ndim == 2 else x for x in given
    ]


def over_same_arrays(ours: list[Launch], theirs: list[Launch]) -> list[Launch]:
    """Triton's launches over our arrays: where memory lies decides some percent of the time."""
    import torch

    if len(ours) != len(theirs):
        return theirs
    found = []
    for one, other in zip(ours, theirs, strict=True):
        args = tuple(
            a if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) else b
            for a, b in zip(one.args, other.args, strict=True)
        )
        named = {
            name: one.named[name] if isinstance(b, torch.Tensor) else b
            for name, b in other.named.items()
        }
        found.append(other._replace(args=args, named=named))
    return found


class Row(NamedTuple):
    """One case: microseconds of both sides, the ratio and how far the results differ."""

    case: str
    ours_us: float
    triton_us: float
    ratio: float
    spread: float
    difference: float
    same_ptx: bool


def _graph(launches: list[Launch], repeats: int) -> Any:
    import torch

    for launch in launches:
        launch()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            for launch in launches:
                launch()
    return graph


def _replay_us(graph: Any) -> float:
    import torch

    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) * 1e3


def measure(
    name: str,
    sides: tuple[Any, Any],
    notes: tuple[tuple[list[Launch], list[str]], tuple[list[Launch], list[str]]],
    rounds: int,
) -> Row:
    """Run one case on both sides, compare, and time its launches."""
    from test_public_style import Torch

    found = []
    for (run, inputs), (noted, ptx) in zip(sides, notes, strict=True):
        noted.clear()
        ptx.clear()
        found.append([np.asarray(out, np.float64) for out in run(Torch(), *inputs)])
    difference = max(
        float(np.abs(a - b).max() / max(1.0, float(np.abs(b).max())))
        for a, b in zip(*found, strict=True)
    )
    same_ptx = [normal_ptx(p) for p in notes[0][1]] == [normal_ptx(p) for p in notes[1][1]]
    ours = list(notes[0][0])
    launches = (ours, over_same_arrays(ours, list(notes[1][0])))
    once = [_replay_us(_graph(side, 1)) for side in launches]
    repeats = max(1, min(MOST_REPEATS, int(GRAPH_US / max(min(once), 1.0))))
    graphs = [_graph(side, repeats) for side in launches]
    for graph in graphs:  # the first replay uploads it
        _replay_us(graph)
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for side in (0, 1) if turn % 2 else (1, 0):
            times[side].append(_replay_us(graphs[side]) / repeats)
    ratios = [a / b for a, b in zip(*times, strict=True)]
    quarters = statistics.quantiles(ratios, n=4)
    return Row(
        name,
        statistics.median(times[0]),
        statistics.median(times[1]),
        statistics.median(ratios),
        quarters[2] - quarters[0],
        difference,
        same_ptx,
    )


def rows_of(file: str, folder: Path, rounds: int, only: str, failed: list[str]) -> list[Row]:
    """The rows of one file of kernels; what fails is named in `failed`."""
    from test_public_style import FOLDER, load, under_triton

    text = (FOLDER / f"{file}.py").read_text(encoding="utf-8")
    modules = load(file), load(file, under_triton(text), folder)
    cases = [module.cases(np.random.default_rng(7)) for module in modules]
    notes = recorded(modules[0]), recorded(modules[1])
    rows = []
    for position, (name, _, _, given, _) in enumerate(cases[0]):
        if only and name not in only.split(","):
            continue
        inputs = large_inputs(name, given, np.random.default_rng(11))
        sides = (cases[0][position][1], inputs), (cases[1][position][1], inputs)
        try:
            row = measure(name, sides, notes, rounds)
        except Exception as error:  # noqa: BLE001 - the other cases are wanted all the same
            print(f"{name:<22} failed: {type(error).__name__}: {str(error)[:200]}", flush=True)
            failed.append(name)
            continue
        rows.append(row)
        print(
            f"{row.case:<22} ours {row.ours_us:9.1f} us  Triton {row.triton_us:9.1f} us  "
            f"ratio {row.ratio:.3f} (+-{row.spread:.3f})  differs by {row.difference:.1e}, "
            f"PTX {'equal' if row.same_ptx else 'differs'}",
            flush=True,
        )
    return rows


def main() -> int:
    """Measure every case, print the table and the geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="names of cases, with commas")
    parser.add_argument("--driver", action="store_true", help="ours through the driver's compiler")
    options = parser.parse_args()
    import torch
    import triton

    from test_public_style import FILES

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        if options.driver:
            os.environ["TEENY_CUBIN_CACHE"] = "0"
        rows = [
            row
            for file in FILES
            for row in rows_of(file, Path(folder), options.rounds, options.only, failed)
        ]
    mean = math.exp(statistics.fmean(math.log(row.ratio) for row in rows))
    worst = max(rows, key=lambda row: row.ratio)
    print(f"geometric mean of the ratios: {mean:.4f}; worst {worst.ratio:.3f} ({worst.case})")
    if options.json is not None:
        found = [row._asdict() for row in rows]
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
