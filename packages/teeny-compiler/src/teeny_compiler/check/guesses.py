"""Plausible types and values for what a tree does not say of a kernel.

Kernels are checked with them where they are launched nowhere, or with values that are not known. An
error counts only where no plausible choice is free of it.
"""

from __future__ import annotations

import ast
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from teeny_macros.namespace import DTYPES, MISSING, dsl_name
from teeny_macros.resolve import Given, Type
from teeny_macros.signature import CONST, DESCRIPTOR, POINTER, SCALAR, UNTYPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeVar

    from teeny_macros.kernel import Kernel
    from teeny_macros.signature import Parameter

_BY_BOUND = {
    "MmaFloat": ("f16", "bf16"), "Float": ("f32", "f16"), "Num": ("f32", "i32"),
    "Int": ("i32", "i64"), "Bits": ("i32", "i64"), "Elem": ("f32", "i32"),
}  # fmt: skip
_SIZES = (64, 128, 32, 16, 1024, 8, 4, 2, 1)
_MOST_CHOICES = 12
_TILES = ((64, 64), (64,), (16, 64, 64), (16, 16))
# Options of operations that take a text, and texts that they take.
_OPTIONS = {"input_precision": ("tf32", "ieee"), "padding_option": ("zero", "nan")}
_REAL_NAMES = ("eps", "scale", "alpha", "beta", "gamma", "lr", "rate", "prob", "factor", "slope")


def dtypes_for(kernel: Kernel[...], variable: TypeVar | None) -> tuple[str, ...]:
    """Dtypes that stand for a type variable, the likeliest first."""
    if kernel.dtypes:
        return tuple(kernel.dtypes)
    if variable is None:
        return ("f32",)
    bound = variable.__bound__
    options = variable.__constraints__ or getattr(bound, "__args__", None) or (bound,)
    found: list[str] = []
    for option in options:
        name = dsl_name(option) or ""
        found += [name] if name in DTYPES else _BY_BOUND.get(name, ())
    return tuple(dict.fromkeys(found))[:4] or ("f32",)


def constants_for(kernel: Kernel[...], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Choices of values for compile-time parameters; none when one has no plausible value."""
    usage = _Usage(kernel)
    kinds = {parameter.name: parameter for parameter in kernel.parameters}
    sized = [name for name in names if usage.is_size(kinds[name])]
    others = [usage.values(kinds[name]) for name in names if name not in sized]
    rest = [name for name in names if name not in sized]
    rows = list(islice(product(*others), _MOST_CHOICES)) if rest else [()]
    for size in _SIZES if sized else (0,):
        for row in rows:
            yield dict.fromkeys(sized, size) | dict(zip(rest, row, strict=True))


def types_for(kernel: Kernel[...], given: Mapping[str, Given]) -> Iterator[dict[str, Given]]:
    """Choices of types for parameters without an annotation of which nothing was given."""
    lacking = [
        parameter
        for parameter in kernel.parameters
        if parameter.name not in given
        and (
            parameter.kind in (UNTYPED, DESCRIPTOR)
            or (parameter.kind == POINTER and parameter.dtype is None)
        )
    ]
    pointers = pointer_parameters(kernel) if lacking else frozenset()
    arrays = [p.name for p in lacking if p.kind == POINTER or p.name in pointers]
    described = [p for p in lacking if p.kind == DESCRIPTOR]
    numbers = [p for p in lacking if p.name not in arrays and p not in described]
    if described and not arrays:
        for block in _TILES:
            yield {p.name: _description(kernel, p, block) for p in described} | {
                p.name: Given(SCALAR, "i32") for p in numbers
            }
        return
    for dtypes in _dtypes_of_arrays(arrays):
        for real in (False, True) if numbers else (False,):
            found = {name: Given(POINTER, dtype) for name, dtype in dtypes.items()}
            found.update((p.name, _description(kernel, p, _TILES[0])) for p in described)
            for parameter in numbers:
                is_real = real or isinstance(parameter.default, float) or _is_real(parameter.name)
                found[parameter.name] = Given(SCALAR, "f32" if is_real else "i32")
            yield found


def _description(kernel: Kernel[...], parameter: Parameter, block: tuple[int, ...]) -> Given:
    dtype = parameter.dtype
    if dtype is None or parameter.variable is not None:
        dtype = dtypes_for(kernel, parameter.variable)[0]
    return Given(DESCRIPTOR, dtype, block=block)


def _dtypes_of_arrays(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Floats first; then integers for one, for two, ... of the arrays."""
    from itertools import combinations

    everything = dict.fromkeys(names, "f32")
    yield everything
    for count in range(1, len(names) + 1):
        for chosen in islice(combinations(names, count), _MOST_CHOICES):
            yield {**everything, **dict.fromkeys(chosen, "i32")}
        if count == 1 and len(names) > 1:
            yield {**everything, **dict.fromkeys(names[:2], "i8")}  # operands of a product
            yield {**everything, **dict.fromkeys(names[:-1], "u8")}  # with their scales
            yield dict.fromkeys(names, "u8")


def _is_real(name: str) -> bool:
    return any(part in name.lower() for part in _REAL_NAMES)


def describe(types: Mapping[str, Type], constants: Mapping[str, Any], names: set[str]) -> str:
    """The assumed types and values in words: `D = f32, BLOCK = 64`."""
    parts = [f"{name} = {types[name].text}" for name in types if name in names]
    parts += [f"{name} = {constants[name]!r}" for name in constants if name in names]
    return ", ".join(parts)


class _Usage:
    """How a kernel uses its compile-time parameters."""

    def __init__(self, kernel: Kernel[...]) -> None:
        tree = ast.parse(kernel.kernel_source)
        self.texts: dict[str, list[str]] = {}
        self.tested: set[str] = set()
        self.called: set[str] = set()
        self.used: dict[str, int] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                self._compared([node.left, *node.comparators])
            elif isinstance(node, ast.If | ast.IfExp) and isinstance(node.test, ast.Name):
                self.tested.add(node.test.id)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                self.called.add(node.func.id)
            elif isinstance(node, ast.keyword) and isinstance(node.value, ast.Name):
                self.texts.setdefault(node.value.id, []).extend(_OPTIONS.get(node.arg or "", ()))
            elif isinstance(node, ast.Name):
                self.used[node.id] = self.used.get(node.id, 0) + 1

    def _compared(self, parts: list[ast.expr]) -> None:
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        texts = [
            part.value
            for part in parts
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
        for name in names:
            self.texts.setdefault(name, []).extend(texts)

    def is_size(self, parameter: Parameter) -> bool:
        """Whether a parameter is a number that sides of tiles may be made of."""
        if parameter.dtype is not None:
            return parameter.dtype == "int"
        name = parameter.name
        return not (name in self.called or name in self.tested or self.texts.get(name))

    def values(self, parameter: Parameter) -> tuple[Any, ...]:
        """Plausible values of a parameter that is no size."""
        name = parameter.name
        if parameter.dtype == "bool" or (parameter.dtype is None and name in self.tested):
            return (False, True)
        if parameter.dtype == "float":
            return (0.5,)
        return tuple(self.texts.get(name, ()))


def pointer_parameters(kernel: Kernel[...]) -> frozenset[str]:
    """Parameters that are pointers by their names, or by where their values go.

    A pointer stands at the left end of what is given to a load, a store or an atomic operation.
    """
    tree = ast.parse(kernel.kernel_source)
    names = {parameter.name for parameter in kernel.parameters if parameter.kind != CONST}
    found = {
        name for name in names if name.lower().endswith("ptr") or name.lower().startswith("ptr")
    }
    sources: dict[str, set[str]] = {}
    pending: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    sources.setdefault(target.id, set()).update(_leftmost(node.value))
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            moves = name in ("load", "store", "make_block_ptr", "make_tensor_descriptor")
            if moves or name.startswith("atomic_"):
                first = [*node.args[:1], *(k.value for k in node.keywords if k.arg in _POINTERS)]
                pending += [one for part in first for one in _leftmost(part)]
    seen: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += sources.get(name, ())
    return frozenset(found | (seen & names))


_POINTERS = ("pointer", "base", "ptr")


def _leftmost(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        node = node.left
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from _leftmost(node.func.value)
        for argument in node.args[:1]:
            yield from _leftmost(argument)
    elif isinstance(node, ast.Subscript):
        yield from _leftmost(node.value)


def default_constants(kernel: Kernel[...]) -> dict[str, Any]:
    """The defaults of compile-time parameters."""
    return {
        parameter.name: parameter.default
        for parameter in kernel.parameters
        if parameter.kind == CONST and parameter.default is not MISSING
    }
