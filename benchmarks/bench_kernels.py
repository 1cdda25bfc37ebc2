"""The kernel library on a GPU: time of every operation beside PyTorch, eager and compiled.

Each row is one operation, dtype and case; ours and the peers are timed in turns, each as a CUDA
graph with the L2 cache flushed before every run. Printed are the time, GB/s or TFLOP/s from the
least that has to be moved or computed, the share of the copy ceiling measured in the same run, and
the ratio to the fastest peer (above 1 we are slower). Liger's kernels are peers where its package
is importable, and so are twins in Triton of rows, elements, attention and products.

    python benchmarks/bench_kernels.py [NAME ...] [--dtypes bf16,f32] [--last] [--compile]
                                       [--json FILE] [--resume] [--share I/N] [--prepare I/N]
    python benchmarks/bench_kernels.py --merge FILE ... --json FILE

N processes with `--prepare` fill the caches first: compiling takes most of the time of a run. With
`--share`, N GPUs measure a part each, whose files `--merge` joins. A peer that no CUDA graph can
hold is timed by events, as the flush hides what its host needs; since such an attempt leaves
PyTorch's random numbers unusable, the rest is measured by a new process, which `--json` needs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import liger_peers
import optimizer_peers
import torch
import triton_twins

from teeny_compiler import compile_kernels
from teeny_kernels.registry import specs
from teeny_kernels.spec import Case, KernelSpec
from teeny_kernels.testing import as_tensor, told
from teeny_macros import devices

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
ITEMSIZES = {"f32": 4, "f16": 2, "bf16": 2}
FLUSH_BYTES = 512 << 20
TWIN_GAP = 2**-6  # of the largest result
MOST_MADE = 1 << 28  # numbers that a spec makes on the host for `--last`, of unlike rows


def arrays(spec: KernelSpec, case: Case, dtype: str) -> list[Any]:
    """Inputs on the GPU: normal numbers, or what the spec makes."""
    if spec.make is not None:
        made, times = made_arrays(spec, case)
        tensors = [as_tensor(torch, own).cuda() for own in made]
        for at, own in enumerate(tensors):
            if own.is_floating_point() and own.itemsize > 1:
                tensors[at] = own.to(DTYPES[dtype])
            if times > 1:
                tensors[at] = tensors[at].repeat(times, *[1] * (own.ndim - 1))
            if made[at].ndim == 2 and made[at].strides[0] < made[at].strides[1]:  # as it was laid
                tensors[at] = tensors[at].T.contiguous().T
        return tensors
    generator = torch.Generator(device="cuda").manual_seed(0)
    return [
        torch.randn(shape, dtype=torch.float32, device="cuda", generator=generator).to(
            DTYPES[dtype]
        )
        for shape in case.shapes
    ]


def made_arrays(spec: KernelSpec, case: Case) -> tuple[list[Any], int]:
    """What the spec makes: of large arrays of as many rows a part, to be repeated so many times."""
    import numpy as np

    assert spec.make is not None
    rng = np.random.default_rng(0)
    if rows_alike(case) and elements(case) > MOST_MADE >> 4:
        rows = case.shapes[0][0]
        times = 1
        while rows % (2 * times) == 0 and elements(case) // times > MOST_MADE >> 5:
            times *= 2
        part = rows // times
        small = case._replace(shapes=tuple((part, *shape[1:]) for shape in case.shapes))
        made = [np.asarray(own) for own in spec.make(rng, small)]
        # Places in another array have to stay as spread as they are.
        plain = made[0].dtype.kind in "fb" and all(own.dtype.kind in "fiub" for own in made)
        if plain and all(own.ndim and own.shape[0] == part for own in made):
            return made, times
    return [np.asarray(own) for own in spec.make(rng, case)], 1


def rows_alike(case: Case) -> bool:
    """Whether all arrays of a case have as many rows, so that a part of it is like the whole."""
    return all(shape and shape[0] == case.shapes[0][0] for shape in case.shapes)


def graph_of(work: Callable[[], object]) -> Callable[[], None]:
    """`work` as a CUDA graph, warmed up on a stream of its own as PyTorch asks."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    replay: Callable[[], None] = graph.replay
    return replay


class Bench:
    """Times pieces of work in turns."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.is_spoilt = False  # a graph failed to be captured
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def compare(self, works: dict[str, Callable[[], object]]) -> dict[str, float]:
        """Median microseconds of each; what fails to run is left out, with its reason printed."""
        graphs: dict[str, Callable[[], object]] = {}
        for name, work in works.items():
            try:
                # Autograd cannot be captured; the flush hides what the host needs for it.
                graphs[name] = work if "autograd" in name else graph_of(work)
            except Exception as error:  # noqa: BLE001 - as below
                print(f"    {name}: {type(error).__name__}: {str(error).splitlines()[0][:90]}")
                torch.cuda.synchronize()
                self.is_spoilt = True
                try:  # what waits for the GPU, or makes random numbers, runs outside of graphs
                    work()
                    graphs[name] = work
                except Exception as again:  # noqa: BLE001 - the others are timed, and this told
                    print(f"    {name}: {type(again).__name__}: {str(again).splitlines()[0][:90]}")
        samples: dict[str, list[float]] = {name: [] for name in graphs}
        for _ in range(self.rounds):
            for name, replay in graphs.items():
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                self.flush.zero_()
                start.record()
                replay()
                end.record()
                end.synchronize()
                samples[name].append(start.elapsed_time(end) * 1e3)
        return {name: statistics.median(found) for name, found in samples.items()}


def ceiling(bench: Bench) -> float:
    """Bytes a second of a kernel of PyTorch's that reads and writes 512 MiB of f32.

    No `copy_`: a graph makes a copy of memory of it, which is far slower than kernels are.
    """
    source = torch.zeros(FLUSH_BYTES // 4, dtype=torch.float32, device="cuda")
    target = torch.empty_like(source)
    found = bench.compare({"copy": lambda: torch.neg(source, out=target)})["copy"]
    return 2 * FLUSH_BYTES / found * 1e6


def forward_works(spec: KernelSpec, case: Case, inputs: list[Any], compiled: bool) -> Any:
    if spec.in_place is not None:
        stepped = spec.in_place
        ours: dict[str, Callable[[], object]] = {"ours": lambda: stepped(*inputs, **case.options)}
        return ours | optimizer_peers.steps(spec.torch_name, inputs, case.options)
    works: dict[str, Callable[[], object]] = {"ours": lambda: spec.run(*inputs, **case.options)}
    if spec.torch is not None:
        reference = spec.torch
        works["eager"] = lambda: reference(torch, *inputs, **case.options)
        if compiled:
            torch._dynamo.reset()  # noqa: SLF001 - else the shapes of the last row stay
            fast = torch.compile(lambda *own: reference(torch, *own, **case.options), dynamic=False)
            works["compile"] = lambda: fast(*inputs)
    twin = triton_twins.forward(spec.name, inputs, case.options)
    if twin is not None and agrees(spec, works["ours"](), twin()):
        works["triton"] = twin
    liger = liger_peers.forward(spec.name, inputs, case.options)
    if liger is not None:
        works["liger"] = liger
    for name, peer in spec.peers.items():
        works[name] = partial(peer, torch, *inputs, **case.options)
    return works


def agrees(spec: KernelSpec, ours: Any, twin: Any) -> bool:
    """Whether a twin computes the same; one that does not is told, and not timed."""
    own = (ours[0] if isinstance(ours, tuple) else ours).float()
    gap = (own - twin.float()).abs().max() / own.abs().max()
    if not gap < TWIN_GAP:
        print(f"    {spec.name}: the twin in Triton is off by {gap.item():.3g}, and not timed")
    return bool(gap < TWIN_GAP)


def backward_works(spec: KernelSpec, case: Case, inputs: list[Any]) -> Any:
    """Our backward, and PyTorch's through autograd of a result made before."""
    assert spec.backward is not None
    gradients = spec.backward
    outputs = spec.run(*inputs, **case.options)
    outputs = tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)
    grads = [torch.randn_like(own) for own in outputs]
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: gradients(grads, inputs, outputs, dict(case.options))
    }
    if spec.torch is not None:
        leaves = [own.clone() for own in inputs]
        # An input that a case leaves out has no gradient.
        wanted = [leaves[at].requires_grad_() for at in spec.differentiable if at < len(leaves)]
        found = spec.torch(torch, *leaves, **case.options)
        found = tuple(found) if isinstance(found, tuple | list) else (found,)
        works["autograd"] = lambda: torch.autograd.grad(
            found, wanted, grads, retain_graph=True, allow_unused=True
        )
        places = [at for at in spec.differentiable if at < len(inputs)]
        liger = liger_peers.backward(spec.name, inputs, case.options, grads, places)
        if liger is not None:
            works["liger autograd"] = liger
    return works


def write(path: Path, copy: float, rows: list[dict[str, Any]], done: list[str]) -> None:
    """What `docs/_gen.py` makes the table of speeds from, when it lies in docs/data."""
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "copy": copy}
    aside = path.with_suffix(".part")
    aside.write_text(json.dumps(about | {"rows": rows, "done": done}, indent=1), encoding="utf-8")
    aside.replace(path)


def merge(files: list[str], target: Path) -> None:
    """Join what several runs measured: of a row measured twice the later file's stands."""
    found: dict[str, Any] = {}
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for file in files:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
        for own in found["rows"]:
            rows[own["name"], own["part"], own["dtype"], own["case"]] = own
    found.pop("done", None)
    found["rows"] = [rows[at] for at in sorted(rows)]
    target.write_text(json.dumps(found, indent=1), encoding="utf-8")


def compile_warm() -> None:
    """Compile in a process that stays: a cold one takes most of the time of a row."""

    def compile_one(instance: Any, target: Any) -> Any:
        (found,) = compile_kernels([(instance, target)], workers=1, progress=False)
        if isinstance(found, Exception):
            raise found
        return found

    devices._compilers["default"] = compile_one  # noqa: SLF001


def chosen(options: argparse.Namespace) -> Iterator[tuple[KernelSpec, Case, str]]:
    """What the command line asks for."""
    asked: dict[str, set[int]] = {}
    for own in options.names:
        name, _, at = own.partition(":")
        asked.setdefault(name, set()).update([int(at)] if at else range(99))
    for name, spec in specs().items():
        if (asked and name not in asked) or not spec.benchmarks:
            continue
        cases = [own for at, own in enumerate(spec.benchmarks) if not asked or at in asked[name]]
        if options.last:
            quick = [own for own in cases if rows_alike(own) or elements(own) <= MOST_MADE]
            cases = (cases if spec.make is None else quick or cases)[-1:]
        for dtype in (own for own in options.dtypes.split(",") if own in spec.dtypes):
            for case in cases:
                yield spec, case, dtype


def key_of(spec: KernelSpec, case: Case, dtype: str) -> str:
    """What a run has measured when it says so."""
    return f"{spec.name} {dtype} {told(case)}"


def elements(case: Case) -> int:
    """How many numbers the arrays of a case hold."""
    return sum(math.prod(shape) for shape in case.shapes)


def works_of(spec: KernelSpec, case: Case, dtype: str, compiled: bool) -> dict[str, Any]:
    """Ours and the peers, forward and backward."""
    inputs = arrays(spec, case, dtype)
    parts = {"forward": forward_works(spec, case, inputs, compiled)}
    if spec.backward is not None:
        parts["backward"] = backward_works(spec, case, inputs)
    return parts


def prepare(options: argparse.Namespace) -> None:
    """Run a share of what would be timed once, so that what it compiles is cached."""
    own, count = map(int, options.prepare.split("/"))
    for at, (spec, case, dtype) in enumerate(chosen(options)):
        if at % count != own:
            continue
        try:
            for works in works_of(spec, case, dtype, options.compile).values():
                for name in {"ours", "compile"} & set(works):
                    works[name]()
            torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001 - the run that times tells
            print(f"{spec.name}: {type(error).__name__}: {str(error).splitlines()[0][:90]}")
        torch.cuda.empty_cache()


def main() -> None:
    """Print the table; write it as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="NAME, or NAME:I for a case of it alone")
    parser.add_argument("--dtypes", default="bf16,f32")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--compile", action="store_true", help="time torch.compile, too")
    parser.add_argument("--last", action="store_true", help="the last case of an operation only")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--resume", action="store_true", help="go on with what --json has not")
    parser.add_argument("--share", metavar="I/N", default="0/1", help="the Ith of N shares only")
    parser.add_argument(
        "--prepare", metavar="I/N", help="compile the Ith of N shares, time nothing"
    )
    parser.add_argument("--merge", action="store_true", help="join the files given as names")
    options = parser.parse_args()
    if options.merge:
        merge(options.names, options.json)
        return
    compile_warm()
    if options.prepare:
        prepare(options)
        return
    bench = Bench(options.rounds)
    rows: list[dict[str, Any]] = []
    done: list[str] = []
    if options.resume and options.json.exists():
        known = json.loads(options.json.read_text(encoding="utf-8"))
        copy, rows, done = known["copy"], known["rows"], known["done"]
    else:
        copy = ceiling(bench)
        about = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
        print(f"{about}; copy {copy / 1e9:.0f} GB/s")
    own_share, shares = map(int, options.share.split("/"))
    for at, (spec, case, dtype) in enumerate(chosen(options)):
        key = key_of(spec, case, dtype)
        if at % shares != own_share or key in done:
            continue
        done.append(key)
        parts: dict[str, Any] = {}
        try:
            parts = works_of(spec, case, dtype, options.compile)
            for part, works in parts.items():
                rows.append(row(bench, copy, spec, case, dtype, part, works))
        except Exception as error:  # noqa: BLE001 - the other operations are measured, and this told
            print(f"{spec.name}: {type(error).__name__}: {str(error).splitlines()[0][:200]}")
            bench.is_spoilt = True
        if options.json:  # at once: a run that is stopped has measured something
            write(options.json, copy, rows, done)
            if bench.is_spoilt:
                sys.stdout.flush()
                again = [] if options.resume else ["--resume"]
                os.execv(sys.executable, [sys.executable, *sys.argv, *again])  # noqa: S606
        del parts
        works = None
        torch.cuda.empty_cache()
    ratios = [own["ratio"] for own in rows if own["ratio"]]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of the ratios to the fastest peer: {mean:.3f}; {len(ratios)} rows")


def row(
    bench: Bench, copy: float, spec: KernelSpec, case: Case, dtype: str, part: str, works: Any
) -> dict[str, Any]:
    """Time one row and print it."""
    times = bench.compare(works)
    ours = times.pop("ours")
    best = min(times, key=lambda name: times[name]) if times else ""
    ratio = ours / times[best] if best else 0.0
    cost = spec.cost(case, ITEMSIZES[dtype]) if spec.cost else None
    speed = ""
    if cost is not None and part == "forward":
        share = cost.bytes / ours * 1e6 / copy
        speed = f"{cost.bytes / ours / 1e3:6.0f} GB/s {share:5.2f} of copy"
        if cost.flops > 100 * cost.bytes:
            speed = f"{cost.flops / ours / 1e6:6.0f} TFLOP/s"
    peers = " ".join(f"{name} {time:.1f}" for name, time in times.items())
    print(
        f"{spec.name:<20} {part:<8} {dtype:<4} {told(case)[:44]:<44} {ours:9.1f} us {speed:<26}"
        f" {f'{ratio:5.2f} of {best}' if best else '':<18} ({peers})",
        flush=True,
    )
    return {
        "name": spec.name,
        "part": part,
        "dtype": dtype,
        "case": told(case),
        "bytes": cost.bytes if cost else 0,
        "flops": cost.flops if cost else 0,
        "ours": ours,
        "peers": times,
        "ratio": ratio,
    }


if __name__ == "__main__":
    main()
