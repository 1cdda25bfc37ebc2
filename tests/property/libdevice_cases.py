"""Every form of every libdevice function over special values: other targets beside the interpreter.

What the interpreter gives is tested against mpmath and exact arithmetic elsewhere; here it is what
the CPU and a GPU are compared with, within the errors that CUDA's guide states for a GPU.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from cases import Argument, Case
from reading_memory import Memory
from tracked import DTYPES, spacing

from teenyc.ops.libdevice import TABLE

SIZE = 128
# ulp of a GPU in f32 and f64 (CUDA C++ Programming Guide, "Mathematical Functions"), and as much
# again for the interpreter, which tests/ops/test_math_values.py holds against mpmath.
PLAIN = (
    "acos", "asin", "atan", "cbrt", "cospi", "sinpi", "erfc", "erfcinv", "erfcx", "erfinv", "exp10",
    "expm1", "log10", "log1p", "rcbrt", "tanh", "normcdf", "normcdfinv", "cosh", "sinh", "acosh",
    "asinh", "atanh", "rhypot", "hypot", "atan2", "rnorm3d", "rnorm4d", "norm3d", "norm4d",
)  # fmt: skip
ULP: dict[str, tuple[float, float]] = {
    **dict.fromkeys(PLAIN, (8.0, 8.0)),
    "tan": (8.0, 4.0), "tgamma": (12.0, 12.0), "pow": (10.0, 4.0), "cyl_bessel_i0": (10.0, 10.0),
    "cyl_bessel_i1": (10.0, 10.0), "rsqrt_rn": (1.0, 1.0),
}  # fmt: skip
# Functions with absolute errors, near their roots: that, for f32 and f64, besides some ulp.
ABSOLUTE = {
    "lgamma": (2e-6, 1e-14), "j0": (4e-6, 1e-11), "j1": (4e-6, 1e-11), "y0": (4e-6, 1e-11),
    "y1": (4e-6, 1e-11), "jn": (4e-5, 1e-9), "yn": (4e-5, 1e-9),
}  # fmt: skip
# It takes and gives the upper words of f64 alone (PTX ISA, `rcp.approx.ftz.f64`): a unit of each.
COARSE = {"rcp64h": 2.0**-19}
FAST = ("fast_sinf", "fast_cosf", "fast_tanf", "fast_logf", "fast_log2f", "fast_log10f",
        "fast_expf", "fast_exp10f", "fast_powf", "fast_dividef")  # fmt: skip
# The guide states the error of `jn` for the order 128 alone. libdevice divides by what is nearly
# zero: it gives NaN for orders from 2 on, as the function's help says.
NEAR = 2.0**-40
# Bessel functions far out, and angles: the errors grow, and nothing is stated.
FAR = {"j0": 8.0, "j1": 8.0, "y0": 8.0, "y1": 8.0, "jn": 8.0, "yn": 8.0}


@lru_cache(maxsize=1)
def forms() -> tuple[tuple[str, Any], ...]:
    """The functions with their forms; fast ones are compared by the random kernels."""
    return tuple((name, row) for name, rows in TABLE.items() if name not in FAST for row in rows)


class LibdeviceCase(Case):
    """A case whose reading is the interpreter's."""

    def __init__(self, number: int) -> None:
        name, row = forms()[number]
        arguments = [Argument("n", "i32", number=0)]
        lines, texts = [f"o = tl.arange(0, {SIZE})"], []
        for i, d in enumerate(row.operands):
            flavor = ("special", "special turned", "special again", "special again")[i]
            arguments.append(Argument(f"a{i}_ptr", d, SIZE, flavor))
            lines.append(f"x{i} = tl.load(a{i}_ptr + o)")
            texts.append(f"x{i} & 15" if name in ("jn", "yn") and i == 0 else f"x{i}")
        arguments.append(Argument("w_ptr", row.result, SIZE, "zero"))
        lines.append(f"tl.store(w_ptr + o, tl.math.{name}({', '.join(texts)}))")
        body = "".join(f"    {line}\n" for line in lines)
        text = f"def k({', '.join(a.name for a in arguments)}):\n{body}"
        super().__init__(number, text, arguments, {}, counts={f"op {name}": 1})
        self.name = name

    def read(self, *, gpu: bool) -> list[Memory | None]:
        """The interpreter's values, and how far the others may be off."""
        from targets import run_on

        inputs, found = self.arrays(), run_on(self, "interp")
        memories: list[Memory | None] = []
        for a, array in zip(self.arguments, found, strict=True):
            if not a.size:
                memories.append(None)
                continue
            d = DTYPES[a.dtype]
            memory = Memory(d, np.asarray(array).astype(d.held))
            if a.name == "w_ptr":
                wide = [np.asarray(x, np.float64) for x in inputs[1:-1]]
                memory.e = self._off(memory, wide, gpu)
                if gpu:
                    memory.e = np.where(self._flushed(memory, wide), np.inf, memory.e)
            memories.append(memory)
        return memories

    def _off(self, memory: Memory, inputs: list[Any], gpu: bool) -> Any:
        """The greatest distance of each element of the result."""
        wide = 1 if memory.d.name == "f64" else 0
        ulp = ULP.get(self.name, (0.0, 0.0))[wide]
        absolute = ABSOLUTE.get(self.name, (0.0, 0.0))[wide]
        size = memory.v.astype(np.float64)
        if self.name in COARSE:
            tiny = (np.abs(inputs[0]) < 2.0**-1021) | (np.abs(size) < 2.0**-1021)
            off = np.where(np.isfinite(size), COARSE[self.name] * np.abs(size), 0.0)
            return np.where(tiny & (inputs[0] != 0) & np.isfinite(inputs[0]), np.inf, off)
        if not memory.d.is_float or not (ulp or absolute):
            return self._undefined(memory, inputs)
        off = np.maximum(ulp, 16.0 if absolute else 0.0) * spacing(memory.d, size) + absolute
        if gpu and not wide:
            off = off + 2.0**-126
        if not gpu and wide:
            off = np.maximum(off, 1e-12 * np.abs(size) + 1e-290)  # formulas of several functions
        off = np.where(np.isfinite(size), off, 0.0)
        near_end = np.abs(size) > memory.d.greatest * (1 - 2.0**-16)
        off = np.where(np.isfinite(size) & near_end, np.inf, off)
        if gpu and self.name == "jn":
            near_zero = (np.abs(inputs[-1]) < NEAR) & ((inputs[0].astype(np.int64) & 15) > 1)
            off = np.where(near_zero, np.inf, off)
        far = FAR.get(self.name)
        if far is not None:
            off = np.where(np.abs(inputs[-1]) > far, np.inf, off)
            off = np.where(np.abs(size) > 1e6, np.inf, off)
        return off

    def _undefined(self, memory: Memory, inputs: list[Any]) -> Any:
        """Where the guide does not say what an exact function gives."""
        free = np.zeros(memory.v.shape, bool)
        if self.name in ("copysign", "signbit"):
            free |= np.isnan(inputs[-1])
        if not memory.d.is_float and any(d.is_float for d in self._operands()):
            for x in inputs:
                free |= ~np.isfinite(x) | (np.abs(x) >= 2.0 ** (memory.d.bits - 1))
                free |= (x < 0) if "uint" in self.name or "ull" in self.name else False
        if any(d.is_float for d in self._operands()) and self.name.endswith(
            ("_as_int", "_as_uint", "_as_longlong", "hiint", "loint")
        ):
            free |= np.isnan(inputs[0])
        return np.where(free, np.inf, 0.0)

    def _flushed(self, memory: Memory, inputs: list[Any]) -> Any:
        """Where a subnormal f32 comes in or goes out: a GPU may take it for zero."""
        found = np.zeros(memory.v.shape, bool)
        for d, x in zip(self._operands(), inputs, strict=True):
            if d.name == "f32":
                found |= (np.abs(x) < 2.0**-126) & (x != 0)
        if memory.d.name == "f32":
            size = np.abs(memory.v.astype(np.float64))
            found |= (size < 2.0**-125) & (size > 0)
            if self.name.endswith(("_rz", "_rd", "_ru")):
                found |= size == 0
        return found

    def _operands(self) -> list[Any]:
        return [DTYPES[a.dtype] for a in self.arguments[1:-1]]


COUNT = len(forms())
