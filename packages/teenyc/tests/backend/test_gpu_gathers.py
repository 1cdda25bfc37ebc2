"""Gathers that older releases end in an assertion for: the same elements along one axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from teeny_macros.target import Target
from teeny_macros.unit import Unit, UnitModule
from teenyc import passes
from teenyc.backend.gpu.gathers import flatten_gathers
from teenyc.driver import compile_text
from teenyc.frontend import lower_unit
from teenyc.interp import InterpProgram
from teenyc.ir.verifier import verify_module
from teenyc.options import Options
from teenyc.types import shape_of

if TYPE_CHECKING:
    from pathlib import Path

    from teenyc.ir.core import Module

# Sides of the source, the axis, how many are picked along it, warps.
CONCERNED = [
    ((8, 2), 1, 8, 2),
    ((8, 4), 1, 32, 4),
    ((4, 4), 0, 16, 4),
    ((2, 4, 8), 1, 32, 8),
    ((16, 2, 2), 2, 16, 8),
    ((4, 16), 0, 64, 4),
]
LEFT = [((4,), 0, 4096, 4), ((8, 8), 1, 8, 4), ((64, 4), 0, 4096, 4), ((8, 2), 1, 8, 1)]
RNG = np.random.default_rng(41)


def unit_of(shape: tuple[int, ...], axis: int, picked: int, warps: int, index: str = "i32") -> Unit:
    """`w = gather(x, i, axis)` of whole tensors."""
    from teeny_triton.triton_lang import TRITON, TRITON_SHA

    wanted = [picked if side == axis else length for side, length in enumerate(shape)]
    lines = [
        f"x = tl.reshape(tl.load(x_ptr + tl.arange(0, {np.prod(shape)})), {shape})",
        f"o = tl.reshape(tl.arange(0, {np.prod(wanted)}), ({', '.join(map(str, wanted))},))",
        f"tl.store(w_ptr + o, tl.gather(x, tl.load(i_ptr + o), {axis}))",
    ]
    body = "".join(f"    {line}\n" for line in lines)
    kernel = f"import teeny_triton as tl\ndef k(x_ptr, i_ptr, w_ptr):\n{body}"
    entry = (
        f"from kernel import k\nfrom teeny_triton import Ptr, {index}, f16\n"
        f"@entry_point(num_warps={warps}, num_stages=3, num_ctas=1, maxnreg=None, "
        "enable_fp_fusion=True)\n"
        f"def k_entry_point(x_ptr: Ptr[f16], i_ptr: Ptr[{index}], w_ptr: Ptr[f16]) -> None:\n"
        "    k(x_ptr, i_ptr, w_ptr)\n"
    )
    modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
    return Unit("k", modules, TRITON_SHA, TRITON)


def lowered(unit: Unit) -> Module:
    module = lower_unit(unit)
    passes.run(module)
    return module


def ranks(module: Module) -> list[int]:
    return [len(shape_of(op.operands[0].type)) for op in module.walk() if op.name == "tt.gather"]


@pytest.mark.parametrize("index", ["i32", "u8", "i64"])
@pytest.mark.parametrize(("shape", "axis", "picked", "warps"), CONCERNED)
def test_the_same_elements_are_picked_along_one_axis(
    shape: tuple[int, ...], axis: int, picked: int, warps: int, index: str
) -> None:
    module = lowered(unit_of(shape, axis, picked, warps, index))
    flatten_gathers(module)
    verify_module(module)
    assert ranks(module) == [1]
    source = RNG.standard_normal(shape).astype(np.float16)
    sides = tuple(picked if side == axis else length for side, length in enumerate(shape))
    held = {"i32": np.int32, "u8": np.uint8, "i64": np.int64}[index]
    picks = RNG.integers(0, shape[axis], sides).astype(held)
    found = np.zeros(sides, np.float16)
    InterpProgram(module).launch((1, 1, 1), [source, picks, found])
    assert np.array_equal(found, np.take_along_axis(source, picks.astype(np.int64), axis))


def test_an_unsigned_pick_beyond_the_signed_ones_stays_what_it_is() -> None:
    module = lowered(unit_of((2, 256), 1, 512, 4, "u8"))
    flatten_gathers(module)
    assert ranks(module) == [1]
    source = np.arange(512, dtype=np.float16).reshape(2, 256)
    picks = RNG.integers(128, 256, (2, 512)).astype(np.uint8)
    found = np.zeros((2, 512), np.float16)
    InterpProgram(module).launch((1, 1, 1), [source, picks, found])
    assert np.array_equal(found, np.take_along_axis(source, picks.astype(np.int64), 1))


@pytest.mark.parametrize(("shape", "axis", "picked", "warps"), LEFT)
def test_other_gathers_stay_as_they_are(
    shape: tuple[int, ...], axis: int, picked: int, warps: int
) -> None:
    module = lowered(unit_of(shape, axis, picked, warps))
    flatten_gathers(module)
    assert ranks(module) == [len(shape)]


@pytest.mark.accept
@pytest.mark.parametrize(("shape", "axis", "picked", "warps"), CONCERNED)
def test_every_release_compiles_them(
    shape: tuple[int, ...], axis: int, picked: int, warps: int, tmp_path: Path
) -> None:
    text = unit_of(shape, axis, picked, warps).render()
    found = compile_text(text, Options(Target.cuda("sm_90"), ("ptx",)), folder=str(tmp_path))
    assert found.texts["ptx"]
