"""What compiling costs beside Triton: cold, through a warm worker, and 16 configs at once.

`python benchmarks/bench_toolchain.py [--runs N] [--arch sm_90]`; no GPU is needed. A cold row is a
fresh process, unit to PTX and machine code; its limit is 1.1 times Triton's own stages on the same
MLIR, ptxas among them (in turns, in a process of their own), plus 150 ms; beside it stands
`triton.compile` of the same kernel in a fresh process. Times are the least of N in ms, in brackets
the CPU time, which other work hardly changes. The 16 configs are compiled here; `bench_tuner` tunes
them, on a GPU. The last row is the size of what a machine needs that only runs kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

from bench_startup import FLOOR, Run, environment, timed
from triton_peer import translate

ROOT = Path(__file__).resolve().parents[1]


class Work(NamedTuple):
    """A kernel: its file, the dtypes of its run-time parameters, its compile-time values."""

    file: str
    types: dict[str, str]
    values: dict[str, Any]
    variable: dict[str, str]

    kernel: str = ""

    @property
    def name(self) -> str:
        """The name of the kernel; without one, that of its file."""
        return self.kernel or Path(self.file).stem


WORKS = (
    Work(
        "examples/vector_add.py",
        {"x_ptr": "f32", "y_ptr": "f32", "out_ptr": "f32", "n_elements": "i32"},
        {"BLOCK_SIZE": 1024},
        {"D": "f32"},
    ),
    Work(
        "examples/softmax.py",
        {"out_ptr": "f32", "x_ptr": "f32", "n_cols": "i32"},
        {"BLOCK_SIZE": 1024},
        {"D": "f32"},
        "softmax_rows",
    ),
    Work(
        "examples/matmul.py",
        {**dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "f16"), **dict.fromkeys("MNK", "i32")},
        {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP": 8},
        {"H": "f16"},
    ),
    Work(
        "benchmarks/attention.py",
        {"q_ptr": "f16", "k_ptr": "f16", "v_ptr": "f16", "o_ptr": "f16", "LENGTH": "i32",
         "scale": "f32"},
        {"BLOCK_M": 64, "BLOCK_N": 64, "WIDTH": 64},
        {"H": "f16"},
    ),
)  # fmt: skip
THEIRS = """
import importlib.util, json, os, sys, time
start = time.perf_counter()
path, name, arch, types, values, configs = sys.argv[1], sys.argv[2], int(sys.argv[3]), \
    json.loads(sys.argv[4]), json.loads(sys.argv[5]), json.loads(sys.argv[6])
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
spec = importlib.util.spec_from_file_location(name, path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
kernel = getattr(module, name)
signature = {p: ("*fp" if t[0] == "f" and p.endswith("_ptr") else "fp" if t[0] == "f" else "i")
             + t[1:] for p, t in types.items()} | {p: "constexpr" for p in values}
attrs = {(kernel.arg_names.index(p),): [["tt.divisibility", 16]] for p in types
         if p.endswith("_ptr")}
for config in configs or [{}]:
    own = dict(config)
    options = {n: own.pop(n) for n in ("num_warps", "num_stages") if n in own}
    fixed = {(kernel.arg_names.index(p),): v for p, v in {**values, **own}.items()}
    triton.compile(ASTSource(kernel, signature, fixed, attrs), GPUTarget("cuda", arch, 32), options)
print((time.perf_counter() - start) * 1e3, flush=True)
os._exit(0)
"""
OURS_16 = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
start = time.perf_counter()
from matmul import matmul
import teeny_triton
from teeny_compiler import Target, compile_kernels
made = []
for config in json.loads(sys.argv[3]):
    instance = matmul.instantiate(H=teeny_triton.f16, **config)
    made.append((instance.with_hints(divisible_by_16=("a_ptr", "b_ptr", "c_ptr")),
                 Target.cuda(sys.argv[2])))
found = compile_kernels(made, progress=False)
assert all(hasattr(one, "path") for one in found), found
print((time.perf_counter() - start) * 1e3)
"""
CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": 32, "GROUP": 8, "num_warps": 4, "num_stages": s}
    for m in (32, 64)
    for n in (32, 64, 128, 256)
    for s in (2, 3)
]


def instance_of(work: Work) -> Any:
    """The instance of a kernel with its pointers aligned."""
    import teeny_triton

    sys.path.insert(0, str((ROOT / work.file).parent))
    kernel = getattr(import_module(Path(work.file).stem), work.name)
    dtypes = {name: getattr(teeny_triton, dtype) for name, dtype in work.variable.items()}
    instance = kernel.instantiate(**dtypes, **work.values)
    aligned = tuple(name for name in work.types if name.endswith("_ptr"))
    return instance.with_hints(divisible_by_16=aligned)


def unit_of(work: Work) -> str:
    """The unit of a kernel."""
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    text: str = instance_of(work).unit(TRITON, TRITON_SHA).render()
    return text


def translated(work: Work, folder: str) -> str:
    """The path of the kernel as Triton's."""
    path = Path(folder, f"triton_{work.name}.py")
    path.write_text(translate((ROOT / work.file).read_text(encoding="utf-8")), encoding="utf-8")
    return str(path)


def triton_command(work: Work, arch: str, folder: str, configs: list[dict[str, int]]) -> list[str]:
    """A process that compiles with Triton."""
    rows = [json.dumps(part) for part in (work.types, work.values, configs)]
    path = translated(work, folder)
    return [sys.executable, "-c", THEIRS, path, work.name, arch.removeprefix("sm_"), *rows]


def cold(work: Work, arch: str, runs: int, env: dict[str, str], folder: str) -> None:
    """A kernel in a fresh process: ours, libtriton's stages, Triton's."""
    unit = Path(folder, f"{work.name}.py")
    unit.write_text(unit_of(work), encoding="utf-8")
    out = Path(folder, work.name)
    command = [sys.executable, "-m", "teenyc", str(unit), "-C", f"target-cpu={arch}", "-o"]
    timed([*command, str(out), "--emit", "ptx,mlir"], env, folder)
    (mlir,) = out.glob("*.mlir")
    ours, floors, theirs = [], [], []
    for _ in range(runs):
        ours.append(timed([*command, str(out), "--emit", "ptx", "-C", "cubin=on"], env, folder))
        words = timed([sys.executable, "-c", FLOOR, str(mlir), "cubin"], env, folder).out.split()
        floors.append(sum(map(float, words[1::2])))
        with tempfile.TemporaryDirectory() as fresh:
            apart = {**env, "TRITON_CACHE_DIR": fresh}
            theirs.append(timed(triton_command(work, arch, folder, []), apart, folder))
    limit = 1.1 * min(floors) + 150
    print(
        f"{'cold, ' + work.name:<34}{least(ours)}   limit {limit:5.0f} "
        f"(Triton's stages {min(floors):.0f})   triton.compile {least(theirs)}",
        flush=True,
    )


def least(runs: list[Run]) -> str:
    """The least wall time, and in brackets the least CPU time."""
    return f"{min(run.wall for run in runs):8.0f} ({min(run.cpu for run in runs):.0f})"


def warm(arch: str, runs: int, env: dict[str, str], folder: str) -> None:
    """Requests to one worker."""
    process = subprocess.Popen(
        [sys.executable, "-m", "teenyc", "--worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=env,
        cwd=folder,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for work in WORKS:
        args = ["-C", f"target-cpu={arch}", "-C", "cubin=on", "--emit", "ptx"]
        args += ["-o", str(Path(folder, work.name))]
        request = json.dumps({"id": 1, "unit": unit_of(work), "args": args})
        times = []
        for _ in range(runs + 1):
            start = time.perf_counter()
            print(request, file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            times.append((time.perf_counter() - start) * 1e3)
            assert answer["status"] == 0, answer
            time.sleep(0.1)  # a worker prepares for the next request when it has answered
        name = f"warm worker, {work.name}"
        print(f"{name:<34}{min(times[1:]):8.0f}   median {statistics.median(times[1:]):.0f}")
    process.stdin.close()
    process.wait()


def sixteen(arch: str, runs: int, env: dict[str, str], folder: str) -> None:
    """16 configs of the matrix product, nothing cached."""
    ours, theirs = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as fresh:
            apart = {**env, "TEENYC_CACHE_DIR": fresh, "TRITON_CACHE_DIR": fresh}
            command = [sys.executable, "-c", OURS_16, str(ROOT / "examples"), arch]
            ours.append(timed([*command, json.dumps(CONFIGS)], apart, folder))
            work = next(work for work in WORKS if work.name == "matmul")
            serial = triton_command(work, arch, folder, CONFIGS)
            theirs.append(timed(serial, apart, folder))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    share = min(run.wall for run in ours) / min(run.wall for run in theirs)
    print(
        f"{f'16 matmul configs, {cores} cores':<34}{least(ours)}   "
        f"Triton, one after the other {least(theirs)}   ({share:.2f} of it)"
    )


def run_only_size() -> None:
    """Bytes of what runs cached kernels, from the metadata of what is installed here."""
    sizes: dict[str, int] = {}
    waiting = ["teeny-compiler", "teeny-cuda", "teeny-cpu"]
    apart, missing = {"numpy", "llvmlite"}, []
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if not name or name in sizes or name in apart:
            continue
        source = ROOT / "packages" / name
        if source.is_dir():
            files: list[Path] = [p for p in (source / "src").rglob("*") if p.suffix != ".pyc"]
            text = (source / "pyproject.toml").read_text(encoding="utf-8")
            needs = tomllib.loads(text)["project"]["dependencies"]
        else:
            try:
                found = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                missing.append(name)
                continue
            files = [Path(str(found.locate_file(file))) for file in found.files or ()]
            needs = [row for row in found.requires or () if "extra ==" not in row]
        sizes[name] = sum(path.stat().st_size for path in files if path.is_file())
        waiting += [_name_of(row) for row in needs]
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:4]
    shown = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in largest)
    if missing:
        shown += f"; not installed here: {', '.join(sorted(missing))}"
    total = sum(sizes.values()) / 1e6
    print(f"{'run-only install, MB':<34}{total:8.1f}   limit 60, without numpy, llvmlite ({shown})")


def _name_of(requirement: str) -> str:
    name = ""
    for letter in requirement:
        if not (letter.isalnum() or letter in "-_."):
            break
        name += letter
    return name


def main() -> None:
    """Run every part and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--only", choices=["cold", "warm", "sixteen", "size"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(str(Path(folder, "cache")))
        if given.only in {None, "cold"}:
            for work in WORKS:
                cold(work, given.arch, given.runs, env, folder)
        if given.only in {None, "warm"}:
            warm(given.arch, given.runs, env, folder)
        if given.only in {None, "sixteen"}:
            sixteen(given.arch, max(1, given.runs // 2), env, folder)
        if given.only in {None, "size"}:
            run_only_size()


if __name__ == "__main__":
    main()
