"""Cases of the sentences of docs/semantics.md: kernels with inputs and the outputs they must give.

A case holds kernels as data; tests/test_semantics.py runs each on every target. Nothing here knows
what is right: the values stand in tests/semantics/, written out or from an independent reference.
"""

from __future__ import annotations

import itertools
import linecache
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from teeny_macros import KernelInstance

Array = Any
DTYPES: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
NAMES = {np.dtype(kind): name for name, kind in DTYPES.items()}
_IMPORTS = f"""\
import teeny_triton as tl
from teeny_macros import device, kernel
from teeny_triton import Const, Ptr, {", ".join(DTYPES)}
"""
_numbers = itertools.count()


class Run(NamedTuple):
    """One launch of one kernel: `inputs` and what `outputs` must hold after it.

    `ulp` is how far floats may be from what is wanted, in units in the last place; 0 means the same
    bits, any NaN for a NaN. An output that several answers fit has a function in `checks`.
    """

    label: str
    text: str
    inputs: dict[str, Array]
    outputs: dict[str, Array]
    grid: tuple[int, ...] = (1,)
    ulp: float = 0.0
    options: Mapping[str, Any] = MappingProxyType({})
    checks: Mapping[str, Callable[[Array], bool]] = MappingProxyType({})
    targets: tuple[str, ...] = ()

    def instance(self) -> KernelInstance[...]:
        """The kernel, its parameters' types fixed."""
        found: KernelInstance[...] = define(self.text).instantiate(**self.options)
        return found


class Refusal(NamedTuple):
    """A kernel that is not compiled: the error's code, and what its place underlines."""

    label: str
    text: str
    code: str
    at: str


class Check(NamedTuple):
    """What a device does beyond one launch: `run(device)` asserts it."""

    label: str
    run: Callable[[Any], None]


class Sentence(NamedTuple):
    """The cases of one sentence."""

    anchor: str
    name: str
    cases: tuple[Run | Refusal | Check, ...]


SENTENCES: list[Sentence] = []


def sentence(anchor: str) -> Callable[[Callable[[], Iterable[Any]]], Callable[[], Iterable[Any]]]:
    """Register what a function yields as the cases of the sentence `anchor`."""

    def register(cases: Callable[[], Iterable[Any]]) -> Callable[[], Iterable[Any]]:
        with np.errstate(all="ignore"):  # what overflows is meant to
            found = tuple(case for yielded in cases() for case in _flat(yielded))
        assert found, f"{anchor} has no case"
        SENTENCES.append(Sentence(anchor, cases.__name__, found))
        return cases

    return register


def _flat(yielded: Any) -> Iterator[Run | Refusal | Check]:
    if isinstance(yielded, Run | Refusal | Check):
        yield yielded
    else:
        yield from yielded


def define(text: str) -> Any:
    """The kernel `k` of a text, as a file would define it."""
    file = f"semantics_{next(_numbers)}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module: dict[str, Any] = {"__name__": file[:-3], "__file__": file}
    exec(compile(text, file, "exec"), module)
    return module["k"]


# --- arrays ---------------------------------------------------------------------------------------


def _maker(name: str) -> Callable[..., Array]:
    def make(*values: Any) -> Array:
        if name[0] in "iu":
            return np.array([DTYPES[name](value) for value in values], DTYPES[name])
        return np.array(values, np.float64).astype(DTYPES[name])

    return make


i1, i8, i16, i32, i64 = (_maker(name) for name in ("i1", "i8", "i16", "i32", "i64"))
u8, u16, u32, u64 = (_maker(name) for name in ("u8", "u16", "u32", "u64"))
f16, bf16, f32, f64 = (_maker(name) for name in ("f16", "bf16", "f32", "f64"))


def bits(name: str, *patterns: int) -> Array:
    """Floats by their bit patterns."""
    kind = np.dtype(DTYPES[name])
    return np.array(patterns, f"u{kind.itemsize}").view(kind)


# name -> bits of precision, exponent of the least normal number, greatest number
_FORMATS = {
    "f16": (11, -14, Fraction(65504)),
    "bf16": (8, -126, (2 - Fraction(1, 2**7)) * 2**127),
    "f32": (24, -126, (2 - Fraction(1, 2**23)) * 2**127),
    "f64": (53, -1022, (2 - Fraction(1, 2**52)) * 2**1023),
    "f8e4m3": (4, -6, Fraction(448)),
    "f8e5m2": (3, -14, Fraction(57344)),
}


def nearest(name: str, exact: Fraction) -> float:
    """A rational number rounded to the nearest of a format, ties to even; beyond it, infinity."""
    precision, least, greatest = _FORMATS[name]
    magnitude = abs(exact)
    if not magnitude:
        return 0.0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    exponent = max(exponent, least)
    step = Fraction(2) ** (exponent - precision + 1)
    rounded = round(magnitude / step) * step  # of a Fraction: ties to even
    found = math.inf if rounded > greatest else float(rounded)
    return -found if exact < 0 else found


def each(name: str, function: Callable[..., Fraction], *operands: Array) -> Array:
    """A function of exact numbers, element by element, rounded once."""
    rows = zip(*([Fraction(float(x)) for x in array] for array in operands), strict=True)
    return np.array([nearest(name, function(*row)) for row in rows]).astype(DTYPES[name])


def samples(name: str, count: int = 256, seed: int = 0, *, finite: bool = True) -> Array:
    """Floats of random bits: every exponent, subnormal numbers, both signs."""
    kind = np.dtype(DTYPES[name])
    raw = np.random.default_rng(seed).integers(0, 256, count * kind.itemsize * 2, np.uint8)
    found = raw.view(kind)
    with np.errstate(invalid="ignore"):
        wanted = np.isfinite(found.astype(np.float64)) if finite else np.ones(found.size, bool)
    return found[wanted][:count]


# --- kernels of one expression --------------------------------------------------------------------


def values(
    expressions: dict[str, Array],
    /,
    *,
    ulp: float = 0.0,
    folded: bool = True,
    fusion: bool = False,
    **inputs: Array,
) -> Iterator[Run]:
    """Expressions of the inputs, element by element: of run-time values, and of constants.

    Each has the dtype of the array that it must equal; `folded=False` leaves out the constants.
    """
    count = len(next(iter(inputs.values())))
    options = {"enable_fp_fusion": fusion}
    outputs = {f"out{n}": wanted for n, wanted in enumerate(expressions.values())}
    label = "; ".join(expressions)
    text = _loaded(list(expressions), inputs, outputs, count)
    yield Run(label, text, inputs, outputs, ulp=ulp, options=options)
    if folded:
        lanes = count if count <= 16 else 8  # more only takes time
        text = _constants(list(expressions), inputs, outputs, lanes)
        shown = {name: wanted[:lanes] for name, wanted in outputs.items()}
        yield Run(f"{label}, constants", text, {}, shown, ulp=ulp, options=options)


def _name(array: Array) -> str:
    return NAMES[np.asarray(array).dtype]


def _signature(inputs: dict[str, Array], outputs: dict[str, Array]) -> str:
    both = [*inputs.items(), *outputs.items()]
    return ", ".join(f"{name}_ptr: Ptr[{_name(array)}]" for name, array in both)


def _loaded(
    expressions: list[str], inputs: dict[str, Array], outputs: dict[str, Array], count: int
) -> str:
    size = 1 << max(0, math.ceil(math.log2(count)))
    lines = [f"i = tl.arange(0, {size})", f"inside = i < {count}"]
    lines += [f"{name} = tl.load({name}_ptr + i, mask=inside)" for name in inputs]
    for expression, (name, wanted) in zip(expressions, outputs.items(), strict=True):
        lines += [
            f"{name} = {expression}",
            f"tl.static_assert({name}.dtype == {_name(wanted)})",
            f"tl.store({name}_ptr + i, {name}, mask=inside)",
        ]
    return kernel_text(_signature(inputs, outputs), lines)


def _constants(
    expressions: list[str], inputs: dict[str, Array], outputs: dict[str, Array], count: int
) -> str:
    """Each element by itself, of scalars that are known when compiling."""
    helpers, lines = [], []
    names = ", ".join(inputs)
    for number, expression in enumerate(expressions):
        helpers += ["@device", f"def f{number}({names}):", f"    return {expression}", ""]
    for lane in range(count):
        given = [
            f"tl.full((1,), {_literal(array[lane])}, {_name(array)})" for array in inputs.values()
        ]
        for number, name in enumerate(outputs):
            place = f"{name}_ptr + {lane} + tl.arange(0, 1)"
            lines.append(f"tl.store({place}, f{number}({', '.join(given)}))")
    return kernel_text(_signature({}, outputs), lines, "\n".join(helpers))


def _literal(value: Any) -> str:
    if value.dtype.kind in "iub":
        return repr(value.item())
    number = float(value)
    if math.isnan(number):
        return "float('nan')"
    return repr(number) if math.isfinite(number) else f"{'-' if number < 0 else ''}float('inf')"


def kernel_text(signature: str, lines: Iterable[str], helpers: str = "") -> str:
    """A file with the kernel `k`."""
    body = "".join(f"    {line}\n" for line in lines)
    return f"{_IMPORTS}\n{helpers}\n@kernel\ndef k({signature}):\n{body}"


# --- other kernels --------------------------------------------------------------------------------


def program(
    body: str,
    /,
    *,
    out: dict[str, Array] | None = None,
    helpers: str = "",
    grid: tuple[int, ...] = (1,),
    ulp: float = 0.0,
    fusion: bool = False,
    checks: dict[str, Callable[[Array], bool]] | None = None,
    options: dict[str, Any] | None = None,
    targets: tuple[str, ...] = (),
    **inputs: Array,
) -> Run:
    """A whole body; `x=...` is the parameter `x_ptr`, `out={"y": ...}` what `y_ptr` must hold.

    What is in both is changed in place; what has no answer in `out` has a function in `checks`.
    """
    outputs = dict(out or {})
    parameters = {**outputs, **inputs}
    text = kernel_text(_signature(parameters, {}), body.strip("\n").split("\n"), helpers)
    given = {"enable_fp_fusion": fusion, **(options or {})}
    label = " ".join(body.split())[:60]
    return Run(label, text, inputs, outputs, grid, ulp, given, checks or {}, targets)


def refused(
    code: str,
    expression: str,
    /,
    at: str = "",
    *,
    before: Iterable[str] = (),
    helpers: str = "",
    **inputs: str,
) -> Refusal:
    """An expression that does not compile; `x="i32"` gives the dtypes of what it is of."""
    lines = ["i = tl.arange(0, 16)"]
    lines += [f"{name} = tl.load({name}_ptr + i)" for name in inputs]
    lines += [*before, f"y = {expression}"]
    signature = ", ".join(f"{name}_ptr: Ptr[{dtype}]" for name, dtype in inputs.items())
    return Refusal(expression, kernel_text(signature, lines, helpers), code, at or expression)
