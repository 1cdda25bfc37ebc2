"""The only place that loads Triton: parse a module, run its stages one by one, stop before cubin.

Triton's own `__init__` is bypassed (it imports its language, AMD and a driver), and its knobs are
replaced by ones that are always off, so that the environment cannot change code. in the back
end's process (child.py), which LLVM may end at any time.
"""

from __future__ import annotations

import os
import sys
import time
import types
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from teenyc.backend.gpu.mend import mend, mend_ptx

if TYPE_CHECKING:
    from collections.abc import Callable

# The file descriptor that holds the module text. MLIR records the file name of an operation without
# a location, so the number is fixed: the same module gives the same bytes in every process.
_TEXT_FD = 100
_TEXT_NAME = "unit.mlir"
# Our stage names, in order, and Triton's; the first one only reads and verifies.
STAGES = (("mlir", ""), ("ttir", "ttir"), ("ttgir", "ttgir"), ("llvm-ir", "llir"), ("ptx", "ptx"))
_WARP_SIZE = 32
_WARM_UP = """\
module {
  tt.func public @warm_up(%p: !tt.ptr<f32> loc("w":1:1), %n: i32 loc("w":1:1)) {
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32> loc("w":1:1)
    %ns = tt.splat %n : i32 -> tensor<128xi32> loc("w":1:1)
    %m = arith.cmpi slt, %i, %ns : tensor<128xi32> loc("w":1:1)
    %ps = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>> loc("w":1:1)
    %q = tt.addptr %ps, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32> loc("w":1:1)
    %x = tt.load %q, %m : tensor<128x!tt.ptr<f32>> loc("w":1:1)
    %y = arith.addf %x, %x : tensor<128xf32> loc("w":1:1)
    tt.store %q, %y, %m : tensor<128x!tt.ptr<f32>> loc("w":1:1)
    tt.return loc("w":1:1)
  } loc("w":1:1)
} loc("w":1:1)
"""


class Job(NamedTuple):
    """What the back end is asked: a module, the target and every option that can change code.

    `emit` names the stages whose text is wanted; the last of them is the last one run.
    """

    mlir: str
    arch: int
    ptx_version: int
    fp_fusion: bool
    num_warps: int
    num_stages: int
    num_ctas: int
    maxnreg: int | None
    emit: tuple[str, ...]
    locations: bool = False


TensorMapRow = tuple[tuple[int, ...], int]


class Facts(NamedTuple):
    """What the back end found out; sizes are bytes, scratch sizes per block (CTA).

    `descriptors` tells how the maps of descriptor parameters are to be made, in their order: the
    box that one copy moves, in elements, and the bytes in which shared memory is permuted.
    """

    num_warps: int
    num_ctas: int
    shared_bytes: int
    global_scratch_bytes: int
    global_scratch_align: int
    profile_scratch_bytes: int
    profile_scratch_align: int
    tensor_memory: int
    descriptors: tuple[TensorMapRow, ...] = ()


class StageError(Exception):
    """A stage refused the module; `stage` is our name for it."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.stage = stage


class _Library(NamedTuple):
    ir: Any
    backend: Any
    gpu_target: Any
    language: Any


_loaded: list[_Library] = []


def find_folder() -> Path | None:
    """The folder of the installed Triton package, found without importing it."""
    for finder in sys.meta_path:
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec("triton", None) if find_spec else None
        if spec is not None and spec.submodule_search_locations:
            folder = Path(next(iter(spec.submodule_search_locations)))
            if (folder / "__init__.py").is_file():
                return folder
    return None


def find_version(folder: Path) -> str:
    """The version that the package in `folder` states, or an empty text."""
    with (folder / "__init__.py").open(encoding="utf-8") as file:
        head = file.read(2000)
    _, found, rest = head.partition("__version__ = ")
    return rest[1:].split(rest[0], 1)[0] if found else ""


def is_loaded() -> bool:
    """Whether this process has loaded libtriton through `load`."""
    return bool(_loaded)


def load() -> None:
    """Load libtriton and the CUDA stages (80 ms). Raises ImportError or OSError when broken."""
    if _loaded:
        return
    folder = find_folder()
    if folder is None:
        raise ImportError("the package `triton` is not installed")
    root = _package("triton", folder)
    root.__version__ = find_version(folder)  # type: ignore[attr-defined]
    root.runtime = _package("triton.runtime", folder / "runtime")  # type: ignore[attr-defined]
    root.backends = _package("triton.backends", folder / "backends")  # type: ignore[attr-defined]
    root.knobs = _knobs()  # type: ignore[attr-defined]
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget, Language
    from triton.backends.nvidia.compiler import CUDABackend

    _loaded.append(_Library(ir, CUDABackend, GPUTarget, Language))


def warm() -> None:
    """Compile a small kernel: what LLVM sets up once is then there in forked children (15 ms)."""
    run(Job(_WARM_UP, 80, 80, True, 4, 3, 1, None, ("ptx",)), lambda *_: None)


def run(job: Job, on_stage: Callable[[str, float, str | None], None]) -> Facts:
    """Take `job` through its stages; `on_stage(name, seconds, text)` is called after each.

    Raises StageError when the module cannot be read or a stage refuses it.
    """
    library = _loaded[0]
    backend = library.backend(library.gpu_target("cuda", job.arch, _WARP_SIZE))
    context = library.ir.context()
    library.ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options(
        {
            "num_warps": job.num_warps,
            "num_stages": job.num_stages,
            "num_ctas": job.num_ctas,
            "maxnreg": job.maxnreg,
            "ptx_version": job.ptx_version,
            "enable_fp_fusion": job.fp_fusion,
        }
    )
    calls: dict[str, Any] = {}
    backend.add_stages(calls, options, library.language.TRITON)
    found: dict[str, Any] = dict(vars(options))
    names = [name for name, _ in STAGES]
    last = max(names.index(name) for name in job.emit)
    module: Any = None
    for name, triton_name in STAGES[: last + 1]:
        start = time.perf_counter()
        try:
            if triton_name:
                module = calls[triton_name](module, found)
                module = _MENDED[name](module) if name in _MENDED else module
            else:
                module = _parse(library.ir, job.mlir, context)
        except Exception as error:  # libtriton raises RuntimeError, the stages also AssertionError
            raise StageError(name, str(error) or type(error).__name__) from error
        seconds = time.perf_counter() - start
        on_stage(name, seconds, _text(module, job.locations) if name in job.emit else None)
    return _facts(found)


# What is rewritten before the next stage reads it.
_MENDED = {"llvm-ir": mend, "ptx": mend_ptx}


def _package(name: str, folder: Path) -> types.ModuleType:
    """A package that has submodules but runs no `__init__`."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    return module


class _Off(types.ModuleType):
    """A group of knobs, each of them unset."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _knobs() -> types.ModuleType:
    knobs = types.ModuleType("triton.knobs")
    for group in ("compilation", "language", "nvidia", "runtime"):
        setattr(knobs, group, _Off(f"triton.knobs.{group}"))
    knobs.NvidiaTool = object  # type: ignore[attr-defined] # named in an annotation
    knobs.language.fp_fusion_enabled = lambda requested: requested  # 3.9; it is always passed
    sys.modules["triton.knobs"] = knobs
    return knobs


def _parse(ir: Any, text: str, context: Any) -> Any:
    """Read a module. libtriton takes only a file name, so the text goes into an anonymous file."""
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        file = os.memfd_create("unit")
        with os.fdopen(file, "wb", closefd=False) as stream:
            stream.write(text.encode())
        os.dup2(file, _TEXT_FD)
        os.close(file)
        module = ir.parse_mlir_module(f"/proc/self/fd/{_TEXT_FD}", context)
        os.close(_TEXT_FD)
    else:
        module = _parse_in_folder(ir, text, context)
    module.context = context  # keeps the context alive as long as the module
    return module


def _parse_in_folder(ir: Any, text: str, context: Any) -> Any:
    import tempfile

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that the recorded name is the bare file name
        try:
            Path(_TEXT_NAME).write_text(text, encoding="utf-8", newline="\n")
            return ir.parse_mlir_module(_TEXT_NAME, context)
        finally:
            os.chdir(here)


def _text(module: Any, locations: bool) -> str:
    if isinstance(module, str):
        return module
    return str(module) if locations else str(module.str_nodebug())


def _facts(found: dict[str, Any]) -> Facts:
    return Facts(
        num_warps=found["num_warps"],
        num_ctas=found["num_ctas"],
        shared_bytes=found.get("shared") or 0,
        global_scratch_bytes=found.get("global_scratch_size") or 0,
        global_scratch_align=found.get("global_scratch_align") or 1,
        profile_scratch_bytes=found.get("profile_scratch_size") or 0,
        profile_scratch_align=found.get("profile_scratch_align") or 1,
        tensor_memory=found.get("tmem_size") or 0,
        descriptors=tuple(map(_tensor_map, found.get("tensordesc_meta") or ())),
    )


def _tensor_map(row: dict[str, Any]) -> TensorMapRow:
    """The driver's numbers for swizzles, 0 to 3, are 0, 32, 64 and 128 bytes."""
    swizzle = row["swizzle"]
    return tuple(row["block_size"]), 16 << swizzle if swizzle else 0
