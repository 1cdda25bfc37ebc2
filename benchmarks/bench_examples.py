"""GPU time of every example against the same text under Triton, interleaved, with equal options.

Run where there are a GPU, PyTorch and Triton: `python benchmarks/bench_examples.py [--json FILE]`.
Each row first compares the two results, then times graphs of launches that rotate over inputs
larger than the L2 cache. It prints medians, the ratio (ours / Triton) and whether the PTX is equal
after
renaming.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from triton_peer import load as load_peer

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "examples"))

ROTATION = 4
LAUNCHES = 20
ROUNDS = 25


class Work(NamedTuple):
    """One row: the kernel, a maker of its arguments and outputs, grid and constants."""

    example: str
    kernel: str
    label: str
    make: Callable[[], tuple[list[Any], list[Any]]]
    grid: tuple[int, ...]
    consts: dict[str, Any]
    gigabytes: float = 0.0
    gigaflop: float = 0.0


def _randn(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _elementwise(dtype: torch.dtype, label: str) -> list[Work]:
    n, rows, cols = 2**26, 8192, 4096
    size = dtype.itemsize

    def vectors() -> tuple[list[Any], list[Any]]:
        out = torch.empty(n, device="cuda", dtype=dtype)
        return [_randn(n, dtype=dtype), _randn(n, dtype=dtype), out, n], [out]

    def copy() -> tuple[list[Any], list[Any]]:
        out = torch.empty(rows, cols, device="cuda", dtype=dtype)
        return [_randn(rows, cols, dtype=dtype), out, rows, cols, cols, cols], [out]

    def gelu() -> tuple[list[Any], list[Any]]:
        out = torch.empty(rows, cols, device="cuda", dtype=dtype)
        x, residual = _randn(rows, cols, dtype=dtype), _randn(rows, cols, dtype=dtype)
        return [x, _randn(cols, dtype=dtype), residual, out, rows, cols], [out]

    tile = {"BLOCK_M": 32, "BLOCK_N": 64}
    wide = {"BLOCK_M": 16, "BLOCK_N": 128}
    return [
        Work(
            "vector_add",
            "vector_add",
            f"2^26 {label}",
            vectors,
            (_cdiv(n, 1024),),
            {"BLOCK_SIZE": 1024},
            3e-9 * n * size,
        ),
        Work(
            "masked_copy",
            "masked_copy",
            f"{rows}x{cols} {label}",
            copy,
            (_cdiv(rows, 32), _cdiv(cols, 64)),
            tile,
            2e-9 * rows * cols * size,
        ),
        Work(
            "bias_gelu",
            "bias_gelu_residual",
            f"{rows}x{cols} {label}",
            gelu,
            (_cdiv(rows, 16), _cdiv(cols, 128)),
            wide,
            3e-9 * rows * cols * size,
        ),
    ]


def _rows(dtype: torch.dtype, label: str) -> list[Work]:
    rows, cols = 32768, 4096
    moved = 2e-9 * rows * cols * dtype.itemsize

    def softmax() -> tuple[list[Any], list[Any]]:
        out = torch.empty(rows, cols, device="cuda", dtype=dtype)
        return [out, _randn(rows, cols, dtype=dtype), cols], [out]

    def norm() -> tuple[list[Any], list[Any]]:
        out = torch.empty(rows, cols, device="cuda", dtype=dtype)
        w, b = _randn(cols, dtype=dtype), _randn(cols, dtype=dtype)
        return [_randn(rows, cols, dtype=dtype), w, b, out, cols, 1e-5], [out]

    def lse() -> tuple[list[Any], list[Any]]:
        out = torch.empty(rows, device="cuda", dtype=torch.float32)
        return [_randn(cols, rows, dtype=dtype), out, cols, rows], [out]

    block = {"BLOCK_SIZE": 4096}
    tile = {"BLOCK_M": 16, "BLOCK_N": 64}
    return [
        Work("softmax", "softmax_rows", f"{rows}x{cols} {label}", softmax, (rows,), block, moved),
        Work(
            "layer_norm",
            "layer_norm_forward",
            f"{rows}x{cols} {label}",
            norm,
            (rows,),
            block,
            moved,
        ),
        Work(
            "logsumexp",
            "logsumexp_columns",
            f"{cols}x{rows} {label}",
            lse,
            (_cdiv(rows, 64),),
            tile,
            moved / 2,
        ),
    ]


def _products(dtype: torch.dtype, label: str) -> list[Work]:
    m = n = k = 4096
    flop = 2e-9 * m * n * k

    def plain() -> tuple[list[Any], list[Any]]:
        out = torch.empty(m, n, device="cuda", dtype=dtype)
        return [_randn(m, k, dtype=dtype), _randn(k, n, dtype=dtype), out, m, n, k], [out]

    def relu() -> tuple[list[Any], list[Any]]:
        out = torch.empty(m, n, device="cuda", dtype=torch.float32)
        scale = _randn(m, dtype=torch.float32)
        return [_randn(m, k, dtype=dtype), _randn(k, n, dtype=dtype), scale, out, m, n, k], [out]

    square = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8}
    thin = {"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 32}
    return [
        Work(
            "matmul",
            "matmul",
            f"4096^3 {label}",
            plain,
            (_cdiv(m, 64) * _cdiv(n, 64),),
            square,
            gigaflop=flop,
        ),
        Work(
            "matmul_relu",
            "matmul_relu_scale",
            f"4096^3 {label}",
            relu,
            (_cdiv(m, 64), _cdiv(n, 32)),
            thin,
            gigaflop=flop,
        ),
    ]


def works() -> list[Work]:
    """All rows."""
    found: list[Work] = []
    for dtype, label in ((torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16")):
        found += _elementwise(dtype, label) + _rows(dtype, label)
        if dtype is not torch.float32:
            found += _products(dtype, label)
    return found


def _graph(launch: Callable[..., Any], sets: list[list[Any]]) -> torch.cuda.CUDAGraph:
    for args in sets:
        launch(*args)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(LAUNCHES):
            launch(*sets[i % len(sets)])
    return graph


def _replay_ms(graph: torch.cuda.CUDAGraph) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end)) / LAUNCHES


def _normal_ptx(ptx: str) -> str:
    """PTX without names, comments, positions, debug sections and the version of the language."""
    ptx = ptx.split(".section", 1)[0]
    ptx = re.sub(r"//[^\n]*|\.(file|loc|version)[^\n]*|\$L__\w+:?|[ \t]+\n", "", ptx)
    (name,) = re.findall(r"\.entry (\w+)", ptx)
    return re.sub(r"\s+", " ", ptx.replace(name, "kernel"))


def _ours(work: Work) -> tuple[Callable[..., Any], Callable[[], str]]:
    import importlib

    from teeny_compiler import Target, compile_kernel

    kernel = getattr(importlib.import_module(work.example), work.kernel)

    def launch(*args: Any) -> None:
        kernel[work.grid](*args, **work.consts)

    def ptx() -> str:
        *_, (instance, _) = kernel.site().programs
        major, minor = torch.cuda.get_device_capability()
        return compile_kernel(instance, Target.cuda(f"sm_{major}{minor}")).read_text()

    return launch, ptx


def _theirs(work: Work) -> tuple[Callable[..., Any], Callable[[], str]]:
    kernel = getattr(load_peer(ROOT / "examples" / f"{work.example}.py"), work.kernel)
    compiled: list[Any] = []

    def launch(*args: Any) -> None:
        compiled[:] = [kernel[work.grid](*args, **work.consts)]

    return launch, lambda: str(compiled[0].asm["ptx"])


def measure(work: Work) -> dict[str, Any]:
    """Check, then time one row."""
    sets, outs = zip(*(work.make() for _ in range(ROTATION)), strict=True)
    ours, our_ptx = _ours(work)
    theirs, their_ptx = _theirs(work)
    ours(*sets[0])
    torch.cuda.synchronize()
    first = [out.clone() for out in outs[0]]
    theirs(*sets[0])
    torch.cuda.synchronize()
    equal = all(torch.equal(a, b) for a, b in zip(first, outs[0], strict=True))
    worst = max(float((a - b).abs().max()) for a, b in zip(first, outs[0], strict=True))
    graphs = _graph(ours, list(sets)), _graph(theirs, list(sets))
    times: tuple[list[float], list[float]] = ([], [])
    for i in range(ROUNDS):
        for side in (0, 1) if i % 2 else (1, 0):
            times[side].append(_replay_ms(graphs[side]))
    ratios = [a / b for a, b in zip(*times, strict=True)]
    ours_ms, theirs_ms = (statistics.median(t) for t in times)
    return {
        "example": work.example,
        "case": work.label,
        "ours_us": ours_ms * 1e3,
        "triton_us": theirs_ms * 1e3,
        "ratio": statistics.median(ratios),
        "spread": statistics.quantiles(ratios, n=4)[2] - statistics.quantiles(ratios, n=4)[0],
        "rate": work.gigabytes / ours_ms if work.gigabytes else work.gigaflop / ours_ms,
        "unit": "TB/s" if work.gigabytes else "TFLOP/s",
        "bit_equal": equal,
        "largest_difference": worst,
        "ptx_equal": _normal_ptx(our_ptx()) == _normal_ptx(their_ptx()),
    }


def main() -> int:
    """Measure all rows, print the table and the geometric mean."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the rows to this file")
    options = parser.parse_args()
    import triton

    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton.__version__}")
    rows = []
    for work in works():
        row = measure(work)
        rows.append(row)
        equal = "bit-equal" if row["bit_equal"] else f"differs by {row['largest_difference']:.2g}"
        print(
            f"{row['example']:<12} {row['case']:<18} ours {row['ours_us']:8.1f} us  "
            f"Triton {row['triton_us']:8.1f} us  "
            f"ratio {row['ratio']:.3f} (+-{row['spread']:.3f})  "
            f"{row['rate']:7.2f} {row['unit']:<8} "
            f"{equal}, "
            f"PTX {'equal' if row['ptx_equal'] else 'differs'}",
            flush=True,
        )
    mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows))
    worst = max(row["ratio"] for row in rows)
    print(f"geometric mean of the ratios: {mean:.4f}; worst {worst:.3f}")
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
