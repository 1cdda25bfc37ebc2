"""Kernels for the tests of operations, from parameters and a body, and what they become."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from teeny_macros.unit import Unit, UnitModule
from teenyc.frontend import lower_unit
from teenyc.ir.printer import print_module
from teenyc.passes import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from teenyc.interp import InterpProgram
    from teenyc.ir.core import Module

DTYPES = (
    "i1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, "
    "TensorDescriptor"
)
# Commas outside of brackets.
_SEPARATOR = re.compile(r",(?![^\[]*\])")
_ATTRIBUTES = "num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, enable_fp_fusion=True"


class Kernel(NamedTuple):
    """A kernel called `name`: `params` such as `x_ptr: Ptr[f32]`, and the lines of its body."""

    params: tuple[str, ...]
    body: str
    name: str = "kernel_under_test"

    @property
    def unit(self) -> Unit:
        """The unit that capture would make."""
        from teeny_triton.triton_lang import TRITON, TRITON_SHA

        typed = [param for param in self.params if "=" not in param]
        names = [param.partition(":")[0] for param in typed]
        plain = [re.sub(r":[^=]*", "", param) for param in self.params]
        body = "".join(f"    {line}\n" for line in self.body.strip().splitlines())
        head = f"import teeny_triton as tl\nfrom teeny_triton import Ptr, {DTYPES}\n"
        kernel = f"{head}def {self.name}({', '.join(plain)}):\n{body}"
        entry = (
            f"from kernel import {self.name}\nfrom teeny_triton import Ptr, {DTYPES}\n"
            f"@entry_point({_ATTRIBUTES})\n"
            f"def {self.name}_entry_point({', '.join(typed)}) -> None:\n"
            f"    {self.name}({', '.join(names)})\n"
        )
        modules = (UnitModule("kernel", kernel), UnitModule("entry", entry))
        return Unit(self.name, modules, TRITON_SHA, TRITON)

    def lower(self, *, passes: bool = True) -> Module:
        """The IR module, after the passes unless told otherwise."""
        module = lower_unit(self.unit)
        if passes:
            run(module)
        return module

    def mlir(self) -> str:
        """The module's text as the front end leaves it."""
        return print_module(self.lower(passes=False))

    def program(self) -> InterpProgram:
        """The kernel in the interpreter."""
        from teenyc.interp import InterpProgram

        return InterpProgram(self.lower())


@pytest.fixture(scope="session")
def kernel() -> Callable[..., Kernel]:
    """`kernel(params, body)`: params are separated by commas."""

    def make(params: str, body: str, name: str = "kernel_under_test") -> Kernel:
        return Kernel(tuple(param.strip() for param in _SEPARATOR.split(params)), body, name)

    return make
