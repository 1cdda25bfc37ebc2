"""A laboratory for the vector maths: native compilation, samples, references in many digits."""

from __future__ import annotations

import ctypes
import importlib
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from teenyc.backend.cpu.builder import Builder, memory_type
from teenyc.backend.cpu.features import Features
from teenyc.backend.cpu.maths import Definition, define, module_text
from teenyc.backend.cpu.text import Output, Section, Val

mpmath: Any = importlib.import_module("mpmath")  # it has no stubs
Array = np.ndarray[Any, np.dtype[Any]]
DTYPES = {"float": "float32", "double": "float64", "i1": "bool"}
PASSES = ("sroa", "simplify_cfg", "instruction_combine", "new_gvn", "dead_code_elimination")
_LOOP = """
define void @{name}(ptr %from, ptr %to, i64 %count) {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %source = getelementptr {kind}, ptr %from, i64 %i
  %target = getelementptr {result}, ptr %to, i64 %i
  %x = load <{lanes} x {kind}>, ptr %source, align 1
  %y = call <{lanes} x {result}> {symbol}(<{lanes} x {kind}> %x)
  store <{lanes} x {result}> %y, ptr %target, align 1
  %next = add i64 %i, {lanes}
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""


def dtype_of(kind: str) -> np.dtype[Any]:
    """The NumPy dtype of an IR element type; integers without a sign."""
    return np.dtype(DTYPES.get(kind) or f"u{kind.replace('i', 'int')}")


class Native:
    """A compiled function from array to array."""

    def __init__(self, address: int, lanes: int, kind: str, result: str) -> None:
        self.lanes, self.kind, self.result = lanes, dtype_of(kind), dtype_of(result)
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            address
        )

    def __call__(self, x: Array) -> Array:
        count = -(-len(x) // self.lanes) * self.lanes
        given = np.zeros(count, self.kind)
        given[: len(x)] = x.view(self.kind) if x.dtype.itemsize == self.kind.itemsize else x
        found = np.empty(count, self.result)
        self.into(given, found)
        return found[: len(x)]

    def into(self, given: Array, found: Array) -> None:
        """Write the results of a whole number of vectors."""
        self._call(given.ctypes.data, found.ctypes.data, len(given))


def held_kind(name: str) -> str:
    """The LLVM type of a number in memory: `i16` for bf16, `float` for f32, `i32` for u32."""
    integer = name[0] in "iu"
    return (
        memory_type(f"i{name[1:]}")
        if integer and name[1:] != "1"
        else ("i1" if integer else memory_type(name))
    )


def conversion(
    source: str, result: str, lanes: int, *, native_half: bool, toward_zero: bool = False
) -> Definition:
    """The back end's conversion between two types as a function of bits in memory."""
    c, section = _builder(native_half)
    x = Val("%x", held_kind(source), lanes)
    is_float = source[0] not in "iu"
    held = c.decode(x, source) if is_float else x
    if result[0] in "iu":
        found = c.to_integer(held, f"i{result[1:]}", signed=result[0] == "i")
    elif is_float:
        found = c.encode(c.rounded(held, result, toward_zero=toward_zero), result)
    else:
        found = c.encode(c.from_integer(held, result, signed=source[0] == "i"), result)
    way = ".rtz" if toward_zero else ""
    return _function(f"@teeny.{source}_to_{result}{way}.x{lanes}", c, section, x, found)


def rounding(element: str, lanes: int, *, native_half: bool) -> Definition:
    """The back end's rounding of f32 to a narrow type, held as f32."""
    c, section = _builder(native_half)
    x = Val("%x", "float", lanes)
    found = c.rounded(x, element)
    return _function(f"@teeny.round_to_{element}.x{lanes}", c, section, x, found)


def _builder(native_half: bool) -> tuple[Builder, Section]:
    names = frozenset({"f16c"} if native_half else ())
    section = Section("entry")
    return Builder(Output(Features("", "", "", names), fusion=False), [section]), section


def _function(symbol: str, c: Builder, section: Section, x: Val, found: Val) -> Definition:
    head = f"define internal {found.llvm} {symbol}({x}) alwaysinline nounwind {{"
    text = "\n".join([head, "entry:", *section.lines, f"  ret {found}", "}", ""])
    return Definition(symbol, text, frozenset(c.output.declares), frozenset())


class Lab:
    """Compiles definitions for this machine and measures them.

    `samples` is how many points the tests take, which the benchmark takes too.
    """

    samples = 1500
    conversion = staticmethod(conversion)
    rounding = staticmethod(rounding)
    held_kind = staticmethod(held_kind)

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.triple = llvm.get_process_triple()
        self.features: str = llvm.get_host_cpu_features().flatten()
        self.has_fma = "+fma," in self.features or platform.machine() in ("arm64", "aarch64")
        self.has_native_half = "+f16c" in self.features or not self._is_x86()
        self._kept: list[Any] = []

    def _is_x86(self) -> bool:
        return str(self.triple).startswith("x86_64")

    def machine(self, *, modern: bool, cpu: str | None = None) -> Any:
        """A target machine: `cpu`, this host, or (not modern) the architecture's baseline."""
        host = cpu is None and modern
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=llvm.get_host_cpu_name() if host else cpu or ("x86-64" if self._is_x86() else ""),
            features=self.features if host else "",
            opt=1,
            reloc="pic",
            codemodel="jitdefault",
            jit=True,
        )

    def natives(
        self, definitions: Sequence[Definition], *, modern: bool, cpu: str | None = None
    ) -> list[Native]:
        """One function from array to array for each definition, all in one object.

        The object is linked with nothing: an undefined symbol, such as a function of the C library,
        fails here.
        """
        shapes = [_shape(definition) for definition in definitions]
        loops = [
            _LOOP.format(
                name=f"f{i}", symbol=definition.symbol, kind=kind, result=result, lanes=lanes
            )
            for i, (definition, (lanes, kind, result)) in enumerate(
                zip(definitions, shapes, strict=True)
            )
        ]
        machine = self.machine(modern=modern, cpu=cpu)
        module = llvm.parse_assembly(module_text(definitions, fma=modern) + "".join(loops))
        module.triple, module.data_layout = self.triple, str(machine.target_data)
        module.verify()
        builder = llvm.create_pass_builder(
            machine, llvm.create_pipeline_tuning_options(speed_level=2)
        )
        passes = llvm.create_new_module_pass_manager()
        passes.add_always_inliner_pass()
        for name in PASSES:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
        jit = llvm.create_lljit_compiler()
        library = llvm.JITLibraryBuilder().add_object_img(machine.emit_object(module))
        for i in range(len(definitions)):
            library = library.export_symbol(f"f{i}")
        found = library.link(jit, f"maths{len(self._kept)}")
        self._kept.append((jit, found))
        return [Native(found[f"f{i}"], *shape) for i, shape in enumerate(shapes)]

    def native(self, definition: Definition, *, modern: bool, cpu: str | None = None) -> Native:
        """The one function of `natives`."""
        return self.natives([definition], modern=modern, cpu=cpu)[0]

    def function(self, name: str, element: str, *, fma: bool, lanes: int | None = None) -> Native:
        """A vector function, for the host with fused multiply-add or the baseline without."""
        lanes = lanes or (32 if element == "f32" else 16)
        return self.native(define(name, lanes, element, fma), modern=fma)

    def points(self, name: str, element: str, count: int) -> Array:
        """Arguments of a function: see `points`."""
        return points(name, element, count)

    def references(self, name: str, arguments: Iterable[float]) -> list[Any]:
        """Values in many digits: see `reference`."""
        return [reference(name, float(x)) for x in arguments]

    def errors(self, found: Array, exact: Sequence[Any]) -> Array:
        """Distances in units of the exact value's last place; infinite where the kind is wrong."""
        return np.array([_error(y, value) for y, value in zip(found, exact, strict=True)])


@pytest.fixture(scope="session")
def lab() -> Lab:
    """The laboratory."""
    return Lab()


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """NaN and overflow are what is tested."""
    with np.errstate(all="ignore"):
        yield


def _shape(definition: Definition) -> tuple[int, str, str]:
    """Lanes, and the element types of argument and result, as the text says them."""
    words = definition.text.partition(f" {definition.symbol}(")
    result, argument = words[0].rpartition("define internal ")[2], words[2].partition(" %x)")[0]
    lanes, _, kind = argument.strip("<>").partition(" x ")
    return int(lanes), kind, result.strip("<>").partition(" x ")[2]


# --- samples --------------------------------------------------------------------------------------

# Where the function changes: the bulk of the samples lies there.
_BULK = {
    "exp": 90.0,
    "exp2": 130.0,
    "sin": 30.0,
    "cos": 30.0,
    "tanh": 4.0,
    "erf": 4.0,
    "sigmoid": 30.0,
}
_WHOLE = {"exp": 750.0, "exp2": 1080.0, "sigmoid": 750.0}


def special_points(element: str) -> Array:
    """Zeros, infinities, NaN, subnormals, the ends of the range and small integers."""
    info = np.finfo("float32" if element == "f32" else "float64")
    values: list[Any] = [
        0.0,
        np.inf,
        np.nan,
        info.smallest_subnormal,
        info.smallest_normal,
        info.max,
    ]
    values += [float(info.smallest_normal) * 0.75, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 100.0]
    return np.array([sign * float(v) for v in values for sign in (1, -1)], dtype=info.dtype)


def points(name: str, element: str, count: int) -> Array:
    """About `count` arguments, always the same, where `name` is defined, and all special points."""
    rng = np.random.default_rng(count)
    dtype = np.dtype("float32" if element == "f32" else "float64")
    n = count // 5
    bits = rng.integers(0, 1 << (8 * dtype.itemsize), n, dtype=np.uint64)
    everywhere = bits.astype(f"uint{8 * dtype.itemsize}").view(dtype).astype(np.float64)
    bulk = _BULK.get(name, 4.0)
    parts: list[Array] = [everywhere, rng.uniform(-bulk, bulk, n), rng.uniform(-1, 1, n)]
    parts.append(rng.normal(size=n) * np.exp2(rng.integers(-40, 4, n)))
    if name in _WHOLE:
        parts.append(rng.uniform(-_WHOLE[name], _WHOLE[name], n) / (8 if element == "f32" else 1))
    elif name in ("log", "log2"):
        parts.append(1 + rng.normal(size=n) * np.exp2(rng.integers(-50, -1, n)))
    elif name in ("sin", "cos"):
        parts.append(rng.integers(1, 1 << 19, n) * (math.pi / 2))
        parts.append(rng.uniform(-1e6, 1e6, n))
        parts.append(10.0 ** rng.uniform(4, 37 if element == "f32" else 307, n))
        # The f64 closest to a multiple of pi/2 (Muller et al., Handbook of Floating-Point
        # Arithmetic).
        parts.append(np.array([math.ldexp(6381956970095103.0, 797)] if element == "f64" else []))
    found = np.concatenate(parts)
    if name in ("log", "log2", "sqrt", "rsqrt"):
        found = np.abs(found)
    return np.concatenate([special_points(element), found.astype(dtype)])


# --- references -----------------------------------------------------------------------------------

_CONTEXT = mpmath.mp.clone()
_CONTEXT.prec = 140
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": _CONTEXT.exp,
    "exp2": lambda x: _CONTEXT.power(2, x),
    "log": _CONTEXT.log,
    "log2": lambda x: _CONTEXT.log(x) / _CONTEXT.ln2,
    "sin": _CONTEXT.sin,
    "cos": _CONTEXT.cos,
    "tanh": _CONTEXT.tanh,
    "sqrt": _CONTEXT.sqrt,
    "rsqrt": lambda x: 1 / _CONTEXT.sqrt(x),
    "erf": _CONTEXT.erf,
    "sigmoid": lambda x: 1 / (1 + _CONTEXT.exp(-x)),
}
_AT_ZERO = {"exp": 1.0, "exp2": 1.0, "cos": 1.0, "sigmoid": 0.5, "log": -math.inf}
_AT_ZERO["log2"] = -math.inf
_AT_INFINITY = {"tanh": 1.0, "erf": 1.0, "sigmoid": 1.0, "sin": math.nan, "cos": math.nan}
_AT_INFINITY["rsqrt"] = 0.0
_AT_MINUS_INFINITY = {"exp": 0.0, "exp2": 0.0, "sigmoid": 0.0, "tanh": -1.0, "erf": -1.0}


def reference(name: str, x: float) -> Any:
    """`name` of `x` in 140 bits, as an mpf; a float where it is a zero, infinite or NaN."""
    if math.isnan(x):
        return math.nan
    if x == 0:
        if name == "rsqrt":
            return math.copysign(math.inf, x)
        return _AT_ZERO.get(name, x)
    if x < 0 and name in ("log", "log2", "sqrt", "rsqrt"):
        return math.nan
    if math.isinf(x):
        return _AT_INFINITY.get(name, x) if x > 0 else _AT_MINUS_INFINITY.get(name, math.nan)
    if name == "tanh" and abs(x) < 2.0**-60:
        return _CONTEXT.mpf(x)  # the rest of the series is beyond 140 bits, mpmath's way to it long
    if name in ("exp", "exp2", "sigmoid") and abs(x) > 3000:
        return _beyond(name, x)
    return _FUNCTIONS[name](_CONTEXT.mpf(x))


def _beyond(name: str, x: float) -> Any:
    """Far over or under every range, where the exact power would take long."""
    if name == "sigmoid":
        return 1.0 if x > 0 else _CONTEXT.ldexp(1, -4000)
    return _CONTEXT.ldexp(1, 4000 if x > 0 else -4000)


def _error(found: Any, exact: Any) -> float:
    info = np.finfo(found.dtype)
    y = float(found)
    if isinstance(exact, float) and (math.isnan(exact) or math.isinf(exact) or exact == 0):
        same = (math.isnan(y) and math.isnan(exact)) or y == exact
        signs = math.isnan(exact) or math.copysign(1, y) == math.copysign(1, exact)
        return 0.0 if same and signs else math.inf
    exact = _CONTEXT.mpf(exact)
    if math.isnan(y) or (math.copysign(1, y) < 0) != (exact < 0):
        return math.inf
    # What is infinite, found or exact, counts as the power of two after the largest number.
    end = _CONTEXT.ldexp(1, info.maxexp)
    size, exact = min(_CONTEXT.mpf(abs(y)), end), min(abs(exact), end)
    exponent = min(max(int(_CONTEXT.frexp(exact)[1]) - 1, info.minexp), info.maxexp - 1)
    if math.isinf(y) and exact >= end - _CONTEXT.ldexp(1, info.maxexp - info.nmant - 2):
        return 0.0
    return float(abs(size - exact) / _CONTEXT.ldexp(1, exponent - info.nmant))
