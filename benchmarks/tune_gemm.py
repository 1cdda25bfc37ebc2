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
    """A product to tune: dtype, sides, and whether y lies along k (as the weights of `linear`).

    `y` is the dtype of y where it is another; `x_turned` says that x lies along m.
    """

    label: str
    dtype: str
    m: int
    n: int
    k: int
    turned: bool = False
    fast: bool = True
    batch: int = 1
    x_turned: bool = False
    y: str = ""

    @property
    def name(self) -> str:
        """As tables show it."""
        layout = ("t" if self.x_turned else "n") + ("t" if self.turned else "n")
        many = f"{self.batch}x" if self.batch > 1 else ""
        return f"{self.label} {many}{self.m}x{self.n}x{self.k} {layout}"


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
    yield Work("long", "bf16", 512, 512, 32768, x_turned=True)
    yield Work("int8", "i8", 4096, 4096, 4096, turned=True)
    yield Work("weights", "bf16", 4096, 4096, 8192, x_turned=True)
    yield Work("batch", "bf16", 1024, 1024, 1024, batch=64)
    yield Work("batch", "bf16", 128, 128, 128, batch=512, turned=True)
    for m in (1, 16, 4096):
        yield Work("short weights", "bf16", m, 4096, 4096, turned=True, y="i8")
    yield Work("f32", "f32", 4096, 4096, 4096, fast=False)
    # Shapes that no row of the table is near to.
    for m, n, k in (
        (5120, 5120, 5120), (4096, 11008, 4096), (128, 4096, 4096), (384, 4096, 4096),
        (2048, 512, 2048), (8192, 1024, 1024), (512, 512, 512), (1000, 1000, 1000),
    ):  # fmt: skip
        yield Work("other", "bf16", m, n, k, turned=True)
    yield Work("other", "bf16", 4095, 4095, 4095)


def candidates(work: Work) -> list[Config | None]:
    """The configurations to try for a problem; None is what the library chooses by itself."""
    if min(work.m, work.n) <= 64:
        return [None, *thin(work)]
    deep = {"f32": 32, "f8e4m3": 128, "i8": 128}.get(work.dtype, 64)
    if work.dtype == "f32" and not work.fast:
        return [None, *exact()]
    if work.y:
        sides = (
            (128, 128, 64, 4, 3), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3), (128, 64, 64, 4, 4),
            (64, 128, 64, 4, 4), (128, 128, 128, 4, 2), (256, 64, 64, 4, 3), (128, 256, 64, 8, 3),
        )  # fmt: skip
        return [None, *(Config("tiles", m, n, k, w, s) for m, n, k, w, s in sides)]
    found: list[Config | None] = [None]
    if not work.fast:
        return [
            *found,
            Config("persistent", 128, 128, deep, 8, 4), Config("persistent", 64, 128, deep, 4, 3),
            Config("persistent", 64, 128, deep, 4, 3, programs=264),
            Config("persistent", 64, 128, deep, 4, 3, programs=396),
            Config("persistent", 128, 128, deep, 8, 3, split=2, programs=264),
            Config("persistent", 256, 128, deep, 16, 3, split=2),
            *(Config("tiles", m, n, deep, w, s) for m, n, w, s in (
                (128, 128, 8, 3), (64, 128, 4, 3), (64, 128, 4, 4), (64, 256, 4, 3),
            )),
            Config("persistent", 128, 256, deep, 16, 3, split=2),
            Config("persistent", 64, 256, deep, 8, 3, programs=264),
            *(Config("persistent", 64, 128, deep, 4, 3, group, programs=264) for group in (4, 16)),
        ]  # fmt: skip
    tiles = [
        (128, 256, 8, 3, 1), (128, 256, 8, 4, 2), (128, 256, 8, 3, 2), (256, 128, 8, 3, 1),
        (256, 128, 8, 4, 2), (128, 128, 8, 4, 1), (128, 128, 4, 4, 1), (64, 256, 4, 4, 1),
    ]  # fmt: skip
    if work.dtype in ("f32", "i8"):  # results of four bytes leave room for fewer stages
        tiles = [own for own in tiles if own[3:] == (3, 2) or (own[1] < 256 and own[0] < 256)]
    for m, n, warps, stages, split in tiles:
        groups = (8, 16, 4) if (m, n, split) in ((128, 256, 1), (128, 256, 2)) else (8,)
        found += [Config("persistent", m, n, deep, warps, stages, group, split) for group in groups]
    # Two programs on a multiprocessor hide each other's ends.
    groups = (8, 2, 4, 16, 32)
    found += [Config("persistent", 128, 128, deep, 4, 3, own, 2, programs=264) for own in groups]
    if not work.batch > 1 and work.m * work.n <= 2048 * 2048:
        found += small(work, deep)
    return found


def small(work: Work, deep: int) -> list[Config]:
    """For results of few tiles."""
    if work.k > 8 * max(work.m, work.n):
        return [
            Config(kind, m, n, deep, warps, stages, programs=programs)
            for kind in ("shares", "persistent shares")
            for m, n, warps, stages in (
                (128, 128, 8, 4), (64, 128, 4, 4), (64, 128, 4, 3), (128, 256, 8, 3),
                (128, 128, 4, 4), (64, 64, 4, 4),
            )
            for programs in (132, 264)
            if kind == "persistent shares" or m * n >= 128 * 128
        ]  # fmt: skip
    return [
        Config("persistent", 64, 128, deep, 4, 4), Config("persistent", 128, 64, deep, 4, 4),
        Config("persistent", 64, 128, deep, 4, 6), Config("persistent", 64, 128, 2 * deep, 4, 3),
        Config("persistent", 128, 64, 2 * deep, 4, 3), Config("persistent", 64, 128, deep, 8, 5),
        Config("persistent", 64, 64, 2 * deep, 4, 3, programs=264),
        Config("persistent", 64, 64, deep, 4, 5, programs=264),
        Config("tiles", 64, 128, deep, 4, 4), Config("tiles", 64, 128, 2 * deep, 8, 3),
        Config("tiles", 64, 128, 2 * deep, 4, 3), Config("tiles", 128, 64, 2 * deep, 4, 3),
        Config("persistent", 64, 128, 2 * deep, 4, 4), Config("persistent", 64, 128, deep, 4, 6, 4),
        Config("persistent", 64, 128, 2 * deep, 4, 3, 4),
        Config("persistent", 64, 128, 2 * deep, 4, 3, 16),
        Config("tiles", 64, 64, 2 * deep, 4, 3), Config("tiles", 64, 64, deep, 4, 4),
    ]  # fmt: skip


def exact() -> list[Config]:
    """f32 without tensor cores."""
    return [
        Config("tiles", m, n, k, warps, stages)
        for m, n, k, warps in (
            (64, 64, 32, 4), (64, 64, 16, 4), (128, 64, 16, 4), (128, 128, 16, 8),
            (128, 128, 32, 8), (128, 64, 32, 8), (64, 128, 32, 8), (64, 128, 16, 4),
            (64, 64, 32, 2), (64, 128, 32, 4), (128, 64, 32, 4), (128, 128, 16, 4), (64, 64, 64, 4),
        )
        for stages in (2, 3)
    ]  # fmt: skip


def thin(work: Work) -> list[Config | None]:
    """Few rows: how much of the weights is on its way at once decides."""
    found: list[Config | None] = []
    side = 16 if work.m <= 16 else 64
    for n, k, warps, stages in (
        (32, 128, 2, 4), (32, 256, 4, 4), (32, 512, 4, 3), (64, 128, 4, 4), (64, 128, 4, 6),
        (64, 256, 4, 3), (64, 256, 4, 4), (128, 64, 4, 5), (128, 128, 4, 4), (16, 256, 2, 5),
        (16, 512, 4, 4), (32, 256, 2, 5), (32, 64, 4, 6),
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

        many = (work.batch,) if work.batch > 1 else ()
        x = (work.k, work.m) if work.x_turned else (work.m, work.k)
        y = (work.n, work.k) if work.turned else (work.k, work.n)
        self.x, self.y = made(*many, *x), made(*many, *y)
        self.x = self.x.mT if work.x_turned else self.x
        if work.y:
            self.y = (self.y * 50).to(DTYPES[work.y])
        self.y = self.y.mT if work.turned else self.y
        kind = {"f8e4m3": torch.bfloat16, "i8": torch.int32}.get(work.dtype, dtype)
        self.out = torch.empty((*many, work.m, work.n), dtype=kind, device="cuda")
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
        torch.backends.cuda.matmul.allow_tf32 = self.work.dtype == "f32" and self.work.fast
        return self.x @ self.y.to(self.x.dtype)

    def ours(self, config: Config | None) -> Callable[[], object]:
        """A call of one configuration."""
        arrays = [operand("array", own) for own in (self.out, self.x, self.y)]
        out, x, y = arrays
        return lambda: run.product(out, x, y, relaxed=self.work.fast, config=config)

    def fault(self, config: Config | None) -> str:
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

    def compiled(config: Config | None) -> None:
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
    last = {"theirs": None, **dict.fromkeys(order[:4]), None: None}
    final = clock.turns({own: graphs[own] for own in last if own in graphs}, 60)
    best = min(order[:4], key=lambda own: final[own])
    flops = 2e-6 * work.batch * work.m * work.n * work.k
    theirs = final["theirs"]
    print(
        f"{work.name:<32} {flops / final[best]:7.1f} TFLOP/s {final[best]:8.1f} us, cuBLAS"
        f" {theirs:8.1f} us: {theirs / final[best]:5.3f} of its speed by {shown(best)}",
        flush=True,
    )
    for own in order[:4]:
        print(f"    {theirs / final[own]:5.3f} {shown(own)}")
    if None in final:
        print(f"    {theirs / final[None]:5.3f} {final[None]:.1f} us {shown(None)}")
    return {
        "work": work._asdict(),
        "problem": {
            "m": work.m, "n": work.n, "k": work.k, "batch": work.batch, "x": work.dtype,
            "y": work.y or work.dtype, "x_turned": work.x_turned, "y_turned": work.turned,
            "relaxed": work.fast and work.dtype in ("f32", "f8e4m3"),
        },
        "config": best._asdict() if best else None,
        "chosen": final.get(None),
        "us": final[best],
        "theirs": theirs,
        "all": {shown(own): first[own] for own in order},
        "failed": notes,
    }  # fmt: skip


def shown(config: Config | None) -> str:
    """A configuration in a line."""
    if config is None:
        return "as the library chooses"
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
    """The winners as JSON, one on a line; not where the library's own rule won."""
    kept = [{name: row[name] for name in ("problem", "config")} for row in rows if row["config"]]
    lines = [json.dumps(row) for row in kept]
    return '{"rows": [\n' + ",\n".join(lines) + "\n]}\n"


if __name__ == "__main__":
    main()
