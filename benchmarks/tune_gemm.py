"""Products of matrices on a GPU: every candidate configuration beside cuBLAS; the table of winners.

The configurations are compiled side by side, checked against PyTorch's product, and timed in turns
with PyTorch's as CUDA graphs with the L2 cache flushed before every run; the best four of a problem
are timed again, longer. The winners are what `products/tuned_<arch>.json` of the kernel library
holds: `--table` writes them in its form.

    python benchmarks/tune_gemm.py [LABEL ...] [--seconds N] [--json FILE] [--table FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product as every
from pathlib import Path
from typing import Any, NamedTuple

import torch

from teeny_kernels.arrays import operand
from teeny_kernels.products import run
from teeny_kernels.products.choose import Config

DTYPES = {
    "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "f8e4m3": torch.float8_e4m3fn, "i8": torch.int8,
}  # fmt: skip
FLUSH_BYTES = 256 << 20


class Work(NamedTuple):
    """A product to tune: dtype, sides, and whether y lies along k (as the weights of `linear`)."""

    label: str
    dtype: str
    m: int
    n: int
    k: int
    turned: bool = False
    fast: bool = True

    @property
    def name(self) -> str:
        """As tables show it."""
        return f"{self.label} {self.m}x{self.n}x{self.k} {'nt' if self.turned else 'nn'}"


def works() -> Iterator[Work]:
    """The problems of the table, the most important first."""
    for side, turned in every((4096, 8192, 2048), (False, True)):
        yield Work("bf16", "bf16", side, side, side, turned)
    for m in (16, 1):
        yield Work("thin", "bf16", m, 4096, 4096, turned=True)
        yield Work("thin", "bf16", m, 4096, 4096)
    for side in (4096, 8192):
        yield Work("fp8", "f8e4m3", side, side, side, turned=True)
    yield Work("fp8 precise", "f8e4m3", 4096, 4096, 4096, turned=True, fast=False)
    for turned in (False, True):
        yield Work("tf32", "f32", 4096, 4096, 4096, turned)
        yield Work("tall", "bf16", 65536, 512, 512, turned)
        yield Work("bf16", "bf16", 1024, 1024, 1024, turned)
    yield Work("f16", "f16", 4096, 4096, 4096)
    yield Work("thin", "bf16", 64, 4096, 4096, turned=True)
    yield Work("long", "bf16", 256, 256, 65536)
    yield Work("int8", "i8", 4096, 4096, 4096, turned=True)


def candidates(work: Work) -> list[Config]:
    """The configurations to try for a problem."""
    if min(work.m, work.n) <= 64:
        return thin(work)
    deep = {"f32": 32, "f8e4m3": 128, "i8": 128}.get(work.dtype, 64)
    found = []
    if not work.fast:
        tiles = ((128, 128, 8, 4, 1), (128, 128, 8, 3, 1), (64, 256, 8, 3, 1), (128, 256, 8, 3, 2))
    else:
        tiles = (
            (128, 256, 8, 3, 1), (128, 256, 8, 4, 2), (128, 256, 8, 3, 2), (256, 128, 8, 3, 1),
            (256, 128, 8, 4, 2), (128, 128, 8, 4, 1), (128, 128, 4, 4, 1), (64, 256, 4, 4, 1),
        )  # fmt: skip
    for m, n, warps, stages, split in tiles:
        groups = (8, 16, 4) if (m, n, split) in ((128, 256, 1), (128, 256, 2)) else (8,)
        found += [Config("persistent", m, n, deep, warps, stages, group, split) for group in groups]
    if work.fast:
        # Two programs on a multiprocessor hide each other's ends.
        found.append(Config("persistent", 128, 128, deep, 4, 3, 8, 2, programs=264))
        found.append(Config("tiles", 128, 256, deep, 8, 3))
    if work.m * work.n <= 2048 * 2048:
        found += [
            Config("persistent", 64, 128, deep, 4, 4), Config("persistent", 128, 64, deep, 4, 4),
            Config("persistent", 64, 128, deep, 4, 4, programs=264),
            Config("persistent", 64, 64, deep, 4, 4, programs=264),
            Config("tiles", 64, 128, deep, 4, 4), Config("tiles", 64, 64, deep, 4, 4),
            Config("shares", 128, 128, deep, 8, 3, programs=132),
            Config("shares", 128, 128, deep, 4, 3, programs=264),
            Config("shares", 64, 128, deep, 4, 4, programs=264),
        ]  # fmt: skip
    return found


def thin(work: Work) -> list[Config]:
    """Few rows: how much of the weights is on its way at once decides."""
    side = 16 if work.m <= 16 else 64
    found = []
    for n, k, warps, stages in (
        (32, 128, 2, 4), (32, 256, 4, 4), (32, 512, 4, 3), (64, 128, 4, 4), (64, 128, 4, 6),
        (64, 256, 4, 3), (64, 256, 4, 4), (128, 64, 4, 5), (128, 128, 4, 4), (16, 256, 2, 5),
    ):  # fmt: skip
        if side == 64 and k > 128:
            continue
        tiles = -(-work.n // n)
        found += [
            Config("shares", side, n, k, warps, stages, programs=tiles * parts)
            for parts in (2, 4, 8)
            if 128 <= tiles * parts <= 600 and work.k // k >= 2 * parts
        ]
        if tiles >= 64:
            found.append(Config("tiles", side, n, k, warps, stages))
    return found


class Problem:
    """The arrays of a problem, and its product by ours and by PyTorch."""

    def __init__(self, work: Work) -> None:
        self.work = work
        dtype = DTYPES[work.dtype]
        generator = torch.Generator(device="cuda").manual_seed(0)

        def made(*shape: int) -> torch.Tensor:
            if work.dtype == "i8":
                return torch.randint(-9, 10, shape, device="cuda", generator=generator).to(dtype)
            return torch.randn(shape, device="cuda", generator=generator).to(dtype)

        self.x = made(work.m, work.k)
        self.y = made(work.n, work.k).T if work.turned else made(work.k, work.n)
        kind = {"f8e4m3": torch.bfloat16, "i8": torch.int32}.get(work.dtype, dtype)
        self.out = torch.empty((work.m, work.n), dtype=kind, device="cuda")
        self.one = torch.ones((), device="cuda")
        self.wanted = self.theirs().float()
        self.scale = self.wanted.abs().mean().item()

    def theirs(self) -> torch.Tensor:
        """PyTorch's own: cuBLAS or cuBLASLt."""
        if self.work.dtype == "i8":
            return torch._int_mm(self.x, self.y)  # noqa: SLF001 - it has no other
        if self.work.dtype == "f8e4m3":
            return torch._scaled_mm(  # noqa: SLF001
                self.x, self.y, self.one, self.one, out_dtype=torch.bfloat16,
                use_fast_accum=self.work.fast,
            )  # fmt: skip
        torch.backends.cuda.matmul.allow_tf32 = self.work.dtype == "f32"
        return self.x @ self.y

    def ours(self, config: Config) -> Callable[[], None]:
        """A call of one configuration."""
        arrays = [operand("array", own) for own in (self.out, self.x, self.y)]
        out, x, y = arrays
        return lambda: run.product(out, x, y, relaxed=self.work.fast, config=config)

    def fault(self, config: Config) -> str:
        """What is wrong with the result of a configuration."""
        self.out.fill_(float("nan") if self.out.is_floating_point() else -1)
        self.ours(config)()
        error = (self.out.float() - self.wanted).abs().max().item() / self.scale
        return "" if error < 0.05 else f"off by {error:.2g} of the mean"


def graph_of(work: Callable[[], object]) -> Callable[[], None]:
    """`work` as a CUDA graph."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    replay: Callable[[], None] = graph.replay
    return replay


class Clock:
    """Times pieces of work in turns."""

    def __init__(self) -> None:
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def turns(self, works: dict[Any, Callable[[], None]], rounds: int) -> dict[Any, float]:
        """Median microseconds of each."""
        samples: dict[Any, list[float]] = {name: [] for name in works}
        for _ in range(rounds):
            for name, work in works.items():
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                self.flush.zero_()
                start.record()
                work()
                end.record()
                end.synchronize()
                samples[name].append(start.elapsed_time(end) * 1e3)
        return {name: statistics.median(found) for name, found in samples.items()}


def warm(work: Work) -> None:
    """Compile all candidates of a problem, side by side; what fails is told when it is timed."""
    problem = Problem(work)

    def compiled(config: Config) -> None:
        try:
            problem.ours(config)()
        except Exception as error:  # noqa: BLE001 - of any stage; told below
            del error

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(compiled, candidates(work)))
    torch.cuda.synchronize()


def tuned(work: Work, clock: Clock) -> dict[str, Any]:
    """Time the candidates of a problem and print its row."""
    warm(work)
    problem = Problem(work)
    graphs: dict[Any, Callable[[], None]] = {"theirs": graph_of(problem.theirs)}
    notes: dict[str, str] = {}
    for config in candidates(work):
        try:
            note = problem.fault(config)
            if not note:
                graphs[config] = graph_of(problem.ours(config))
        except Exception as error:  # noqa: BLE001 - one configuration; the others go on
            note = f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
        if note:
            notes[shown(config)] = note
            print(f"    {shown(config)}: {note}")
    first = clock.turns(graphs, 10)
    order = sorted((own for own in graphs if own != "theirs"), key=lambda own: first[own])
    final = clock.turns({own: graphs[own] for own in ("theirs", *order[:4])}, 60)
    best = min(order[:4], key=lambda own: final[own])
    flops = 2e-6 * work.m * work.n * work.k
    theirs = final["theirs"]
    print(
        f"{work.name:<32} {flops / final[best]:7.1f} TFLOP/s {final[best]:8.1f} us, cuBLAS"
        f" {theirs:8.1f} us: {theirs / final[best]:5.3f} of its speed by {shown(best)}",
        flush=True,
    )
    for own in order[1:4]:
        print(f"    {theirs / final[own]:5.3f} {shown(own)}")
    return {
        "work": work._asdict(),
        "problem": {
            "m": work.m, "n": work.n, "k": work.k, "x": work.dtype, "y": work.dtype,
            "y_turned": work.turned, "relaxed": work.fast and work.dtype in ("f32", "f8e4m3"),
        },
        "config": best._asdict(),
        "us": final[best],
        "theirs": theirs,
        "all": {shown(own): first[own] for own in order},
        "failed": notes,
    }  # fmt: skip


def shown(config: Config) -> str:
    """A configuration in a line."""
    more = f" split {config.split}" if config.split > 1 else ""
    more += f" programs {config.programs}" if config.programs else ""
    return (
        f"{config.kind} {config.m}x{config.n}x{config.k} w{config.warps} s{config.stages}"
        f" group {config.group}{more}"
    )


def main() -> None:
    """Tune; write what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("labels", nargs="*")
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no problem after that")
    parser.add_argument("--json", type=Path, help="all times")
    parser.add_argument("--table", type=Path, help="the winners, as the library reads them")
    options = parser.parse_args()
    begun, clock, rows = time.monotonic(), Clock(), []
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    for work in works():
        if options.labels and work.label not in options.labels:
            continue
        if time.monotonic() - begun > options.seconds:
            print(f"{work.name}: not reached")
            continue
        rows.append(tuned(work, clock))
        torch.cuda.empty_cache()
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
        if options.table:
            options.table.write_text(table(rows))
    print(f"{time.monotonic() - begun:.0f} s")


def table(rows: list[dict[str, Any]]) -> str:
    """The winners as JSON, one on a line."""
    lines = [json.dumps({"problem": row["problem"], "config": row["config"]}) for row in rows]
    return '{"rows": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    main()
