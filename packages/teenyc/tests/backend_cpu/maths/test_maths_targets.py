"""The same text for every target: it compiles, and it calls nothing from outside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import llvmlite.binding as llvm
import pytest

from teenyc.backend.cpu.maths import FUNCTIONS, define, module_text
from teenyc.backend.cpu.maths.definition import Definition

if TYPE_CHECKING:
    from conftest import Lab

TARGETS = [
    ("x86_64-unknown-linux-gnu", "x86-64", False),
    ("x86_64-unknown-linux-gnu", "x86-64-v2", False),
    ("x86_64-unknown-linux-gnu", "x86-64-v3", True),
    ("x86_64-unknown-linux-gnu", "x86-64-v4", True),
    ("x86_64-pc-windows-msvc", "x86-64-v3", True),
    ("aarch64-unknown-linux-gnu", "generic", True),
    ("arm64-apple-macosx", "apple-m1", True),
]
NARROW = ("f16", "bf16", "f8E4M3FN", "f8E5M2")
CALL = re.compile(r"^\s+(?:callq?|jmp|bl|b)\s+_?\"?([^\s.\"][^\s\"]*)", re.MULTILINE)
INLINED = re.compile(r"define internal (<[^@]*@teeny\.[\w.]+\([^)]*\)) alwaysinline")


def everything(lab: Lab, lanes: int, *, modern: bool) -> list[Definition]:
    """Every function, and conversions of every kind."""
    found = [define(name, lanes, e, modern) for name in FUNCTIONS for e in ("f32", "f64")]
    pairs = [(a, b) for n in NARROW for wide in ("f32", "f64") for a, b in ((n, wide), (wide, n))]
    pairs += [("i64", "bf16"), ("u64", "f32"), ("i32", "f16"), ("f64", "i32"), ("f32", "u64")]
    found += [lab.conversion(a, b, lanes, native_half=modern) for a, b in pairs]
    found += [lab.conversion("f64", b, lanes, native_half=modern, toward_zero=True) for b in NARROW]
    return found + [lab.rounding(name, lanes, native_half=modern) for name in NARROW]


@pytest.mark.parametrize(("triple", "cpu", "modern"), TARGETS)
def test_no_function_of_a_library_is_called(triple: str, cpu: str, modern: bool, lab: Lab) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    definitions = everything(lab, 4, modern=modern)
    # Functions that are to be inlined would leave no code here.
    text = INLINED.sub(r"define \1", module_text(definitions, fma=modern))
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, opt=1, reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = triple, str(machine.target_data)
    module.verify()
    code = machine.emit_assembly(module)
    assert all(f"{definition.symbol[1:]}" in code for definition in definitions)
    called = {name for name in CALL.findall(code) if not name.startswith(("LBB", "teeny.", "@"))}
    assert "teeny.sin_huge.f64x1" in CALL.findall(code)
    assert not called
