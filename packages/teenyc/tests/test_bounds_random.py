"""What is proved holds when programs run: random launches of kernels whose accesses are proved."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from teeny_macros import unit as units
from teeny_macros.kernel import Kernel
from teeny_triton.triton_lang import TRITON, TRITON_SHA
from teenyc import frontend, passes

pytest.importorskip("z3")

from teenyc.bounds import decide, witness
from teenyc.bounds.extents import grid_axis, read_extents
from teenyc.bounds.poly import Condition, Poly
from teenyc.bounds.symbols import Symbols
from teenyc.passes.descriptors import lower_descriptors

SOUND = Path(__file__).parents[3] / "tests" / "bounds" / "sound.py"
LAUNCHES = 40


def kernels() -> dict[str, Kernel[...]]:
    spec = importlib.util.spec_from_file_location("sound_kernels", SOUND)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sound_kernels"] = module
    spec.loader.exec_module(module)
    return {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}


def number(poly: Poly, names: dict[str, int]) -> int:
    """The value of a size under parameters and grid."""
    total = 0
    for monomial, factor in poly.terms.items():
        term = factor
        for atom in monomial:
            term *= names[atom.name]
        total += term
    return total


def holds(condition: Condition, names: dict[str, int]) -> bool:
    assert condition.kind == "ge"
    return number(condition.poly, names) >= 0


@pytest.mark.skipif(not SOUND.is_file(), reason="the kernels are not beside the package")
@pytest.mark.parametrize("name", sorted(kernels()) if SOUND.is_file() else [])
def test_what_is_proved_is_never_seen_to_go_out(name: str) -> None:
    kernel = kernels()[name]
    unit = kernel.instantiate().checked_unit(TRITON, TRITON_SHA, kernel.extents)
    module = frontend.lower_unit(units.parse(unit.render()))
    lower_descriptors(module)
    passes.run(module)
    symbols = Symbols(module)
    extents = read_extents(module.attributes["extents"], symbols)
    proved = [row.access for row in decide.decide(module) if row.verdict == decide.PROVED]
    integers = [name for name, bits in symbols.bits.items() if bits >= 8]
    rng = random.Random(name)
    ran = 0
    for _ in range(LAUNCHES):
        values = {one: rng.choice((0, 1, 2, 5, 16, 17, 33, 100, 257)) for one in integers}
        grid: Any = tuple(rng.choice((1, 2, 3, 9, 40)) for _ in range(3))
        names: dict[str, int] = dict(values)
        names.update((f"num_programs({axis})", side) for axis, side in enumerate(grid))
        if not all(holds(c, names) for extent in extents.values() for c in extent.conditions):
            continue
        most = {axis: number(e.size, names) for one, e in extents.items()
                if (axis := grid_axis(one)) is not None}  # fmt: skip
        if any(grid[axis] > size for axis, size in most.items()):
            continue
        program: Any = tuple(rng.randrange(side) for side in grid)
        for access in proved:
            assert access.base is not None
            try:
                seen = witness.run_program(module, access.op, access.base, program, grid, values)
            except ZeroDivisionError:
                continue
            size = number(extents[access.base].size, names)
            assert all(0 <= element < size for element in seen.elements), (values, program, grid)
            ran += bool(seen.elements)
    assert ran, "no launch touched anything"
