"""Kernels compiled for a CPU and run in this process, beside the interpreter."""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import ml_dtypes
import numpy as np
import pytest

from teeny_macros.unit import Unit, UnitModule
from teenyc.backend.cpu import compile as native
from teenyc.backend.cpu import features
from teenyc.backend.cpu import llvm as toolchain
from teenyc.frontend import lower_unit
from teenyc.interp import InterpProgram
from teenyc.passes import run
from teenyc.passes.descriptors import lower_descriptors
from teenyc.passes.scaled import lower_scaled
from teenyc.types import DTYPES

NAMES = "i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3, f8e5m2"
KINDS: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_ATTRIBUTES = "num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True"
_numbers = itertools.count()


def unit_of(params: str, body: str) -> Unit:
    """The unit of a kernel with these parameters (`x_ptr: Ptr[f32], n: i32`) and this body."""
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    typed = [param.strip() for param in params.split(",")]
    names = ", ".join(param.partition(":")[0] for param in typed)
    plain = ", ".join(re.sub(r":[^=]*", "", param) for param in typed)
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    head = f"import teeny_triton as tl\nfrom teeny_triton import Ptr, {NAMES}\n"
    entry = (
        f"from kernel import k\nfrom teeny_triton import Ptr, {NAMES}\n"
        f"@entry_point({_ATTRIBUTES})\n"
        f"def k_entry_point({', '.join(typed)}) -> None:\n    k({names})\n"
    )
    modules = (
        UnitModule("kernel", f"{head}def k({plain}):\n{lines}"),
        UnitModule("entry", entry),
    )
    return Unit("k", modules, TRITON_SHA, TRITON)


def lower(params: str, body: str) -> Any:
    """The IR after the passes."""
    module = lower_unit(unit_of(params, body))
    run(module)
    return module


class Loaded(NamedTuple):
    """A compiled kernel in memory."""

    made: native.Native
    params: list[tuple[str, str, str]]
    function: Any
    keep: Any

    def launch(
        self, args: Sequence[Any], grid: tuple[int, int, int] = (1, 1, 1), *, apart: bool = False
    ) -> tuple[int, list[int]]:
        """Run all programs; the status and the record of an error."""
        slots, extents, error = _pack(self.params, args, grid, apart=apart)
        arena = np.full(self.made.arena_bytes + 64, 0xC3, np.uint8)  # garbage, as it comes
        start = arena.ctypes.data + -arena.ctypes.data % 64
        status = self.function(slots.ctypes.data, 0, int(np.prod(grid)), start)
        del extents
        return status, error.tolist()


def _pack(
    params: list[tuple[str, str, str]], args: Sequence[Any], grid: tuple[int, int, int],
    *, apart: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    slots, extents = np.zeros(len(params) + 6, np.int64), []
    for i, ((_, kind, dtype), arg) in enumerate(zip(params, args, strict=True)):
        if kind == "pointer":
            low, high = np.lib.array_utils.byte_bounds(arg)
            slots[i] = arg.__array_interface__["data"][0]
            extents += [low, high - low]
        elif DTYPES[dtype].is_float:
            value = np.asarray([arg], KINDS[dtype])
            slots[i : i + 1].view(np.uint8)[: value.nbytes] = value.view(np.uint8)
        else:
            slots[i] = np.asarray([int(arg) % 2**64], np.uint64).view(np.int64)[0]
    table, error = np.asarray(extents or [0], np.int64), np.zeros(8, np.int64)
    slots[len(params) :] = [*grid, int(apart), table.ctypes.data, error.ctypes.data]
    return slots, table, error


def load(params: str, body: str, *, arch: str = "host", **options: Any) -> Loaded:
    """Compile a kernel for a CPU and load it."""
    module = lower_unit(unit_of(params, body))
    lower_descriptors(module)
    lower_scaled(module)
    run(module)
    emit = ("clusters", *options.pop("emit", ()))
    made = native.compile_module(module, arch, emit, **{"fusion": False, **options})
    toolchain.binding()
    builder = llvm.JITLibraryBuilder().add_object_img(made.data).add_current_process()
    library = builder.export_symbol("k_entry_point").link(_jit(), f"k{next(_numbers)}")
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
    )
    return Loaded(made, module.params, kind(library["k_entry_point"]), library)


def _jit(found: list[Any] = []) -> Any:  # noqa: B006 - one for all tests
    if not found:
        toolchain.binding()
        found.append(llvm.create_lljit_compiler())
    return found[0]


def assert_same_bits(left: Any, right: Any) -> None:
    """Equal bit for bit, but for which NaN a NaN is."""
    left, right = np.ascontiguousarray(left), np.ascontiguousarray(right)
    if left.dtype.kind in "iub":
        np.testing.assert_array_equal(left, right)
        return
    with np.errstate(invalid="ignore"):  # signaling NaNs
        nan = np.isnan(left.astype(np.float64))
        np.testing.assert_array_equal(nan, np.isnan(right.astype(np.float64)))
    kind = f"u{left.dtype.itemsize}"
    live = ~nan
    np.testing.assert_array_equal(left.view(kind)[live], right.view(kind)[live])


def run_both(
    params: str,
    body: str,
    make_args: Callable[[], list[Any]],
    grid: tuple[int, int, int] = (1, 1, 1),
    *,
    apart: bool = False,
    arch: str = "host",
) -> list[Any]:
    """The arguments after the CPU has run; the interpreter leaves the same bits."""
    wanted, found = make_args(), make_args()
    InterpProgram(lower(params, body)).launch(grid, wanted)
    status, _ = load(params, body, arch=arch).launch(found, grid, apart=apart)
    assert status == 0
    for left, right in zip(found, wanted, strict=True):
        if isinstance(left, np.ndarray):
            assert_same_bits(left, right)
    return found


@pytest.fixture(scope="session")
def both() -> Callable[..., list[Any]]:
    """`both(params, body, make_args, grid)`: interpreter and CPU leave the same bits."""
    return run_both


@pytest.fixture(scope="session")
def compiled() -> Callable[..., Loaded]:
    """`compiled(params, body, arch=, fusion=, checks=)`: the kernel in memory."""
    return load


@pytest.fixture(scope="session")
def module_of() -> Callable[[str, str], Any]:
    """`module_of(params, body)`: the IR after the passes."""
    return lower


@pytest.fixture(scope="session")
def interpreted() -> Callable[..., None]:
    """`interpreted(params, body, args, grid)`: run a kernel in the interpreter."""

    def launch(params: str, body: str, args: list[Any], grid: tuple[int, int, int]) -> None:
        InterpProgram(lower(params, body)).launch(grid, args)

    return launch


@pytest.fixture(scope="session")
def runs_here() -> Callable[[str], bool]:
    """`runs_here(arch)`: whether this machine has all that objects for `arch` may use."""

    def has(arch: str) -> bool:
        host, other = features.resolve("host"), features.resolve(arch)
        return host.triple.split("-")[0] == other.triple.split("-")[0] and host.has(*other.names)

    return has


@pytest.fixture(scope="session")
def same_bits() -> Callable[[Any, Any], None]:
    """Compare two arrays bit for bit."""
    return assert_same_bits


@pytest.fixture(scope="session")
def kinds() -> dict[str, Any]:
    """NumPy's type for each dtype."""
    return KINDS


@pytest.fixture
def lines_asked_for(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[[], set[int]]]:
    """Watch the modules given, which write hints; then tell what their code has asked for.

    The lines of the cache that code compiled from then on asks for as it runs.
    """

    def watch(*modules: Any) -> Callable[[], set[int]]:
        table = np.zeros(1 << 16, np.int64)

        def noted(output: Any, pointer: str, **_: bool) -> str:
            output.helpers["teeny.log"] = (
                "define internal void @teeny.log(ptr %p) noinline {\n"
                f"  %table = inttoptr i64 {table.ctypes.data} to ptr\n"
                "  %before = load i64, ptr %table\n  %count = add i64 %before, 1\n"
                "  store i64 %count, ptr %table\n"
                "  %at = getelementptr i64, ptr %table, i64 %count\n"
                "  store ptr %p, ptr %at\n  ret void\n}\n"
            )
            return f"call void @teeny.log(ptr {pointer})"

        for module in modules:
            monkeypatch.setattr(module, "prefetch", noted)
        return lambda: {int(address) // 64 for address in table[1 : table[0] + 1]}

    return watch


@pytest.fixture(scope="session")
def lines_of() -> Callable[[Any], set[int]]:
    """`lines_of(tile)`: the lines of the cache that the rows of a tile lie in."""

    def find(tile: Any) -> set[int]:
        found = set()
        for row in tile:
            first = row.__array_interface__["data"][0]
            found |= set(range(first // 64, (first + row.nbytes - 1) // 64 + 1))
        return found

    return find
